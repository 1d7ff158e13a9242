"""Named benchmarks and operators: a dict each, filled by decorators, read by name."""

import difflib
from collections.abc import Callable
from typing import Any, NamedTuple


class Operator(NamedTuple):
    """A registered operator: `function(task, level, seed, mode, wording)` gives a Variant."""

    name: str
    function: Callable
    family: str
    levels: tuple[float, ...]
    modes: tuple[str, ...]


BENCHMARKS: dict[str, Callable] = {}
OPERATORS: dict[str, Operator] = {}


def benchmark(name: str) -> Callable:
    """Register a function that yields the Tasks of benchmark `name`."""

    def add(function: Callable) -> Callable:
        BENCHMARKS[name] = function
        return function

    return add


def operator(
    name: str, family: str, levels: tuple[float, ...] = (1.0,), modes: tuple[str, ...] = ("",)
) -> Callable:
    """Register an operator; `levels` are the ones of the papers, `modes` those it knows."""

    def add(function: Callable) -> Callable:
        OPERATORS[name] = Operator(name, function, family, levels, modes)
        return function

    return add


def find(kind: str, entries: dict[str, Any], name: str) -> Any:
    """`entries[name]`; an unknown name raises ValueError that lists what exists."""
    if name in entries:
        return entries[name]
    near = difflib.get_close_matches(name, entries, n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    raise ValueError(f"unknown {kind} {name!r}{hint}; known: {', '.join(sorted(entries))}")
