"""ladder: our own easy, integer-heavy tasks, which a 135M model can partly solve."""

from collections.abc import Iterator

from byrote import paths
from byrote.benchmarks.sources import read
from byrote.records import Task
from byrote.registry import benchmark


@benchmark("ladder")
def ladder() -> Iterator[Task]:
    """data/ladder.jsonl, MIT, 40 tasks, written 2026-11-30: no model of before can know them."""
    return (_task(row, "ladder") for row in read(paths.data() / "ladder.jsonl"))


@benchmark("ladder_more")
def ladder_more() -> Iterator[Task]:
    """44 more of the same kind, MIT, 2026-11-30; no part of the published run yet."""
    return (_task(row, "ladder_more") for row in read(paths.data() / "ladder_more.jsonl"))


def _task(row: dict, name: str) -> Task:
    task_id = row["task_id"].replace("ladder", name)
    return Task(
        task_id=task_id,
        benchmark=name,
        kind="write",
        prompt=row["prompt"],
        entry_point=row["entry_point"],
        reference=row["reference"],
        tests="\n".join(row["tests"]),
        cluster=task_id,
        released=row["released"],
        seen="no",
    )
