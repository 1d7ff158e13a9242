"""What the stages covered: which variants apply and are sound, which answers came from where."""

import pandas as pd

from byrote import engines
from byrote.records import Generation
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


def endings(answers: pd.DataFrame, verdicts: pd.DataFrame) -> pd.DataFrame:
    """How answers ended, in percent: cut off at the token limit, without a program, passed.

    A cut answer is counted apart from wrong code: it is the budget's fault as much as the model's.
    """
    both = answers.merge(verdicts, on=list(Generation.KEY), validate="one_to_one")
    both["benchmark"] = both["task_id"].str.split("/").str[0]
    both["cut off"] = both["finish"] == "length"
    both["no program"] = both["outcome"] == "invalid"
    both["passed"] = both["outcome"] == "passed"
    groups = both.groupby(["model", "benchmark", "operator", "mode"], sort=False)
    shares = 100 * groups[["cut off", "no program", "passed"]].mean()
    shares.insert(0, "answers", groups.size())
    shares.insert(1, "tokens", groups["tokens"].median())
    return shares.round(1).reset_index()


def provenance(generations: pd.DataFrame, store: Store | None = None) -> pd.DataFrame:
    """One row a model: what it is, its weights, and the versions that made its stored answers.

    Of a replayed file its sidecar says name, billions, family and licence; `model` stays the words
    by which it was asked, since one model may have a file for each benchmark.
    """
    store = store or Store()
    found = []
    for name, part in generations.groupby("model", sort=False):
        line = engines.MODELS.get(name)
        told = engines.open(name).provenance() if name.startswith("replay:") else {}
        stored = store.find("generations", part["request"])
        made = {row["provenance"] for row in stored.values()} | ({_file(told)} if told else set())
        found.append(
            {
                "model": name,
                "name": told.get("model", name),
                "nature": _nature(name),
                "billions": float(told.get("billions", line.billions if line else "nan")),
                "family": told.get("family", ""),
                "licence": told.get("licence", ""),
                "weights": f"{line.repo} {line.revision[:19]}" if line else "",
                "answers": len(part),
                "made with": "; ".join(sorted(made)),
            }
        )
    return pd.DataFrame(found)


def _file(told: dict[str, str]) -> str:
    return " ".join(f"{key}={told[key]}" for key in ("engine", "file", "sha256", "format"))


def _nature(model: str) -> str:
    """scripted (no weights, known nature), embedded (ships with the project) or real."""
    if model.partition("(")[0] in engines.SCRIPTED:
        return "scripted"
    return "embedded" if model in engines.MODELS else "real"
