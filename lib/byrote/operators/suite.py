"""Read a task's tests: which call, which arguments, which expected value, wrapped in what.

Tests are parsed as syntax trees, never matched as text: digits stand inside string literals, `-5`
is a unary minus, and `1e5`, `0x1F`, `1_000` and `x1` defeat patterns (SPEC 3.1).
"""

import ast
import builtins
import copy
from dataclasses import dataclass
from typing import Any

from byrote.operators.values import integers

# set(f(x)) == {1, 2}: the wrapper keeps the elements, so the expected value is encoded as it is.
KEEPS_ELEMENTS = {"set", "tuple", "list", "frozenset"}


class Inapplicable(Exception):
    """An operator does not apply to a task; the message is the reason, in one phrase."""


@dataclass(frozen=True)
class Test:
    """One test statement: `call` with literal arguments, compared with `expected` or wrapped.

    `shape` is "equal" (the call or its set/tuple/list against a literal) or "other" (isclose,
    sorted, abs(… - …) < …, a bare truth value): there only the call can be rewritten.
    """

    statement: ast.stmt
    call: ast.Call
    args: list[Any]
    kwargs: dict[str, Any]
    shape: str
    literal: ast.expr | None = None
    expected: Any = None


def statements(tests: str) -> list[str]:
    """The tests of a suite, one source text each."""
    return [ast.unparse(node) for node in ast.parse(tests).body]


def literal(node: ast.expr) -> Any:
    """The value of a literal, also of set([1, 2]) and of arithmetic such as 10**3 or [0] * 4.

    Raises ValueError for anything that needs another name or call.
    """
    if isinstance(node, ast.Call) and _name(node.func) in KEEPS_ELEMENTS and not node.keywords:
        return getattr(builtins, node.func.id)(*map(literal, node.args))
    allowed = (ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.BinOp, ast.UnaryOp)
    parts = (*allowed, ast.operator, ast.unaryop, ast.expr_context)
    try:
        return ast.literal_eval(node)
    except ValueError:
        if not all(isinstance(n, parts) for n in ast.walk(node)):
            raise
    if not all(abs(n.value) < 10_000 for n in ast.walk(node) if _is_int(n)):
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
    text = ast.unparse(node)[:80]
    if not isinstance(node, ast.Assert):
        raise Inapplicable(f"a test is no assert statement: {text.splitlines()[0]}")
    calls = [n for n in ast.walk(node.test) if _calls(n, entry_point)]
    if len(calls) != 1:
        raise Inapplicable(f"a test has {len(calls)} calls of {entry_point}: {text}")
    call = calls[0]
    try:
        args = [literal(a) for a in call.args]
        kwargs = {k.arg: literal(k.value) for k in call.keywords if k.arg}
    except ValueError:
        raise Inapplicable(f"a test's argument is no literal: {text}") from None
    if len(kwargs) < len(call.keywords):
        raise Inapplicable(f"a test passes **keywords: {text}")
    side = _compared(node.test, call)
    if side is None:
        return Test(node, call, args, kwargs, "other")
    try:
        return Test(node, call, args, kwargs, "equal", side, literal(side))
    except ValueError:
        return Test(node, call, args, kwargs, "other")


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

    With `decoded`, a test of shape "other" reads the result through `_decode`, which the
    variant's setup defines, so that sorted, isclose and the like compare decoded values.
    """
    call = ast.Call(
        test.call.func,
        [_node(a) for a in args],
        [ast.keyword(name, _node(value)) for name, value in kwargs.items()],
    )
    if test.shape == "other" and decoded:
        call = ast.Call(ast.Name("_decode"), [call], [])
    swaps = {id(test.call): call}
    if test.shape == "equal":
        swaps[id(test.literal)] = _node(expected)
    # deepcopy takes what its memo holds for a node instead of copying the node
    return ast.unparse(ast.fix_missing_locations(copy.deepcopy(test.statement, swaps)))


def _node(value: Any) -> ast.expr:
    return ast.parse(repr(value), mode="eval").body


def shown_test(suite: list[Test]) -> int:
    """Which test a prompt shows: the first plain one with integers on both sides and short text.

    The same one in every condition, so that conditions differ in the encoding alone.
    """

    def rank(index: int) -> tuple:
        test = suite[index]
        both = integers(test.args) > 0 and integers(test.expected) > 0
        return (len(str(test.args) + str(test.expected)) > 120, not both, index)

    return min(range(len(suite)), key=rank)
