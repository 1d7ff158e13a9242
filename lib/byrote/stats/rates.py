"""Pass rates: pass@k of one task and its mean over tasks."""

from math import comb, nan

import numpy as np
from numpy.typing import ArrayLike


def pass_at_k(n: int, c: int, k: int) -> float:
    """Chance that at least one of k samples passes, estimated without bias from c of n that did.

    1 - C(n-c, k) / C(n, k), a probability (Chen et al. 2021; SPEC 7.1). For k > n there is no
    unbiased estimate, and no default either: the usual shortcut would answer 1.0 for 0 of 3.

    Raises ValueError when n < 1, k < 1, k > n or c is not in 0..n.
    """
    if n < 1 or not 0 <= c <= n:
        raise ValueError(f"need n >= 1 and 0 <= c <= n, got n={n}, c={c}")
    if not 1 <= k <= n:
        raise ValueError(f"pass@{k} is undefined for n={n} samples: need 1 <= k <= n")
    return 1 - comb(n - c, k) / comb(n, k)


def mean_pass_at_k(counts: ArrayLike, correct: ArrayLike, k: int) -> float:
    """Mean over tasks of pass@k: `counts[i]` samples of task i, `correct[i]` of them passed.

    Tasks weigh the same whatever their number of samples; samples are never pooled (SPEC 7.1).
    NaN (undefined) when there is no task or one has fewer than k samples: leaving that task out
    would change the benchmark.

    Raises ValueError when the lengths differ, k < 1 or a correct count is not in 0..n.
    """
    counts, correct = np.asarray(counts, dtype=int), np.asarray(correct, dtype=int)
    if counts.shape != correct.shape or counts.ndim != 1:
        raise ValueError(f"need two lists of one length, got {counts.shape} and {correct.shape}")
    if k < 1 or (correct < 0).any() or (correct > counts).any():
        raise ValueError(f"need k >= 1 and 0 <= correct <= counts, got k={k}, {correct}, {counts}")
    if not counts.size or counts.min() < k:
        return nan
    pairs = zip(counts.tolist(), correct.tolist(), strict=True)
    return float(np.mean([pass_at_k(n, c, k) for n, c in pairs]))
