"""Dose response: a monotone curve through rates at rising levels, and whether they fall."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression

from byrote.stats.arrays import finite, shares
from byrote.stats.intervals import bootstrap
from byrote.stats.pairs import sign_flip


class Trend(NamedTuple):
    """Slope in points per unit of level with its 95 % limits, two-sided p, and number of tasks."""

    slope: float
    low: float
    high: float
    p: float
    n: int


class Curve(NamedTuple):
    """A monotone curve with its limits: one value a level each, in the unit of the rates."""

    fit: np.ndarray
    low: np.ndarray
    high: np.ndarray


def isotonic(levels: ArrayLike, values: ArrayLike, weights: ArrayLike | None = None) -> np.ndarray:
    """Least-squares curve through `values` that never rises with `levels`, in the order given.

    weights: how much each value counts, for example its number of tasks; by default all the same.
    Pool-adjacent-violators (SPEC 8.6). Raises ValueError when the lengths differ, a level stands
    twice, a value is NaN or a weight is not positive.
    """
    levels, values = finite(levels, "levels"), finite(values, "values")
    weights = np.ones(len(values)) if weights is None else finite(weights, "weights")
    if not levels.shape == values.shape == weights.shape or levels.ndim != 1:
        raise ValueError(
            f"need three lists of one length: {levels.shape}, {values.shape}, {weights.shape}"
        )
    if len(np.unique(levels)) < len(levels) or (weights <= 0).any():
        raise ValueError(f"need distinct levels and positive weights: {levels}, {weights}")
    if not levels.size:
        return values
    order = np.argsort(levels)
    fitted = isotonic_regression(values[order], weights=weights[order], increasing=False).x
    curve = np.empty(len(values))
    curve[order] = fitted
    return curve


def isotonic_band(
    levels: ArrayLike,
    rates: ArrayLike,
    resamples: int = 2_000,
    confidence: float = 0.95,
    *,
    rng: np.random.Generator,
) -> Curve:
    """The `isotonic` curve of mean rates with pointwise percentile limits over resampled tasks.

    rates: [tasks, levels], shares in [0, 1]; a task keeps its whole row. The limits are those of
    the monotone curve: a true rise is outside of what it can show. No tasks: all NaN.
    Raises ValueError as `isotonic` does, and when a rate lies outside [0, 1].
    """
    rates = _matrix(levels, rates)
    if not len(rates):
        return Curve(*(np.full(rates.shape[1], np.nan) for _ in range(3)))
    n = len(rates)
    draws = rng.multinomial(n, np.full(n, 1 / n), size=resamples) @ rates / n
    curves = np.array([isotonic(levels, means) for means in draws])
    limits = [(1 - confidence) / 2, (1 + confidence) / 2]
    low, high = np.quantile(curves, limits, axis=0)
    return Curve(isotonic(levels, rates.mean(axis=0)), low, high)


def trend(
    levels: ArrayLike, rates: ArrayLike, resamples: int = 10_000, *, rng: np.random.Generator
) -> Trend:
    """Does the rate change with the level? The mean of the slopes of the single tasks.

    rates: [tasks, levels], shares in [0, 1]. Limits by bootstrap over tasks, p by `sign_flip` of
    the tasks' slopes: a task as likely rises as falls. (Permuting levels within tasks would take
    them for exchangeable; nested levels share their words, so neighbours agree, and that test
    errs too often.) No tasks: NaN. Raises ValueError as `isotonic_band` does.
    """
    rates = _matrix(levels, rates)
    centred = finite(levels, "levels") - np.mean(levels)
    slopes = np.round(100 * rates @ centred / (centred**2).sum(), 9)
    value, low, high = bootstrap(slopes, np.mean, resamples=resamples, rng=rng)
    return Trend(value, low, high, sign_flip(slopes, resamples=resamples, rng=rng), len(slopes))


def _matrix(levels: ArrayLike, rates: ArrayLike) -> np.ndarray:
    rates = shares(rates, "rates")
    if rates.ndim != 2 or rates.shape[1] != len(np.asarray(levels)) or rates.shape[1] < 2:
        raise ValueError(
            f"need [tasks, levels] with two levels or more: {rates.shape}, {np.shape(levels)}"
        )
    return rates
