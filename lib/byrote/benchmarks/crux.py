"""CRUXEval: predict the output of a small function, or an input that gives an output."""

from collections.abc import Iterator

from byrote.benchmarks.sources import records
from byrote.records import Task
from byrote.registry import benchmark


@benchmark("cruxeval")
def cruxeval() -> Iterator[Task]:
    """Output prediction, CRUXEval (Gu et al. 2024), MIT, 800 tasks, 2024-01."""
    return (_task(row, "cruxeval", "output") for row in records("cruxeval"))


@benchmark("cruxeval_input")
def cruxeval_input() -> Iterator[Task]:
    """Input prediction on the same 800 functions."""
    return (_task(row, "cruxeval_input", "input") for row in records("cruxeval"))


def _task(row: dict, name: str, kind: str) -> Task:
    number = row["id"].removeprefix("sample_")
    return Task(
        task_id=f"{name}/{number}",
        benchmark=name,
        kind=kind,
        prompt="",
        code=row["code"],
        entry_point="f",
        reference=row["code"],
        tests=f"assert f({row['input']}) == {row['output']}",
        cluster=f"cruxeval/{number}",
        released="2024-01-05",
    )
