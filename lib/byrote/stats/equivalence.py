"""Equivalence: is a paired drop shown to be small, rather than merely not shown to be there?"""

from collections.abc import Sequence
from math import nan, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom
from scipy.stats import t as student

from byrote.stats.arrays import labels
from byrote.stats.intervals import bootstrap, proportion_interval
from byrote.stats.pairs import differences

FEW = 10  # changed tasks below which a mean of differences is not near normal


class Equivalence(NamedTuple):
    """A paired drop in points with its 90 % limits, the p of the two tests, and what was tested.

    `exact` says that p and limits are exact bounds, because fewer than FEW tasks changed.
    """

    points: float
    low: float
    high: float
    p: float
    n: int
    exact: bool


def equivalent(
    original: ArrayLike,
    variant: ArrayLike,
    margin: float = 2.0,
    clusters: Sequence | None = None,
    resamples: int = 10_000,
    *,
    rng: np.random.Generator,
) -> Equivalence:
    """Two one-sided tests that the drop from original to variant lies within ±margin points.

    A small p shows equivalence; a drop that is merely not significant shows nothing (SPEC 8.5).
    Arguments as in `paired_drop`, margin in points. p is the larger of two one-sided paired t tests
    (Schuirmann 1987); the limits are those of a 90 % bootstrap, as a rule inside ±margin where
    p < 0.05.

    Where fewer than FEW tasks changed, the t test errs far too often and says nothing at all where
    none did. There the share of tasks that lost bounds the drop, since no task loses more than 100
    points, and p and limits are the exact binomial ones of lost and won shares: with 0 of n changed
    p = (1 - margin/100)^n, so equivalence within 2 points needs 149 tasks. A cluster is one trial.
    True nulls err in at most 8 % of samples (simulated: tests/test_stats.py).

    No tasks: all NaN. Raises ValueError as `paired_drop` does, and unless 0 < margin < 100.
    """
    if not 0 < margin < 100:
        raise ValueError(f"margin {margin!r}: points over 0 and under 100")
    losses = differences(original, variant)
    codes = labels(clusters, len(losses))
    if not losses.size:
        return Equivalence(nan, nan, nan, nan, 0, False)
    sums = np.round(np.bincount(codes, weights=losses), 12)
    points = 100 * float(losses.mean())
    if np.count_nonzero(sums) < FEW:
        return Equivalence(points, *_bounds(sums, margin), len(losses), True)
    _, low, high = bootstrap(losses, np.mean, clusters, resamples, 0.9, rng=rng)
    p = _two_t(losses, codes, margin / 100)
    return Equivalence(points, 100 * low, 100 * high, p, len(losses), False)


def _bounds(sums: np.ndarray, margin: float) -> tuple[float, float, float]:
    """Exact 90 % limits in points and p, from how many clusters lost and how many won."""
    lost, won, n = int((sums > 0).sum()), int((sums < 0).sum()), len(sums)
    low = -100 * proportion_interval(won, n, 0.9).high
    high = 100 * proportion_interval(lost, n, 0.9).high
    return low, high, float(binom.cdf(max(lost, won), n, margin / 100))


def _two_t(losses: np.ndarray, codes: np.ndarray, margin: float) -> float:
    """The larger p of two one-sided t tests; the error is that of the mean over clusters.

    It is at least the error at the margin itself, were every change a loss of the largest size
    seen: rare changes are skewed, and a lucky sample shows too few of them.
    """
    mean, n = abs(losses.mean()), codes.max() + 1
    residuals = np.bincount(codes, weights=losses - losses.mean())
    error = sqrt(n / max(n - 1, 1) * (residuals**2).sum()) / len(losses)
    error = max(error, sqrt(margin * max(np.abs(losses).max() - margin, 0) / n))
    return float(student.sf((margin - mean) / error, n - 1)) if error else float(mean >= margin)


def equivalence_tasks(margin: float = 2.0, alpha: float = 0.05) -> int:
    """How many tasks must all stay as they are before a drop within ±margin points is shown.

    The smallest n with (1 - margin/100)^n < alpha: with fewer no outcome shows equivalence.
    """
    if not 0 < margin < 100 or not 0 < alpha < 1:
        raise ValueError(f"need 0 < margin < 100 and 0 < alpha < 1: {margin}, {alpha}")
    return int(np.floor(np.log(alpha) / np.log1p(-margin / 100))) + 1
