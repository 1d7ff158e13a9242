"""Programs behind a bijection: Python source that decodes, calls, and encodes."""

import ast
import io
import tokenize

from byrote.operators.contracts import Sides
from byrote.operators.values import LIFT_SOURCE, ValueMap

OUTSIDE = "_outside"  # the tests' own codec: a program may define an `_encode` of its own


def codec(transform: ValueMap, tag: str = "") -> str:
    """Python source of `_encode` and `_decode`; `tag` keeps two codecs in one program apart."""
    source = f"{transform.source()}\n\n{LIFT_SOURCE}"
    for name in ("_encode", "_decode", "_lift"):
        source = source.replace(name, name + tag)
    return source


def view(entry_point: str, sides: Sides) -> str:
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


def wrapped(source: str, entry_point: str, transform: ValueMap, sides: Sides) -> str:
    """`source` behind the bijection: inputs decoded and outputs encoded, where `sides` says so."""
    if not any(sides):
        return source
    before, after = "_decode" if sides.inputs else "", "_encode" if sides.outputs else ""
    call = _call(f"_plain_{entry_point}", before, after)
    return _around(source, entry_point, "_plain_", codec(transform), call)


def composed(source: str, entry_point: str, transform: ValueMap, sides: Sides) -> str:
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
