"""How an answer becomes a program to judge, and that real answers keep their published verdicts."""

import dataclasses
import gzip
import json
import os
from pathlib import Path

import pytest

from byrote.pipeline.judging import program_of
from byrote.records import Variant
from byrote.sandbox import Limits, run

SHARED = Path(os.environ.get("BYROTE_DATA") or Path(__file__).parents[3] / "shared" / "data")
CRUX = SHARED / "cruxeval"

SHORT = Limits(seconds=1, cpu_seconds=1)  # some stored inputs never end
DOUBLE = "def f(n):\n    return [n, n]"


def prediction(kind: str, code: str = DOUBLE, test: str = "assert f(3) == [3, 3]") -> Variant:
    return Variant("cruxeval/0", "original", kind=kind, code=code, entry_point="f", tests=test)


def outcomes(variant: Variant, *texts: str) -> list[str]:
    programs = [program_of(variant, text) for text in texts]
    return [outcome.outcome for outcome in run(programs, SHORT, workers=1)]


def test_a_written_program_is_taken_out_of_the_answer_and_gets_the_tests_and_the_setup():
    variant = Variant(
        "mbpp/1", "original", entry_point="add", tests="assert add(1, 2) == 3", setup="import math"
    )
    answer = "Sure!\n```python\ndef add(a, b):\n    return a + b\n```\nIt adds."
    program = program_of(variant, answer)
    assert program.source.strip() == "def add(a, b):\n    return a + b"
    assert (program.tests, program.setup, program.entry_point) == (
        "assert add(1, 2) == 3",
        "import math",
        "add",
    )


def test_an_answer_that_goes_on_with_the_prompt_is_judged_with_it():
    prompt = 'def add(a, b):\n    """Adds."""\n'
    variant = Variant(
        "humaneval/1", "original", kind="complete", prompt=prompt, entry_point="add",
        tests="assert add(1, 2) == 3",
    )  # fmt: skip
    assert outcomes(variant, "    return a + b\n", "    return a - b\n") == ["passed", "failed"]


def test_prose_of_a_written_task_is_never_taken_for_code_of_its_prompt():
    variant = Variant(
        "mbpp/1", "original", prompt="Write a function.", entry_point="g", tests="assert g()"
    )
    assert outcomes(variant, "I cannot do that.", "") == ["invalid", "invalid"]


def test_a_predicted_output_is_right_when_its_value_is():
    answers = ["[3, 3]", " [3,3] ", "[3] * 2", "[3]", "(3, 3)", "[3", ""]
    right = ["passed"] * 3 + ["failed"] * 2 + ["invalid"] * 2
    assert outcomes(prediction("output"), *answers) == right


def test_an_output_that_repeats_the_call_is_no_answer():
    assert outcomes(prediction("output"), "f(3)", "(f(3))", "f( 3)") == ["invalid"] * 2 + ["passed"]


def test_a_predicted_input_is_any_call_that_gives_the_output():
    answers = ["f(3)", "f(n=3)", "f(1 + 2)", "f(4)", "3", "g(3)"]
    right = ["passed"] * 3 + ["failed"] + ["invalid"] * 2
    assert outcomes(prediction("input"), *answers) == right


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        ("output", "[ANSWER]\n[3, 3]\n[/ANSWER]"),
        ("output", "[ANSWER]\nassert f(3) == [3, 3]\n[/ANSWER]"),
        ("output", "f(3) == [3, 3]"),
        ("output", "```python\n[3, 3]\n```"),
        ("output", "It repeats its input, so the output is `[3, 3]`"),
        ("input", "[ANSWER]\nassert f(3) == [3, 3]\n[/ANSWER]"),
        ("input", "f(3) == [3, 3]"),
        ("input", "f(x) doubles x.\n```python\nassert f(3) == [3, 3]\n```\nSo f(x) is a list."),
        ("input", "Let us see: f(1) is [1, 1].\n[ANSWER]f(3)[/ANSWER] and not f(2)"),
    ],
)
def test_a_chat_answer_is_read_before_it_is_judged(kind, answer):
    assert outcomes(prediction(kind), answer) == ["passed"]


def test_an_equality_sign_inside_a_string_is_part_of_the_answer():
    variant = prediction("output", "def f(s):\n    return s", "assert f('a==b') == 'a==b'")
    assert outcomes(variant, "'a==b'") == ["passed"]


def test_the_call_runs_the_code_that_was_shown():
    variant = dataclasses.replace(prediction("input"), reference="def f(n):\n    return [n]")
    assert outcomes(variant, "f(3)") == ["passed"]


def test_a_kind_that_nobody_judges_is_an_error_that_lists_the_known():
    with pytest.raises(ValueError, match="kind 'choice'; known: write, complete, output, input"):
        program_of(Variant("x/1", "original", kind="choice"), "A")


@pytest.mark.skipif(not CRUX.is_dir(), reason=f"no {CRUX}: the shared data are not part of it")
@pytest.mark.parametrize("kind", ["output", "input"])
def test_codellamas_stored_answers_keep_their_published_verdicts(kind):
    rows = map(json.loads, (CRUX / "cruxeval.jsonl").read_text(encoding="utf-8").splitlines())
    folder = CRUX / "generations" / f"codellama-7b_temp0.2_{kind}"
    with gzip.open(folder / "scored.json.gz", "rt", encoding="utf-8") as file:
        scored = json.load(file)
    programs, published = [], []
    for row in [*rows][1::20]:
        test = f"assert f({row['input']}) == {row['output']}"
        variant = prediction(kind, row["code"], test)
        programs += [program_of(variant, t) for t in scored["raw_generations"][row["id"]][:2]]
        published += scored["raw_scored_generations"][row["id"]][:2]
    ours = [outcome.outcome == "passed" for outcome in run(programs, SHORT)]
    assert ours == published and len(ours) == 80
