"""Intervals of one sample: the cluster bootstrap, and the exact one for constant columns."""

from collections.abc import Callable, Sequence
from math import nan
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from statsmodels.stats.proportion import proportion_confint

from byrote.stats.arrays import chunks, finite, labels, shares


class Interval(NamedTuple):
    """An estimate and its confidence limits, in the unit of the data."""

    value: float
    low: float
    high: float


def bootstrap(
    values: ArrayLike,
    statistic: Callable[[np.ndarray], float] = np.mean,
    clusters: Sequence | None = None,
    resamples: int = 10_000,
    confidence: float = 0.95,
    *,
    rng: np.random.Generator,
) -> Interval:
    """Percentile interval of `statistic(values)`, resampling clusters with all their rows.

    values: [rows] or [rows, samples]; a row is one task and is never split. clusters: a label a
    row for rows that share a problem, else every row is its own. `statistic` gets resampled rows
    in the shape of `values`. Tasks with unequal numbers of samples: pass their rates as [rows].
    A constant column gives low = high = value (BCa would give NaN); see rate_interval.
    No rows: all NaN. Source: SPEC 7.2, Efron and Tibshirani 1993, ch. 13.

    Raises ValueError on NaN, on missing or too few labels, resamples < 1, confidence not in (0, 1).
    """
    values = finite(values, "values")
    if resamples < 1 or not 0 < confidence < 1:
        raise ValueError(f"need resamples >= 1 and 0 < confidence < 1: {resamples}, {confidence}")
    codes = labels(clusters, len(values))
    if not values.size:
        return Interval(nan, nan, nan)
    draw = _resampled_means if statistic is np.mean else _resampled
    draws = draw(values, codes, resamples, rng, statistic)
    low, high = np.quantile(draws, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(statistic(values)), float(low), float(high))


def _resampled(values, codes, resamples, rng, statistic) -> np.ndarray:
    """The statistic on each resample, one call each."""
    groups = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
    draws = np.empty(resamples)
    for i in range(resamples):
        picked = rng.integers(len(groups), size=len(groups))
        draws[i] = statistic(values[np.concatenate([groups[j] for j in picked])])
    return draws


def _resampled_means(values, codes, resamples, rng, _statistic) -> np.ndarray:
    """The mean on each resample, without building resamples.

    Clusters with the same sum and size are interchangeable, so how often each kind is drawn is
    multinomial. Pass rates have few kinds; and the order of the rows does not matter.
    """
    rows = values.reshape(len(values), -1)
    sums = np.bincount(codes, weights=rows.sum(axis=1))
    sizes = np.bincount(codes) * rows.shape[1]
    kinds, often = np.unique(np.column_stack([sums, sizes]), axis=0, return_counts=True)
    means = []
    for size in chunks(resamples, len(kinds)):
        total, rows_drawn = (rng.multinomial(len(sums), often / len(sums), size=size) @ kinds).T
        means.append(total / rows_drawn)
    return np.concatenate(means)


def proportion_interval(successes: int, n: int, confidence: float = 0.95) -> Interval:
    """Exact (Clopper-Pearson) interval of a share of n independent 0/1 trials; n = 0: all NaN.

    0 of 100 is [0, 0.036], where the bootstrap says [0, 0] (SPEC 6.8 row 15).

    Raises ValueError when successes is not in 0..n or confidence not in (0, 1).
    """
    if not 0 <= successes <= n or not 0 < confidence < 1:
        raise ValueError(
            f"need 0 <= successes <= n and 0 < confidence < 1: {successes}, {n}, {confidence}"
        )
    if n == 0:
        return Interval(nan, nan, nan)
    low, high = proportion_confint(successes, n, alpha=1 - confidence, method="beta")
    return Interval(successes / n, float(low), float(high))


def rate_interval(
    rates: ArrayLike,
    clusters: Sequence | None = None,
    resamples: int = 10_000,
    confidence: float = 0.95,
    *,
    rng: np.random.Generator,
) -> Interval:
    """The interval to print beside a pass rate: bootstrap, but exact for all 0 or all 1.

    A constant column resamples to itself, so the bootstrap claims certainty; there the exact
    interval is taken with one trial a cluster (SPEC 7.2). rates: [rows] or [rows, samples],
    shares in [0, 1]; the rest as in `bootstrap`.

    Raises ValueError as `bootstrap` does, and when a rate lies outside [0, 1].
    """
    rates = shares(rates, "rates")
    if rates.size and rates.min() == rates.max() and rates.min() in (0, 1):
        n = len(np.unique(labels(clusters, len(rates))))
        return proportion_interval(int(rates.min()) * n, n, confidence)
    return bootstrap(rates, np.mean, clusters, resamples, confidence, rng=rng)
