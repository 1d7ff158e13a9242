"""Read a task's tests: which call, which arguments, which expected value, wrapped in what.

Tests are parsed as syntax trees, never matched as text: digits stand inside string literals, `-5`
is a unary minus, and `1e5`, `0x1F`, `1_000` and `x1` defeat patterns (SPEC 3.1).
"""

import ast
import builtins
import copy
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from byrote.operators.values import integers

# set(f(x)) == {1, 2}: the wrapper keeps the elements, so the expected value is encoded as it is.
KEEPS_ELEMENTS = {"set", "tuple", "list", "frozenset"}
WITHOUT_RULE = {"Decimal", "Fraction", "np", "numpy"}  # values that no map knows (SPEC 3.7 row 14)
DIGITS = 4300  # Python writes no longer integer


class Inapplicable(Exception):
    """An operator does not apply to a task; the message is the reason, in one phrase."""


@dataclass(frozen=True)
class Test:
    """One test statement and what of it can be rewritten.

    `shape` is "equal" (the call, or its set, tuple or list, against a literal), "other" (one call
    with literal arguments inside isclose, sorted, abs(… - …) < …, or a bare truth value) or "any"
    (several calls, computed arguments, a loop that gets the function itself).
    """

    statement: ast.stmt
    shape: str
    args: list[Any]  # of all calls with literal arguments, for "any"
    kwargs: dict[str, Any] = field(default_factory=dict)
    call: ast.Call | None = None
    literal: ast.expr | None = None
    expected: Any = None


def literal(node: ast.expr) -> Any:
    """The value of a literal, also of set([1, 2]) and of arithmetic such as 10**3 or [0] * 4.

    Raises ValueError for anything that needs another name or call, or cannot be computed.
    """
    try:
        return _literal(node)
    except (TypeError, ArithmeticError) as error:
        raise ValueError(f"no value: {ast.unparse(node)[:80]}: {error}") from None


def _literal(node: ast.expr) -> Any:
    if isinstance(node, ast.Call) and _name(node.func) in KEEPS_ELEMENTS and not node.keywords:
        return getattr(builtins, node.func.id)(*map(literal, node.args))
    allowed = (ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.BinOp, ast.UnaryOp)
    parts = (*allowed, ast.operator, ast.unaryop, ast.expr_context)
    try:
        return ast.literal_eval(node)
    except ValueError:
        if not all(isinstance(n, parts) for n in ast.walk(node)):
            raise
    powers = any(isinstance(n, ast.Pow | ast.LShift) for n in ast.walk(node))
    if any(abs(n.value) > (100 if powers else 10**6) for n in ast.walk(node) if _is_int(n)):
        raise ValueError(f"arithmetic on large numbers: {ast.unparse(node)[:80]}")
    return eval(compile(ast.Expression(node), "<test>", "eval"), {"__builtins__": {}})


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _is_int(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int


def parse(tests: str, entry_point: str) -> list[Test]:
    """Every test of a suite; raises Inapplicable at the first that cannot be rewritten."""
    try:
        body = ast.parse(tests).body
    except (SyntaxError, ValueError) as error:
        raise Inapplicable(f"the tests do not parse: {error}") from None
    if not body:
        raise Inapplicable("the task has no tests")
    return [_test(node, entry_point) for node in body]


def _test(node: ast.stmt, entry_point: str) -> Test:
    calls = [n for n in ast.walk(node) if _calls(n, entry_point)]
    if not any(_name(n) == entry_point for n in ast.walk(node)):
        raise Inapplicable(f"a test never uses {entry_point}: {ast.unparse(node)[:80]}")
    for part in _values(node, entry_point):
        if unfit := _unfit(part):
            raise Inapplicable(f"a test holds {unfit}")
    known = [arguments for call in calls if (arguments := _arguments(call))]
    if not isinstance(node, ast.Assert) or len(calls) != 1 or not known:
        return Test(node, "any", [args for args, _ in known])
    args, kwargs = known[0]
    side = _compared(node.test, calls[0])
    try:
        if side is not None:
            return Test(node, "equal", args, kwargs, calls[0], side, literal(side))
    except ValueError:
        pass  # compared with something computed: the result is decoded in the test instead
    return Test(node, "other", args, kwargs, calls[0])


def _values(node: ast.AST, entry_point: str) -> Iterator[ast.AST]:
    """All parts of a test but the functions around the call, such as np.isclose."""
    yield node
    around = isinstance(node, ast.Call) and any(_name(n) == entry_point for n in ast.walk(node))
    for child in ast.iter_child_nodes(node):
        if not (around and child is node.func):
            yield from _values(child, entry_point)


def _unfit(node: ast.AST) -> str:
    name = node.attr if isinstance(node, ast.Attribute) else _name(node)
    if name in WITHOUT_RULE:
        return f"a value of {name}"
    too_long = _is_int(node) and node.value >= 10**DIGITS
    return f"an integer of more than {DIGITS} digits" if too_long else ""


def _arguments(call: ast.Call) -> tuple[list, dict] | None:
    """The literal arguments of a call, None where one is computed."""
    try:
        args = [literal(a) for a in call.args]
        kwargs = {k.arg: literal(k.value) for k in call.keywords}
    except ValueError:
        return None
    return None if None in kwargs else (args, kwargs)


def _calls(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and _name(node.func) == name


def _compared(test: ast.expr, call: ast.Call) -> ast.expr | None:
    """The other side of `call == literal`, `literal == call` or `set(call) == literal`."""
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1):
        return None
    if not isinstance(test.ops[0], ast.Eq | ast.Is):
        return None
    left, right = test.left, test.comparators[0]
    for side, other in ((left, right), (right, left)):
        if side is call or (
            isinstance(side, ast.Call)
            and _name(side.func) in KEEPS_ELEMENTS
            and side.args == [call]
        ):
            return other
    return None


def rewrite(test: Test, args: list, kwargs: dict, expected: Any, decoded: bool) -> str:
    """The source of `test` with new arguments and a new expected value.

    With `decoded`, a test of shape "other" reads the result through `_decode_outside`, which the
    variant's setup defines, so that sorted, isclose and the like compare decoded values.
    """
    call = ast.Call(
        test.call.func,
        [_node(a) for a in args],
        [ast.keyword(name, _node(value)) for name, value in kwargs.items()],
    )
    if test.shape == "other" and decoded:
        call = ast.Call(ast.Name("_decode_outside"), [call], [])
    swaps = {id(test.call): call}
    if test.shape == "equal":
        swaps[id(test.literal)] = _node(expected)
    return _swapped(test.statement, swaps)


def viewed(test: Test, entry_point: str) -> str:
    """The source of `test` with `_view` in place of the function.

    The variant's setup defines `_view`: it encodes what it is given and decodes what comes back.
    """
    names = [n for n in ast.walk(test.statement) if _name(n) == entry_point]
    return _swapped(test.statement, {id(n): ast.Name("_view") for n in names})


def _swapped(statement: ast.stmt, swaps: dict[int, ast.AST]) -> str:
    """The source of a statement with some of its nodes, by identity, replaced."""
    # deepcopy takes what its memo holds for a node instead of copying the node
    return ast.unparse(ast.fix_missing_locations(copy.deepcopy(statement, swaps)))


def _node(value: Any) -> ast.expr:
    return ast.parse(repr(value), mode="eval").body


def shown_test(suite: list[Test]) -> int:
    """Which test a prompt shows: the first plain one with integers on both sides and short text.

    The same one in every condition, so that conditions differ in the encoding alone.
    """

    def rank(index: int) -> tuple:
        test = suite[index]
        both = integers(test.args) > 0 and integers(test.expected) > 0
        long = len(str(test.args) + str(test.expected)) > 120
        return (test.shape == "any", long, not both, index)

    return min(range(len(suite)), key=rank)
