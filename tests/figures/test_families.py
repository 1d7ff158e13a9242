"""Tables 5 and 6 and the figure of the families, on a handful of tasks."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from byrote import pipeline, study
from byrote.figures import families
from byrote.probes import load
from byrote.store import Store


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("families") / "store.sqlite")
    tasks = pipeline.tasks(["ladder"], 8)
    conditions = [pipeline.ORIGINAL, study.FULL, study.CONTROL, *study.FAMILIES]
    variants = pipeline.variants(tasks, [*conditions, study.DEAD_CODE, study.FILLER], store=store)
    answers = pipeline.generations(variants, ["oracle", "contract_breaker"], store=store)
    return answers, load.passes(pipeline.verdicts(answers, variants, store), variants)


@pytest.fixture(scope="module")
def metrics(run):
    return load.drops(run[1], "all", np.random.default_rng(0))


def test_table_5_has_every_family_of_every_model_on_its_own_tasks(metrics):
    shown = families.table5(metrics, "all").set_index(["model", "family"])
    assert list(shown.loc["oracle"].index) == ["affine", "base, read", "base, written", "cubic"]
    assert (shown.loc["oracle", "pass@1"] == 100).all()
    assert shown.loc[("contract_breaker", "cubic"), "pass@1"] == 0
    assert (shown.loc["oracle", "n"] <= 8).all()


def test_table_6_sets_the_contract_beside_texts_of_its_length(run, metrics):
    beyond = load.excess(run[1], np.random.default_rng(0))
    shown = families.table6(metrics, beyond).set_index(["model", "added"])
    names = {"dead code", "filler prose", "contract only", "full"}
    assert set(shown.loc["oracle"].index) == names
    assert shown.loc[("contract_breaker", "dead code"), "beyond"].startswith("100.0")
    assert shown.loc[("contract_breaker", "full"), "beyond"] == "–"


def test_the_papers_drops_are_the_differences_of_its_printed_rates():
    five = families.paper5().set_index(["dataset", "model"])
    codestral = five.loc[("MBPP", "Codestral-22B-v0.1")]
    assert len(five) == 9
    assert codestral["base drop"] == pytest.approx(codestral["original"] - codestral["base"])
    six = families.paper6().set_index(["dataset", "model"])
    assert six.loc[("MBPP", "gemini-2.0-flash"), "DeadCode drop"] == pytest.approx(-0.6)
    assert len(six) == 6


def test_lengths_are_compared_in_the_tokens_that_the_model_counted(run):
    answers = run[0].assign(prompt_tokens=100)
    answers.loc[answers["operator"] == "filler", "prompt_tokens"] = 110
    shown = families.lengths(answers).set_index(["model", "added"])
    assert shown.loc[("oracle", "filler prose"), "within 8 tokens (%)"] == 0
    assert shown.loc[("oracle", "filler prose"), "median difference"] == 10
    assert shown.loc[("oracle", "dead code"), "within 8 tokens (%)"] == 100
    assert isinstance(families.lengths(run[0]), pd.DataFrame)  # scripted models count no tokens


def test_the_figure_has_a_point_with_its_interval_for_every_family(metrics):
    figure = families.drops(metrics, "all")
    [ax] = figure.axes
    assert [t.get_text() for t in ax.get_xticklabels()] == [
        *("affine", "base,\nwritten", "base,\nread", "cubic")
    ]
    assert len(ax.containers) >= 2 * 4 and "points" in ax.get_ylabel()
    plt.close(figure)
