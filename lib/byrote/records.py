"""The rows that travel between stages, and the check of a frame against its row.

Every column is a scalar, so that a frame is one parquet file: tests are Python source with one
top-level statement a test, and structured values are `repr` text, never JSON (which turns tuples
into lists and integer keys into strings).
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from typing import ClassVar

import pandas as pd

DTYPES = {str: "str", int: "int64", float: "float64", bool: "bool"}
CONDITION = ("operator", "mode", "wording", "level", "seed")


@dataclass(frozen=True)
class Task:
    """One problem of a benchmark."""

    KEY: ClassVar = ("task_id",)
    ALLOWED: ClassVar = {
        "kind": {
            *("write", "complete", "repair", "testgen", "detect"),
            *("summarize", "output", "input", "choice"),
        },
        "seen": {"yes", "no", "unknown"},
    }

    task_id: str
    benchmark: str
    kind: str
    prompt: str
    entry_point: str
    reference: str
    tests: str
    code: str = ""  # shown code, for kinds that show a program
    setup: str = ""  # run after the program and before the tests
    cluster: str = ""  # rows that share a problem share a cluster
    released: str = ""  # ISO date
    seen: str = "unknown"
    rewordings: str = ""  # repr of a list of prompts that mean the same, from near to far
    reworded_by: str = ""  # the model that wrote them, "" for a person


@dataclass(frozen=True)
class Variant:
    """One task under one operator; the untouched task is the operator `original`."""

    KEY: ClassVar = ("task_id", *CONDITION)
    ALLOWED: ClassVar = {
        "family": {"none", "wording", "isomorphism", "lexical", "syntactic", "logical"},
        "mode": {"", "full", "inputs", "outputs", "full_with_examples", "contract_only"},
        "wording": {"", "1", "2", "3"},
    }

    task_id: str
    operator: str
    mode: str = ""
    wording: str = ""
    level: float = 0.0
    seed: int = 0
    family: str = "none"
    kind: str = "write"
    prompt: str = ""
    code: str = ""
    contract: str = ""  # text about the encoding, shown after the prompt
    example: str = ""  # the one test shown, transformed with the others
    entry_point: str = ""
    reference: str = ""
    tests: str = ""
    setup: str = ""
    parameters: str = "{}"  # JSON of scalars
    changed: float = 0.0  # share of the prompt's words that were added or changed
    sound: bool = False  # the variant's reference passes the variant's tests
    floor: bool = False  # the bare reference passes too: a memorizer would not be noticed
    reason: str = ""  # why it does not apply, or why it was rejected


@dataclass(frozen=True)
class Generation:
    """One answer of one model to one variant: raw text, never cleaned."""

    KEY: ClassVar = (*Variant.KEY, "model", "sampling", "sample")
    ALLOWED: ClassVar = {"finish": {"stop", "length", "error"}}

    task_id: str
    operator: str
    mode: str
    wording: str
    level: float
    seed: int
    model: str
    sampling: str
    sample: int
    request: str  # hash of the whole canonical request
    text: str
    finish: str
    prompt_tokens: int = 0
    tokens: int = 0
    logprob: float = float("nan")  # mean per token, nats; NaN where the engine gives none
    returned_model: str = ""


@dataclass(frozen=True)
class Verdict:
    """What judging one generation gave."""

    KEY: ClassVar = Generation.KEY
    ALLOWED: ClassVar = {
        "outcome": {"passed", "failed", "invalid", "timeout", "resource", "crashed"}
    }

    task_id: str
    operator: str
    mode: str
    wording: str
    level: float
    seed: int
    model: str
    sampling: str
    sample: int
    program: str
    outcome: str
    outcomes: str  # one of `. F E T R C -` a test
    error: str
    cpu_seconds: float
    isolation: str
    integrity: str


@dataclass(frozen=True)
class Metric:
    """One number of one probe, with its interval; `task_id` is "" for a whole benchmark."""

    KEY: ClassVar = (
        *("probe", "metric", "model", "benchmark", "operator", "mode", "level"),
        *("setting", "task_id", "seed"),
    )
    ALLOWED: ClassVar = {}

    probe: str
    metric: str
    model: str
    benchmark: str
    operator: str
    mode: str
    level: float
    setting: str  # sorted `name=value`
    task_id: str
    seed: int
    value: float
    low: float
    high: float
    n: int
    unit: str


def utf8(text: str) -> str:
    """`text` as a UTF-8 file can hold it: half of a surrogate pair becomes U+FFFD.

    Harnesses that cut JSON by its UTF-16 length leave such halves, which no frame can hold.
    """
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def table(rows: Iterable, row: type) -> pd.DataFrame:
    """A frame of `rows` with the columns and dtypes of `row`, also when there are no rows."""
    values = [
        {name: utf8(v) if isinstance(v, str) else v for name, v in asdict(r).items()} for r in rows
    ]
    frame = pd.DataFrame(values, columns=[f.name for f in fields(row)])
    return check(frame.astype({f.name: DTYPES[f.type] for f in fields(row)}), row)


def check(frame: pd.DataFrame, row: type) -> pd.DataFrame:
    """`frame` with exactly the columns of `row`, in its order; raises ValueError naming the fault.

    Checked: columns, dtypes, no missing text or number (a float may be NaN), the allowed values,
    and that the key is unique.
    """
    wanted = [f.name for f in fields(row)]
    if missing := [name for name in wanted if name not in frame.columns]:
        raise ValueError(f"{row.__name__}: missing columns {missing}")
    frame = frame[wanted]
    for f in fields(row):
        column = frame[f.name]
        if str(column.dtype) != DTYPES[f.type]:
            raise ValueError(f"{row.__name__}.{f.name}: {column.dtype}, not {DTYPES[f.type]}")
        if f.type is not float and column.isna().any():
            raise ValueError(
                f"{row.__name__}.{f.name}: missing value in row {column.isna().argmax()}"
            )
        if bad := set(column) - row.ALLOWED[f.name] if f.name in row.ALLOWED else None:
            allowed = sorted(row.ALLOWED[f.name])
            raise ValueError(f"{row.__name__}.{f.name}: {sorted(bad)} not among {allowed}")
    twice = frame.duplicated(list(row.KEY))
    if twice.any():
        key = frame.loc[twice.to_numpy(), list(row.KEY)].head(1).to_dict("records")[0]
        raise ValueError(f"{row.__name__}: the key {key} stands twice")
    return frame


def rows(frame: pd.DataFrame, row: type) -> list:
    """The rows of `frame` as `row` objects; columns that `row` does not have are left out."""
    names = [f.name for f in fields(row)]
    return [row(**r) for r in frame[names].to_dict("records")]
