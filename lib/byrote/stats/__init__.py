"""Statistics: rates, intervals, paired drops, rank tests, families of tests, distributions.

Knows nothing of tasks, models or frames: sequences and arrays come in, floats come out.

Everywhere: randomness is a `numpy.random.Generator` passed as `rng`; NaN in data is refused,
because a missing value must be counted by the caller (SPEC 7.9); what cannot be computed (no data
at all) is NaN, never 0. Rates, shares and p-values are in [0, 1], drops in points (0-100), entropy
and divergence in bits.
"""

from byrote.stats.distributions import entropy, jsd
from byrote.stats.equivalence import Equivalence, equivalence_tasks, equivalent
from byrote.stats.families import adjust
from byrote.stats.intervals import Interval, bootstrap, proportion_interval, rate_interval
from byrote.stats.pairs import (
    Drop,
    detectable_drop,
    mcnemar,
    mcnemar_power,
    paired_drop,
    sign_flip,
)
from byrote.stats.ranks import Kruskal, auc, cliffs_delta, kruskal_wallis, mann_whitney
from byrote.stats.rates import mean_pass_at_k, pass_at_k
from byrote.stats.trends import Curve, Trend, isotonic, isotonic_band, trend

__all__ = [
    "Curve",
    "Drop",
    "Equivalence",
    "Interval",
    "Kruskal",
    "Trend",
    "adjust",
    "auc",
    "bootstrap",
    "cliffs_delta",
    "detectable_drop",
    "entropy",
    "equivalence_tasks",
    "equivalent",
    "isotonic",
    "isotonic_band",
    "jsd",
    "kruskal_wallis",
    "mann_whitney",
    "mcnemar",
    "mcnemar_power",
    "mean_pass_at_k",
    "paired_drop",
    "pass_at_k",
    "proportion_interval",
    "rate_interval",
    "sign_flip",
    "trend",
]
