"""The value maps of the isomorphisms: exact bijections on integers, lifted to Python values.

The maps also exist as Python source, which wrapped references carry, so that what is shown to a
model, what is executed and what is tested here are one and the same text.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

CONTAINERS = (list, tuple, set, frozenset)


def lift(number: Callable[[int], int], value: Any) -> Any:
    """`number` applied to every int inside `value`; bool, float, text and None stay.

    `type(v) is int`, since bool is a subclass of int (SPEC 3.1). Raises TypeError for a type that
    has no rule, and ValueError where a set or dict would lose elements (SPEC 3.7 row 7).
    """
    kind = type(value)
    if kind is int:
        return number(value)
    if kind in CONTAINERS:
        mapped = kind(lift(number, v) for v in value)
    elif kind is dict:
        mapped = {lift(number, k): lift(number, v) for k, v in value.items()}
    elif kind in (bool, float, complex, str, bytes, type(None)):
        return value
    else:
        raise TypeError(f"no rule for a value of type {kind.__name__}")
    if len(mapped) != len(value):
        raise ValueError(f"two elements of {value!r} would become one")
    return mapped


def integers(value: Any) -> int:
    """How many ints stand in `value`, dictionary keys included."""
    if type(value) is int:
        return 1
    if type(value) is dict:
        return integers(list(value)) + integers(list(value.values()))
    return sum(map(integers, value)) if type(value) in CONTAINERS else 0


@dataclass(frozen=True)
class Affine:
    """t(x) = a*x + b with a != 0 and (a, b) != (1, 0); the inverse is exact or undefined."""

    a: int
    b: int

    def __post_init__(self):
        if self.a == 0 or (self.a, self.b) == (1, 0):
            raise ValueError(f"affine (a, b) = ({self.a}, {self.b}): a = 0 and (1, 0) are no maps")

    def encode_number(self, x: int) -> int:
        return self.a * x + self.b

    def decode_number(self, x: int) -> int:
        """Raises ValueError where x is not the image of an integer."""
        quotient, rest = divmod(x - self.b, self.a)
        if rest:
            raise ValueError(f"{x} is not an encoded integer")
        return quotient

    def encode(self, value: Any) -> Any:
        return lift(self.encode_number, value)

    def decode(self, value: Any) -> Any:
        return lift(self.decode_number, value)

    def formula(self, name: str) -> str:
        """The encoding as arithmetic on `name`, e.g. 2*x - 94."""
        return f"{self.a}*{name}{_signed(self.b)}"

    def recipe(self, name: str) -> str:
        """The decoding as exact integer arithmetic on `name`, e.g. (x + 94) // 2."""
        return f"({name}{_signed(-self.b)}) // {self.a}"

    def source(self) -> str:
        """Python source of `_encode_number` and `_decode_number`."""
        return AFFINE_SOURCE.format(a=self.a, b=_signed(self.b), minus_b=_signed(-self.b))

    def parameters(self) -> str:
        return json.dumps(asdict(self))


def _signed(number: int) -> str:
    return f" + {number}" if number > 0 else f" - {-number}" if number else ""


AFFINE_SOURCE = """\
def _encode_number(x):
    return {a} * x{b}


def _decode_number(x):
    quotient, rest = divmod(x{minus_b}, {a})
    if rest:
        raise ValueError(f"{{x}} is not an encoded integer")
    return quotient
"""

LIFT_SOURCE = """\
def _lift(number, value):
    kind = type(value)
    if kind is int:
        return number(value)
    if kind in (list, tuple, set, frozenset):
        return kind(_lift(number, v) for v in value)
    if kind is dict:
        return {_lift(number, k): _lift(number, v) for k, v in value.items()}
    return value


def _encode(value):
    return _lift(_encode_number, value)


def _decode(value):
    return _lift(_decode_number, value)
"""
