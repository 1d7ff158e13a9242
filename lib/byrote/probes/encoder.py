"""Encoder probes (paper 1, RQ1): does pass@1 depend on the wording of a task, or on its length?

Nothing that is asked for changes, so a drop is the encoder's. Synonyms at rising rates, dead code
and filler of a contract's length, and rewordings; each against the original of the same task.
"""

import json

import numpy as np
import pandas as pd

from byrote import stats
from byrote.probes import load
from byrote.records import CONDITION, Metric, table

MARGIN = 2.0  # points within which a drop is called equivalent to none (SPEC 8.5)
UNSTABLE = 5.0  # percent of the original below which a relative change is noise (SPEC 1.5 row 10)
ALPHA = 0.05
NAN = float("nan")
REALISED = [
    *("benchmark", "level", "variants", "as the original"),
    *("of", "words", "mean", "q1", "q2", "q3"),
]
FINDINGS = ("drop", "gain", "absorbed", "drop within the margin", "nothing to lose", "not shown")


def drops(rates: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Metric rows of every model, benchmark and condition, from the rates of `load.passes`.

    What `load.drops` gives, and: `relative`, the change in percent of the original as paper 1
    prints it, named `relative_unstable` where the original is below 5 % and not to be averaged;
    `equivalence`, the drop with its 90 % interval; `p_equivalent` that the drop lies within
    ±MARGIN points, and `p_equivalent_holm`. Families of correction: the conditions of one model on
    one benchmark. A task counts where the operator applied to it (SPEC 1.3, 1.5, 8.5).
    """
    shared = load.drops(rates, "all", rng).assign(probe="encoder")
    found = [shared]
    for _, part in shared.groupby(["model", "benchmark"], sort=False):
        dropped = part[part["metric"] == "drop"].to_dict("records")
        tested = [_equivalence(rates, place, rng) for place in dropped]
        corrected = stats.adjust([test.p for test in tested])
        rows = []
        for place, test, p_holm in zip(dropped, tested, corrected, strict=True):
            before = 100 * load.paired(*_chosen(rates, place))["original"].mean()
            rows += _added(place, before, test, float(p_holm))
        found.append(table(rows, Metric))
    return pd.concat(found, ignore_index=True)


def _chosen(rates: pd.DataFrame, place: dict) -> tuple[pd.DataFrame, dict]:
    """The rates of a metric row's model and benchmark, and its condition."""
    own = rates["model"].eq(place["model"]) & rates["benchmark"].eq(place["benchmark"])
    return rates[own], {name: place[name] for name in CONDITION if name in place}


def _equivalence(rates: pd.DataFrame, place: dict, rng: np.random.Generator) -> stats.Equivalence:
    pairs = load.paired(*_chosen(rates, place))
    return stats.equivalent(
        pairs["original"], pairs["variant"], MARGIN, resamples=load.RESAMPLES, rng=rng
    )


def _added(place: dict, before: float, test: stats.Equivalence, p_holm: float) -> list[Metric]:
    relative = "relative" if before >= UNSTABLE else "relative_unstable"
    values = {
        relative: (-100 * test.points / before + 0.0 if before else NAN, NAN, NAN, "percent"),
        "equivalence": (test.points, test.low, test.high, "points"),
        "p_equivalent": (test.p, NAN, NAN, "probability"),
        "p_equivalent_holm": (p_holm, NAN, NAN, "probability"),
    }
    return [_metric(place, name, *value) for name, value in values.items()]


def _metric(place: dict, metric: str, value, low, high, unit: str) -> Metric:
    numbers = {"value": float(value), "low": float(low), "high": float(high)}
    return Metric(**{**place, **numbers, "metric": metric, "unit": unit})


def findings(metrics: pd.DataFrame) -> pd.DataFrame:
    """One row a condition of `drops` with the one of FINDINGS that its numbers bear out.

    Both tests are taken corrected. "absorbed" only where equivalence is shown and there is
    something to absorb: where the original's lower limit is within the margin there is "nothing to
    lose". A drop that is neither shown nor excluded is "not shown".
    """
    keys = ["model", "benchmark", "operator", "level", "n"]
    found = []
    for key, cell in metrics.groupby(keys, sort=False):
        v = cell.set_index("metric")["value"]
        room = cell.loc[cell["metric"] == "original_pass1", "low"].iloc[0]
        finding = _finding(v["drop"], v["p_holm"], v["p_equivalent_holm"], room)
        found.append((*key, finding))
    return pd.DataFrame(found, columns=[*keys, "finding"])


def _finding(drop: float, p: float, p_equivalent: float, room: float) -> str:
    if p < ALPHA:
        within = p_equivalent < ALPHA and drop > 0
        return "drop within the margin" if within else "drop" if drop > 0 else "gain"
    if room <= MARGIN:
        return "nothing to lose"
    return "absorbed" if p_equivalent < ALPHA else "not shown"


def realised(variants: pd.DataFrame) -> pd.DataFrame:
    """How many words were really replaced, in percent, by benchmark and nominal level.

    One row for each of the two denominators, the words that have a synonym and all words
    (SPEC 1.4 A1): mean and quartiles over the sound variants, their number, and how many of them
    show the very prompt of the original, since no word was drawn.
    """
    chosen = variants[(variants["operator"] == "synonyms") & variants["sound"]]
    facts = pd.DataFrame([json.loads(p) for p in chosen["parameters"]], index=chosen.index)
    named = pd.concat([chosen[["task_id", "level"]], facts], axis=1)
    named["benchmark"] = named["task_id"].str.split("/").str[0]
    found = []
    for (benchmark, level), part in named.groupby(["benchmark", "level"], sort=False):
        for denominator in ("eligible", "words"):
            rate = 100 * part[f"rate_{denominator}"]
            found.append(
                {
                    "benchmark": benchmark,
                    "level": level,
                    "variants": len(part),
                    "as the original": int((part["replaced"] == 0).sum()),
                    "of": "words with a synonym" if denominator == "eligible" else "all words",
                    "words": part[denominator].median(),
                    "mean": rate.mean(),
                    **{f"q{q}": rate.quantile(q / 4) for q in (1, 2, 3)},
                }
            )
    return pd.DataFrame(found, columns=REALISED)


def doses(rates: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Metric rows of the dose response: pass@1 by level of `synonyms`, level 0 the original.

    On the tasks that have every level that the model was asked at. `dose` is pass@1 in percent
    with its interval, `isotonic` the curve through it that never rises, with its band over
    resampled tasks; `slope` the change of pass@1 in points per tenth of the words with its
    interval, and `p_slope` its sign-flip p (SPEC 8.6).
    """
    found = []
    asked = rates[rates["operator"].isin(["original", "synonyms"])]
    for (model, benchmark), part in asked.groupby(["model", "benchmark"], sort=False):
        wide = part.pivot_table(index="task_id", columns="level", values="rate").dropna()
        if wide.shape[1] < 3 or wide.empty:  # two points make no curve
            continue
        place = _place(model, benchmark, len(wide))
        curve = stats.isotonic_band(wide.columns, wide.to_numpy(), rng=rng)
        for number, level in enumerate(wide.columns):
            rate = stats.rate_interval(wide[level].to_numpy(), resamples=load.RESAMPLES, rng=rng)
            at = place | {"level": float(level)}
            found.append(_metric(at, "dose", *(100 * v for v in rate), "percent"))
            fitted = (100 * side[number] for side in curve)
            found.append(_metric(at, "isotonic", *fitted, "percent"))
        slope = stats.trend(wide.columns, wide.to_numpy(), rng=rng)
        tenth = (slope.slope / 10, slope.low / 10, slope.high / 10)
        found.append(_metric(place, "slope", *tenth, "points a tenth"))
        found.append(_metric(place, "p_slope", slope.p, NAN, NAN, "probability"))
    return table(found, Metric)


def _place(model: str, benchmark: str, n: int) -> dict:
    return {
        "probe": "encoder",
        "model": model,
        "benchmark": benchmark,
        "operator": "synonyms",
        "mode": "",
        "level": 0.0,
        "setting": "tasks=with_every_level",
        "task_id": "",
        "seed": 0,
        "n": n,
    }
