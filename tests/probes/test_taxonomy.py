"""Causes of failure, on programs whose omission is known."""

import pytest

from byrote import pipeline, study
from byrote.operators.contracts import SIDES
from byrote.pipeline import Condition
from byrote.probes import taxonomy
from byrote.records import Generation, Task, Variant, rows, table
from byrote.store import Store

WOODALL = """
def is_woodall(n):
    x = DECODED
    k = 1
    while k * 2**k - 1 <= x:
        if k * 2**k - 1 == x:
            return TRUE
        k += 1
    return FALSE
"""
DIGITS = "def digit_sum(n):\n    x = {}\n    return {}\n"
SUM = "sum(int(c) for c in str(abs(x)))"


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    """Two tasks behind (2, -94) in all modes: bools out, and integers out."""
    store = Store(tmp_path_factory.mktemp("taxonomy") / "store.sqlite")
    woodall = WOODALL.replace("DECODED", "n").replace("TRUE", "True").replace("FALSE", "False")
    # the tests of MBPP task 20, which Figure 2 of paper 1 shows
    tests = "\n".join(
        f"assert is_woodall({n}) == {answer}"
        for n, answer in ((383, True), (254, False), (200, False))
    )
    digits = "\n".join(
        f"assert digit_sum({n}) == {sum(map(int, str(n)))}" for n in (12, 907, 50, 4, 0, 333)
    )
    tasks = table(
        [
            Task("t/1", "t", "write", "Woodall?", "is_woodall", woodall, tests),
            Task("t/2", "t", "write", "Digits.", "digit_sum", DIGITS.format("n", SUM), digits),
        ],
        Task,
    )
    conditions = [Condition("affine_fixed", mode, "1") for mode in SIDES]
    return tasks, pipeline.variants(tasks, conditions, store=store), store


def cause(bench, program: str, task_id: str, mode: str = "full", finish: str = "stop") -> str:
    """The cause of one program's failure; "passed" where it does not fail."""
    tasks, variants, store = bench
    chosen = variants[(variants["task_id"] == task_id) & (variants["mode"] == mode)]
    v = rows(chosen, Variant)[0]
    answer = Generation(
        **{c: getattr(v, c) for c in Variant.KEY},
        **{"model": "m", "sampling": "", "sample": 0, "request": "r"},
        **{"text": f"```python\n{program}\n```", "finish": finish},
    )
    answers = table([answer], Generation)
    verdicts = pipeline.verdicts(answers, variants, store)
    found = taxonomy.causes(verdicts, answers, variants, tasks, store)
    return found["cause"].iloc[0] if len(found) else "passed"


def woodall(decoded: str, true: str = "True", false: str = "False") -> str:
    return WOODALL.replace("DECODED", decoded).replace("TRUE", true).replace("FALSE", false)


def test_figure_2_the_program_that_leaves_booleans_alone_passes(bench):
    assert cause(bench, woodall("(n + 94) // 2"), "t/1") == "passed"


def test_figure_2_the_program_that_encodes_booleans_is_boundary(bench):
    always_true = woodall("(n + 94) // 2", "bool(2 * True - 94)", "bool(2 * False - 94)")
    assert cause(bench, always_true, "t/1") == "boundary"


def test_booleans_returned_as_encoded_numbers_are_boundary_too(bench):
    assert cause(bench, woodall("(n + 94) // 2", "2 * True - 94", "-94"), "t/1") == "boundary"


def test_a_constant_answer_that_never_met_the_contract_is_not_boundary(bench):
    assert cause(bench, "def is_woodall(n):\n    return True\n", "t/1") == "other"


@pytest.mark.parametrize(
    ("decoded", "returned", "named"),
    [
        ("(n + 94) // 2", f"2 * {SUM} - 94", "passed"),
        ("(n + 94) // 2", SUM, "encode missing"),
        ("n", f"2 * {SUM} - 94", "decode missing"),
        ("n", SUM, "contract ignored"),
        ("(n + 94) // 2", f"2.0 * {SUM} - 94", "passed"),  # 2.0 == 2, as in the original
        ("(n + 94) // 2", f"float({SUM})", "encode missing"),
        ("(n + 94) // 2", "x", "other"),
    ],
)
def test_the_composition_that_passes_names_what_was_left_out(bench, decoded, returned, named):
    assert cause(bench, DIGITS.format(decoded, returned), "t/2") == named


def test_a_side_that_the_contract_leaves_plain_is_the_wrong_side(bench):
    both = DIGITS.format("(n + 94) // 2", f"2 * {SUM} - 94")
    assert cause(bench, both, "t/2", "inputs") == "wrong side"
    assert cause(bench, DIGITS.format("n", SUM), "t/2", "inputs") == "decode missing"
    assert cause(bench, DIGITS.format("n", SUM), "t/2", "outputs") == "encode missing"


def test_no_program_is_its_own_cause(bench):
    assert cause(bench, "I cannot do that.", "t/2") == "no program"


def test_an_answer_that_was_cut_before_its_program_was_whole_is_told_apart(bench):
    cut = "def digit_sum(n):\n    x = (n + 94"
    assert cause(bench, cut, "t/2", finish="length") == "cut off"
    assert cause(bench, cut, "t/2") == "no program"


def test_the_breakers_omission_is_named_on_every_task_whose_variant_it_fails(tmp_path):
    store = Store(tmp_path / "store.sqlite")
    tasks = pipeline.tasks(["ladder"])
    variants = pipeline.variants(tasks, [pipeline.ORIGINAL, *study.MODES], store=store)
    answers = pipeline.generations(variants, ["contract_breaker"], store=store)
    verdicts = pipeline.verdicts(answers, variants, store)
    found = taxonomy.causes(verdicts, answers, variants, tasks, store)
    assert len(found) > 100 and set(found["cause"]) == {"encode missing"}
