"""What goes into the sandbox and what comes out of it."""

import math
from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Program:
    """A program and its tests: Python source, one top-level statement a test.

    `setup` runs after the source and before the tests. With `stdin` the source runs as `__main__`
    and the tests see what it printed as the name `stdout`.
    """

    source: str
    tests: str
    setup: str = ""
    entry_point: str = ""
    stdin: str | None = None


@dataclass(frozen=True)
class Limits:
    """What one program may use, all its tests together.

    `seconds` bounds the time in which it neither computes nor waits for a core; ten times that is
    the end by the wall clock. So a loaded machine does not turn an honest program into a timeout.
    """

    seconds: float = 10.0
    cpu_seconds: float = 10.0
    memory_mb: int = 1024
    output_bytes: int = 65536

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not (isinstance(value, int | float) and math.isfinite(value) and value > 0):
                raise ValueError(f"Limits.{field.name} is {value!r}; it must be a number above 0")


@dataclass(frozen=True)
class Outcome:
    """What a program did.

    `outcome` is passed, failed, invalid, timeout, resource or crashed. `outcomes` has one character
    a test: `.` passed, `F` wrong, `E` raised, `T` timeout, `R` resource, `C` crashed, `-` not
    reached. `error` names the first exception or limit behind `outcome`, and is "" for passed.
    """

    outcome: str
    outcomes: str
    error: str
    cpu_seconds: float
    isolation: str
    integrity: str
