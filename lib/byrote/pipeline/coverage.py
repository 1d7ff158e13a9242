"""What the stages covered: which variants apply and are sound, which answers came from where."""

import pandas as pd

from byrote import engines
from byrote.store import Store

NAMES = ["benchmark", "operator", "mode", "wording"]


def of_variants(variants: pd.DataFrame) -> pd.DataFrame:
    """Tasks, applicable, sound, rejected and floor, per benchmark and condition.

    Applicable: the operator makes a variant. Sound: the variant's reference was run on its tests
    and passed. Rejected: it failed. Floor: the bare reference passes as well.
    """
    named = _named(variants)
    named["rejected"] = named["reason"].str.startswith("its reference")
    named["applicable"] = named["sound"] | named["rejected"]
    counts = named.groupby(NAMES, as_index=False, sort=False).agg(
        tasks=("task_id", "size"),
        applicable=("applicable", "sum"),
        sound=("sound", "sum"),
        rejected=("rejected", "sum"),
        floor=("floor", "sum"),
    )
    return counts


def reasons(variants: pd.DataFrame) -> pd.DataFrame:
    """Why tasks are left out, per benchmark and condition, with one example each."""
    named = _named(variants[variants["reason"] != ""])
    return (
        named.groupby([*NAMES, "reason"], as_index=False, sort=False)
        .agg(tasks=("task_id", "size"), example=("task_id", "first"))
        .sort_values([*NAMES, "tasks"], ascending=[True] * len(NAMES) + [False])
        .reset_index(drop=True)
    )


def _named(variants: pd.DataFrame) -> pd.DataFrame:
    return variants.assign(benchmark=variants["task_id"].str.split("/").str[0])


def provenance(generations: pd.DataFrame, store: Store | None = None) -> pd.DataFrame:
    """One row a model: what it is, its weights, and the versions that made its stored answers."""
    store = store or Store()
    found = []
    for name, part in generations.groupby("model", sort=False):
        line = engines.MODELS.get(name)
        stored = store.find("generations", part["request"])
        made = sorted({row["provenance"] for row in stored.values()})
        found.append(
            {
                "model": name,
                "nature": _nature(name),
                "billions": line.billions if line else float("nan"),
                "weights": f"{line.repo} {line.revision[:19]}" if line else "",
                "answers": len(part),
                "made with": "; ".join(made),
            }
        )
    return pd.DataFrame(found)


def _nature(model: str) -> str:
    """scripted (no weights, known nature), embedded (ships with the project) or real."""
    if model.partition("(")[0] in engines.SCRIPTED:
        return "scripted"
    return "embedded" if model in engines.MODELS else "real"
