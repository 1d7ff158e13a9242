"""Figures and tables of notebook 01: the cost of other words, and of more of them."""

import json

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from byrote import paths, stats, style
from byrote.figures.load import printed
from byrote.probes.encoder import ALPHA, findings

# our conditions, near to far, beside the names of paper 1 for those it has
NAMES = {
    ("synonyms", 0.1): "Syn-10",
    ("synonyms", 0.2): "Syn-20",
    ("synonyms", 0.3): "Syn-30",
    ("synonyms", 0.4): "Syn-40",
    ("synonyms", 0.5): "Syn-50",
    ("synonyms", 0.6): "Syn-60",
    ("dead_code", 1.0): "dead code",
    ("filler", 1.0): "filler",
    ("reword", 1.0): "reword 1",
    ("reword", 3.0): "reword 3",
    ("reword", 5.0): "reword 5",
}
DOSES = ("Syn-10", "Syn-30", "Syn-50", "Syn-60")  # of the dose response alone
SHOWN = tuple(name for name in NAMES.values() if name not in DOSES)
PAPER = {"Syn-20": "Syn-20", "Syn-40": "Syn-40", "dead code": "DeadCode"}
SAND = "#E9E2CF"
COLOURS = (style.BLUE, style.VERMILION, style.GREEN, style.PURPLE)


def named(frame: pd.DataFrame) -> pd.Series:
    """The printed name of each row's condition, from its operator and level."""
    return pd.Series(
        [
            "original" if o == "original" else NAMES.get((o, round(v, 6)), f"{o} {v:g}")
            for o, v in zip(frame["operator"], frame["level"], strict=True)
        ],
        index=frame.index,
        dtype="str",
    )


def changes(variants: pd.DataFrame, distances: pd.DataFrame) -> pd.DataFrame:
    """How far each condition's prompts are from the original, by benchmark.

    Sound variants, how many of them show the original's very prompt, the mean share of words
    changed or added (%), and of rewordings (distances: `pipeline.rewording.distances`) the median
    distance in meaning, who wrote them, and whether anybody checked that they mean the same.
    """
    sound = variants[variants["sound"] & (variants["operator"] != "original")]
    facts = pd.DataFrame([json.loads(p) for p in sound["parameters"]], index=sound.index)
    sound = sound.assign(
        benchmark=sound["task_id"].str.split("/").str[0],
        condition=named(sound),
        **facts.reindex(columns=["tokens"]),
    )
    far = distances.assign(condition=named(distances.assign(operator="reword")))
    sound = sound.merge(far.drop(columns="level"), "left", ["task_id", "condition"])
    found = []
    for (benchmark, condition), part in sound.groupby(["benchmark", "condition"], sort=False):
        line = {"benchmark": benchmark, "condition": condition, "variants": len(part)}
        line["as the original"] = int((part["changed"] == 0).sum())
        line["changed (%)"] = round(100 * part["changed"].mean(), 1)
        line["tokens added"] = part["tokens"].median()
        line["distance"] = round(part["distance"].median(), 2)
        line["by"] = ", ".join(sorted(part["by"].dropna().unique()))
        line["meaning checked"] = {True: "yes", False: "no"}.get(part["checked"].iloc[0], "")
        found.append(line)
    return pd.DataFrame(found)


def realised(rates: pd.DataFrame) -> pd.DataFrame:
    """The rates of `probes.encoder.realised` for print: mean and quartiles in percent."""
    shown = rates[["benchmark", "variants", "as the original", "of", "words"]].copy()
    shown.insert(1, "condition", [NAMES[("synonyms", round(v, 6))] for v in rates["level"]])
    spread = zip(rates["mean"], rates["q1"], rates["q2"], rates["q3"], strict=True)
    shown["replaced (%)"] = [f"{mean:.1f} ({a:.1f}, {b:.1f}, {c:.1f})" for mean, a, b, c in spread]
    return shown


def marked(original: str, variant: str) -> str:
    """A prompt with each word that a synonym replaced shown as [old > new]."""
    old, new = original.split(), variant.split()
    if len(old) != len(new):
        raise ValueError(f"{len(old)} and {len(new)} words: only synonyms stand word for word")
    pairs = zip(old, new, strict=True)
    return " ".join(a if a == b else f"[{a} > {b}]" for a, b in pairs)


def table(metrics: pd.DataFrame) -> pd.DataFrame:
    """Our rows in the shape of the paper's Tables 3 (Syn) and 6 (DeadCode).

    pass@1 (%), in brackets its drop (points) with the interval; `*` where the corrected p is
    below 0.05. The original is that of the condition with the most tasks.
    """
    chosen = metrics.assign(condition=named(metrics))
    found = []
    for (benchmark, model), part in chosen.groupby(["benchmark", "model"], sort=False):
        values = part.set_index(["condition", "metric"])
        original = part[part["metric"] == "original_pass1"].sort_values("n").iloc[-1]
        line = {"benchmark": benchmark, "model": model, "n": int(original["n"])}
        line["Original"] = style.interval(*original[["value", "low", "high"]])
        there = set(part["condition"])
        for condition in (name for name in SHOWN if name in there):
            drop = style.interval(*values.loc[(condition, "drop"), ["value", "low", "high"]])
            rate = values.loc[(condition, "pass1"), "value"]
            star = "*" if values.loc[(condition, "p_holm"), "value"] < ALPHA else ""
            line[condition] = f"{rate:.1f} ({drop}){star}"
        found.append(line)
    return pd.DataFrame(found).fillna("–")


def details(metrics: pd.DataFrame) -> pd.DataFrame:
    """Every condition with its tests: drop, raw and corrected p, relative change, equivalence.

    `change (%)` as paper 1 prints it, with `?` where the original is below 5 % (unstable).
    """
    chosen = metrics.assign(condition=named(metrics))
    found = []
    keys = ["benchmark", "model", "condition", "n"]
    for key, part in chosen.groupby(keys, sort=False):
        values = part.set_index("metric")
        v = values["value"]
        drop, ninety = values.loc["drop"], values.loc["equivalence"]
        stable = "relative" in v.index
        change = v["relative" if stable else "relative_unstable"]
        line = dict(zip(keys, key, strict=True)) | {"lost": int(v["lost"]), "won": int(v["won"])}
        line["drop"] = style.interval(*drop[["value", "low", "high"]])
        line |= {"p": style.p_value(v["p"]), "p Holm": style.p_value(v["p_holm"])}
        line["change (%)"] = "–" if np.isnan(change) else f"{change:+.0f}" + "?" * (not stable)
        line["90 %"] = f"[{ninety['low']:.1f}, {ninety['high']:.1f}]"
        line["p equivalent"] = style.p_value(v["p_equivalent"])
        line["p eq. Holm"] = style.p_value(v["p_equivalent_holm"])
        found.append(line)
    shown = pd.DataFrame(found)
    return shown.assign(finding=findings(metrics)["finding"].to_numpy())


def power(metrics: pd.DataFrame) -> pd.DataFrame:
    """What each cell could have shown, in points of pass@1 (SPEC 8.12).

    `detectable`: the drop that an exact McNemar test finds with 80 % power at the observed share of
    discordant tasks, empty where none is. `least`: the smallest loss that could be significant
    after correction, if nothing is won; where the model passes no more, there is no power.
    """
    chosen = metrics.assign(condition=named(metrics))
    keys = ["benchmark", "model", "condition", "n"]
    wide = chosen.pivot_table(index=keys, columns="metric", values="value", sort=False)
    wide = wide.reset_index().rename_axis(columns=None)
    share = (wide["lost"] + wide["won"]) / wide["n"]
    found = [
        stats.detectable_drop(int(n), d) if d else np.nan
        for n, d in zip(wide["n"], share, strict=True)
    ]
    family = wide.groupby(["benchmark", "model"])["n"].transform("size")
    least = 100 * np.floor(1 + np.log2(2 * family / ALPHA)) / wide["n"]
    shown = wide[keys].assign(lost=wide["lost"].astype(int), won=wide["won"].astype(int))
    shown["original (%)"] = wide["original_pass1"].round(1)
    shown["discordant (%)"] = (100 * share).round(1)
    shown["detectable"] = np.round(found, 1)
    shown["least"] = least.round(1)
    fine = np.where(np.array(found) <= 5, "5 points", "over 5 points only")
    shown["power"] = np.where(wide["original_pass1"] <= least, "none", fine)
    return shown


def controls(metrics: pd.DataFrame) -> pd.DataFrame:
    """The drop (points) of the scripted models by condition: what each must be is known."""
    chosen = metrics[metrics["metric"] == "drop"]
    chosen = chosen.assign(condition=named(chosen))
    wide = chosen.pivot_table(
        index=["benchmark", "model"], columns="condition", values="value", sort=False
    )
    wide = wide[[name for name in NAMES.values() if name in wide.columns]]
    return wide.round(1).reset_index().rename_axis(columns=None)


def paper_rows() -> pd.DataFrame:
    """The paper's rows of Table 3 (Syn) and, where it printed one, Table 6 (DeadCode).

    One line a data set and model, the smallest first: pass@1 (%) and drops in points. Each drop
    is from the original of its own table.
    """
    table3 = printed()
    table6 = pd.read_csv(paths.data() / "paper" / "scale_deadcode.csv")
    found = []
    for (dataset, model), part in table3.groupby(["dataset", "model"], sort=False):
        rates = part.set_index("condition")["pass1"]
        line = {"dataset": dataset, "model": model, "billions": part["billions"].iloc[0]}
        line |= {name: rates[name] for name in ("Original", "Syn-20", "Syn-40")}
        for name in ("Syn-20", "Syn-40"):
            line[f"{name} drop"] = round(rates["Original"] - rates[name], 1)
        own = table6[(table6["dataset"] == dataset) & (table6["model"] == model)]
        if len(own):
            rates = own.set_index("condition")["pass1"]
            line["DeadCode"] = rates["DeadCode"]
            line["DeadCode drop"] = round(rates["Original"] - rates["DeadCode"], 1)
        found.append(line)
    return pd.DataFrame(found).sort_values(["dataset", "billions", "Original"], ignore_index=True)


def drops(metrics: pd.DataFrame) -> Figure:
    """Drop by condition with its interval, one panel a benchmark, the paper's MBPP range behind."""
    part = metrics[metrics["metric"] == "drop"]
    part = part.assign(condition=named(part))
    part = part[part["condition"].isin(SHOWN)]
    panels = list(part.groupby("benchmark", sort=False))
    figure, axes = _panels([own["condition"].nunique() for _, own in panels])
    models = list(part["model"].unique())
    for ax, (name, panel) in zip(axes, panels, strict=True):
        there = [condition for condition in SHOWN if (panel["condition"] == condition).any()]
        _paper_ranges(ax, there)
        for number, model in enumerate(models):
            own = panel[panel["model"] == model]
            shift = 0.15 * (number - (len(models) - 1) / 2)
            x = [there.index(c) + shift for c in own["condition"]]
            error = [own["value"] - own["low"], own["high"] - own["value"]]
            ax.errorbar(x, own["value"], error, ms=4, capsize=2, label=model, **_look(number))
        ax.axhline(0, color="black", lw=0.8)
        ax.set_xticks(range(len(there)), [n.replace(" ", "\n") for n in there], fontsize=8)
        ax.set(title=f"{name}, {panel['n'].max()} tasks", xlim=(-0.6, len(there) - 0.4))
        ax.grid(axis="x", visible=False)
    axes[0].set_ylabel("drop in pass@1 (points)")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def _panels(widths: list[int]) -> tuple[Figure, list[Axes]]:
    """One panel a benchmark, as wide as what it shows and its title, with one scale of y."""
    widths = [max(3, width) for width in widths]
    size = (max(4.5, 1.2 + 0.55 * sum(widths)), 3.1)
    figure, axes = plt.subplots(
        1, len(widths), figsize=size, sharey=True, squeeze=False, width_ratios=widths
    )
    return figure, list(axes[0])


def _look(number: int) -> dict[str, str]:
    return {"color": COLOURS[number % 4], "marker": "osD^"[number % 4], "ls": ""}


def _paper_ranges(ax: Axes, there: list[str]) -> None:
    rows = paper_rows()
    rows = rows[rows["dataset"] == "MBPP"]
    label = "paper 1, MBPP, range of 11 models (dead code 3)"
    for name in (name for name in there if name in PAPER):
        drop = rows[f"{PAPER[name]} drop"].dropna()
        spread = drop.max() - drop.min()
        ax.bar(there.index(name), spread, 0.8, drop.min(), color=SAND, zorder=0, label=label)
        label = None


def doses(metrics: pd.DataFrame, replaced: pd.DataFrame) -> Figure:
    """pass@1 by share of words drawn (points), the curve that never rises (line) and its band.

    metrics: `probes.encoder.doses`; replaced: `probes.encoder.realised`, whose mean share of all
    words stands below each level.
    """
    curves = metrics[metrics["metric"].isin(["dose", "isotonic"])]
    panels = list(curves.groupby("benchmark", sort=False))
    if not panels:
        raise ValueError("no benchmark has two levels of synonyms beside the original")
    figure, axes = _panels([round(10 * own["level"].max()) + 1 for _, own in panels])
    models = list(curves["model"].unique())
    for ax, (name, panel) in zip(axes, panels, strict=True):
        for model, own in panel.groupby("model", sort=False):
            _curve(ax, own, model, _look(models.index(model)))
        levels = sorted(panel["level"].unique())
        ax.set_xticks(levels, _dose_labels(levels, replaced[replaced["benchmark"] == name]))
        ax.set(title=f"{name}, {panel['n'].iloc[0]} tasks", xlim=(-0.05, levels[-1] + 0.05))
    axes[0].set_ylim(-0.04 * axes[0].get_ylim()[1], None)
    axes[0].set(ylabel="pass@1 (%)", xlabel="words drawn, of those with a synonym (%)\n"
                "(and replaced, of all words)")  # fmt: skip
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def _curve(ax: Axes, own: pd.DataFrame, model: str, look: dict[str, str]) -> None:
    dose = own[own["metric"] == "dose"].sort_values("level")
    curve = own[own["metric"] == "isotonic"].sort_values("level")
    band = {"color": look["color"], "alpha": 0.15, "lw": 0}
    ax.fill_between(curve["level"], curve["low"], curve["high"], **band)
    ax.plot(curve["level"], curve["value"], color=look["color"], lw=1.5)
    ax.plot(dose["level"], dose["value"], ms=4, label=model, **look)


def _dose_labels(levels: list[float], replaced: pd.DataFrame) -> list[str]:
    means = replaced[replaced["of"] == "all words"].set_index("level")["mean"]
    return [f"{100 * v:.0f}\n({means.get(v, 0.0):.0f})" for v in levels]
