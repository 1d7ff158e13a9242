"""Scale: pass@1 of every model on the tasks as they are, to be set against its parameters.

Judged answers of any origin are measured alike: those of this run and those of published samples.
"""

import numpy as np
import pandas as pd

from byrote import stats
from byrote.records import Metric, table

RESAMPLES = 10_000


def pass1(verdicts: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Metric rows `pass1`, in percent with a 95 % interval, of every model and benchmark.

    Verdicts of untouched tasks only; the rate of a task is the share of its samples that passed,
    and the interval resamples tasks (SPEC 7.1, 7.2). Samplings of one model are not mixed: the
    setting says which one.
    """
    plain = verdicts[verdicts["operator"] == "original"]
    plain = plain.assign(
        rate=plain["outcome"] == "passed", benchmark=plain["task_id"].str.split("/").str[0]
    )
    found = []
    for place, part in plain.groupby(["model", "benchmark", "sampling"], sort=False):
        rates = part.groupby("task_id", sort=False)["rate"].mean().to_numpy()
        interval = stats.rate_interval(rates, resamples=RESAMPLES, rng=rng)
        found.append(_metric(place, interval, len(rates)))
    return table(found, Metric)


def _metric(place: tuple[str, str, str], interval: stats.Interval, n: int) -> Metric:
    model, benchmark, sampling = place
    value, low, high = (100 * v for v in interval)
    return Metric(
        probe="scale",
        metric="pass1",
        model=model,
        benchmark=benchmark,
        operator="original",
        mode="",
        level=0.0,
        setting=" ".join(sorted(sampling.split())),
        task_id="",
        seed=0,
        value=value,
        low=low,
        high=high,
        n=n,
        unit="percent",
    )
