"""Discrete distributions: entropy and Jensen-Shannon divergence, in bits."""

from collections.abc import Mapping
from math import log, nan

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr, xlog1py

from byrote.stats.arrays import finite


def entropy(p: ArrayLike | Mapping) -> float:
    """Shannon entropy in bits of counts or probabilities: [support] or a mapping to them (SPEC 4).

    They are normalised to sum 1. Empty or all zero: NaN. Raises ValueError if negative or NaN.
    """
    p = _shares(list(p.values()) if isinstance(p, Mapping) else p)
    return nan if p is None else max(0.0, float(entr(p).sum() / log(2)))


def jsd(p: ArrayLike | Mapping, q: ArrayLike | Mapping) -> float:
    """Jensen-Shannon divergence in bits, in [0, 1]; SciPy's `jensenshannon` is its square root.

    p, q: counts or probabilities, both [support] in one order or both mappings, joined on the
    union of their keys; normalised to sum 1, not smoothed. One of them empty: NaN (SPEC 4, 7.8).
    H((p+q)/2) - (H(p) + H(q))/2, summed as terms >= 0, so that rounding cannot make it negative,
    NaN or infinite.

    Raises ValueError if negative or NaN, if the lengths differ, or if only one is a mapping.
    """
    if isinstance(p, Mapping) != isinstance(q, Mapping):
        raise ValueError(f"need two arrays or two mappings, got {type(p)} and {type(q)}")
    if isinstance(p, Mapping):
        keys = dict.fromkeys([*p, *q])
        p, q = [p.get(key, 0) for key in keys], [q.get(key, 0) for key in keys]
    p, q = _shares(p), _shares(q)
    if p is None or q is None:
        return nan
    if len(p) != len(q):
        raise ValueError(f"different supports: {len(p)} and {len(q)} entries")
    both = p + q
    p, q, both = p[both > 0], q[both > 0], both[both > 0]
    t = (p - q) / both
    terms = both / 4 * (xlog1py(1 + t, t) + xlog1py(1 - t, -t))
    return min(1.0, max(0.0, float(terms.sum() / log(2))))


def _shares(weights: ArrayLike) -> np.ndarray | None:
    """Weights as shares of their sum; None when they sum to 0."""
    weights = finite(weights, "weights").ravel()
    if (weights < 0).any():
        raise ValueError(f"weights must be >= 0, got {weights.min()}")
    if not weights.any():
        return None
    weights = weights / weights.max()  # neither overflow nor a subnormal sum
    return weights / weights.sum()
