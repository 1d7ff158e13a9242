"""The scripted models: each has the nature that its name promises."""

import pytest

from byrote import engines, operators
from byrote.engines import Request, Sampling
from byrote.pipeline.judging import program_of
from byrote.records import Task, Variant
from byrote.sandbox import run

TASK = Task(
    *("t/1", "t", "write", "Take 10 from x.", "f"),
    *("def f(x):\n    return x - 10\n", "assert f(10) == 0\nassert f(12) == 2"),
)
MODES = ("full", "inputs", "outputs", "full_with_examples", "contract_only")


@pytest.fixture(scope="module")
def shown() -> dict[str, Variant]:
    """The task as it is and in every mode."""
    made = {mode: operators.apply("affine_fixed", TASK, mode=mode) for mode in MODES}
    return {"": operators.apply("original", TASK, 0.0)} | made


def answers(model: str, variants: list[Variant], samples: int = 1) -> list[str]:
    engine = engines.open(model)
    wanted = [Request(v, Sampling(), n) for v in variants for n in range(samples)]
    found = list(engine.generate(wanted))
    assert [request for request, _ in found] == wanted
    return [answer.text for _, answer in found]


def passed(model: str, shown: dict[str, Variant]) -> set[str]:
    """The conditions in which a model's answers pass."""
    texts = answers(model, list(shown.values()))
    programs = [program_of(v, t) for v, t in zip(shown.values(), texts, strict=True)]
    outcomes = zip(shown, run(programs), strict=True)
    return {name for name, outcome in outcomes if outcome.outcome == "passed"}


@pytest.mark.parametrize(
    "model, right",
    [
        ("oracle", {"", *MODES}),
        ("parrot", {""}),
        ("contract_breaker", {"", "inputs", "contract_only"}),
        ("mute", set()),
        ("coin(1)", {"", *MODES}),
        ("coin(0)", set()),
    ],
)
def test_each_model_is_right_where_its_nature_says(model, right, shown):
    assert passed(model, shown) == right


def test_an_oracle_knows_references_that_call_themselves():
    fact = "def f(n):\n    return 1 if n < 2 else n * f(n - 1)\n"
    task = Task("t/2", "t", "write", "n!", "f", fact, "assert f(5) == 120")
    assert passed("oracle", {"full": operators.apply("affine", task, mode="full")}) == {"full"}


def test_answers_are_blocks_and_silence_is_empty(shown):
    [text] = answers("oracle", [shown[""]])
    assert text == f"```python\n{TASK.reference}\n```"
    assert answers("mute", [shown[""]]) == [""]


def test_a_coin_falls_with_its_probability_and_the_same_way_each_time(shown):
    first = answers("coin(0.3)", [shown[""]], samples=400)
    assert answers("coin(0.3)", [shown[""]], samples=400) == first
    heads = sum("raise" not in text for text in first)
    assert 80 <= heads <= 160  # six standard deviations around 120
    assert answers("coin(0.31)", [shown[""]], samples=400) != first


@pytest.mark.parametrize("name", ["coin(1.5)", "coin(2)"])
def test_a_coin_needs_a_probability(name):
    with pytest.raises(ValueError, match=r"coin\(.*\): a probability between 0 and 1"):
        engines.open(name)


@pytest.mark.parametrize(
    "name", ["oracel", "coin(", "vllm:x", "replay:", "oracle:x", "", "coin(.)", "oracle(0.3)"]
)
def test_an_unknown_model_lists_what_exists(name):
    with pytest.raises(ValueError, match="unknown model .*smollm2-135m-instruct.*oracle.*replay:…"):
        engines.open(name)


@pytest.mark.parametrize("name", engines.SCRIPTED)
def test_the_key_tells_conditions_and_samples_apart_and_nothing_is_stored(name, shown):
    engine = engines.open(name)
    assert not engine.live
    wanted = [Request(v, Sampling(), n) for v in shown.values() for n in (0, 1)]
    assert len({engines.request_key(engine, r) for r in wanted}) == len(wanted)
    assert engine.provenance() == {"engine": "scripted"}
    engine.close()


@pytest.mark.parametrize(
    "values", [{"temperature": -1}, {"top_p": 0}, {"top_p": 1.5}, {"max_tokens": 0}]
)
def test_sampling_that_means_nothing_is_refused(values):
    with pytest.raises(ValueError, match="temperature >= 0, 0 < top_p <= 1, max_tokens >= 1"):
        Sampling(**values)


@pytest.mark.parametrize(("kind", "said"), [("output", "[2, 1]"), ("input", "f([1, 2])")])
def test_the_oracle_predicts_the_side_of_the_test_that_is_asked_for(kind, said):
    code = "def f(xs):\n    return xs[::-1]\n"
    task = Task("c/1", "c", kind, "", "f", code, "assert f([1, 2]) == [2, 1]", code=code)
    variant = operators.apply("original", task, 0.0)
    [text] = answers("oracle", [variant])
    assert said in text
    [outcome] = run([program_of(variant, text)])
    assert outcome.outcome == "passed"
