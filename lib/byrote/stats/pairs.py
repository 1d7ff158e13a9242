"""Paired conditions: the drop from original to variant, its tests, and what a test can detect."""

from collections.abc import Sequence
from math import nan, prod
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.stats import binom, binomtest

from byrote.stats.arrays import chunks, finite, labels, shares
from byrote.stats.intervals import bootstrap

EXACT = 2**17  # outcomes of a sign-flip test that are enumerated rather than drawn


class Drop(NamedTuple):
    """A paired drop with its limits in points (0-100), the sign-flip p, and the number of tasks."""

    points: float
    low: float
    high: float
    p: float
    n: int


def paired_drop(
    original: ArrayLike,
    variant: ArrayLike,
    clusters: Sequence | None = None,
    resamples: int = 10_000,
    confidence: float = 0.95,
    *,
    rng: np.random.Generator,
) -> Drop:
    """How many points the pass rate falls from original to variant; positive is a loss.

    Row i of both is the same task; each is [tasks] or [tasks, samples] with values in [0, 1], and
    the numbers of samples may differ. The statistic is the mean of the differences of task rates,
    so both conditions see the same resampled clusters (SPEC 7.3); p is from `sign_flip`.
    No tasks: all NaN with n = 0. When no task changed at all the limits are 0 and 0, which is not
    certainty: print proportion_interval(0, n) of changed tasks beside it.

    Raises ValueError when the numbers of tasks differ, a value is outside [0, 1] (percentages)
    and, with a count, when one is NaN: a pair with a missing side is left out by the caller, who
    reports how many.
    """
    losses = differences(original, variant)
    value, low, high = bootstrap(losses, np.mean, clusters, resamples, confidence, rng=rng)
    p = sign_flip(losses, clusters, resamples, rng=rng)
    return Drop(100 * value, 100 * low, 100 * high, p, len(losses))


def differences(original: ArrayLike, variant: ArrayLike) -> np.ndarray:
    """Rate of the original less that of the variant, one a task; raises as `paired_drop` does."""
    first, second = _task_rates(original, "original"), _task_rates(variant, "variant")
    if len(first) != len(second):
        raise ValueError(f"unpaired: {len(first)} original and {len(second)} variant tasks")
    return first - second


def _task_rates(passes: ArrayLike, name: str) -> np.ndarray:
    array = shares(passes, name)
    return (
        array if array.ndim == 1 or not array.size else array.reshape(len(array), -1).mean(axis=1)
    )


def sign_flip(
    differences: ArrayLike,
    clusters: Sequence | None = None,
    resamples: int = 10_000,
    *,
    rng: np.random.Generator,
) -> float:
    """Two-sided p that paired differences centre on 0, when either sign was as likely.

    differences: [rows]. A cluster flips as a whole; the statistic is |sum|. Under the hypothesis
    that the two conditions are exchangeable within a cluster the test is exact (SPEC 7.3).
    Clusters of one magnitude are interchangeable, so the number that keep their sign is binomial:
    all outcomes are enumerated when there are at most EXACT (always with <= 17 nonzero clusters,
    and for differences of -1, 0, 1, where p is McNemar's), else `resamples` are drawn and
    p = (1 + hits) / (1 + resamples). All zero: 1.0. No rows: NaN.
    Equal small numbers of samples make the sums coarse and the test careful: at n = 257 it errs in
    about 4 % of true nulls with 5 samples, 3 % with 1, instead of 5 %.

    Raises ValueError on NaN, more than one dimension, missing labels, or resamples < 1.
    """
    differences = finite(differences, "differences")
    if differences.ndim != 1 or resamples < 1:
        raise ValueError(f"need [rows] and resamples >= 1: {differences.shape}, {resamples}")
    codes = labels(clusters, len(differences))
    if not differences.size:
        return nan
    scale = np.abs(differences).max() or 1.0  # 0.6 - 0.4 and 0.2 are one magnitude
    sums = np.round(np.bincount(codes, weights=differences / scale), 12)
    sizes, often = np.unique(np.abs(sums[sums != 0]), return_counts=True)
    observed = abs(sums.sum()) - 1e-9
    if prod(int(m) + 1 for m in often) <= EXACT:
        flipped, chance = _all_flips(sizes, often)
        return min(1.0, float(chance[np.abs(flipped) >= observed].sum()))
    hits = 0
    for size in chunks(resamples, len(often)):
        kept = rng.binomial(often, 0.5, size=(size, len(often)))
        hits += int((np.abs((2 * kept - often) @ sizes) >= observed).sum())
    return (1 + hits) / (1 + resamples)


def _all_flips(sizes: np.ndarray, often: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every flipped sum and its probability, for `often[j]` clusters of magnitude `sizes[j]`."""
    sums, chance = np.zeros(1), np.ones(1)
    for size, m in zip(sizes, often, strict=True):
        kept = np.arange(m + 1)
        sums = np.add.outer(sums, (2 * kept - m) * size).ravel()
        chance = np.multiply.outer(chance, binom.pmf(kept, m, 0.5)).ravel()
    return sums, chance


def mcnemar(b: int, c: int) -> float:
    """Exact two-sided McNemar p from the discordant pairs: b only first passed, c only second.

    Binomial(b + c, 1/2), for one sample a task or majority outcomes (SPEC 7.3); b = c = 0: 1.0.
    Raises ValueError when b or c is negative.
    """
    if b < 0 or c < 0:
        raise ValueError(f"discordant counts must be >= 0, got b={b}, c={c}")
    return float(binomtest(int(b), int(b + c)).pvalue) if b + c else 1.0


def mcnemar_power(n: int, discordant: float, drop: float, alpha: float = 0.05) -> float:
    """Chance that exact McNemar finds a true drop, computed exactly (SPEC 7, self tests).

    n: tasks. discordant: share of tasks, in [0, 1], whose outcome differs between conditions.
    drop: points (0-100) by which losses exceed gains.

    Raises ValueError when n < 1, discordant or alpha is not a share, or drop > 100 * discordant.
    """
    if n < 1 or not 0 < discordant <= 1 or not 0 < alpha < 1:
        raise ValueError(f"need n >= 1 and shares: {n=}, {discordant=}, {alpha=}")
    if abs(drop) > 100 * discordant + 1e-9:
        raise ValueError(
            f"a drop of {drop} points needs at least as many discordant tasks, "
            f"got {100 * discordant} %"
        )
    lost = min(1.0, (1 + drop / 100 / discordant) / 2)  # share of the discordant that are losses
    m = np.arange(n + 1)
    limit = binom.ppf(alpha / 2, m, 0.5)
    limit = limit - (binom.cdf(limit, m, 0.5) > alpha / 2)  # reject when b or c <= limit
    rejects = binom.cdf(limit, m, lost) + binom.cdf(limit, m, 1 - lost)
    return float((binom.pmf(m, n, discordant) * rejects).sum())


def detectable_drop(n: int, discordant: float, power: float = 0.8, alpha: float = 0.05) -> float:
    """Smallest drop in points (0-100) that exact McNemar finds with probability `power`.

    Marks cells that cannot detect 5 points (SPEC 8, point 12). NaN when even a drop in which all
    discordant tasks are losses is not found. Arguments and errors as in `mcnemar_power`; also
    raises ValueError when power is not in (alpha, 1).
    """
    if not alpha < power < 1:
        raise ValueError(f"need alpha < power < 1, got {alpha=}, {power=}")
    if mcnemar_power(n, discordant, 100 * discordant, alpha) < power:
        return nan

    def excess(drop: float) -> float:
        return mcnemar_power(n, discordant, drop, alpha) - power

    return float(brentq(excess, 0, 100 * discordant, xtol=1e-6))
