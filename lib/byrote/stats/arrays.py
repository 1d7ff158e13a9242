"""Checked arrays: what every function of this package does to its input first."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

CELLS = 2_000_000  # numbers held at once by a simulation: 16 MB


def finite(values: ArrayLike, name: str) -> np.ndarray:
    """`values` as floats; raises ValueError when one is NaN (missing) or infinite."""
    array = np.asarray(values, dtype=float)
    bad = int((~np.isfinite(array)).sum())
    if bad:
        raise ValueError(
            f"{name}: {bad} of {array.size} values are NaN or infinite; "
            "count and remove missing values before the statistic"
        )
    return array


def shares(values: ArrayLike, name: str) -> np.ndarray:
    """`finite` values that must also lie in [0, 1]: percentages raise ValueError."""
    array = finite(values, name)
    if array.size and not 0 <= array.min() <= array.max() <= 1:
        raise ValueError(f"{name} must lie in [0, 1], got {array.min()} to {array.max()}")
    return array


def labels(clusters: Sequence | None, rows: int) -> np.ndarray:
    """Cluster number 0..C-1 of each row; without clusters every row is its own.

    Raises ValueError when the lengths differ or a label is missing (None or NaN), which would
    otherwise pool all unlabelled rows into one cluster.
    """
    if clusters is None:
        return np.arange(rows)
    if len(clusters) != rows:
        raise ValueError(f"clusters has {len(clusters)} labels for {rows} rows")
    codes, _ = pd.factorize(pd.Series(list(clusters), dtype=object))
    if (codes < 0).any():
        raise ValueError(f"clusters: {int((codes < 0).sum())} of {rows} labels are missing")
    return codes


def chunks(total: int, width: int) -> Iterator[int]:
    """Sizes adding up to `total`, each so small that size x width stays within CELLS."""
    step = max(1, CELLS // max(1, width))
    for start in range(0, total, step):
        yield min(step, total - start)
