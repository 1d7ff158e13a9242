"""Verdicts on other people's published samples: real models from 7B to GPT-4, without a GPU.

`data/published/replayed.parquet` holds one row an answer, judged by our own judge, and no text of
prompts, answers or programs. `tests/derive_replayed.py` makes it; here it is only read.
"""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pandas as pd

from byrote import paths
from byrote.records import Verdict, check

SOURCE = ("model", "billions", "family", "sampling", "licence", "source")


@dataclass(frozen=True)
class Replayed:
    """The verdict on one published answer, and where the answer is from."""

    KEY: ClassVar = Verdict.KEY
    ALLOWED: ClassVar = Verdict.ALLOWED | {
        "operator": {"original"},
        "licence": {"MIT", "Apache-2.0"},  # of the samples: what may be derived from and shipped
    }

    task_id: str
    operator: str
    mode: str
    wording: str
    level: float
    seed: int
    model: str
    sampling: str  # as far as the source says
    sample: int
    outcome: str
    outcomes: str
    billions: float  # parameters as the model's publisher names them; NaN: not published
    family: str
    licence: str
    source: str  # repository@commit


def file() -> Path:
    """Where the bundle lies."""
    return paths.data() / "published" / "replayed.parquet"


def rows(path: Path | None = None) -> pd.DataFrame:
    """All verdicts, as rows of `Replayed`; raises OSError that says how to get the file again."""
    path = path or file()
    try:
        return check(pd.read_parquet(path), Replayed)
    except Exception as error:  # pyarrow has errors of its own for each way a file can be broken
        raise OSError(
            f"{path} cannot be read ({type(error).__name__}: {error}); "
            f"get it again with: git checkout -- {shlex.quote(str(path))}"
        ) from error


def models(replayed: pd.DataFrame) -> pd.DataFrame:
    """One row a model and source: size, licence, benchmarks and number of answers judged."""
    named = replayed.assign(benchmark=replayed["task_id"].str.split("/").str[0])
    groups = named.groupby(list(SOURCE), dropna=False, sort=False)
    found = groups.agg(benchmarks=("benchmark", _listed), answers=("benchmark", "size"))
    found = found.reset_index().sort_values(["billions", "model"], kind="stable")
    return found.assign(nature="real").reset_index(drop=True)


def _listed(names: pd.Series) -> str:
    return ", ".join(dict.fromkeys(names))
