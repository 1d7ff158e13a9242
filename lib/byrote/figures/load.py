"""Figures and tables of notebook 03: the cost of an input/output isomorphism."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from byrote import paths, stats, style
from byrote.figures.overview import MODE_NAMES
from byrote.probes.taxonomy import CAUSES

# our modes beside the paper's names for them (its package swaps two of the names)
PAPER_NAMES = {"full": "Iso", "inputs": "Iso-Enc", "outputs": "Iso-Dec"}
ORDER = ("contract_only", "inputs", "outputs", "full", "full_with_examples")
CAUSE_COLOURS = dict(
    zip(
        CAUSES,
        (
            *(style.ORANGE, style.SKY, style.VERMILION, style.PURPLE, style.GREEN),
            *(style.YELLOW, "#C8C8C8", "#8C8C8C", "#404040"),
        ),
        strict=True,
    )
)


def printed() -> pd.DataFrame:
    """Table 3 of paper 1 as printed: one row a data set, model and condition."""
    frame = pd.read_csv(paths.data() / "paper" / "scale_pass1.csv")
    sizes = pd.read_csv(paths.data() / "paper" / "scale_models.csv")
    sizes = sizes.drop_duplicates("model").set_index("model")["params_b"]
    return frame.assign(billions=frame["model"].map(sizes))


def table3(metrics: pd.DataFrame, population: str) -> pd.DataFrame:
    """Our rows in the shape of the paper's Table 3: pass@1 (%), in brackets its drop (points).

    The original column is the rate on all tasks that have a full variant, so that the row's
    drops stand on the same tasks.
    """
    part = metrics[metrics["setting"] == f"population={population} wording=1"]
    part = part[part["operator"] == "affine"]
    found = []
    for (benchmark, model), cell in part.groupby(["benchmark", "model"], sort=False):
        values = cell.set_index(["mode", "metric"])
        line = {"benchmark": benchmark, "model": model}
        for mode in (m for m in ORDER if m in cell["mode"].unique()):
            if mode == "full":
                original = values.loc[(mode, "original_pass1")]
                line |= {"n": int(original["n"]), "Original": style.interval(*_three(original))}
        for mode in (m for m in ORDER if m in cell["mode"].unique()):
            drop, p = values.loc[(mode, "drop")], values.loc[(mode, "p_holm"), "value"]
            rate = values.loc[(mode, "pass1"), "value"]
            star = "*" if p < 0.05 else ""
            line[MODE_NAMES[mode]] = f"{rate:.1f} ({style.interval(*_three(drop))}){star}"
        found.append(line)
    return pd.DataFrame(found)


def _three(row: pd.Series) -> tuple[float, float, float]:
    return row["value"], row["low"], row["high"]


def paper_rows(datasets: tuple[str, ...] = ("MBPP",)) -> pd.DataFrame:
    """The paper's rows of Table 3 for some data sets, one line a model, largest model first."""
    frame = printed()
    frame = frame[frame["dataset"].isin(datasets)]
    wide = frame.pivot_table(
        index=["dataset", "model", "tier", "billions"],
        columns="condition",
        values="pass1",
        dropna=False,
    ).dropna(subset="Original")
    wide = wide[["Original", *PAPER_NAMES.values()]].reset_index()
    for name in PAPER_NAMES.values():
        wide[f"{name} drop"] = (wide["Original"] - wide[name]).round(1)
    wide.columns.name = None
    tier = wide["tier"].map({"S": 0, "M": 1, "F": 2})
    return (
        wide.assign(_tier=tier)
        .sort_values(["dataset", "_tier", "billions", "Original"])
        .drop(columns="_tier")
        .reset_index(drop=True)
    )


def drops(metrics: pd.DataFrame, population: str) -> Figure:
    """Our drop by mode with its interval, one panel a benchmark, the paper's MBPP range behind."""
    part = metrics[
        (metrics["setting"] == f"population={population} wording=1")
        & (metrics["metric"] == "drop")
        & (metrics["operator"] == "affine")
    ]
    names = list(part["benchmark"].unique())
    models = list(part["model"].unique())
    paper = paper_rows()
    figure, axes = plt.subplots(
        1, len(names), figsize=(1 + 3.1 * len(names), 2.9), sharey=True, squeeze=False
    )
    for ax, name in zip(axes[0], names, strict=True):
        for position, mode in enumerate(ORDER):
            if mode in PAPER_NAMES:
                drop = paper[f"{PAPER_NAMES[mode]} drop"]
                spread = drop.max() - drop.min()
                ax.bar(
                    position,
                    spread,
                    bottom=drop.min(),
                    width=0.8,
                    color="#E9E2CF",
                    zorder=0,
                    label="paper 1, MBPP, range of 11 models" if mode == "full" else None,
                )
        for number, model in enumerate(models):
            own = part[(part["benchmark"] == name) & (part["model"] == model)].set_index("mode")
            own = own.reindex([m for m in ORDER if m in own.index])
            x = [ORDER.index(m) + 0.15 * (number - (len(models) - 1) / 2) for m in own.index]
            error = [own["value"] - own["low"], own["high"] - own["value"]]
            colour = (style.BLUE, style.VERMILION, style.GREEN, style.PURPLE)[number % 4]
            ax.errorbar(x, own["value"], error, fmt="o", ms=4, capsize=2, color=colour, label=model)
        ax.axhline(0, color="black", lw=0.8)
        ax.set_xticks(range(len(ORDER)), [MODE_NAMES[m].replace(" ", "\n") for m in ORDER])
        ax.set(title=name, xlim=(-0.6, len(ORDER) - 0.4))
        ax.grid(axis="x", visible=False)
    axes[0][0].set_ylabel("drop in pass@1 (points)")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure


def taxonomy(causes: pd.DataFrame) -> Figure:
    """Stacked bars: shares of causes among the failed generations, by benchmark and mode."""
    modes = [m for m in ORDER if m in set(causes["mode"])]
    named = causes.assign(benchmark=causes["task_id"].str.split("/").str[0])
    names = list(named["benchmark"].unique())
    figure, axes = plt.subplots(1, len(names), figsize=(1 + 3.1 * len(names), 2.6), squeeze=False)
    for ax, name in zip(axes[0], names, strict=True):
        part = named[named["benchmark"] == name]
        counts = part.groupby(["mode", "cause"]).size().unstack(fill_value=0)
        counts = counts.reindex(index=modes, columns=list(CAUSES), fill_value=0)
        totals = counts.sum(axis=1)
        left = pd.Series(0.0, index=counts.index)
        labels = [f"{MODE_NAMES[m]} ({totals[m]})" for m in counts.index]
        for cause in CAUSES:
            width = 100 * counts[cause] / totals.where(totals > 0, 1)
            ax.barh(labels, width, left=left, color=CAUSE_COLOURS[cause], label=cause, height=0.7)
            left += width
        ax.set(title=name, xlabel="failed generations (%)", xlim=(0, 100))
        ax.grid(axis="y", visible=False)
        ax.invert_yaxis()
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return figure


def power(metrics: pd.DataFrame, population: str) -> pd.DataFrame:
    """What each cell could have shown: tasks, discordant share, least drop at 80 % power.

    The drop is in points, for an exact McNemar test at the observed share of discordant tasks;
    empty where no drop could be detected.
    """
    part = metrics[metrics["setting"] == f"population={population} wording=1"]
    wide = part.pivot_table(
        index=["model", "benchmark", "mode", "n"], columns="metric", values="value", sort=False
    ).reset_index()
    wide.columns.name = None
    share = (wide["lost"] + wide["won"]) / wide["n"]
    least = [
        stats.detectable_drop(int(n), discordant) if discordant else float("nan")
        for n, discordant in zip(wide["n"], share, strict=True)
    ]
    shown = wide[["model", "benchmark", "mode", "n", "lost", "won"]].astype(
        {"lost": int, "won": int}
    )
    return shown.assign(**{"discordant (%)": (100 * share).round(1), "detectable (points)": least})


def controls(rates: pd.DataFrame) -> pd.DataFrame:
    """pass@1 (%) of the scripted models by condition: what each must be is known."""
    named = rates.assign(condition=rates["mode"].map(MODE_NAMES))
    wide = named.pivot_table(index=["benchmark", "model"], columns="condition", values="rate")
    wide = 100 * wide[[n for n in MODE_NAMES.values() if n in wide.columns]]
    wide.columns.name = None
    return wide.round(1).reset_index()


def spread(verdicts: pd.DataFrame) -> pd.DataFrame:
    """pass@1 and pass@5 (%) of repeated samples, by benchmark and condition."""
    named = verdicts.assign(
        benchmark=verdicts["task_id"].str.split("/").str[0],
        condition=verdicts["mode"].map(MODE_NAMES),
        passed=verdicts["outcome"] == "passed",
    )
    found = []
    for (benchmark, condition), part in named.groupby(["benchmark", "condition"], sort=False):
        tasks = part.groupby("task_id")["passed"].agg(["size", "sum"])
        always = ((tasks["sum"] == tasks["size"]) | (tasks["sum"] == 0)).mean()
        found.append(
            {
                "benchmark": benchmark,
                "condition": condition,
                "tasks": len(tasks),
                "samples": int(tasks["size"].max()),
                "pass@1": 100 * stats.mean_pass_at_k(tasks["size"], tasks["sum"], 1),
                "pass@5": 100 * stats.mean_pass_at_k(tasks["size"], tasks["sum"], 5),
                "tasks alike in all samples (%)": 100 * always,
            }
        )
    return pd.DataFrame(found).round(1)
