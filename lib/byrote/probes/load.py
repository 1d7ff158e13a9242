"""Representational load (paper 1, RQ3a): what an input/output isomorphism costs a model.

pass@1 of every condition, the paired drop from the original with interval and p-value, and how
the full drop splits into its two sides (SPEC 3.5, 7).
"""

import json

import numpy as np
import pandas as pd

from byrote import stats
from byrote.records import CONDITION, Metric, table

RESAMPLES = 10_000
CONTROLS = ("dead_code", "filler")  # as long as the contract, and no contract


def passes(verdicts: pd.DataFrame, variants: pd.DataFrame) -> pd.DataFrame:
    """One row a (model, task, condition): `rate`, the share of its samples that passed.

    Adds from the variants: benchmark, whether the task is `core` (integers on both sides of its
    tests) and `floor` (the bare reference passes the variant). What encodes nothing, and so passes
    by design (the control `contract_only`, the operators on wording), takes both from the task's
    first full variant.
    """
    key = ["task_id", *CONDITION]
    rates = (
        verdicts.assign(rate=verdicts["outcome"] == "passed")
        .groupby([*key, "model", "sampling"], as_index=False, sort=False)
        .agg(rate=("rate", "mean"), samples=("rate", "size"))
    )
    facts = variants[[*key, "floor", "parameters"]].copy()
    facts["core"] = [_core(p) for p in facts.pop("parameters")]
    full = facts[facts["mode"] == "full"].drop_duplicates("task_id").set_index("task_id")
    control = (facts["mode"] == "contract_only") | (variants["family"] == "wording")
    for fact in ("floor", "core"):
        facts.loc[control, fact] = facts.loc[control, "task_id"].map(full[fact]).eq(True)
    rates = rates.merge(facts, on=key, validate="many_to_one")
    rates["benchmark"] = rates["task_id"].str.split("/").str[0]
    return rates


def _core(parameters: str) -> bool:
    known = json.loads(parameters)
    return known.get("n_in", 0) > 0 and known.get("n_out", 0) > 0


def paired(rates: pd.DataFrame, condition: dict, population: str = "all") -> pd.DataFrame:
    """Tasks with a rate in the original and under `condition`, of one model and benchmark.

    `population` is "all" or "core": integers on both sides, and no task that the bare reference
    passes. Columns: task_id, original, variant.
    """
    chosen = rates[(rates[list(condition)] == pd.Series(condition)).all(axis=1)]
    if population == "core":
        chosen = chosen[chosen["core"] & ~chosen["floor"]]
    elif population != "all":
        raise ValueError(f"unknown population {population!r}; known: all, core")
    original = rates[rates["operator"] == "original"].set_index("task_id")["rate"]
    pairs = pd.DataFrame({"task_id": chosen["task_id"], "variant": chosen["rate"]})
    pairs["original"] = pairs["task_id"].map(original)
    return pairs.dropna(subset="original")[["task_id", "original", "variant"]]


def drops(rates: pd.DataFrame, population: str, rng: np.random.Generator) -> pd.DataFrame:
    """Metric rows of every model, benchmark and condition: pass@1 of both sides and their drop.

    pass@1 in percent with its 95 % interval, the paired drop in points with its interval; the
    metric `p` is the sign-flip p-value. Family of correction: one model's conditions on one
    benchmark, by Holm (`p_holm`).
    """
    found = []
    for (model, benchmark), part in rates.groupby(["model", "benchmark"], sort=False):
        conditions = part.loc[part["operator"] != "original", list(CONDITION)].drop_duplicates()
        measured = []
        for condition in conditions.to_dict("records"):
            pairs = paired(part, condition, population)
            if len(pairs):
                measured.append((condition, pairs, _drop(pairs, rng)))
        corrected = stats.adjust([drop.p for _, _, drop in measured]) if measured else []
        for (condition, pairs, drop), p_holm in zip(measured, corrected, strict=True):
            place = (model, benchmark, condition, population)
            found += _rows(place, pairs, drop, float(p_holm), rng)
    return table(found, Metric)


def _drop(pairs: pd.DataFrame, rng: np.random.Generator) -> stats.Drop:
    return stats.paired_drop(
        pairs["original"].to_numpy(), pairs["variant"].to_numpy(), resamples=RESAMPLES, rng=rng
    )


def _rows(place: tuple, pairs: pd.DataFrame, drop: stats.Drop, p_holm: float, rng) -> list[Metric]:
    nan = float("nan")
    before, after = (
        stats.rate_interval(pairs[side].to_numpy(), resamples=RESAMPLES, rng=rng)
        for side in ("original", "variant")
    )
    lost = ((pairs["original"] - pairs["variant"]) > 0).sum()
    won = ((pairs["original"] - pairs["variant"]) < 0).sum()
    values = {
        "original_pass1": (*(100 * v for v in before), "percent"),
        "pass1": (*(100 * v for v in after), "percent"),
        "drop": (drop.points, drop.low, drop.high, "points"),
        "p": (drop.p, nan, nan, "probability"),
        "p_holm": (p_holm, nan, nan, "probability"),
        "lost": (float(lost), nan, nan, "tasks"),
        "won": (float(won), nan, nan, "tasks"),
    }
    return [_metric(place, name, *v, n=len(pairs)) for name, v in values.items()]


def _metric(place: tuple, metric: str, value, low, high, unit: str, n: int) -> Metric:
    model, benchmark, condition, population = place
    setting = f"population={population}"
    if condition.get("wording"):
        setting += f" wording={condition['wording']}"
    return Metric(
        probe="load",
        metric=metric,
        model=model,
        benchmark=benchmark,
        operator=condition.get("operator", ""),
        mode=condition.get("mode", ""),
        level=float(condition.get("level", 0.0)),
        setting=setting,
        task_id="",
        seed=int(condition.get("seed", 0)),
        value=value,
        low=low,
        high=high,
        n=n,
        unit=unit,
    )


def carrying(rates: pd.DataFrame, operator: str = "affine") -> pd.DataFrame:
    """The rates on tasks that have a full variant of `operator`: the ones to compare loads on."""
    full = rates[(rates["operator"] == operator) & (rates["mode"] == "full")]
    return rates[rates["task_id"].isin(full["task_id"])]


def excess(rates: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """What a full affine contract costs beyond each control of its length (paper 1, section 7.2).

    Metric `excess` of dead_code, filler and contract_only: pass@1 under the control minus pass@1
    under the contract, in points with a paired interval, on the tasks that have both; `p` by sign
    flip. Sampling noise and the cost of a longer prompt are in both and cancel.
    """
    found = []
    for (model, benchmark), part in rates.groupby(["model", "benchmark"], sort=False):
        full = part[(part["operator"] == "affine") & (part["mode"] == "full")]
        full = full[full["wording"] == "1"].set_index("task_id")["rate"]
        controls = part[part["operator"].isin(CONTROLS) | (part["mode"] == "contract_only")]
        for condition, control in controls.groupby(["operator", "mode"], sort=False):
            pairs = pd.concat([control.set_index("task_id")["rate"], full], axis=1, join="inner")
            if not len(pairs):
                continue
            drop = stats.paired_drop(*pairs.to_numpy().T, resamples=RESAMPLES, rng=rng)
            named = dict(zip(("operator", "mode"), condition, strict=True))
            place = (model, benchmark, named, "all")
            found.append(_metric(place, "excess", *drop[:3], "points", drop.n))
            nan = float("nan")
            found.append(_metric(place, "p", drop.p, nan, nan, "probability", drop.n))
    return table(found, Metric)


def sides(rates: pd.DataFrame, operator: str, rng: np.random.Generator) -> pd.DataFrame:
    """How the full drop splits: drop_inputs/drop_full, drop_outputs/drop_full, the interaction.

    On the core tasks that have all of original, full, inputs and outputs. Shares are ratios (NaN
    where the full drop is 0), the interaction drop_inputs + drop_outputs - drop_full is in points.
    """
    found = []
    modes = ("full", "inputs", "outputs")
    for (model, benchmark), part in rates.groupby(["model", "benchmark"], sort=False):
        frames = [
            paired(part, {"operator": operator, "mode": m, "wording": "1"}, "core").set_index(
                "task_id"
            )
            for m in modes
        ]
        cube = pd.concat([frames[0]["original"], *(f["variant"] for f in frames)], axis=1).dropna()
        if not len(cube):
            continue
        losses = 100 * (cube.to_numpy()[:, :1] - cube.to_numpy()[:, 1:])
        place = (model, benchmark, {"operator": operator, "wording": "1"}, "core")
        for name, statistic, unit in (
            ("share_inputs", lambda m: _ratio(m[..., 1], m[..., 0]), "ratio"),
            ("share_outputs", lambda m: _ratio(m[..., 2], m[..., 0]), "ratio"),
            ("interaction", lambda m: m[..., 1] + m[..., 2] - m[..., 0], "points"),
        ):
            value, low, high = _resampled(losses, statistic, rng)
            found.append(_metric(place, name, value, low, high, unit, n=len(cube)))
    return table(found, Metric)


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=whole != 0)


def _resampled(losses: np.ndarray, statistic, rng) -> tuple[float, float, float]:
    """A statistic of the mean losses with its percentile interval over resampled tasks."""
    draws = rng.multinomial(len(losses), np.full(len(losses), 1 / len(losses)), size=RESAMPLES)
    spread = statistic(draws @ losses / len(losses))
    value = float(statistic(losses.mean(axis=0)))
    if np.isnan(spread).mean() > 0.025:  # a percentile among undefined values says nothing
        return value, float("nan"), float("nan")
    low, high = np.nanpercentile(spread, [2.5, 97.5])
    return value, float(low), float(high)
