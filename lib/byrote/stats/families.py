"""Families of tests: p-values adjusted for how many were made."""

import numpy as np
from numpy.typing import ArrayLike
from statsmodels.stats.multitest import multipletests

METHODS = {"holm": "holm", "bonferroni": "bonferroni", "bh": "fdr_bh"}


def adjust(p_values: ArrayLike, method: str = "holm") -> np.ndarray:
    """Adjusted p-values of one declared family, in the order given.

    holm: the default, uniformly better than bonferroni, which papers use; bh: false discovery
    rate, for exploratory grids (SPEC 7.6). A NaN (a test that could not be made) stays NaN and is
    not counted in m; a test of constant data has p = 1 and is counted.

    Raises ValueError for an unknown method or a p outside [0, 1].
    """
    if method not in METHODS:
        raise ValueError(f"method {method!r}: choose from {', '.join(METHODS)}")
    adjusted = np.array(p_values, dtype=float)
    made = ~np.isnan(adjusted)
    if (adjusted[made] < 0).any() or (adjusted[made] > 1).any():
        raise ValueError(f"p-values must lie in [0, 1] or be NaN, got {adjusted}")
    if made.any():  # statsmodels counts NaN in m, and turns all of fdr_bh into NaN
        adjusted[made] = multipletests(adjusted[made], method=METHODS[method])[1]
    return adjusted
