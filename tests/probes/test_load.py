"""Drops and their split: known answers on models of a known nature."""

import numpy as np
import pandas as pd
import pytest

from byrote import pipeline, study
from byrote.probes import load

MODELS = ["oracle", "parrot", "contract_breaker", "mute"]


@pytest.fixture(scope="module")
def rates(tmp_path_factory) -> pd.DataFrame:
    store = pipeline.Store(tmp_path_factory.mktemp("load") / "store.sqlite")
    tasks = pipeline.tasks(["ladder"], 16)
    variants = pipeline.variants(tasks, [pipeline.ORIGINAL, *study.MODES], store=store)
    answers = pipeline.generations(variants, MODELS, store=store)
    return load.passes(pipeline.verdicts(answers, variants, store), variants)


@pytest.fixture(scope="module")
def drops(rates) -> pd.DataFrame:
    found = load.drops(rates, "all", np.random.default_rng(0))
    return found.pivot(index=["model", "mode"], columns="metric", values="value")


def test_the_oracle_loses_nothing_in_any_mode(drops):
    assert (drops.loc["oracle", "drop"] == 0).all() and (drops.loc["oracle", "p"] == 1).all()


def test_the_parrot_loses_everything_in_every_mode(drops):
    assert (drops.loc["parrot", "drop"] == 100).all()
    assert (drops.loc["parrot", "p_holm"] < 0.01).all()


def test_the_contract_breaker_loses_only_where_outputs_are_encoded(drops):
    drop = drops.loc["contract_breaker", "drop"]
    assert drop["contract_only"] == drop["inputs"] == 0
    assert drop["outputs"] == 100 and drop["full"] > 90


def test_a_mute_model_has_nothing_to_lose(drops):
    assert (drops.loc["mute", "drop"] == 0).all() and (drops.loc["mute", "pass1"] == 0).all()


def test_lost_and_won_count_the_discordant_tasks(rates):
    found = load.drops(rates[rates["model"] == "parrot"], "all", np.random.default_rng(0))
    lost = found[(found["metric"] == "lost") & (found["mode"] == "full")].iloc[0]
    won = found[(found["metric"] == "won") & (found["mode"] == "full")].iloc[0]
    assert (lost["value"], won["value"]) == (lost["n"], 0)


def test_core_leaves_out_tasks_without_integers_on_both_sides_and_the_floor(rates):
    assert "ladder/16" in set(rates["task_id"])  # an integer in, a bool out
    pairs = load.paired(rates[rates["model"] == "oracle"], {"mode": "full"}, "core")
    assert "ladder/16" not in set(pairs["task_id"]) and len(pairs) == 15


def test_the_control_takes_the_floor_of_the_full_variant(rates):
    part = rates[rates["model"] == "oracle"]
    full = part[part["mode"] == "full"].set_index("task_id")["floor"]
    control = part[part["mode"] == "contract_only"].set_index("task_id")["floor"]
    assert control.sort_index().equals(full.sort_index())


def test_an_unknown_population_is_refused_with_the_known_ones(rates):
    with pytest.raises(ValueError, match="known: all, core"):
        load.paired(rates, {"mode": "full"}, "most")


def test_the_split_of_a_breaker_lies_wholly_on_the_outputs(rates):
    part = rates[rates["model"] == "contract_breaker"]
    split = load.sides(part, "affine", np.random.default_rng(0)).set_index("metric")
    assert split.loc["share_outputs", "value"] == 1 and split.loc["share_inputs", "value"] == 0
    assert split.loc["interaction", "value"] == 0


def test_a_share_of_no_drop_is_undefined_not_zero(rates):
    part = rates[rates["model"] == "oracle"]
    split = load.sides(part, "affine", np.random.default_rng(0)).set_index("metric")
    assert np.isnan(split.loc["share_outputs", "value"])
    assert np.isnan(split.loc["share_outputs", "low"])


def test_the_same_seed_gives_the_same_metrics(rates):
    one, two = (load.drops(rates, "core", np.random.default_rng(3)) for _ in range(2))
    pd.testing.assert_frame_equal(one, two)


@pytest.fixture(scope="module")
def loaded(tmp_path_factory) -> pd.DataFrame:
    """Rates under the contract and under what is as long as it."""
    store = pipeline.Store(tmp_path_factory.mktemp("loaded") / "store.sqlite")
    tasks = pipeline.tasks(["ladder"], 16)
    conditions = [pipeline.ORIGINAL, study.FULL, study.CONTROL, study.DEAD_CODE, study.FILLER]
    variants = pipeline.variants(tasks, [*conditions, *study.FAMILIES], store=store)
    answers = pipeline.generations(variants, MODELS, store=store)
    return load.passes(pipeline.verdicts(answers, variants, store), variants)


def test_a_breaker_loses_to_the_contract_what_it_does_not_lose_to_its_length(loaded):
    found = load.excess(loaded, np.random.default_rng(0))
    excess = found[found["metric"] == "excess"].set_index(["model", "operator"])["value"]
    assert set(excess.index.get_level_values("operator")) == {"dead_code", "filler", "affine"}
    assert (excess["oracle"] == 0).all() and (excess["parrot"] == 0).all()
    assert (excess["contract_breaker"] > 90).all()


def test_what_encodes_nothing_takes_core_and_floor_from_the_full_variant(loaded):
    own = loaded[loaded["model"] == "oracle"]
    own = own.set_index(["operator", "mode", "task_id"]).sort_index()
    for fact in ("core", "floor"):
        full = own.loc[("affine", "full"), fact]
        for operator in ("dead_code", "filler"):
            assert own.loc[(operator, ""), fact].reindex(full.index).tolist() == full.tolist()


def test_the_oracle_keeps_every_family_and_the_breaker_none(loaded):
    found = load.drops(loaded, "core", np.random.default_rng(0))
    drops = found[found["metric"] == "drop"].set_index(["model", "operator"])["value"]
    for name in ("affine", "base_read", "base_write", "cubic"):
        assert (drops.loc[[("oracle", name)]] == 0).all()
    assert (drops.loc[[("contract_breaker", "cubic")]] == 100).all()


def test_tasks_that_carry_a_contract_are_the_ones_with_a_full_variant(loaded):
    kept = load.carrying(loaded)
    assert set(kept["task_id"]) == set(loaded.loc[loaded["operator"] == "affine", "task_id"])
