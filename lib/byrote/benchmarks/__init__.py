"""Benchmarks: functions that yield Tasks, found by name."""

from itertools import islice

from byrote import registry
from byrote.benchmarks import crux, humaneval, ladder, mbpp  # noqa: F401  they register themselves
from byrote.records import Task


def names() -> list[str]:
    """The registered benchmarks."""
    return sorted(registry.BENCHMARKS)


def load(name: str, limit: int = 0) -> list[Task]:
    """The first `limit` tasks of a benchmark, all for 0; raises ValueError for an unknown name."""
    if limit < 0:
        raise ValueError(f"LIMIT={limit}: 0 (all) or a positive number of tasks")
    tasks = registry.find("benchmark", registry.BENCHMARKS, name)()
    return list(islice(tasks, limit or None))
