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


class ValueMap:
    """What the maps have in common: a bijection from the integers into the integers.

    A family gives `encode_number`, the arithmetic of both directions as text (`formula`, `recipe`)
    and the `helper` function which that text calls, "" where it calls none.
    """

    helper = ""

    def encode_number(self, x: int) -> int:
        raise NotImplementedError

    def decode_number(self, x: int) -> int:
        """Raises ValueError where x is not the image of an integer."""
        raise NotImplementedError

    def formula(self, name: str) -> str:
        raise NotImplementedError

    def recipe(self, name: str) -> str:
        raise NotImplementedError

    def encode(self, value: Any) -> Any:
        return lift(self.encode_number, value)

    def decode(self, value: Any) -> Any:
        return lift(self.decode_number, value)

    def source(self) -> str:
        """Python source of `_encode_number` and `_decode_number`, from the text that is shown."""
        text = NUMBER_SOURCE.format(formula=self.formula("x"), recipe=self.recipe("x"))
        if not self.helper:
            return text
        called = self.helper.partition("def ")[2].partition("(")[0]
        # a program may have a function of that name: ours is one more part of the codec
        return f"{self.helper}\n\n\n{text}".replace(called, f"_encode_{called}")

    def parameters(self) -> str:
        return json.dumps(asdict(self))


@dataclass(frozen=True)
class Affine(ValueMap):
    """t(x) = a*x + b with a != 0 and (a, b) != (1, 0); the inverse is exact or undefined."""

    a: int
    b: int

    def __post_init__(self):
        if self.a == 0 or (self.a, self.b) == (1, 0):
            raise ValueError(f"affine (a, b) = ({self.a}, {self.b}): a = 0 and (1, 0) are no maps")

    def encode_number(self, x: int) -> int:
        return self.a * x + self.b

    def decode_number(self, x: int) -> int:
        quotient, rest = divmod(x - self.b, self.a)
        return quotient if not rest else _no_image(x)

    def formula(self, name: str) -> str:
        """The encoding as arithmetic on `name`, e.g. 2*x - 94."""
        return f"{self.a}*{name}{_signed(self.b)}"

    def recipe(self, name: str) -> str:
        """The decoding as exact integer arithmetic on `name`, e.g. (x + 94) // 2."""
        return f"({name}{_signed(-self.b)}) // {self.a}"


@dataclass(frozen=True)
class BaseRead(ValueMap):
    """The decimal digits of x read as a number in base 11 to 36; the sign is kept.

    Total and increasing. Below 11 it would be no bijection: read_7(19) is 16, as is read_7(22)
    (SPEC 3.2, where the paper's own map fails).
    """

    base: int

    def __post_init__(self):
        if not 11 <= self.base <= 36:
            raise ValueError(f"base {self.base}: 11 to 36, the bases that Python reads digits in")

    @property
    def helper(self) -> str:
        return NUMERAL_SOURCE.format(base=self.base)

    def encode_number(self, x: int) -> int:
        return int(str(x), self.base)

    def decode_number(self, x: int) -> int:
        value = _numeral(x, self.base)
        return value if value is not None else _no_image(x)

    def formula(self, name: str) -> str:
        return f"int(str({name}), {self.base})"

    def recipe(self, name: str) -> str:
        return f"base{self.base}({name})"


@dataclass(frozen=True)
class BaseWrite(ValueMap):
    """The digits of x in base 2 to 9 read as a decimal number; the sign is kept.

    Total and increasing; the inverse of reading in the same base (SPEC 3.2).
    """

    base: int

    def __post_init__(self):
        if not 2 <= self.base <= 9:
            raise ValueError(f"base {self.base}: 2 to 9, whose digits are decimal digits too")

    @property
    def helper(self) -> str:
        return NUMERAL_SOURCE.format(base=self.base)

    def encode_number(self, x: int) -> int:
        return _numeral(x, self.base)

    def decode_number(self, x: int) -> int:
        try:
            return int(str(x), self.base)
        except ValueError:
            return _no_image(x)

    def formula(self, name: str) -> str:
        return f"base{self.base}({name})"

    def recipe(self, name: str) -> str:
        return f"int(str({name}), {self.base})"


@dataclass(frozen=True)
class Cubic(ValueMap):
    """t(x) = x^3 + c; the inverse by an exact integer cube root, never by floats (SPEC 3.2)."""

    c: int

    @property
    def helper(self) -> str:
        return ROOT_SOURCE

    def encode_number(self, x: int) -> int:
        return x**3 + self.c

    def decode_number(self, x: int) -> int:
        root = cube_root(x - self.c)
        return root if root**3 == x - self.c else _no_image(x)

    def formula(self, name: str) -> str:
        return f"{name}**3{_signed(self.c)}"

    def recipe(self, name: str) -> str:
        return f"cube_root({name}{_signed(-self.c)})"


def _no_image(x: int) -> int:
    raise ValueError(f"{x} is not an encoded integer")


def _signed(number: int) -> str:
    return f" + {number}" if number > 0 else f" - {-number}" if number else ""


def _numeral(x: int, base: int) -> int | None:
    """The integer whose decimal digits are those of x in `base`; None where one is over 9."""
    digits, rest = [], abs(x)
    while rest or not digits:
        rest, digit = divmod(rest, base)
        digits.append(digit)
    if max(digits) > 9:
        return None
    size = int("".join(map(str, reversed(digits))))
    return -size if x < 0 else size


def cube_root(n: int) -> int:
    """The cube root of n, rounded towards 0, by Newton's steps on integers from above."""
    if n < 0:
        return -cube_root(-n)
    root = 1 << -(-n.bit_length() // 3)
    while root**3 > n:
        root = (2 * root + n // root**2) // 3
    return root


NUMBER_SOURCE = """\
def _encode_number(x):
    return {formula}


def _decode_number(x):
    value = {recipe}
    if _encode_number(value) != x:
        raise ValueError(f"{{x}} is not an encoded integer")
    return value
"""

# What a contract shows, as short as it can be said exactly.
NUMERAL_SOURCE = """\
def base{base}(n):
    digits, rest = "", abs(n)
    while rest:
        digits, rest = str(rest % {base}) + digits, rest // {base}
    return int(digits or "0") * (-1 if n < 0 else 1)"""

ROOT_SOURCE = """\
def cube_root(n):
    if n < 0:
        return -cube_root(-n)
    root = 1 << -(-n.bit_length() // 3)
    while root**3 > n:
        root = (2 * root + n // root**2) // 3
    return root"""

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
