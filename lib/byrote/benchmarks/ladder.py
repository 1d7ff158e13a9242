"""ladder: our own easy, integer-heavy tasks, which a 135M model can partly solve."""

from collections.abc import Iterator

from byrote import paths
from byrote.benchmarks.sources import read
from byrote.records import Task
from byrote.registry import benchmark


@benchmark("ladder")
def ladder() -> Iterator[Task]:
    """data/ladder.jsonl, MIT, 84 tasks, written 2026-11-30: no model of before can know them."""
    return map(_task, read(paths.data() / "ladder.jsonl"))


def _task(row: dict) -> Task:
    return Task(
        task_id=row["task_id"],
        benchmark="ladder",
        kind="write",
        prompt=row["prompt"],
        entry_point=row["entry_point"],
        reference=row["reference"],
        tests="\n".join(row["tests"]),
        cluster=row["task_id"],
        released=row["released"],
        seen="no",
        rewordings=repr(row["rewordings"]),
    )
