"""pass@1 of whole models: known rates, and what is kept apart."""

import numpy as np
import pandas as pd
import pytest

from byrote.probes import scale


def verdicts(model: str, passed: list[list[int]], **changes: object) -> pd.DataFrame:
    """One row a sample: `passed` says for each task which of its samples passed."""
    rows = [
        {"task_id": f"humaneval/{n}", "operator": "original", "model": model, "sample": k}
        | {"sampling": "temperature=0", "outcome": "passed" if right else "failed"}
        | changes
        for n, samples in enumerate(passed)
        for k, right in enumerate(samples)
    ]
    return pd.DataFrame(rows)


def pass1(*frames: pd.DataFrame) -> pd.DataFrame:
    return scale.pass1(pd.concat(frames, ignore_index=True), np.random.default_rng(0))


def test_the_rate_is_the_mean_of_the_tasks_rates_not_of_the_samples():
    [row] = pass1(verdicts("m", [[1], [0, 0, 0], [1, 0]])).to_dict("records")
    assert row["value"] == pytest.approx(50) and row["n"] == 3 and row["unit"] == "percent"
    assert row["low"] <= 50 <= row["high"]


def test_the_interval_is_as_wide_as_the_tasks_are_few():
    few, many = (pass1(verdicts("m", [[1], [0]] * n)).iloc[0] for n in (5, 80))
    assert few["high"] - few["low"] > 2 * (many["high"] - many["low"]) > 0


def test_none_of_many_leaves_room_for_some():
    row = pass1(verdicts("m", [[0]] * 100)).iloc[0]
    assert (row["value"], row["low"]) == (0, 0) and row["high"] == pytest.approx(3.62, abs=0.01)


def test_touched_tasks_are_not_counted():
    touched = verdicts("m", [[0]], operator="affine")
    assert pass1(verdicts("m", [[1]]), touched)["value"].tolist() == [100]


def test_models_benchmarks_and_samplings_are_kept_apart():
    frames = [
        verdicts("m", [[1]]),
        verdicts("m", [[0]], sampling="temperature=0.8 top_p=0.95"),
        verdicts("m", [[0]], task_id="mbpp/1"),
        verdicts("n", [[1]]),
    ]
    found = pass1(*frames).set_index(["model", "benchmark", "setting"])["value"]
    assert found.to_dict() == {
        ("m", "humaneval", "temperature=0"): 100,
        ("m", "humaneval", "temperature=0.8 top_p=0.95"): 0,
        ("m", "mbpp", "temperature=0"): 0,
        ("n", "humaneval", "temperature=0"): 100,
    }
