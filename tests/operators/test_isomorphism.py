"""The isomorphism end to end: f(x) = y holds if and only if the variant's g(T(x)) = T(y).

Programs run in the sandbox. Properties are checked over every task of HumanEval and ladder, the
published counts on MBPP where its file is there.
"""

import ast
import json
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from byrote import benchmarks, operators, pipeline, registry
from byrote.operators.contracts import SIDES, Sides
from byrote.operators.isomorphism import PAPER, composed, rename, wrapped
from byrote.operators.suite import literal
from byrote.operators.values import Affine, integers
from byrote.pipeline import Condition
from byrote.records import Task, Variant, rows, table
from byrote.sandbox import Limits, Program, run
from byrote.store import Store

SHARED = Path(os.environ.get("BYROTE_DATA") or Path(__file__).parents[3] / "shared" / "data")
SHORT = Limits(cpu_seconds=0.5)
IDENTITY = "def f(x):\n    return x\n"
MODES = [m for m in SIDES if m != "contract_only"]

each_mode = pytest.mark.parametrize("mode", MODES)


def task(reference: str, *tests: str, **more) -> Task:
    return Task("toy/1", "toy", "write", "Do it.", "f", reference, "\n".join(tests), **more)


def outcomes(*programs: Program, limits: Limits = SHORT) -> list[str]:
    """One character a test for each program."""
    return [outcome.outcomes for outcome in run(programs, limits)]


def sound(variant: Variant) -> Program:
    return Program(variant.reference, variant.tests, variant.setup, variant.entry_point)


def bare(task: Task, variant: Variant) -> Program:
    return Program(task.reference, variant.tests, variant.setup, variant.entry_point)


def apply(task: Task, mode: str = "full", operator: str = "affine_fixed", **more) -> Variant:
    return operators.apply(operator, task, mode=mode, **more)


@pytest.fixture(scope="module")
def known() -> list[Task]:
    """Every task of HumanEval and ladder."""
    return benchmarks.load("humaneval") + benchmarks.load("ladder")


@pytest.fixture(scope="module")
def ladder() -> list[Task]:
    return benchmarks.load("ladder")


# Which side changes


@pytest.mark.parametrize(
    "mode, test, answer",
    [
        ("full", "assert f(-74) == -94", -94),
        ("inputs", "assert f(-74) == 0", 0),
        ("outputs", "assert f(10) == -94", -94),
        ("full_with_examples", "assert f(-74) == -94", -94),
        ("contract_only", "assert f(10) == 0", 0),
    ],
)
def test_a_mode_changes_the_sides_that_it_names(mode, test, answer):
    variant = apply(task("def f(x):\n    return x - 10\n", "assert f(10) == 0"), mode)
    assert (variant.tests, variant.example, variant.reason) == (test, test, "")
    scope: dict = {}
    exec(variant.reference, scope)
    assert scope["f"](-74 if "(-74)" in test else 10) == answer


def test_the_control_leaves_reference_tests_and_setup_as_they_are():
    plain = task(IDENTITY, "assert f(10) == 10", setup="import math")
    variant = apply(plain, "contract_only")
    assert (variant.reference, variant.tests, variant.setup) == (
        plain.reference,
        plain.tests,
        plain.setup,
    )


def test_the_two_examples_of_the_oracle_mode_are_short_tests_encoded_and_decoded():
    tests = [f"assert f({list(range(60))}) == 0", "assert f(10) == 0", "assert not f('a')"]
    shown = apply(task(IDENTITY, *tests, "assert f(0) == 10"), "full_with_examples")
    examples = shown.contract.partition("### Decoded examples\n")[2].splitlines()
    assert examples == [
        "f(-74) == -94 means f(10) == 0 in plain values",
        "not f('a') means not f('a') in plain values",
    ]
    full = apply(task(IDENTITY, *tests), "full")
    assert shown.contract.startswith(full.contract) and "Decoded examples" not in full.contract


@each_mode
def test_prompt_and_code_never_change(mode):
    """Numerals in the prose are constants of the task, not its input or output."""
    plain = replace(task(IDENTITY, "assert f(10) == 10"), prompt="Add 10 to 10.", code="x = 10\n")
    variant = apply(plain, mode)
    assert (variant.prompt, variant.code, variant.entry_point) == (plain.prompt, plain.code, "f")
    assert 0 < variant.changed < 1


# Wrapped tests (SPEC 3.4)


WRAPPED = {
    "sorted, whose order a negative slope reverses": (
        "def f(x):\n    return [x + 2, x, x + 1]\n",
        "assert sorted(f(1)) == [1, 2, 3]",
    ),
    "a set of what is returned": ("def f(x):\n    return [x, x]\n", "assert set(f(1)) == {1}"),
    "a tuple of what is returned": ("def f(x):\n    return [x]\n", "assert tuple(f(1)) == (1,)"),
    "a list of what is returned": ("def f(x):\n    return (x,)\n", "assert list(f(1)) == [1]"),
    "isclose": ("def f(x):\n    return x / 3\n", "assert math.isclose(f(1), 1 / 3)"),
    "a difference below a bound": ("def f(x):\n    return x\n", "assert abs(f(1) - 1) < 1e-6"),
    "a bare truth value": ("def f(x):\n    return x > 0\n", "assert f(1)"),
    "a negated truth value": ("def f(x):\n    return x > 0\n", "assert not f(-1)"),
    "a negated number": ("def f(x):\n    return x\n", "assert not f(0)"),
    "keyword arguments": ("def f(x, y=0):\n    return x - y\n", "assert f(1, y=2) == -1"),
    "keyword arguments only": ("def f(*, y):\n    return y\n", "assert f(y=2) == 2"),
    "a dictionary": ("def f(x):\n    return {x: [x]}\n", "assert f(1) == {1: [1]}"),
    "one and True apart": ("def f(x):\n    return [x, x == 1]\n", "assert f(1) == [1, True]"),
    "calls within calls": ("def f(x):\n    return x + 1\n", "assert f(f(1)) == 3"),
    "computed arguments": ("def f(x):\n    return sum(x)\n", "assert f(list(range(4))) == 6"),
    "a loop": ("def f(x):\n    return x\n", "for i in range(3):\n    assert f(i) == i"),
    "the function as a value": ("def f(x):\n    return x\n", "assert [*map(f, [1, 2])] == [1, 2]"),
    "a length": ("def f(x):\n    return [x]\n", "assert len(f(1)) == 1"),
}


@pytest.mark.parametrize("name", WRAPPED)
@pytest.mark.parametrize("transform", [PAPER, Affine(-3, 1)], ids=str)
def test_a_wrapped_test_holds_for_the_wrapped_reference_in_every_mode(name, transform):
    reference, test = WRAPPED[name]
    plain = task(reference, test, "assert f != 5", setup="import math")
    programs = []
    for sides in (SIDES["full"], SIDES["inputs"], SIDES["outputs"]):
        variant = built(plain, transform, sides)
        programs.append(sound(variant))
    assert outcomes(*programs) == ["."] * len(programs)


def built(plain: Task, transform: Affine, sides: Sides) -> Variant:
    """The variant under a given map; its one test besides those that only name the function."""
    from byrote.operators.isomorphism import build

    mode = next(m for m, s in SIDES.items() if s == sides)
    first = plain.tests.rpartition("\n")[0]
    variant = build(replace(plain, tests=first), "affine", transform, 1.0, 0, mode, "1")
    return variant


def test_a_value_outside_the_image_fails_a_decoded_test():
    """671 is 2x - 94 for no integer x: decoding is strict."""
    plain = task("def f(x):\n    return [x]\n", "assert len(f(1)) == 1")
    variant = apply(plain)
    for answer, right in ((672, "."), (671, "E")):
        program = f"def f(x):\n    return [{answer}]\n"
        assert outcomes(replace(sound(variant), source=program)) == [right]


def test_a_float_for_an_integer_is_found_by_execution():
    """SPEC 3.7 row 12b (MBPP 14): 240.0 == 240, but 240.0 is not the encoded 386."""
    plain = task("def f(x):\n    return x * 24 / 1\n", "assert f(10) == 240")
    variant = apply(plain)
    assert variant.tests == "assert f(-74) == 386"
    assert outcomes(Program(plain.reference, plain.tests), sound(variant)) == [".", "F"]


def test_a_program_that_commutes_with_the_map_is_known_by_the_floor(store):
    """SPEC 3.7 row 12: reversing, or a maximum under a > 0, needs no decoding."""
    tasks = [
        replace(task(f"def f(x):\n    return {body}\n", test), task_id=f"toy/{n}")
        for n, (body, test) in enumerate(
            [
                ("x[::-1]", "assert f([1, 2]) == [2, 1]"),
                ("max(x)", "assert f([1, 2]) == 2"),
                ("sum(x)", "assert f([1, 2]) == 3"),
            ]
        )
    ]
    frame = table(tasks, Task)
    found = pipeline.variants(frame, [Condition("affine_fixed", "full")], store=store)
    assert found["sound"].tolist() == [True, True, True]
    assert found["floor"].tolist() == [True, True, False]


# Recursion, names and the two compositions


FACTORIAL = "def f(n):\n    # f of n\n    return 1 if n < 2 else n * f(n - 1)\n"


def test_a_recursive_reference_calls_itself_and_not_its_wrapper():
    variant = apply(task(FACTORIAL, "assert f(5) == 120", "assert f(0) == 1"))
    assert outcomes(sound(variant)) == [".."]


@pytest.mark.parametrize(
    "source, renamed",
    [
        (FACTORIAL, FACTORIAL.replace("f(n", "g(n")),
        ("x.f(f, f=f)\n", "x.f(g, g=g)\n"),
        ("'f' + f  # f\n", "'f' + g  # f\n"),
        ("def  f ( x ) :\n\treturn  f ( x )", "def  g ( x ) :\n\treturn  g ( x )"),
        ("off = f_ = ff\n", "off = f_ = ff\n"),
        ("x = '\u2028\x0c'; f()\nf()\n", "x = '\u2028\x0c'; g()\ng()\n"),
        ("def f(n):\n    return f'{f(n - 1)}f'\n", "def g(n):\n    return f'{g(n - 1)}f'"),
        ("x = 'é'; f()\r\nf()\r\n", "x = 'é'; g()\r\ng()\r\n"),
    ],
)
def test_renaming_keeps_layout_attributes_text_and_comments(source, renamed):
    assert rename(source, "f", "g").rstrip("\n") == renamed.rstrip("\n")


@pytest.mark.parametrize("inputs", [True, False])
@pytest.mark.parametrize("outputs", [True, False])
def test_composing_undoes_wrapping_on_the_plain_side(inputs, outputs):
    """The encoded program, seen from the plain side, passes the original tests (SPEC 3.5)."""
    sides = Sides(inputs, outputs)
    tests = "assert f(5) == 120\nassert f(n=3) == 6"
    behind = wrapped(FACTORIAL, "f", PAPER, sides)
    assert outcomes(
        Program(composed(behind, "f", PAPER, sides), tests),
        Program(composed(FACTORIAL, "f", PAPER, Sides(True, True)), tests),
    ) == ["..", "EE"]


def test_a_program_with_helpers_of_the_same_names_is_still_composed_rightly():
    own = "def _encode(x):\n    return 'mine'\ndef _decode(x):\n    return 'mine'\n" + IDENTITY
    assert outcomes(Program(composed(own, "f", PAPER, SIDES["full"]), "assert f(3) == 3")) == ["."]


# Tasks that do not apply


@pytest.mark.parametrize(
    "tests, mode, reason",
    [
        ("assert f('a') == 'b'", "full", "no integer in the tests"),
        ("assert f('a') == 'b'", "contract_only", "no integer in the tests"),
        ("assert f('1') == 2", "inputs", "no integer in the arguments"),
        ("assert f(1) == '2'", "outputs", "no integer in the expected values"),
        ("assert f([]) == []", "inputs", "no integer in the arguments"),
        ("assert abs(f(0.06, 0.05)) < 1e-6", "full", "no integer in the tests"),
        ("assert f(1) == g(", "full", "the tests do not parse"),
        ("assert g(1) == 2", "full", "a test never uses f"),
        ("assert f(94) == 94", "full", "all integers of one side stay as they are"),
        ("assert f(94) == 1", "outputs", "all integers of one side stay as they are"),
        ("assert f({1.0: 2, True: 3}, {1.0, 95 // 2}) == 1", "full", ""),
        ("assert f(Decimal(1)) == 2", "full", "a test holds a value of Decimal"),
        ("assert f(...) == 2", "full", "no rule for a value of type ellipsis"),
        (f"assert f(0x{'f' * 4000}) == 2", "full", "a test holds an integer of more than"),
    ],
)
def test_a_task_that_does_not_apply_says_why_and_stays_as_it_is(tests, mode, reason):
    plain = task(IDENTITY, tests)
    variant = apply(plain, mode)
    assert variant.reason.startswith(reason) and bool(variant.reason) == bool(reason)
    if reason:
        assert (variant.prompt, variant.tests, variant.reference) == (
            plain.prompt,
            plain.tests,
            plain.reference,
        )
        assert (variant.operator, variant.mode, variant.contract) == ("affine_fixed", mode, "")
        assert not variant.sound


def test_elements_that_would_merge_are_refused_or_drawn_again():
    """SPEC 3.7 row 7, with the paper's fixed map: T(48) = 2 beside 2.0."""
    plain = task(IDENTITY, "assert f({2.0, 48}) == 1")
    assert apply(plain).reason == "two elements of {48, 2.0} would become one"
    drawn = [apply(replace(plain, task_id=f"toy/{n}"), operator="affine") for n in range(40)]
    assert {v.reason for v in drawn} == {""}


@pytest.mark.parametrize(
    "values, message",
    [
        ({"mode": "enc"}, "unknown mode 'enc' of affine; known: full"),
        ({"mode": "full", "wording": "4"}, "unknown wording '4'; known: 1, 2, 3"),
    ],
)
def test_an_unknown_parameter_is_refused_with_what_exists(values, message):
    with pytest.raises(ValueError, match=message):
        operators.apply("affine", task(IDENTITY, "assert f(1) == 1"), **values)


# Parameters


def test_parameters_depend_on_seed_and_task_and_on_nothing_else(known):
    def drawn(tasks: list[Task], **values) -> dict:
        values = {"mode": "full", "seed": 0} | values
        made = [operators.apply("affine", t, **values) for t in tasks]
        return {v.task_id: json.loads(v.parameters) for v in made if not v.reason}

    first = drawn(known)
    assert drawn(known[::-1]) == first == drawn(known, level=0.4) == drawn(known, wording="3")
    assert drawn(known[5:6]) == {known[5].task_id: first[known[5].task_id]}
    for mode in SIDES:
        assert drawn(known, mode=mode).items() <= first.items()
    other = drawn(known, seed=1)
    assert sum(other[name] == first[name] for name in first) < len(first) / 20
    assert len({(p["a"], p["b"]) for p in first.values()}) > len(first) / 2


def test_the_papers_preset_is_the_same_for_every_task(known):
    made = [operators.apply("affine_fixed", t, mode="full") for t in known]
    found = {(p["a"], p["b"]) for v in made if not v.reason for p in [json.loads(v.parameters)]}
    assert found == {(2, -94)}


# Every task of HumanEval and ladder


def test_the_operator_original_changes_nothing(known):
    kept = ("task_id", "kind", "prompt", "code", "entry_point", "reference", "tests", "setup")
    for plain in known:
        variant = operators.apply("original", plain, level=0.0)
        assert [getattr(variant, k) for k in kept] == [getattr(plain, k) for k in kept]
        assert (variant.reason, variant.contract, variant.changed) == ("", "", 0.0)


@pytest.mark.parametrize("name", sorted(registry.OPERATORS))
def test_the_same_seed_gives_the_same_variant_in_any_order(name, known):
    operator = registry.OPERATORS[name]
    for mode in operator.modes:
        for level in operator.levels:
            first = [operators.apply(name, t, level, 7, mode) for t in known]
            again = [operators.apply(name, t, level, 7, mode) for t in known[::-1]]
            assert first == again[::-1]


@pytest.mark.parametrize("name", sorted(registry.OPERATORS))
def test_level_zero_of_a_graded_operator_is_the_original(name, known):
    operator = registry.OPERATORS[name]
    if not any(0 < level < 1 for level in operator.levels):
        pytest.skip(f"{name} has no levels between 0 and 1")
    for plain in known:
        zero, original = (operators.apply(n, plain, 0.0) for n in (name, "original"))
        for field in ("prompt", "code", "reference", "tests", "setup", "entry_point", "changed"):
            assert getattr(zero, field) == getattr(original, field), (plain.task_id, field)


def literals(source: str) -> list:
    """Every value in a text of tests that is a literal as a whole argument or side, in order."""
    found = []

    def visit(node: ast.AST) -> None:
        try:
            found.append(literal(node))
        except (ValueError, AttributeError):
            for child in ast.iter_child_nodes(node):
                visit(child)

    visit(ast.parse(source))
    return [value for value in found if integers(value)]


def test_every_integer_of_the_tests_comes_back_by_decoding(known):
    seen = 0
    for plain in known:
        for operator in ("affine", "affine_fixed"):
            variant = operators.apply(operator, plain, mode="full")
            if variant.reason or "_outside" in variant.tests or "_view" in variant.tests:
                continue
            parameters = json.loads(variant.parameters)
            transform = Affine(parameters["a"], parameters["b"])
            before, after = literals(plain.tests), literals(variant.tests)
            assert [repr(transform.decode(v)) for v in after] == [repr(v) for v in before]
            assert sum(map(integers, after)) == parameters["n_in"] + parameters["n_out"]
            seen += 1
    assert seen > 250


def test_every_variant_is_sound_and_differs_from_its_task(known):
    """The two exceptions are found by execution and never shown to a model."""
    programs = {}
    for plain in known:
        for mode in ("full", "inputs", "outputs"):
            variant = operators.apply("affine", plain, mode=mode)
            if not variant.reason:
                assert variant.tests != plain.tests, plain.task_id
                programs[plain.task_id, mode] = sound(variant)
    limits = Limits()
    found = {k: o.outcome for k, o in zip(programs, run(programs.values(), limits), strict=True)}
    assert {k: o for k, o in found.items() if o != "passed"} == {}
    assert Counter(mode for _, mode in found) == {}


def mutant(source: str) -> str:
    """The program with every integer constant one higher: as wrong as it is well formed."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and type(node.value) is int:
            node.value += 1
    return ast.unparse(tree)


def test_a_program_is_right_behind_the_map_where_and_only_where_it_is_right_in_front(ladder):
    """f(x) = y if and only if g(T(x)) = T(y): test by test, for wrong programs."""
    programs = {}
    for plain in ladder:
        parts = {"mutant": mutant(plain.reference)}
        parts["echo"] = f"def {plain.entry_point}(x, *rest):\n    return x\n"
        for name, source in parts.items():
            programs[plain.task_id, name, ""] = Program(source, plain.tests)
            for mode in ("full", "inputs", "outputs"):
                variant = operators.apply("affine", plain, mode=mode)
                if variant.reason:
                    continue
                known = json.loads(variant.parameters)
                transform = Affine(known["a"], known["b"])
                behind = wrapped(source, plain.entry_point, transform, SIDES[mode])
                programs[plain.task_id, name, mode] = replace(sound(variant), source=behind)
    found = dict(zip(programs, outcomes(*programs.values()), strict=True))
    right = {k: [c == "." for c in found[k]] for k in found}
    assert sum(not all(v) for v in right.values()) > len(right) / 2
    different = [k for k in right if right[k] != right[*k[:2], ""]]
    assert different == []


# Storing (I02, azukds/tubular#758)


def test_integer_keys_and_tuples_survive_frames_and_files(tmp_path):
    plain = task(IDENTITY, "assert f({1: (2, 3)}) == {1: (2, 3)}")
    variant = apply(plain)
    assert variant.tests == "assert f({-92: (-90, -88)}) == {-92: (-90, -88)}"
    for row, kind in ((plain, Task), (variant, Variant)):
        table([row], kind).to_parquet(tmp_path / "rows.parquet")
        [back] = rows(pd.read_parquet(tmp_path / "rows.parquet"), kind)
        assert back == row


# MBPP, sanitized test split, with the paper's map (issue 2)


@pytest.fixture(scope="module")
def mbpp() -> list[Task]:
    if not (SHARED / "mbpp" / "sanitized-mbpp.json").is_file():
        pytest.skip(f"no sanitized-mbpp.json in {SHARED / 'mbpp'}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BYROTE_DATA", str(SHARED))
        return benchmarks.load("mbpp_sanitized_test")


def made(mbpp: list[Task], mode: str) -> dict[str, Variant]:
    return {t.task_id: operators.apply("affine_fixed", t, mode=mode) for t in mbpp}


def held(variant: Variant) -> tuple[bool, bool]:
    """Whether a variant's tests have integers in arguments and in expected values."""
    known = json.loads(variant.parameters)
    return known.get("n_in", 0) > 0, known.get("n_out", 0) > 0


def test_mbpp_has_the_published_counts_of_integers(mbpp):
    full = made(mbpp, "full")
    sides = Counter(held(v) for v in full.values())
    assert sum(sides.values()) == 257
    assert sides[True, True] + sides[True, False] == 207
    assert sides[True, True] + sides[False, True] == 166
    assert sides[True, True] == 154
    assert Counter(v.reason for v in full.values()) == {"": 219, "no integer in the tests": 38}
    for mode, count in (("inputs", 207), ("outputs", 166)):
        assert sum(not v.reason for v in made(mbpp, mode).values()) == count


def test_mbpp_references_are_sound_behind_the_map_and_exclusions_have_a_reason(mbpp, store):
    """Six return a float for an integer or the like, one (397) depends on the order of values."""
    whole = table(mbpp, Task)
    found = pipeline.variants(whole, [Condition("affine_fixed", "full")], store=store)
    excluded = found[~found["sound"]].set_index("task_id")["reason"]
    assert found["sound"].sum() == 212
    assert Counter(excluded) == {
        "no integer in the tests": 38,
        "its reference failed (FFF): AssertionError": 4,
        "its reference failed (.F.): AssertionError": 1,
        "its reference failed (.FF): AssertionError": 1,
        "its reference failed (FF.): AssertionError": 1,
    }
    assert {int(t.split("/")[1]) for t in excluded[excluded.str.startswith("its")].index} == {
        *(14, 80, 88, 293, 397, 422, 432)
    }


def test_mbpp_references_that_pass_without_decoding_are_as_many_as_measured(mbpp):
    """The floor: 50 tasks with integers and the 38 without, 88 of 257 in full mode."""
    floors = {}
    for mode in ("full", "inputs", "outputs"):
        variants = made(mbpp, mode)
        core = {t for t, v in variants.items() if held(v) == (True, True)}
        programs = {
            t.task_id: bare(t, variants[t.task_id])
            for t in mbpp
            if mode == "full" or t.task_id in core
        }
        passed = dict(zip(programs, outcomes(*programs.values()), strict=True))
        passed = {t for t, o in passed.items() if set(o) == {"."}}
        floors[mode] = len(passed), len(passed & core)
    assert floors == {"full": (88, 32), "inputs": (14, 14), "outputs": (0, 0)}
