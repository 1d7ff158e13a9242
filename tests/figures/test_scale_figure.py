"""The figure of pass@1 against parameters: every model once, where it belongs, and readable."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from byrote import style
from byrote.figures import scale as figures
from byrote.pipeline import replayed
from byrote.probes import scale

BENCHMARKS = ["humaneval", "mbpp", "mbpp_sanitized"]
EMBEDDED = {"model": "smollm2-135m-instruct", "nature": "embedded", "billions": 0.1345}


@pytest.fixture(scope="module")
def drawn():
    style.use()
    rows = replayed.rows()
    small = rows[(rows["model"] == "StarCoder") & rows["task_id"].str.startswith("humaneval")]
    embedded = small.assign(model=EMBEDDED["model"], outcome="failed")
    metrics = scale.pass1(pd.concat([rows, embedded]), np.random.default_rng(0))
    models = pd.concat([pd.DataFrame([EMBEDDED]), replayed.models(rows)], ignore_index=True)
    yield metrics, models, figures.pass_rates(metrics, models, BENCHMARKS)
    plt.close("all")


def notes(ax) -> list:
    return [text for text in ax.texts if text.get_text()]


def test_every_model_of_a_benchmark_is_named_once_in_its_row(drawn):
    metrics, _, figure = drawn
    for name, sized, strip in zip(BENCHMARKS, figure.axes[::2], figure.axes[1::2], strict=True):
        shown = sorted(text.get_text() for ax in (sized, strip) for text in notes(ax))
        assert shown == sorted(metrics.loc[metrics["benchmark"] == name, "model"])
        assert sized.get_title(loc="left").startswith(f"{name}, ")


def test_models_of_unknown_size_stand_in_the_strip_and_only_there(drawn):
    _, models, figure = drawn
    unknown = set(models.loc[models["billions"].isna(), "model"])
    assert {text.get_text() for ax in figure.axes[1::2] for text in notes(ax)} == unknown
    assert figure.axes[0].get_xscale() == "log"


def test_no_name_covers_another_name_or_leaves_its_panel(drawn):
    figure = drawn[2]
    for ax in figure.axes:
        boxes = [text.get_window_extent() for text in notes(ax)]
        assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))
        assert all(ax.bbox.x0 <= b.x0 and b.x1 <= ax.bbox.x1 for b in boxes)


def test_the_legend_says_what_the_colours_mean(drawn):
    [legend] = drawn[2].legends
    told = [text.get_text() for text in legend.get_texts()]
    assert sorted(told) == ["embedded", "real", "real, size not published"]


def test_a_user_s_samples_bear_the_name_of_their_sidecar_and_scripted_models_are_no_point(drawn):
    metrics = drawn[0][drawn[0]["model"].isin(["StarCoder", "Llama-3-8B"])]
    metrics = metrics.replace({"StarCoder": "replay:s.jsonl", "Llama-3-8B": "oracle"})
    models = pd.DataFrame(
        {
            "model": ["replay:s.jsonl", "oracle"],
            "name": ["mine-7b", "oracle"],
            "nature": ["real", "scripted"],
            "billions": [7.0, float("nan")],
        }
    )
    figure = figures.pass_rates(metrics, models, ["humaneval"])
    assert [text.get_text() for ax in figure.axes for text in notes(ax)] == ["mine-7b"]


def test_benchmarks_without_a_model_are_an_error_that_names_them(drawn):
    with pytest.raises(ValueError, match="ladder"):
        figures.pass_rates(*drawn[:2], ["ladder"])


def test_thirty_models_of_one_size_still_have_room_for_their_names():
    names = [f"model-{n}" for n in range(30)]
    metrics = pd.DataFrame({"model": names, "benchmark": "b", "n": 9, "value": 50.0})
    metrics = metrics.assign(low=45.0, high=55.0)
    models = pd.DataFrame({"model": names, "nature": "real", "billions": 7.0})
    figure = figures.pass_rates(metrics, models, ["b"])
    assert len(notes(figure.axes[0])) == 30
    plt.close("all")
