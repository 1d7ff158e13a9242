"""How figures and tables look, and where they go: PDF and PNG, CSV and TeX, byte for byte alike."""

import os
from pathlib import Path

import matplotlib as mpl
import pandas as pd
from matplotlib.figure import Figure

from byrote import paths

# Okabe and Ito's palette, safe for colour-blind readers
BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#E69F00", "#009E73", "#CC79A7"
SKY, VERMILION, YELLOW, GREY = "#56B4E9", "#D55E00", "#F0E442", "#7F7F7F"
SETTINGS = {
    "figure.dpi": 110,
    "savefig.dpi": 200,
    "savefig.bbox": "tight",
    "font.size": 9,
    "font.family": "DejaVu Sans",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E5E5E5",
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
    "svg.hashsalt": "byrote",
    "pdf.fonttype": 42,
}


def use() -> None:
    """Set the look of all figures, and how notebooks print frames."""
    mpl.rcParams.update(SETTINGS)
    pd.set_option("display.width", 160, "display.max_columns", 20, "display.max_colwidth", 80)


def save(figure: Figure, name: str, out: str = "figures") -> Figure:
    """Write `name`.pdf and `name`.png below `out` (a folder, from the project's root)."""
    folder = _folder(out)
    # without a date and a version in the file, the same figure gives the same bytes
    figure.savefig(folder / f"{name}.pdf", metadata={"CreationDate": None, "Producer": None})
    figure.savefig(folder / f"{name}.png", metadata={"Software": None})
    return figure


def table(frame: pd.DataFrame, name: str, out: str = "figures") -> pd.DataFrame:
    """Write `name`.csv and `name`.tex below `out` and give the frame back to be shown."""
    folder = _folder(out)
    frame.to_csv(folder / f"{name}.csv", index=False, lineterminator="\n")
    text = frame.to_latex(index=False, escape=True, float_format="%.1f", na_rep="--")
    (folder / f"{name}.tex").write_text(text)
    return frame


def _folder(out: str) -> Path:
    folder = paths.ROOT / out if not os.path.isabs(out) else Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def interval(value: float, low: float, high: float, digits: int = 1) -> str:
    """A value with its 95 % interval, as tables print it."""
    if pd.isna(value):
        return "–"
    if pd.isna(low):
        return f"{value:.{digits}f}"
    return f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def p_value(p: float) -> str:
    """A p-value as tables print it."""
    return "–" if pd.isna(p) else "<0.001" if p < 0.001 else f"{p:.3f}"
