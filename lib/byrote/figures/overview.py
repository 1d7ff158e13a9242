"""Figures of notebook 00: what is varied, on what, with which models."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from byrote import style
from byrote.engines import prompts
from byrote.records import Variant, rows

MODE_NAMES = {
    "": "original",
    "contract_only": "contract only",
    "inputs": "inputs",
    "outputs": "outputs",
    "full": "full",
    "full_with_examples": "full with examples",
}


def named(condition: pd.Series | str) -> str:
    """The printed name of a mode."""
    return MODE_NAMES[condition]


def prompt_lengths(variants: pd.DataFrame) -> pd.DataFrame:
    """Words of the whole question put to a chat model, per sound variant."""
    sound = variants[variants["sound"]]
    words = [len(prompts.question(v).split()) for v in rows(sound, Variant)]
    return pd.DataFrame(
        {
            "benchmark": sound["task_id"].str.split("/").str[0].to_numpy(),
            "condition": sound["mode"].map(MODE_NAMES).to_numpy(),
            "words": words,
        }
    )


def coverage(counts: pd.DataFrame) -> Figure:
    """Stacked bars: sound above the floor, sound on the floor, rejected, not applicable."""
    names = list(counts["benchmark"].unique())
    figure, axes = plt.subplots(1, len(names), figsize=(3.6 * len(names), 2.6), squeeze=False)
    for ax, name in zip(axes[0], names, strict=True):
        part = counts[counts["benchmark"] == name].iloc[::-1]
        labels = part["mode"].map(MODE_NAMES)
        on_floor = part["floor"].where(~part["mode"].isin(["", "contract_only"]), 0)
        pieces = (
            ("sound", part["sound"] - on_floor, style.BLUE),
            ("sound, bare reference passes too", on_floor, style.SKY),
            ("rejected by its own reference", part["rejected"], style.VERMILION),
            ("not applicable", part["tasks"] - part["applicable"], "#D0D0D0"),
        )
        left = pd.Series(0, index=part.index)
        for label, width, colour in pieces:
            ax.barh(labels, width, left=left, color=colour, label=label, height=0.7)
            left += width
        ax.set(title=name, xlabel="tasks")
        ax.grid(axis="y", visible=False)
        if ax is not axes[0][0]:
            ax.set_yticklabels([])
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    return figure


def lengths(words: pd.DataFrame) -> Figure:
    """Median words of a question by condition, with the quartiles as a line."""
    names = list(words["benchmark"].unique())
    conditions = [n for n in MODE_NAMES.values() if n in set(words["condition"])]
    figure, ax = plt.subplots(figsize=(5.2, 2.6))
    for number, (name, colour) in enumerate(zip(names, _colours(), strict=False)):
        part = words[words["benchmark"] == name].groupby("condition")["words"]
        quartiles = part.quantile([0.25, 0.5, 0.75]).unstack().reindex(conditions)
        y = [n + 0.16 * (number - (len(names) - 1) / 2) for n in range(len(conditions))]
        ax.hlines(y, quartiles[0.25], quartiles[0.75], color=colour, lw=2)
        ax.plot(quartiles[0.5], y, "o", color=colour, label=name, ms=5)
    ax.set_yticks(range(len(conditions)), conditions)
    ax.invert_yaxis()
    ax.set(xlabel="words of the question (median and quartiles)", xlim=(0, None))
    ax.grid(axis="y", visible=False)
    figure.legend(loc="outside lower center", ncols=len(names))
    return figure


def _colours() -> tuple[str, ...]:
    return style.BLUE, style.ORANGE, style.GREEN, style.PURPLE


def loads(variants: pd.DataFrame, task_id: str) -> str:
    """One task at every load, as text: the contract, the shown example, what is asked."""
    chosen = rows(variants[(variants["task_id"] == task_id) & variants["sound"]], Variant)
    if not chosen:
        raise ValueError(f"no sound variant of {task_id!r} among the given variants")
    parts = [f"{task_id}\n{chosen[0].prompt.strip()}"]
    for v in chosen:
        text = "\n".join(f"    {line}" for line in v.contract.splitlines())
        parts.append("\n".join(p for p in (f"[{named(v.mode)}]", text, f"    {v.example}") if p))
    return "\n\n".join(parts)
