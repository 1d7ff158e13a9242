"""Figures and tables of the notebooks: what they show, on a handful of tasks."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from byrote import pipeline, study
from byrote.figures import load as figures
from byrote.figures import overview
from byrote.pipeline import coverage
from byrote.probes import load, taxonomy
from byrote.store import Store


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("figures") / "store.sqlite")
    tasks = pipeline.tasks(["ladder", "humaneval"], 6)
    variants = pipeline.variants(tasks, [pipeline.ORIGINAL, *study.MODES], store=store)
    answers = pipeline.generations(variants, ["oracle", "contract_breaker"], store=store)
    return tasks, variants, answers, pipeline.verdicts(answers, variants, store), store


@pytest.fixture(autouse=True)
def no_figure_stays_open():
    yield
    plt.close("all")


def test_the_bars_of_coverage_add_up_to_the_tasks(run):
    figure = overview.coverage(coverage.of_variants(run[1]))
    for ax in figure.axes:
        widths = pd.DataFrame([(b.get_y(), b.get_width()) for b in ax.patches]).groupby(0)[1]
        assert set(widths.sum()) == {6}
        assert ax.get_xlabel() == "tasks"


def test_every_condition_of_the_lengths_is_drawn_for_both_benchmarks(run):
    figure = overview.lengths(overview.prompt_lengths(run[1]))
    [ax] = figure.axes
    assert [t.get_text() for t in ax.get_yticklabels()] == list(overview.MODE_NAMES.values())
    assert {line.get_label() for line in ax.lines} == {"ladder", "humaneval"}


def test_one_task_is_shown_at_every_load(run):
    text = overview.loads(run[1], "ladder/01")
    assert text.count("Encoding contract") == 5 and "[original]" in text
    with pytest.raises(ValueError, match="ladder/99"):
        overview.loads(run[1], "ladder/99")


def test_table_3_has_a_row_a_benchmark_and_model_with_drops(run):
    rates = load.passes(run[3], run[1])
    shown = figures.table3(load.drops(rates, "all", np.random.default_rng(0)), "all")
    assert len(shown) == 4 and list(shown.columns[:4]) == ["benchmark", "model", "n", "Original"]
    breaker = shown[(shown["model"] == "contract_breaker") & (shown["benchmark"] == "ladder")]
    assert breaker["full"].iloc[0].startswith("0.0 (100.0")


def test_the_papers_rows_are_as_printed_smallest_first():
    rows = figures.paper_rows()
    assert len(rows) == 11 and list(rows["tier"].iloc[[0, -1]]) == ["S", "F"]
    gemini = rows[rows["model"] == "gemini-2.5-flash"].iloc[0]
    assert (gemini["Original"], gemini["Iso"], gemini["Iso drop"]) == (77.4, 47.2, 30.2)


def test_the_drops_have_an_interval_for_every_mode(run):
    rates = load.passes(run[3], run[1])
    figure = figures.drops(load.drops(rates, "core", np.random.default_rng(0)), "core")
    assert [ax.get_title() for ax in figure.axes] == ["ladder", "humaneval"]
    assert figure.axes[0].get_ylabel() == "drop in pass@1 (points)"
    assert len(figure.axes[0].containers) >= 2


def test_the_shares_of_causes_add_up_to_a_hundred(run):
    tasks, variants, answers, verdicts, store = run
    figure = figures.taxonomy(taxonomy.causes(verdicts, answers, variants, tasks, store))
    for ax in figure.axes:
        widths = pd.DataFrame([(b.get_y(), b.get_width()) for b in ax.patches]).groupby(0)[1]
        assert set(widths.sum().round(6)) <= {0, 100}


def test_provenance_tells_scripted_from_embedded(run):
    shown = coverage.provenance(run[2], run[4])
    assert list(shown["nature"]) == ["scripted", "scripted"] and (shown["answers"] > 0).all()


def test_every_task_that_is_left_out_has_a_reason(run):
    counts, why = coverage.of_variants(run[1]), coverage.reasons(run[1])
    assert why["tasks"].sum() == (counts["tasks"] - counts["sound"]).sum()
    assert (why["reason"] != "").all()
