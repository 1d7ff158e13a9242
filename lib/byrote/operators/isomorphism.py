"""Input/output isomorphisms: the same task behind a bijection of its integers (SPEC 3).

f(x) = y holds if and only if the variant's g(T(x)) = T(y), so the algorithm is unchanged and only
the representation is new. Every variant carries a wrapped reference, which is executed on the
variant's own tests before any model sees it.
"""

import ast
import io
import json
import tokenize
from typing import Any

from byrote.operators.contracts import SIDES, Identity, Sides, contract
from byrote.operators.seeding import stream
from byrote.operators.suite import Inapplicable, Test, parse, rewrite, shown_test, viewed
from byrote.operators.values import LIFT_SOURCE, Affine, integers
from byrote.records import Task, Variant
from byrote.registry import operator

PAPER = Affine(2, -94)  # the one draw that the paper's package uses for every task (seed 42)
SLOPES = (2, 3, 5, 7, 11, -2, -3, -5, -7, -11)
DRAWS = 20  # attempts at parameters before a task is left out
MODES = tuple(SIDES)


@operator("affine", family="isomorphism", modes=MODES)
def affine(task: Task, level: float, seed: int, mode: str, wording: str) -> Variant:
    """t(x) = a*x + b with parameters drawn per task (paper 1, section 4.3)."""
    rng = stream(seed, task.task_id, "affine", "parameters")
    reason = ""
    for _ in range(DRAWS):
        transform = Affine(rng.choice(SLOPES), rng.randint(-100, 100))
        try:
            return build(task, "affine", transform, level, seed, mode, wording)
        except ValueError as error:  # two elements of a set became one: draw again
            reason = str(error)
    raise Inapplicable(f"no parameters among {DRAWS} draws: {reason}")


@operator("affine_fixed", family="isomorphism", modes=MODES)
def affine_fixed(task: Task, level: float, seed: int, mode: str, wording: str) -> Variant:
    """t(x) = 2*x - 94 for every task, as in the paper's package."""
    try:
        return build(task, "affine_fixed", PAPER, level, seed, mode, wording)
    except ValueError as error:
        raise Inapplicable(str(error)) from None


def build(
    task: Task, name: str, transform: Affine, level: float, seed: int, mode: str, wording: str
) -> Variant:
    """The variant under `transform`; raises Inapplicable, or ValueError where elements collide."""
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
    text = contract(Identity() if control else transform, sides, wording or "1")
    if mode == "full_with_examples":
        text += "\n" + _decoded_examples(suite, tests)
    parameters = json.loads(transform.parameters()) | {"n_in": n_in, "n_out": n_out}
    return Variant(
        task_id=task.task_id,
        operator=name,
        mode=mode,
        wording=wording or "1",
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
        setup=task.setup
        if control
        else f"{task.setup}\n\n{codec(transform)}\n\n{_view(task.entry_point, acts)}".strip(),
        parameters=json.dumps(parameters),
        changed=share_added(task, text),
    )


def _encoded(test: Test, transform: Affine, sides: Sides, entry_point: str) -> str:
    """One test behind the bijection; the round trip of every value is checked."""
    if not any(sides):
        return ast.unparse(test.statement)
    if test.shape == "any":
        return viewed(test, entry_point)
    return rewrite(test, *_images(test, transform, sides), decoded=sides.outputs)


def _example(test: Test, transform: Affine, sides: Sides) -> str:
    """The test as a prompt shows it: without the helper that decodes inside isclose and the like.

    A test of computed calls is not shown, since its encoding has no plain form.
    """
    if test.shape == "any":
        return ""
    return rewrite(test, *_images(test, transform, sides), decoded=False)


def _images(test: Test, transform: Affine, sides: Sides) -> tuple[list, dict, Any]:
    args, kwargs, expected = test.args, test.kwargs, test.expected
    if sides.inputs:
        args = [_exact(transform, v) for v in args]
        kwargs = {name: _exact(transform, v) for name, v in kwargs.items()}
    if sides.outputs:
        expected = _exact(transform, expected)
    return args, kwargs, expected


def _exact(transform: Affine, value: Any) -> Any:
    try:
        image = transform.encode(value)
        back = transform.decode(image)
    except TypeError as error:
        raise Inapplicable(str(error)) from None
    if repr(back) != repr(value) and back != value:
        raise Inapplicable(f"the round trip of {value!r} gives {back!r}")
    return image


def _decoded_examples(suite: list[Test], tests: list[str], most: int = 2, width: int = 120) -> str:
    """At most two short tests, encoded and decoded (the package's `oracle` condition)."""
    lines = []
    for test, encoded in zip(suite, tests, strict=True):
        if test.shape == "any":
            continue
        plain = rewrite(test, test.args, test.kwargs, test.expected, decoded=False)
        if max(len(plain), len(encoded)) <= width and len(lines) < most:
            lines.append(
                f"{encoded.removeprefix('assert ')} means "
                f"{plain.removeprefix('assert ')} in plain values"
            )
    return "\n".join(["### Decoded examples", *lines])


def codec(transform: Affine) -> str:
    """Python source of `_encode` and `_decode`."""
    return f"{transform.source()}\n\n{LIFT_SOURCE}"


def _view(entry_point: str, sides: Sides) -> str:
    """Python source of `_view`: the function seen from the plain side."""
    return f"def _view(*args, **kwargs):\n    return {_call(entry_point, *_plain_side(sides))}\n"


def _plain_side(sides: Sides) -> tuple[str, str]:
    return "_encode" if sides.inputs else "", "_decode" if sides.outputs else ""


def _call(name: str, before: str, after: str) -> str:
    """A call of `name` with `before` applied to each argument and `after` to the result."""
    call = f"{name}(*args, **kwargs)"
    if before:
        call = f"{name}(*map({before}, args), **{{k: {before}(v) for k, v in kwargs.items()}})"
    return f"{after}({call})" if after else call


def wrapped(source: str, entry_point: str, transform: Affine, sides: Sides) -> str:
    """`source` behind the bijection: inputs decoded and outputs encoded, where `sides` says so."""
    if not any(sides):
        return source
    before, after = "_decode" if sides.inputs else "", "_encode" if sides.outputs else ""
    return _around(source, entry_point, transform, before, after)


def composed(source: str, entry_point: str, transform: Affine, sides: Sides) -> str:
    """`source` as it looks from the plain side: inputs encoded before, outputs decoded after.

    Running these compositions on the ORIGINAL tests tells what a failing program left out
    (SPEC 3.5).
    """
    return _around(source, entry_point, transform, *_plain_side(sides))


def _around(source: str, entry_point: str, transform: Affine, before: str, after: str) -> str:
    """The plain function is renamed, so that a recursive one calls itself and not the wrapper."""
    plain = f"_plain_{entry_point}"
    return (
        f"{rename(source, entry_point, plain)}\n\n\n{codec(transform)}\n\n"
        f"def {entry_point}(*args, **kwargs):\n    return {_call(plain, before, after)}\n"
    )


def rename(source: str, old: str, new: str) -> str:
    """Every name token `old` in `source` as `new`, attributes apart; layout kept."""
    lines = source.splitlines(keepends=True)
    previous = ""
    places = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NAME and token.string == old and previous != ".":
            places.append(token.start)
        previous = token.string
    for row, column in reversed(places):
        line = lines[row - 1]
        lines[row - 1] = line[:column] + new + line[column + len(old) :]
    return "".join(lines)


def share_added(task: Task, text: str) -> float:
    """Words that `text` adds, as a share of the words then shown."""
    before, added = len(f"{task.prompt} {task.code}".split()), len(text.split())
    return added / (before + added)
