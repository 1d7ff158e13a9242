"""Input/output isomorphisms: the same task behind a bijection of its integers (SPEC 3).

f(x) = y holds if and only if the variant's g(T(x)) = T(y), so the algorithm is unchanged and only
the representation is new. Every variant carries a wrapped reference, which is executed on the
variant's own tests before any model sees it.
"""

import ast
import json
from collections.abc import Callable
from dataclasses import fields
from random import Random
from typing import Any

from byrote.operators.codecs import OUTSIDE, codec, view, wrapped
from byrote.operators.contracts import SIDES, Identity, Sides, contract
from byrote.operators.seeding import stream
from byrote.operators.suite import Inapplicable, Test, parse, rewrite, shown_test, viewed
from byrote.operators.values import (
    Affine,
    BaseRead,
    BaseWrite,
    Cubic,
    ValueMap,
    integers,
)
from byrote.records import Task, Variant
from byrote.registry import operator

PAPER = Affine(2, -94)  # the one draw that the paper's package uses for every task (seed 42)
SLOPES = (2, 3, 5, 7, 11, -2, -3, -5, -7, -11)
DRAWS = 20  # attempts at parameters before a task is left out
MODES = tuple(SIDES)


@operator("affine", family="isomorphism", modes=MODES)
def affine(task: Task, level: float, seed: int, mode: str, wording: str) -> Variant:
    """t(x) = a*x + b with parameters drawn per task (paper 1, section 4.3)."""

    def draw(rng: Random) -> Affine:
        return Affine(rng.choice(SLOPES), rng.randint(-100, 100))

    return _drawn(task, "affine", draw, (level, seed, mode, wording))


@operator("base_read", family="isomorphism", modes=MODES)
def base_read(task: Task, level: float, seed: int, mode: str, wording: str) -> Variant:
    """Decimal digits read in a base from 11 to 16, drawn per task (SPEC 3.2)."""
    base = stream(seed, task.task_id, "base_read", "parameters").randint(11, 16)
    # all of them leave 0 to 9 as they are: no second draw would fit better
    return _fixed(task, "base_read", BaseRead(base), (level, seed, mode, wording))


@operator("base_write", family="isomorphism", modes=MODES)
def base_write(task: Task, level: float, seed: int, mode: str, wording: str) -> Variant:
    """Integers written in a base from 2 to 9, drawn per task (SPEC 3.2)."""
    return _drawn(
        task, "base_write", lambda rng: BaseWrite(rng.randint(2, 9)), (level, seed, mode, wording)
    )


@operator("cubic", family="isomorphism", modes=MODES)
def cubic(task: Task, level: float, seed: int, mode: str, wording: str) -> Variant:
    """t(x) = x^3 + c with c from -50 to 50, drawn per task (SPEC 3.2)."""
    return _drawn(
        task, "cubic", lambda rng: Cubic(rng.randint(-50, 50)), (level, seed, mode, wording)
    )


@operator("affine_fixed", family="isomorphism", modes=MODES)
def affine_fixed(task: Task, level: float, seed: int, mode: str, wording: str) -> Variant:
    """t(x) = 2*x - 94 for every task, as in the paper's package."""
    return _fixed(task, "affine_fixed", PAPER, (level, seed, mode, wording))


@operator("base_read_fixed", family="isomorphism", modes=MODES)
def base_read_fixed(task: Task, level: float, seed: int, mode: str, wording: str) -> Variant:
    """Decimal digits read in base 16 for every task, as in the paper's package."""
    return _fixed(task, "base_read_fixed", BaseRead(16), (level, seed, mode, wording))


@operator("base_write_fixed", family="isomorphism", modes=MODES)
def base_write_fixed(task: Task, level: float, seed: int, mode: str, wording: str) -> Variant:
    """Integers written in base 7 for every task: the digits of the paper's text, made exact."""
    return _fixed(task, "base_write_fixed", BaseWrite(7), (level, seed, mode, wording))


@operator("cubic_fixed", family="isomorphism", modes=MODES)
def cubic_fixed(task: Task, level: float, seed: int, mode: str, wording: str) -> Variant:
    """t(x) = x^3 + 31 for every task, as in the paper's package."""
    return _fixed(task, "cubic_fixed", Cubic(31), (level, seed, mode, wording))


FAMILIES = {"affine": Affine, "base_read": BaseRead, "base_write": BaseWrite, "cubic": Cubic}


def transform_of(variant: Variant) -> ValueMap:
    """The map of a variant, from its parameters."""
    family = FAMILIES[variant.operator.removesuffix("_fixed")]
    known = json.loads(variant.parameters)
    return family(**{field.name: known[field.name] for field in fields(family)})


def _drawn(task: Task, name: str, draw: Callable[[Random], ValueMap], rest: tuple) -> Variant:
    """The variant under the first parameters drawn that fit the task, alike in every mode."""
    _, seed, _, _ = rest
    rng = stream(seed, task.task_id, name, "parameters")
    reason = ""
    for _ in range(DRAWS):
        try:
            transform = draw(rng)
            variant = build(task, name, transform, *rest)
            _check_both_sides(parse(task.tests, task.entry_point), transform)
            return variant
        except ValueError as error:  # parameters that do not fit the task: draw again
            reason = str(error)
    raise Inapplicable(f"no parameters among {DRAWS} draws: {reason}")


def _fixed(task: Task, name: str, transform: ValueMap, rest: tuple) -> Variant:
    """The variant under one map; where it changes no integer there is none."""
    try:
        variant = build(task, name, transform, *rest)
    except ValueError as error:
        raise Inapplicable(str(error)) from None
    control = variant.mode == "contract_only"
    if not control and ast.dump(ast.parse(variant.tests)) == ast.dump(ast.parse(task.tests)):
        raise Inapplicable("the map changes none of the integers")
    return variant


def build(
    task: Task, name: str, transform: ValueMap, level: float, seed: int, mode: str, wording: str
) -> Variant:
    """The variant under `transform`; raises Inapplicable, or ValueError where it does not fit."""
    sides = SIDES[mode]
    suite = parse(task.tests, task.entry_point)
    n_in = sum(integers(t.args) + integers(t.kwargs) for t in suite)
    n_out = sum(integers(t.expected) for t in suite)
    if (sides.inputs, sides.outputs) == (True, False) and not n_in:
        raise Inapplicable("no integer in the arguments")
    if (sides.inputs, sides.outputs) == (False, True) and not n_out:
        raise Inapplicable("no integer in the expected values")
    if not n_in + n_out:
        raise Inapplicable("no integer in the tests")
    control = mode == "contract_only"
    acts = Sides(False, False) if control else sides
    tests = [_encoded(t, transform, acts, task.entry_point) for t in suite]
    shown = suite[shown_test(suite)]
    text = contract(Identity() if control else transform, sides, wording)
    if mode == "full_with_examples":
        text += "\n" + _decoded_examples(suite, transform, acts)
    parameters = json.loads(transform.parameters()) | {"n_in": n_in, "n_out": n_out}
    return Variant(
        task_id=task.task_id,
        operator=name,
        mode=mode,
        wording=wording,
        level=level,
        seed=seed,
        family="isomorphism",
        kind=task.kind,
        prompt=task.prompt,
        code=task.code,
        contract=text,
        example=_example(shown, transform, acts),
        entry_point=task.entry_point,
        reference=wrapped(task.reference, task.entry_point, transform, acts),
        tests="\n".join(tests),
        setup=_setup(task, suite, transform, acts),
        parameters=json.dumps(parameters),
        changed=share_added(task, text),
    )


def _setup(task: Task, suite: list[Test], transform: ValueMap, sides: Sides) -> str:
    """The task's setup, with the tests' own codec where a test needs one."""
    if not any(sides) or all(t.shape == "equal" for t in suite):
        return task.setup
    own = f"{codec(transform, OUTSIDE)}\n\n{view(task.entry_point, sides)}"
    return f"{task.setup}\n\n{own}".strip()


def _encoded(test: Test, transform: ValueMap, sides: Sides, entry_point: str) -> str:
    """One test behind the bijection; the round trip of every value is checked."""
    if not any(sides):
        return ast.unparse(test.statement)
    if test.shape == "any":
        return viewed(test, entry_point)
    return rewrite(test, *_images(test, transform, sides), decoded=sides.outputs)


def _check_both_sides(suite: list[Test], transform: ValueMap) -> None:
    """Refuse parameters that merge elements, or leave all integers of one side as they are.

    In every mode alike, so that a task has the same parameters in all of them. 2*x - 94 leaves
    f(94) == 94 as it is, and base 9 leaves 0 to 8 (SPEC 3.7 rows 7 and 12).
    """
    try:
        for side in ([(t.args, t.kwargs) for t in suite], [t.expected for t in suite]):
            if integers(side) and transform.encode(side) == side:
                raise ValueError("all integers of one side stay as they are")
    except TypeError as error:
        raise Inapplicable(str(error)) from None


def _example(test: Test, transform: ValueMap, sides: Sides) -> str:
    """The test as a prompt shows it: without the helper that decodes inside isclose and the like.

    A test of computed calls is not shown, since its encoding has no plain form.
    """
    if test.shape == "any":
        return ""
    return rewrite(test, *_images(test, transform, sides), decoded=False)


def _images(test: Test, transform: ValueMap, sides: Sides) -> tuple[list, dict, Any]:
    args, kwargs, expected = test.args, test.kwargs, test.expected
    if sides.inputs:
        args = [_exact(transform, v) for v in args]
        kwargs = {name: _exact(transform, v) for name, v in kwargs.items()}
    if sides.outputs:
        expected = _exact(transform, expected)
    return args, kwargs, expected


def _exact(transform: ValueMap, value: Any) -> Any:
    try:
        image = transform.encode(value)
        back = transform.decode(image)
    except TypeError as error:
        raise Inapplicable(str(error)) from None
    if repr(back) != repr(value) and back != value:
        raise Inapplicable(f"the round trip of {value!r} gives {back!r}")
    return image


def _decoded_examples(suite: list[Test], transform: ValueMap, sides: Sides) -> str:
    """At most two short tests, encoded and decoded (the package's `oracle` condition)."""
    plain = Sides(False, False)
    lines = []
    for test in (t for t in suite if t.shape != "any"):
        encoded, decoded = _example(test, transform, sides), _example(test, transform, plain)
        if max(len(encoded), len(decoded)) <= 120 and len(lines) < 2:
            lines.append(
                f"{encoded.removeprefix('assert ')} means "
                f"{decoded.removeprefix('assert ')} in plain values"
            )
    return "\n".join(["### Decoded examples", *lines])


def share_added(task: Task, text: str) -> float:
    """Words that `text` adds, as a share of the words then shown."""
    before, added = len(f"{task.prompt} {task.code}".split()), len(text.split())
    return added / (before + added)
