"""The operator `reword`, and the checks of what a model writes as a rewording."""

import ast
import json
from dataclasses import replace

import pytest

from byrote import benchmarks, operators
from byrote.operators import rewording
from byrote.operators.suite import Inapplicable
from byrote.records import Task

NEAR, FAR = "Return the total of the numbers.", "Add up what you are given and return it."
PLAIN = Task(
    "toy/1",
    "toy",
    "write",
    "Return the sum of the numbers.",
    "total",
    "def total(numbers):\n    return sum(numbers)\n",
    "assert total([1, 2]) == 3",
    rewordings=repr([NEAR, FAR]),
)
DOCSTRING = '''def total(numbers: list) -> int:
    """Return the sum of the numbers.
    >>> total([1, 2])
    3
    """
'''
SHOWN = replace(PLAIN, kind="complete", prompt=DOCSTRING, rewordings="")


def test_every_task_of_the_ladder_has_five_rewordings_written_by_hand():
    for task in benchmarks.load("ladder"):
        prompts = {task.prompt}
        for level in rewording.LEVELS:
            variant = operators.apply("reword", task, level)
            assert not variant.reason
            assert json.loads(variant.parameters) == {"by": "hand", "checked": True}
            assert 0 < variant.changed <= 1
            assert (variant.reference, variant.tests) == (task.reference, task.tests)
            prompts.add(variant.prompt)
        assert len(prompts) == 6, task.task_id


def test_the_level_is_the_number_of_the_rewording_and_zero_is_the_task():
    prompts = [operators.apply("reword", PLAIN, level).prompt for level in (0, 1, 2)]
    assert prompts == [PLAIN.prompt, NEAR, FAR]
    assert operators.apply("reword", PLAIN, 0).changed == 0


def test_a_task_with_fewer_or_no_rewordings_says_so_and_stays_as_it_is():
    short = operators.apply("reword", PLAIN, 3)
    assert (short.reason, short.prompt) == ("no rewording 3: the task has 2", PLAIN.prompt)
    none = operators.apply("reword", replace(PLAIN, rewordings=""), 1)
    assert "have a model write one: rewording.reworded(tasks, model)" in none.reason
    refused = operators.apply("reword", replace(PLAIN, rewordings="", reworded_by="m"), 1)
    assert refused.reason == "the rewording by m was refused"


@pytest.mark.parametrize("level", [0.5, -1, 6, float("nan")])
def test_a_level_that_cannot_be_is_refused_with_those_that_can(level):
    with pytest.raises(ValueError, match="0 .the task itself. or 1, 2, 3, 4, 5"):
        operators.apply("reword", PLAIN, level)


@pytest.mark.parametrize("text", ["[1]", "{}", "['open", "'one'"])
def test_a_column_that_is_no_list_of_texts_is_an_error(text):
    with pytest.raises(ValueError, match="toy/1: rewordings .* not the repr of a list of texts"):
        operators.apply("reword", replace(PLAIN, rewordings=text), 1)


def test_a_model_gets_the_prose_of_a_docstring_without_its_doctests():
    assert rewording.asked(SHOWN) == "Return the sum of the numbers."
    assert rewording.asked(PLAIN) == PLAIN.prompt
    with pytest.raises(Inapplicable, match="no prose in tasks of kind output"):
        rewording.asked(replace(PLAIN, kind="output"))


def test_new_prose_stands_in_the_docstring_and_every_other_byte_stays():
    made = rewording.placed(SHOWN, NEAR)
    assert made == DOCSTRING.replace("Return the sum of the numbers.", NEAR)
    long = rewording.placed(SHOWN, " ".join(["Add all of the given numbers together."] * 5))
    assert all(len(line) <= rewording.WIDTH for line in long.splitlines())
    assert [len(r) - len(r.lstrip()) for r in long.splitlines()] == [0, 4, 4, 4, 4, 4, 4]
    assert long.endswith("    >>> total([1, 2])\n    3\n    " + '"""\n')


def test_prose_that_would_end_the_docstring_is_not_placed():
    assert rewording.placed(SHOWN, 'Say """ and stop.') == ""


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        ("Give back the sum of the numbers.", ""),
        ("", "empty"),
        ("Return the sum of the numbers!", "repeats the text"),
        ("```python\ndef total(): return the sum of numbers", "holds code"),
        ("Sum.", "shorter"),
        ("Give back the sum of the 2 numbers.", "other numbers"),
        ("Give back the sum of the even numbers.", "turns the meaning"),
        ("Do not give back the sum of the numbers.", "turns the meaning"),
        ("Give back the sum of the values.", "loses a name"),
    ],
)
def test_what_is_visibly_no_rewording_is_refused_with_its_reason(new, reason):
    assert rewording.refusal(PLAIN.prompt, new, ["numbers"]) == reason


def test_quoted_text_must_stay():
    old = "Return 'yes' if the word is short and 'no' if it is long."
    assert rewording.refusal(old, old.replace("Return", "Answer"), []) == ""
    lost = "Return true if the word is short and 'no' if it is long."
    assert rewording.refusal(old, lost, []) in ("loses quoted text", "turns the meaning")


def test_names_that_a_text_must_tell_apart_are_the_parameters_of_a_function_with_several():
    assert rewording.parameters("def f(xs, k):\n    return k", "f") == {"xs", "k"}
    assert rewording.parameters(PLAIN.reference, "total") == set()
    assert rewording.parameters("def f(xs, k):\n    return k", "g") == set()


def test_a_docstring_in_crlf_is_filled_in_crlf():
    made = rewording.placed(
        replace(SHOWN, prompt=DOCSTRING.replace("\n", "\r\n")), " ".join([NEAR] * 4)
    )
    assert made.count("\n") == made.count("\r\n") == DOCSTRING.count("\n") + 1
    ast.parse(f"{made}    pass\n")


@pytest.mark.parametrize(
    "prompt", ["def total(n):\n", 'def total(n):\n    """\n    >>> total([1])\n    1\n    """\n']
)
def test_a_prompt_of_code_only_has_no_prose(prompt):
    with pytest.raises(Inapplicable, match="no prose to reword"):
        rewording.asked(replace(SHOWN, prompt=prompt))


def test_in_humaneval_other_prose_leaves_every_doctest_and_every_line_of_code():
    tasks = benchmarks.load("humaneval")
    new = "These are other words that say nothing of the task, and they are long enough to wrap."
    for task in tasks:
        old, made = rewording.asked(task), rewording.placed(task, new)
        kept = [r for r in task.prompt.splitlines() if ">>>" in r or r.lstrip().startswith("def ")]
        assert kept and all(row in made for row in kept), task.task_id
        assert old not in " ".join(made.split()), task.task_id
        ast.parse(f"{made}    pass\n")
        assert rewording.asked(replace(task, prompt=made)).startswith("These are other words")
    assert len(tasks) == 164
