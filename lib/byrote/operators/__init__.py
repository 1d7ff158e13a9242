"""Operators: pure functions from a Task to a Variant.

`apply(name, task, …)` gives the variant, with `reason` set and nothing else changed where the
operator does not apply. An operator is one function `(task, level, seed, mode, wording)` under
`@operator`; it raises `Inapplicable` with the reason.
"""

from dataclasses import replace

from byrote import registry
from byrote.operators import (  # noqa: F401  they register themselves
    isomorphism,
    padding,
    rewording,
    synonyms,
    wording,
)
from byrote.operators.suite import Inapplicable
from byrote.records import Task, Variant


def names() -> list[str]:
    """The registered operators."""
    return sorted(registry.OPERATORS)


def apply(
    name: str, task: Task, level: float = 1.0, seed: int = 0, mode: str = "", wording: str = ""
) -> Variant:
    """The variant of `task` under operator `name`; raises ValueError for an unknown parameter."""
    known = registry.find("operator", registry.OPERATORS, name)
    if mode not in known.modes:
        raise ValueError(f"unknown mode {mode!r} of {name}; known: {', '.join(known.modes)}")
    if wording not in Variant.ALLOWED["wording"]:
        raise ValueError(f"unknown wording {wording!r}; known: 1, 2, 3")
    if known.family == "isomorphism":
        wording = wording or "1"
    try:
        return known.function(task, level, seed, mode, wording)
    except Inapplicable as reason:
        plain = wording_original(task)
        return replace(
            plain,
            operator=name,
            mode=mode,
            wording=wording,
            level=level,
            seed=seed,
            family=known.family,
            reason=str(reason),
        )


def wording_original(task: Task) -> Variant:
    """The untouched task as a variant."""
    return wording.original(task, 0.0, 0, "", "")
