"""Figures and tables of notebook 03 on the family of the map and on the length of the prompt."""

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from byrote import paths, style

FAMILIES = {
    "affine": "affine",
    "base_write": "base, written",
    "base_read": "base, read",
    "cubic": "cubic",
}
LENGTHS = {
    ("dead_code", ""): "dead code",
    ("filler", ""): "filler prose",
    ("affine", "contract_only"): "contract only",
    ("affine", "full"): "full",
}
COLOURS = dict(zip(FAMILIES, (style.BLUE, style.ORANGE, style.GREEN, style.PURPLE), strict=True))


def table5(metrics: pd.DataFrame, population: str) -> pd.DataFrame:
    """Our rows in the shape of the paper's Table 5: each family in full, on its own tasks.

    pass@1 (%) on the original and behind the map, the drop (points) with its interval, and `*`
    where the corrected p is below 0.05. A base leaves some tasks as they are, so the tasks and
    with them the original rate differ between families.
    """
    part = metrics[(metrics["mode"] == "full") & metrics["operator"].isin(FAMILIES)]
    part = part[part["setting"] == f"population={population} wording=1"]
    found = []
    for (benchmark, model, family), cell in part.groupby(
        ["benchmark", "model", "operator"], sort=False
    ):
        values = cell.set_index("metric")
        found.append(
            {"benchmark": benchmark, "model": model, "family": FAMILIES[family]} | _line(values)
        )
    return pd.DataFrame(found)


def table6(metrics: pd.DataFrame, excess: pd.DataFrame) -> pd.DataFrame:
    """Our rows in the shape of the paper's Table 6: the contract beside texts of its length.

    `beyond` is how many points the contract costs more than the text of that row.
    """
    more = excess.set_index(["benchmark", "model", "operator", "mode", "metric"])
    found = []
    chosen = metrics[metrics["setting"].isin(["population=all", "population=all wording=1"])]
    keys = ["benchmark", "model", "operator", "mode"]
    for key, cell in chosen.groupby(keys, sort=False):
        if key[2:] not in LENGTHS:
            continue
        line = dict(zip(keys[:2], key[:2], strict=True)) | {"added": LENGTHS[key[2:]]}
        line |= _line(cell.set_index("metric"))
        if (*key, "excess") in more.index:
            row = more.loc[(*key, "excess")]
            star = "*" if more.loc[(*key, "p"), "value"] < 0.05 else ""
            line["beyond"] = style.interval(row["value"], row["low"], row["high"]) + star
        found.append(line)
    return pd.DataFrame(found).fillna({"beyond": "–"})


def _line(values: pd.DataFrame) -> dict[str, object]:
    drop = values.loc["drop"]
    star = "*" if values.loc["p_holm", "value"] < 0.05 else ""
    return {
        "n": int(drop["n"]),
        "original": round(values.loc["original_pass1", "value"], 1),
        "pass@1": round(values.loc["pass1", "value"], 1),
        "drop": style.interval(drop["value"], drop["low"], drop["high"]) + star,
    }


def paper5() -> pd.DataFrame:
    """Table 5 of paper 1 as printed: one row a data set and model, drops in points."""
    return _paper("scale_iso_families.csv", "family", "original")


def paper6() -> pd.DataFrame:
    """Table 6 of paper 1 as printed: one row a data set and model, drops in points."""
    return _paper("scale_deadcode.csv", "condition", "Original")


def _paper(file: str, columns: str, original: str) -> pd.DataFrame:
    frame = pd.read_csv(paths.data() / "paper" / file)
    wide = frame.pivot_table(
        index=["dataset", "model"], columns=columns, values="pass1", sort=False
    ).reset_index()
    wide.columns.name = None
    for name in wide.columns[3:]:
        wide[f"{name} drop"] = (wide[original] - wide[name]).round(1)
    return wide


def lengths(answers: pd.DataFrame) -> pd.DataFrame:
    """How well texts match the full contract in tokens, as each model's own tokenizer counted.

    One row a model, benchmark and text: median and largest difference of the whole prompt's
    tokens, and the share of tasks within 8 tokens (SPEC 1.2).
    """
    full = answers[(answers["operator"] == "affine") & (answers["mode"] == "full")]
    full = full[full["wording"] == "1"].drop_duplicates(["model", "task_id"])
    found = []
    for (operator, mode), name in LENGTHS.items():
        own = answers[(answers["operator"] == operator) & (answers["mode"] == mode)]
        own = own.drop_duplicates(["model", "task_id"])
        both = own.merge(full, on=["model", "task_id"], suffixes=("", "_full"))
        both = both[(both["prompt_tokens"] > 0) & (both["mode"] != "full")]
        both["benchmark"] = both["task_id"].str.split("/").str[0]
        both["difference"] = both["prompt_tokens"] - both["prompt_tokens_full"]
        for (model, benchmark), part in both.groupby(["model", "benchmark"], sort=False):
            found.append(
                {
                    "model": model,
                    "benchmark": benchmark,
                    "added": name,
                    "tasks": len(part),
                    "median difference": part["difference"].median(),
                    "largest": part["difference"].abs().max(),
                    "within 8 tokens (%)": round(100 * (part["difference"].abs() <= 8).mean(), 1),
                }
            )
    return pd.DataFrame(found)


def drops(metrics: pd.DataFrame, population: str) -> Figure:
    """Drop by family with its interval, one panel a benchmark; the paper's MBPP rows behind."""
    part = metrics[(metrics["mode"] == "full") & (metrics["metric"] == "drop")]
    part = part[part["operator"].isin(FAMILIES)]
    part = part[part["setting"] == f"population={population} wording=1"]
    names, models = list(part["benchmark"].unique()), list(part["model"].unique())
    figure, axes = plt.subplots(
        1, len(names), figsize=(1 + 3.1 * len(names), 2.9), sharey=True, squeeze=False
    )
    for ax, name in zip(axes[0], names, strict=True):
        _paper_ranges(ax)
        for number, model in enumerate(models):
            own = part[(part["benchmark"] == name) & (part["model"] == model)].set_index("operator")
            shift = 0.15 * (number - (len(models) - 1) / 2)
            for position, family in enumerate(FAMILIES):
                if family not in own.index:
                    continue
                row = own.loc[family]
                error = [[row["value"] - row["low"]], [row["high"] - row["value"]]]
                mark = "osD^"[number % 4]
                label = model if family == "affine" else None
                ax.errorbar(
                    position + shift,
                    row["value"],
                    error,
                    fmt=mark,
                    ms=4,
                    capsize=2,
                    color=COLOURS[family],
                    label=label,
                )
        ax.axhline(0, color="black", lw=0.8)
        ax.set_xticks(range(len(FAMILIES)), [n.replace(" ", "\n") for n in FAMILIES.values()])
        ax.set(title=name, xlim=(-0.6, len(FAMILIES) - 0.4))
        ax.grid(axis="x", visible=False)
    axes[0][0].set_ylabel("drop in pass@1 (points)")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure


def _paper_ranges(ax: plt.Axes) -> None:
    """The range of the paper's models on MBPP; its base map stands behind both of ours."""
    rows = paper5()
    rows = rows[rows["dataset"] == "MBPP"]
    for position, family in enumerate(FAMILIES):
        drop = rows[f"{family.partition('_')[0]} drop"]
        label = f"paper 1, MBPP, range of {len(rows)} models" if position == 0 else None
        spread = drop.max() - drop.min()
        ax.bar(position, spread, 0.8, drop.min(), color="#E9E2CF", zorder=0, label=label)
