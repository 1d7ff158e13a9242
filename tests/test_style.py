"""Figures and tables: the same bytes every time, and readable numbers."""

import math

import pandas as pd
import pytest
from matplotlib import pyplot as plt

from byrote import style


def drawn():
    figure, ax = plt.subplots()
    ax.plot([1, 2], label="a")
    return figure


@pytest.mark.parametrize("kind", ["pdf", "png"])
def test_a_figure_has_the_same_bytes_each_time(tmp_path, kind):
    style.use()
    for name in ("one", "two"):
        style.save(drawn(), "figure", str(tmp_path / name))
        plt.close("all")
    first, second = ((tmp_path / n / f"figure.{kind}").read_bytes() for n in ("one", "two"))
    assert first == second and len(first) > 1000


def test_a_table_is_written_as_csv_and_tex_and_given_back(tmp_path):
    frame = pd.DataFrame({"model": ["a_b"], "drop": [1.25]})
    assert style.table(frame, "t", str(tmp_path)) is frame
    assert (tmp_path / "t.csv").read_text() == "model,drop\na_b,1.25\n"
    assert r"a\_b & 1.2" in (tmp_path / "t.tex").read_text()


def test_an_interval_is_printed_with_its_value():
    assert style.interval(1.25, 0.5, 2) == "1.2 [0.5, 2.0]"
    assert style.interval(3, math.nan, math.nan) == "3.0"
    assert style.interval(math.nan, 0, 1) == "–"


def test_a_p_value_never_prints_as_zero():
    assert (style.p_value(0.0001), style.p_value(0.0421), style.p_value(math.nan)) == (
        "<0.001",
        "0.042",
        "–",
    )
