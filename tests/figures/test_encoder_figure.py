"""Figures and tables of notebook 01: what they show, on a handful of tasks."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from byrote import pipeline, study
from byrote.figures import encoder as figures
from byrote.probes import encoder, load
from byrote.store import Store

EVERY = [*study.SYNONYMS, study.DEAD_CODE, study.FILLER, *study.REWORDINGS]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("figures") / "store.sqlite")
    ladder, code = (pipeline.tasks([name], 6) for name in ("ladder", "humaneval"))
    variants = pd.concat(
        [
            pipeline.variants(ladder, [pipeline.ORIGINAL, *EVERY], store=store),
            pipeline.variants(code, [pipeline.ORIGINAL, *study.SYNONYMS[1:4:2]], store=store),
        ],
        ignore_index=True,
    )
    answers = pipeline.generations(variants, ["oracle", "parrot"], store=store)
    rates = load.passes(pipeline.verdicts(answers, variants, store), variants)
    rng = np.random.default_rng(0)
    return variants, encoder.drops(rates, rng), encoder.doses(rates, rng)


@pytest.fixture(autouse=True)
def no_figure_stays_open():
    yield
    plt.close("all")


def distances(variants: pd.DataFrame) -> pd.DataFrame:
    """What `pipeline.rewording.distances` gives, of made-up distances."""
    own = variants[variants["operator"] == "reword"]
    return own[["task_id", "level"]].assign(by="hand", checked=True, distance=own["level"] / 10)


def test_every_condition_of_the_study_has_a_printed_name():
    frame = pd.DataFrame([c._asdict() for c in (pipeline.ORIGINAL, *EVERY)])
    assert list(figures.named(frame)) == ["original", *figures.NAMES.values()]


def test_the_table_has_the_columns_of_the_paper_and_a_star_for_a_sure_drop(run):
    shown = figures.table(run[1])
    assert list(shown.columns) == ["benchmark", "model", "n", "Original", *figures.SHOWN]
    parrot = shown[(shown["model"] == "parrot") & (shown["benchmark"] == "ladder")].iloc[0]
    assert parrot["Syn-40"] == "0.0 (100.0 [100.0, 100.0])"  # six tasks are too few for a star
    other = shown[shown["benchmark"] == "humaneval"].iloc[0]
    assert other["Syn-20"].startswith("100.0 (0.0") and other["reword 5"] == "–"
    sure = run[1].copy()
    sure.loc[sure["metric"] == "p_holm", "value"] = 0.04
    assert figures.table(sure)["Syn-40"].str.endswith("*").all()


def test_an_unstable_change_is_printed_with_a_question_mark(run):
    shown = figures.details(run[1])
    assert set(shown.loc[shown["model"] == "parrot", "change (%)"]) == {"-100"}
    assert len(shown) == len(encoder.findings(run[1])) and shown["finding"].notna().all()
    metrics = run[1].replace({"metric": {"relative": "relative_unstable"}})
    assert figures.details(metrics)["change (%)"].str.endswith("?").all()


def test_rewordings_are_told_with_their_distance_and_who_wrote_them(run):
    shown = figures.changes(run[0], distances(run[0])).set_index(["benchmark", "condition"])
    row = shown.loc[("ladder", "reword 5")]
    assert (row["distance"], row["by"], row["meaning checked"]) == (0.5, "hand", "yes")
    row = shown.loc[("ladder", "Syn-10")]
    assert np.isnan(row["distance"]) and (row["by"], row["meaning checked"]) == ("", "")
    assert shown.loc[("ladder", "dead code"), "tokens added"] > 100


def test_a_benchmark_without_rewordings_has_no_distances(run):
    code = run[0][run[0]["task_id"].str.startswith("humaneval")]
    shown = figures.changes(code, distances(code))
    assert list(shown["condition"]) == ["Syn-20", "Syn-40"] and shown["distance"].isna().all()


def test_realised_rates_are_printed_with_their_quartiles(run):
    shown = figures.realised(encoder.realised(run[0]))
    assert list(shown["condition"].unique()) == [n for n in figures.NAMES.values() if "Syn" in n]
    assert shown["replaced (%)"].str.fullmatch(r"[\d.]+ \([\d.]+, [\d.]+, [\d.]+\)").all()


def test_replaced_words_are_marked_where_they_stand():
    said = figures.marked("return the sum of x.", "give the sum of x.")
    assert said == "[return > give] the sum of x."
    with pytest.raises(ValueError, match="5 and 1 words"):
        figures.marked("return the sum of x.", "sum")


def test_a_cell_in_which_no_loss_could_be_shown_has_no_power(run):
    few = figures.power(run[1])
    # of six tasks not even six losses are significant after correction for eleven conditions
    assert set(few.loc[few["benchmark"] == "ladder", "power"]) == {"none"}
    assert few.loc[few["benchmark"] == "ladder", "least"].unique() == pytest.approx([150])
    many = run[1].assign(n=2000)
    many.loc[many["metric"] == "lost", "value"] = 40
    assert set(figures.power(many)["power"]) == {"5 points"}


def test_the_controls_have_a_drop_for_every_condition(run):
    shown = figures.controls(run[1])
    ladder = shown[shown["benchmark"] == "ladder"].set_index("model")[list(figures.NAMES.values())]
    assert (ladder.loc["oracle"] == 0).all() and (ladder.loc["parrot"] == 100).all()


def test_the_papers_rows_are_as_printed_with_dead_code_where_it_has_it():
    rows = figures.paper_rows()
    own = rows[rows["dataset"] == "MBPP"].set_index("model")
    assert len(own) == 11 and own["DeadCode"].notna().sum() == 3
    row = own.loc["Codestral-22B-v0.1"]
    assert (row["Syn-40"], row["Syn-40 drop"], row["DeadCode drop"]) == (35.1, 36.9, 3.5)
    gain = own.loc["gemini-2.0-flash", "DeadCode drop"]
    assert gain == -0.6


def test_each_panel_of_the_drops_has_the_conditions_its_benchmark_was_asked(run):
    ladder, code = figures.drops(run[1]).axes
    assert [t.get_text() for t in code.get_xticklabels()] == ["Syn-20", "Syn-40"]
    assert len(ladder.get_xticks()) == len(figures.SHOWN)
    assert (ladder.get_title(), code.get_title()) == ("ladder, 6 tasks", "humaneval, 6 tasks")
    assert ladder.get_ylabel() == "drop in pass@1 (points)"
    bars = [bar for bar in ladder.patches if bar.get_height() > 0]
    assert [round(bar.get_height(), 1) for bar in bars] == [18.2, 35.6, 4.1]  # the paper's ranges


def test_the_dose_response_says_what_was_really_replaced(run):
    replaced = encoder.realised(run[0])
    ladder, code = figures.doses(run[2], replaced).axes
    labels = [t.get_text() for t in ladder.get_xticklabels()]
    assert labels[0] == "0\n(0)" and labels[-1].startswith("60\n(")
    assert len(labels) == 7 and len(code.get_xticklabels()) == 3
    drawn = {line.get_label(): line for line in ladder.lines}
    assert list(drawn["parrot"].get_ydata()) == [100, 0, 0, 0, 0, 0, 0]


def test_no_dose_response_is_an_error_not_an_empty_figure(run):
    with pytest.raises(ValueError, match="levels of synonyms"):
        figures.doses(run[2].head(0), encoder.realised(run[0]))
