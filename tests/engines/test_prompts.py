"""How a variant is put to a model, and when an answer may stop: never before it is whole."""

import pytest

from byrote import extract, operators
from byrote.engines.prompts import BASE_STOPS, completion, finished, question, self_contained
from byrote.records import Task, Variant

SQUARE = "def f(x):\n    return x * x\n"


def fenced(source: str, tag: str = "python") -> str:
    return f"```{tag}\n{source.rstrip()}\n```"


# Finished


@pytest.mark.parametrize(
    "text",
    [
        fenced(SQUARE),
        fenced(SQUARE) + "\nIt squares x.",
        fenced(SQUARE, ""),
        fenced("import math\n\ndef f(x):\n    return math.sqrt(x)"),
        fenced("def h(x):\n    return x\n\ndef f(x):\n    return h(x)"),
        fenced("N = 3\ndef f(x):\n    return [N for _ in range(x)]"),
        fenced("def f(x):\n    return f(x - 1) if x else 0"),
        fenced("def f(x):\n    def g(y):\n        return x + y\n    return g(x)"),
        fenced("from typing import List\ndef f(x: List[int]) -> int:\n    return len(x)"),
        fenced("class A:\n    pass\n\ndef f(x):\n    return A"),
        fenced("def f(x):\n    try:\n        return 1 / x\n    except ZeroDivisionError as e:\n"
               "        return str(e)"),
    ],
)  # fmt: skip
def test_a_closed_block_with_the_whole_solution_ends_the_answer(text):
    assert finished(text, "f")


UNFINISHED = {
    "nothing": "",
    "no block": SQUARE,
    "an open fence": "```python\n" + SQUARE,
    "a fence that is being closed": "```python\n" + SQUARE + "``",
    "another function": fenced("def g(x):\n    return x"),
    "a method of that name": fenced("class A:\n    def f(self):\n        return 1"),
    "a helper that comes later": fenced("def f(x):\n    return sq(x)") + "\nwhere",
    "an import that comes later": fenced("def f(x):\n    return math.sqrt(x)"),
    "a constant that comes later": fenced("def f(x):\n    return x % MOD"),
    "a helper used in a nested function": fenced("def f(x):\n    return [sq(y) for y in x]"),
    "a helper used in a default": fenced("def f(x, y=sq(2)):\n    return x"),
    "a helper used as a decorator": fenced("@cached\ndef f(x):\n    return x"),
    "a name that nobody deletes into being": fenced("def f(x):\n    return x\nprint(total)"),
    "names from a star": fenced("from math import *\ndef f(x):\n    return sqrt(x)"),
    "a block that does not parse": fenced("def f(x):\n    return (x"),
    "a shell block": fenced("pip install f", "bash"),
    "output in a block": fenced(">>> f(3)\n9"),
    "a fence inside a docstring": '```python\ndef f(x):\n    """Say\n```\n',
    "a fence inside a text": "```python\ndef f(x):\n    t = '''\n```\n'''\n    return t",
    "four ticks around": "````markdown\n```python\n" + SQUARE,
    "E04, the first of its blocks": fenced("def sq(x):\n    return x * x") + "\nthen\n",
}


@pytest.mark.parametrize("text", UNFINISHED.values(), ids=UNFINISHED)
def test_an_answer_that_is_not_whole_goes_on(text):
    assert not finished(text, "f")


def whole(*blocks: str) -> str:
    return "\nthen\n".join(fenced(block) for block in blocks)


ANSWERS = {  # the whole answer, and what its program returns for f(3)
    "one block": (whole(SQUARE) + "\nThat squares.", 9),
    "text before": ("Sure! Here it is:\n\n" + whole(SQUARE) + "\nDone.", 9),
    "a helper first (E04)": (
        whole("def sq(x):\n    return x * x", "def f(x):\n    return sq(x)"),
        9,
    ),
    "a helper last": (whole("def f(x):\n    return sq(x)", "def sq(x):\n    return x * x"), 9),
    "an import last": (whole("def f(x):\n    return math.floor(x)", "import math"), 3),
    "a shell block between": (
        fenced("pip install x", "bash") + "\n" + whole(SQUARE) + "\n" + fenced("ls", "bash"),
        9,
    ),
    "a usage example first": (fenced("print(f(3))") + "\n" + whole(SQUARE), 9),
    "a fence in the docstring": (
        whole('def f(x):\n    """\n    ```\n    f(3)\n    ```\n    """\n    return x * x'),
        9,
    ),
    "the fence is never closed": ("```python\n" + SQUARE, 9),
}


@pytest.mark.parametrize("text, value", ANSWERS.values(), ids=ANSWERS)
def test_cutting_where_the_answer_is_finished_never_loses_the_program(text, value):
    """Grow the answer character by character and stop where the engine would stop."""
    ends = (n for n in range(len(text) + 1) if finished(text[:n], "f"))
    cut = text[: next(ends, len(text))]
    scope: dict = {}
    exec(extract.program(cut, "f"), scope)
    assert scope["f"](3) == value


def test_a_stub_does_not_end_the_answer():
    text = whole("def f(x):\n    pass", SQUARE)
    assert "x * x" in extract.program(text, "f")
    assert not finished(text[: text.index("then")], "f")


def test_self_contained_code_parses_defines_the_function_and_knows_all_its_names():
    assert self_contained(SQUARE, "f")
    assert not self_contained(SQUARE, "g")
    assert not self_contained("def f(x):\n    return y\n", "f")
    assert not self_contained("def f(x):\n  return 'a\0'\n", "f")
    assert not self_contained("f = (" * 400, "f")


# The two texts


def variant(**values) -> Variant:
    return Variant("t/1", "original", prompt="Return x times x.", entry_point="f", **values)


def test_a_written_task_names_the_function_and_shows_one_test():
    assert question(variant(example="assert f(3) == 9")) == (
        "Write a Python function named `f`.\n\nReturn x times x.\n\n"
        "It must pass this test:\nassert f(3) == 9\n\n"
        "Answer with the whole function in one Python code block and nothing else."
    )


def test_a_completion_is_shown_as_code_and_parts_that_are_empty_are_left_out():
    plain = Variant("t/1", "original", kind="complete", prompt="def f(x):\n    '''x'''\n")
    assert question(plain) == (
        "Complete this Python function.\n\n```python\ndef f(x):\n    '''x'''\n```\n\n"
        "Answer with the whole function in one Python code block and nothing else."
    )


def test_the_contract_stands_between_the_prompt_and_the_encoded_example():
    task = Task(
        "t/1", "t", "write", "Return x.", "f", "def f(x):\n    return x", "assert f(10) == 10"
    )
    text = question(operators.apply("affine_fixed", task, mode="full"))
    order = ["Return x.", "### Encoding contract", "It must pass this test:\nassert f(-74) == -74"]
    places = [text.index(part) for part in order]
    assert places == sorted(places)


def test_a_base_model_continues_code():
    notes = {"contract": "c1\nc2", "example": "assert f(3) == 9"}
    written = completion(variant(**notes))
    assert written == '"""\nReturn x times x.\nc1\nc2\nassert f(3) == 9\n"""\ndef f('
    open_function = "def f(x):\n    '''x'''\n"
    plain = Variant("t/1", "original", kind="complete", prompt=open_function, **notes)
    assert completion(plain) == "# c1\n# c2\n# assert f(3) == 9\n" + open_function


@pytest.mark.parametrize("put", [question, completion])
def test_a_kind_without_a_prompt_is_refused_by_name(put):
    with pytest.raises(ValueError, match="no prompt for tasks of kind 'choice'; known: complete, "):
        put(variant(kind="choice"))


def test_no_stop_string_can_stand_inside_a_function():
    """All but the end token begin a line at the left margin."""
    for stop in BASE_STOPS:
        assert stop == "<|endoftext|>" or (stop[0] == "\n" and not stop[1].isspace())
    body = "    for i in x:\n        print(i)\n        assert i\n    # Test\n    return '```'\n"
    assert not any(stop in body for stop in BASE_STOPS)
