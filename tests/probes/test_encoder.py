"""Encoder probes: known answers on models of a known nature, and when a drop is called absorbed."""

import json

import numpy as np
import pandas as pd
import pytest

from byrote import pipeline, study
from byrote.probes import encoder, load
from byrote.records import CONDITION

CONDITIONS = [*study.SYNONYMS, study.DEAD_CODE, study.FILLER, *study.REWORDINGS]


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> tuple[pd.DataFrame, pd.DataFrame]:
    store = pipeline.Store(tmp_path_factory.mktemp("encoder") / "store.sqlite")
    tasks = pipeline.tasks(["ladder"], 16)
    variants = pipeline.variants(tasks, [pipeline.ORIGINAL, *CONDITIONS], store=store)
    answers = pipeline.generations(variants, ["oracle", "parrot", "coin(0.5)"], store=store)
    return variants, load.passes(pipeline.verdicts(answers, variants, store), variants)


@pytest.fixture(scope="module")
def drops(run) -> pd.DataFrame:
    return encoder.drops(run[1], np.random.default_rng(0))


def rates(original, variant, level=0.4) -> pd.DataFrame:
    """Rates of a made-up model on n tasks, as they are and under synonyms."""
    sides = {"original": (0.0, original), "synonyms": (level, variant)}
    found = [
        {"task_id": f"made/{n}", "operator": operator, "level": at, "rate": float(rate)}
        for operator, (at, side) in sides.items()
        for n, rate in enumerate(side)
    ]
    plain = {"mode": "", "wording": "", "seed": 0, "model": "m", "sampling": "", "samples": 1}
    return pd.DataFrame(found).assign(**plain, benchmark="made", core=False, floor=False)


def found(original, variant) -> pd.Series:
    metrics = encoder.drops(rates(original, variant), np.random.default_rng(0))
    [finding] = encoder.findings(metrics)["finding"]
    return metrics.set_index("metric")["value"], finding


def wide(drops: pd.DataFrame) -> pd.DataFrame:
    return drops.pivot(index=["model", "operator", "level"], columns="metric", values="value")


def test_the_oracle_loses_nothing_and_the_parrot_everything_in_every_condition(drops):
    values = wide(drops)
    assert len(values.loc["oracle"]) == len(values.loc["parrot"]) == len(CONDITIONS)
    assert (values.loc["oracle", "drop"] == 0).all() and (values.loc["oracle", "p"] == 1).all()
    assert (values.loc["parrot", "drop"] == 100).all()
    assert (values.loc["parrot", "p_holm"] < 0.01).all()
    assert (values.loc["parrot", "relative"] == -100).all()
    assert (values.loc["parrot", "p_equivalent"] > 0.99).all()


def test_a_coin_is_never_found_to_drop_or_to_absorb(drops):
    coin = encoder.findings(drops[drops["model"] == "coin(0.5)"])
    assert set(coin["finding"]) == {"not shown"} and len(coin) == len(CONDITIONS)


def test_too_few_tasks_cannot_show_that_even_the_oracle_absorbs(drops):
    oracle = drops[drops["model"] == "oracle"]
    assert set(encoder.findings(oracle)["finding"]) == {"not shown"}
    assert wide(oracle)["p_equivalent"].round(9).eq(round(0.98**16, 9)).all()


def test_a_drop_of_codestral_on_mbpp_is_printed_as_the_paper_prints_it():
    """72.0 to 35.1 %: drop 36.9, relative -51.25 (SPEC 1.5 row 9)."""
    values, finding = found([0.720] * 257, [0.351] * 257)
    assert values["drop"] == pytest.approx(36.9) and finding == "drop"
    assert values["relative"] == pytest.approx(-51.25)


def test_a_relative_change_below_5_percent_is_flagged_by_its_name():
    """0.4 to 0.9 % is +125 %, and says nothing (SPEC 1.5 row 10)."""
    values, _ = found([0.004] * 250, [0.009] * 250)
    assert values["relative_unstable"] == pytest.approx(125) and "relative" not in values
    values, _ = found([0.0] * 20, [0.5] * 20)
    assert np.isnan(values["relative_unstable"])


@pytest.mark.parametrize(
    "lost, won, passed, right",
    [
        (0, 0, 300, "absorbed"),
        (2, 3, 300, "absorbed"),
        (0, 0, 3, "nothing to lose"),
        (60, 55, 300, "not shown"),
        (40, 5, 300, "drop"),
        (0, 40, 300, "gain"),
    ],
)
def test_absorbed_needs_a_shown_equivalence_and_something_to_lose(lost, won, passed, right):
    before = np.arange(600) < passed
    after = before.copy()
    after[:lost] = False
    after[600 - won :] = True
    assert found(before, after)[1] == right


def test_a_small_drop_that_is_sure_is_named_as_within_the_margin():
    before = np.arange(2000) < 1000
    after = np.arange(2000) < 984
    assert found(before, after)[1] == "drop within the margin"


def test_only_tasks_with_both_sides_count():
    part = rates([1, 1, 1, 1], [1, 1, 0, 0])
    part = part[~((part["operator"] == "synonyms") & (part["task_id"] == "made/3"))]
    metrics = encoder.drops(part, np.random.default_rng(0)).set_index("metric")
    assert metrics.loc["drop", "n"] == 3 and metrics.loc["lost", "value"] == 1


def test_corrections_are_made_over_the_conditions_of_one_model_on_one_benchmark():
    before, after = np.arange(900) < 300, np.arange(900) < 292
    both = pd.concat([rates(before, after, 0.2), rates(before, after, 0.4)])
    both = both.drop_duplicates(["task_id", *CONDITION])
    metrics = encoder.drops(both, np.random.default_rng(0)).set_index("metric")["value"]
    for name in ("p", "p_equivalent"):
        assert metrics[f"{name}_holm"].to_list() == pytest.approx([2 * metrics[name].min()] * 2)


def test_the_realised_rate_is_below_the_nominal_and_rises_with_it(run):
    replaced = encoder.realised(run[0])
    of_all = replaced[replaced["of"] == "all words"].sort_values("level")
    eligible = replaced[replaced["of"] == "words with a synonym"].sort_values("level")
    assert of_all["mean"].is_monotonic_increasing and eligible["mean"].is_monotonic_increasing
    assert (of_all["mean"].to_numpy() < eligible["mean"].to_numpy()).all()
    assert (of_all["q1"] <= of_all["q2"]).all() and (of_all["q2"] <= of_all["q3"]).all()
    own = run[0][(run[0]["operator"] == "synonyms") & (run[0]["level"] == 0.4)]
    known = [json.loads(p)["rate_words"] for p in own["parameters"]]
    row = of_all[of_all["level"] == 0.4].iloc[0]
    assert row["mean"] == pytest.approx(100 * np.mean(known)) and row["variants"] == len(own)


def test_a_variant_without_a_replaced_word_stays_and_is_counted(run):
    variants, passed = run
    replaced = encoder.realised(variants).set_index(["level", "of"])
    same = variants[(variants["level"] == 0.1) & (variants["changed"] == 0) & variants["sound"]]
    assert replaced.loc[(0.1, "all words"), "as the original"] == len(same) > 0
    pairs = load.paired(passed[passed["model"] == "oracle"], {"operator": "synonyms", "level": 0.1})
    assert set(same["task_id"]) <= set(pairs["task_id"])


def test_the_dose_response_of_the_parrot_falls_at_once_and_the_oracles_is_flat(run):
    metrics = encoder.doses(run[1], np.random.default_rng(0))
    curve = metrics[metrics["metric"] == "isotonic"].pivot(
        index="level", columns="model", values="value"
    )
    assert len(curve) == 7 and (curve["oracle"] == 100).all()
    assert curve["parrot"].to_list() == [100, 0, 0, 0, 0, 0, 0]
    slope = metrics[metrics["metric"] == "slope"].set_index("model")
    chance = metrics[metrics["metric"] == "p_slope"].set_index("model")["value"]
    assert slope.loc["oracle", "value"] == 0 and chance["oracle"] == 1
    # the least-squares slope of 1, 0, 0, 0, 0, 0, 0 a tenth apart
    assert slope.loc["parrot", "value"] == pytest.approx(-100 * 3 / 28)
    assert chance["parrot"] < 0.001


def test_the_dose_response_stands_on_tasks_that_have_every_level(run):
    part = run[1][run[1]["model"] == "parrot"]
    short = part[~((part["task_id"] == "ladder/03") & (part["level"] == 0.6))]
    assert set(encoder.doses(short, np.random.default_rng(0))["n"]) == {15}


def test_one_level_makes_no_dose_response():
    assert encoder.doses(rates([1, 0], [1, 0]), np.random.default_rng(0)).empty


def test_the_same_seed_gives_the_same_metrics(run, drops):
    again = encoder.drops(run[1], np.random.default_rng(0))
    pd.testing.assert_frame_equal(drops, again)
