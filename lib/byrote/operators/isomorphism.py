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
OUTSIDE = "_outside"  # the tests' own codec: a program may define an `_encode` of its own
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
        except ValueError as error:  # parameters that do not fit the task: draw again
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
    _check(suite, transform)
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


def _setup(task: Task, suite: list[Test], transform: Affine, sides: Sides) -> str:
    """The task's setup, with the tests' own codec where a test needs one."""
    if not any(sides) or all(t.shape == "equal" for t in suite):
        return task.setup
    own = f"{codec(transform, OUTSIDE)}\n\n{_view(task.entry_point, sides)}"
    return f"{task.setup}\n\n{own}".strip()


def _encoded(test: Test, transform: Affine, sides: Sides, entry_point: str) -> str:
    """One test behind the bijection; the round trip of every value is checked."""
    if not any(sides):
        return ast.unparse(test.statement)
    if test.shape == "any":
        return viewed(test, entry_point)
    return rewrite(test, *_images(test, transform, sides), decoded=sides.outputs)


def _check(suite: list[Test], transform: Affine) -> None:
    """Refuse parameters that merge elements, or leave all integers of one side as they are.

    In every mode alike, so that a task has the same parameters in all of them. 2*x - 94 leaves
    f(94) == 94 as it is (SPEC 3.7 rows 7 and 12).
    """
    try:
        for side in ([(t.args, t.kwargs) for t in suite], [t.expected for t in suite]):
            if integers(side) and transform.encode(side) == side:
                raise ValueError("all integers of one side stay as they are")
    except TypeError as error:
        raise Inapplicable(str(error)) from None


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


def _decoded_examples(suite: list[Test], transform: Affine, sides: Sides) -> str:
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


def codec(transform: Affine, tag: str = "") -> str:
    """Python source of `_encode` and `_decode`; `tag` keeps two codecs in one program apart."""
    source = f"{transform.source()}\n\n{LIFT_SOURCE}"
    for name in ("_encode", "_decode", "_lift"):
        source = source.replace(name, name + tag)
    return source


def _view(entry_point: str, sides: Sides) -> str:
    """Python source of `_view`: the function seen from the plain side."""
    call = _call(entry_point, *_plain_side(sides))
    return f"def _view(*args, **kwargs):\n    return {call}\n"


def _plain_side(sides: Sides) -> tuple[str, str]:
    before, after = f"_encode{OUTSIDE}", f"_decode{OUTSIDE}"
    return before if sides.inputs else "", after if sides.outputs else ""


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
    call = _call(f"_plain_{entry_point}", before, after)
    return _around(source, entry_point, "_plain_", codec(transform), call)


def composed(source: str, entry_point: str, transform: Affine, sides: Sides) -> str:
    """`source` as it looks from the plain side: inputs encoded before, outputs decoded after.

    Running these compositions on the ORIGINAL tests tells what a failing program left out
    (SPEC 3.5).
    """
    call = _call(f"_answer_{entry_point}", *_plain_side(sides))
    return _around(source, entry_point, "_answer_", codec(transform, OUTSIDE), call)


def _around(source: str, entry_point: str, prefix: str, helpers: str, call: str) -> str:
    """The inner function is renamed, so that a recursive one calls itself and not the wrapper."""
    return (
        f"{rename(source, entry_point, prefix + entry_point)}\n\n\n{helpers}\n\n"
        f"def {entry_point}(*args, **kwargs):\n    return {call}\n"
    )


def rename(source: str, old: str, new: str) -> str:
    """Every name token `old` in `source` as `new`, attributes apart; layout kept."""
    lines = list(io.StringIO(source))
    previous = ""
    places = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.STRING and _in_braces(token.string, old):
            return _renamed(ast.parse(source), old, new)
        if token.type == tokenize.NAME and token.string == old and previous != ".":
            places.append(token.start)
        previous = token.string
    for row, column in reversed(places):
        line = lines[row - 1]
        lines[row - 1] = line[:column] + new + line[column + len(old) :]
    return "".join(lines)


def _in_braces(text: str, name: str) -> bool:
    """Whether a string is an f-string that uses `name`: one token before Python 3.12."""
    nodes = ast.walk(ast.parse(text, mode="eval")) if name in text else ()
    return any(isinstance(n, ast.Name) and n.id == name for n in nodes)


def _renamed(tree: ast.Module, old: str, new: str) -> str:
    """The source with `old` as `new` also in f-strings; this costs the layout."""
    for node in ast.walk(tree):
        for field in ("id", "name", "arg"):
            if getattr(node, field, None) == old:
                setattr(node, field, new)
    return ast.unparse(tree)


def share_added(task: Task, text: str) -> float:
    """Words that `text` adds, as a share of the words then shown."""
    before, added = len(f"{task.prompt} {task.code}".split()), len(text.split())
    return added / (before + added)
