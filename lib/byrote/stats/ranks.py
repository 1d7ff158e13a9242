"""Rank comparisons of independent groups: which is higher, by how much, by chance or not."""

from math import comb, nan
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats as scipy_stats

from byrote.stats.arrays import finite

EXACT = 60  # values in both groups together up to which p is exact, ties or not


def auc(positive: ArrayLike, negative: ArrayLike) -> float:
    """Share of pairs in which the positive scores higher, a tie counting half, in [0, 1].

    positive, negative: [scores]. Undefined (NaN) when one is empty. Source: SPEC 2 step 7.
    Raises ValueError on NaN.
    """
    positive, negative = finite(positive, "positive").ravel(), finite(negative, "negative").ravel()
    if not positive.size or not negative.size:
        return nan
    ranks = scipy_stats.rankdata(np.concatenate([positive, negative]))[: positive.size]
    wins = ranks.sum() - positive.size * (positive.size + 1) / 2
    return float(wins / (positive.size * negative.size))


def cliffs_delta(x: ArrayLike, y: ArrayLike) -> float:
    """Effect size in [-1, 1]: share of pairs with x higher less share with y higher.

    2 U / (n m) - 1 (SPEC 5 step 7). NaN when one group is empty. Raises ValueError on NaN.
    """
    return 2 * auc(x, y) - 1


def mann_whitney(x: ArrayLike, y: ArrayLike) -> float:
    """Two-sided p that x and y come from one distribution; x, y: [values] (SPEC 7.5, 5.3 row 12).

    Up to EXACT values together it is the exact permutation p of the rank sum, with ties (SciPy's
    exact method ignores them); beyond, SciPy's: exact for a small group without ties, else normal
    with tie correction. Constant data: 1.0, which counts in a family. An empty group: NaN.
    Raises ValueError on NaN.
    """
    x, y = sorted([finite(x, "x").ravel(), finite(y, "y").ravel()], key=len)
    if not x.size:
        return nan
    both = np.concatenate([x, y])
    if both.min() == both.max():
        return 1.0
    if both.size > EXACT:
        return float(scipy_stats.mannwhitneyu(x, y).pvalue)
    ranks = np.round(2 * scipy_stats.rankdata(both)).astype(int)  # doubled: midranks are integers
    null = _rank_sums(ranks, x.size)
    centre = x.size * (both.size + 1)
    far = np.abs(np.arange(null.size) - centre) >= abs(ranks[: x.size].sum() - centre)
    return min(1.0, float(null[far].sum()))


def _rank_sums(ranks: np.ndarray, size: int) -> np.ndarray:
    """Probability of each sum of `size` of the integer ranks, drawn without replacement."""
    total = int(np.sort(ranks)[-size:].sum())
    ways = np.zeros((size + 1, total + 1))  # [how many drawn, their sum]
    ways[0, 0] = 1
    for rank, tied in zip(*np.unique(ranks, return_counts=True), strict=True):
        grown = ways.copy()
        for drawn in range(1, min(tied, size) + 1):
            shift = drawn * int(rank)
            if shift <= total:
                grown[drawn:, shift:] += comb(tied, drawn) * ways[:-drawn, : total + 1 - shift]
        ways = grown
    return ways[size] / ways[size].sum()


class Kruskal(NamedTuple):
    """The Kruskal-Wallis statistic and its p."""

    h: float
    p: float


def kruskal_wallis(*groups: ArrayLike) -> Kruskal:
    """Do several independent groups come from one distribution? Tie-corrected (SPEC 7.5).

    groups: two or more [values]. Constant data: h = 0, p = 1. An empty group: NaN.
    Raises ValueError on NaN or fewer than two groups.
    """
    if len(groups) < 2:
        raise ValueError(f"need at least two groups, got {len(groups)}")
    arrays = [finite(group, f"group {i}").ravel() for i, group in enumerate(groups)]
    if not all(array.size for array in arrays):
        return Kruskal(nan, nan)
    if np.ptp(np.concatenate(arrays)) == 0:
        return Kruskal(0.0, 1.0)
    h, p = scipy_stats.kruskal(*arrays)
    return Kruskal(max(0.0, float(h)), float(p))
