"""The contract text: what it states, in every wording and mode, and its control of equal length."""

import re

import pytest

from byrote.operators.contracts import PLAIN_NOTE, SIDES, Identity, contract
from byrote.operators.isomorphism import PAPER, SLOPES
from byrote.operators.values import Affine, BaseRead, BaseWrite, Cubic

WORDINGS = ("1", "2", "3")
FAMILIES = [BaseRead(16), BaseRead(11), BaseWrite(7), BaseWrite(2), Cubic(31), Cubic(-50)]
MAPS = [PAPER, *(Affine(a, b) for a in SLOPES for b in (-100, 0, 7))]

each_wording = pytest.mark.parametrize("wording", WORDINGS)
each_encoding_mode = pytest.mark.parametrize("mode", [m for m in SIDES if m != "contract_only"])


def text(mode: str, wording: str = "1", transform: Affine = PAPER) -> str:
    return contract(Identity() if mode == "contract_only" else transform, SIDES[mode], wording)


@each_wording
def test_both_recipes_stand_in_the_full_contract(wording):
    full = text("full", wording)
    assert re.search(r"2\*[xn] - 94", full)
    assert re.search(r"\([en] \+ 94\) // 2", full)


@pytest.mark.parametrize("wording", ["1", "2"])
def test_a_contract_of_one_side_gives_that_sides_recipe_only(wording):
    assert "(e + 94) // 2" in text("inputs", wording) and "2*y - 94" not in text("inputs", wording)
    assert "2*y - 94" in text("outputs", wording) and "// 2" not in text("outputs", wording)


@pytest.mark.parametrize(
    "wording, arguments, result",
    [
        ("1", "The arguments are not encoded", "The result is not encoded"),
        ("2", "The inputs are in their original form", "The output stays in its original form"),
        ("3", "The arguments are plain.", "The returned value is plain."),
    ],
)
def test_the_side_that_is_not_encoded_is_named(wording, arguments, result):
    for mode, sides in SIDES.items():
        assert (arguments in text(mode, wording)) == (not sides.inputs)
        assert (result in text(mode, wording)) == (not sides.outputs)


@each_wording
@pytest.mark.parametrize(
    "mode, examples",
    [
        ("full", "the argument -74 stands for 10, and the answer 0 is returned as -94."),
        ("inputs", "the argument -74 stands for 10, and the argument -94 stands for 0."),
        ("outputs", "the answer 10 is returned as -74, and the answer 0 as -94."),
        ("contract_only", "the argument 10 stands for 10, and the answer 0 is returned as 0."),
    ],
)
def test_two_examples_are_given_and_one_of_them_is_zero(wording, mode, examples):
    assert examples in text(mode, wording)


def test_what_is_not_encoded_is_said_in_two_wordings_and_left_out_of_the_papers():
    """SPEC 3.6 A6: the paper's contract is silent, and its running example fails there."""
    for mode in SIDES:
        assert "True, False, None, floats and text are never encoded." in text(mode, "1")
        assert "bool, None, float and str are left alone." in text(mode, "3")
        silent = text(mode, "2").lower()
        assert not re.search(r"bool|true|false|none\b|float|text|\bstr", silent)
    assert PLAIN_NOTE in text("full", "1") and PLAIN_NOTE in text("full", "3")


@each_wording
@pytest.mark.parametrize("transform", MAPS, ids=str)
def test_the_control_has_about_the_length_of_the_contract(wording, transform):
    """The texts of both differ in formulas and numbers alone."""
    full = len(text("full", wording, transform).split())
    control = len(text("contract_only", wording).split())
    assert 0.85 * full <= control <= full


@each_wording
def test_the_control_declares_that_nothing_changes(wording):
    control = text("contract_only", wording)
    assert not re.search(r"\d ?[*+/-]|[*+/] ?\d|// ", control)
    assert re.findall(r"-?\d+", control) == ["10", "10", "0", "0"]


@pytest.mark.parametrize("transform", [*MAPS, *FAMILIES], ids=str)
def test_the_contract_as_code_runs_and_is_the_map(transform):
    lines = text("full", "3", transform).splitlines()
    start = lines.index("def encode(n):")
    scope: dict = {}
    exec("\n".join([transform.helper, *lines[start : start + 4]]), scope)
    for x in (-17, -1, 0, 1, 10, 10**40):
        assert scope["encode"](x) == transform.encode(x)
        assert scope["decode"](scope["encode"](x)) == x


@each_wording
@each_encoding_mode
@pytest.mark.parametrize("transform", MAPS, ids=str)
def test_every_number_in_the_prose_is_of_the_map(mode, wording, transform):
    ten, zero = transform.encode(10), transform.encode(0)
    known = {abs(n) for n in (ten, zero, 10, 0, transform.a, transform.b)}
    assert {int(n) for n in re.findall(r"\d+", text(mode, wording, transform))} <= known


@each_wording
@pytest.mark.parametrize("transform", FAMILIES, ids=str)
def test_a_function_that_a_contract_calls_stands_in_it_whole_and_else_not(wording, transform):
    name = transform.helper.split("(")[0].removeprefix("def ")
    for mode in ("full", "inputs", "outputs"):
        shown = text(mode, wording, transform)
        calls = shown.replace(transform.helper, "").count(f"{name}(")
        assert (transform.helper in shown) == (calls > 0)
    assert transform.helper in text("full", wording, transform)
    assert "def " not in text("contract_only", "1")
