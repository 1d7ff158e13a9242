"""Figure of notebook 00: pass@1 against parameters, and closed models beside."""

from collections.abc import Iterable

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.transforms import Bbox

from byrote import style

# how a model is drawn: label of the legend, colour, marker
EMBEDDED = ("embedded", style.ORANGE, "D")
REAL = ("real", style.BLUE, "o")
CLOSED = ("real, size not published", style.PURPLE, "s")
DOTS = 7  # distance of a label from its point


def pass_rates(metrics: pd.DataFrame, models: pd.DataFrame, benchmarks: list[str]) -> Figure:
    """pass@1 with its interval against billions of parameters (log), one row a benchmark.

    metrics: from `probes.scale`; models: `model`, `billions`, `nature`, and `name` where it is
    known by another (`coverage.provenance` and `replayed.models`). Scripted models have no size and
    are left out; a model of unknown size stands in the strip at the right.
    """
    known = models[models["nature"] != "scripted"].drop_duplicates("model")
    points = metrics.merge(known, on="model", validate="many_to_one")
    shown = [name for name in benchmarks if (points["benchmark"] == name).any()]
    if not shown:
        raise ValueError(f"no real model has a pass rate on {benchmarks}; name other benchmarks")
    figure, axes = plt.subplots(
        *(len(shown), 2),
        figsize=(7, 0.8 + 2.1 * len(shown)),
        width_ratios=[4, 1],
        sharex="col",
        sharey=True,
        squeeze=False,
    )
    drawn = [
        _panel(*row, points[points["benchmark"] == n]) for n, row in zip(shown, axes, strict=True)
    ]
    _shape(axes, shown, points)
    _legend(figure, points)
    figure.draw_without_rendering()  # so that places on the page are known
    figure.set_layout_engine("none")
    for (sized, strip), panel in zip(axes, drawn, strict=True):
        _label(sized, panel[panel["billions"].notna()])
        _label(strip, panel[panel["billions"].isna()])
    return figure


def _panel(sized: Axes, strip: Axes, points: pd.DataFrame) -> pd.DataFrame:
    """Draw the points of one benchmark; gives them back with their place `x`.

    Models of one size stand side by side, so that no interval hides another.
    """
    sizes = points["billions"].fillna(1.0)
    points = points.assign(x=sizes * 1.07 ** sizes.groupby(sizes).cumcount())
    for point in points.itertuples():
        ax = strip if pd.isna(point.billions) else sized
        _, colour, marker = _look(point)
        error = [[point.value - point.low], [point.high - point.value]]
        ax.errorbar(point.x, point.value, error, color=colour, fmt=marker, ms=4, lw=1, capsize=2)
    return points


def _look(point: tuple) -> tuple[str, str, str]:
    if point.nature == "embedded":
        return EMBEDDED
    return CLOSED if pd.isna(point.billions) else REAL


def _shape(axes: Iterable, shown: list[str], points: pd.DataFrame) -> None:
    """Titles, limits and ticks."""
    sizes = points["billions"].dropna()
    for name, (sized, strip) in zip(shown, axes, strict=True):
        count = points.loc[points["benchmark"] == name, "n"]
        sized.set_title(f"{name}, {_range(count)} tasks", loc="left")
        sized.set(xscale="log", ylim=(0, 100), ylabel="pass@1 (%)")
        strip.set(xlim=(0.8, 3))
        strip.set_xticks([])
    if len(sizes):
        sized.set_xlim(sizes.min() / 2, sizes.max() * 15)  # room for a name
    ticks = [t for t in (0.01, 0.1, 1, 10, 100, 1000) if sized.get_xlim()[0] < t]
    ticks = [t for t in ticks if t < sized.get_xlim()[1]]
    sized.set_xticks(ticks, [f"{t:g}" for t in ticks])
    sized.set_xlabel("parameters (billions)")
    strip.set_xlabel("not published")


def _range(counts: pd.Series) -> str:
    low, high = counts.min(), counts.max()
    return f"{low}" if low == high else f"{low}–{high}"


def _legend(figure: Figure, points: pd.DataFrame) -> None:
    there = dict.fromkeys(_look(point) for point in points.itertuples())
    handles = [Line2D([], [], color=c, marker=m, ls="", label=label) for label, c, m in there]
    figure.legend(handles=handles, loc="outside lower center", ncols=3)


def _label(ax: Axes, points: pd.DataFrame) -> None:
    """Write the names beside the points, each where it covers neither point nor other name."""
    names = points["name"].fillna(points["model"]) if "name" in points else points["model"]
    taken = [_box(ax, point) for point in points.itertuples()]
    for name, point in zip(names, points.itertuples(), strict=True):
        note = ax.annotate(
            name,
            (point.x, point.value),
            xytext=(DOTS, 0),
            textcoords="offset points",
            va="center",
            fontsize=7,
        )
        for dx, dy in _places():
            note.set(position=(dx, dy), ha="left" if dx > 0 else "right")
            box = note.get_window_extent()
            inside = ax.bbox.x0 <= box.x0 and box.x1 <= ax.bbox.x1
            if inside and not any(box.overlaps(other) for other in taken):
                break
        taken.append(box)


def _places() -> Iterable[tuple[float, float]]:
    """Offsets to try, in points: right, left, then further up and down."""
    for far in range(0, 100, 5):
        for dy in dict.fromkeys((far, -far)):
            yield DOTS, dy
            yield -DOTS, dy


def _box(ax: Axes, point: tuple) -> Bbox:
    """What a point and its interval cover on the page, so wide that a name beside is its own."""
    (x, low), (_, high) = ax.transData.transform([(point.x, point.low), (point.x, point.high)])
    wide = 0.95 * DOTS * ax.figure.dpi / 72  # a name begins at DOTS
    return Bbox([[x - wide, low], [x + wide, high]])
