"""MBPP: 974 entry-level problems, and the 427 that its authors verified by hand."""

import ast
import warnings
from collections.abc import Iterator

from byrote.benchmarks.sources import records
from byrote.records import Task
from byrote.registry import benchmark


@benchmark("mbpp")
def mbpp() -> Iterator[Task]:
    """All of MBPP (Austin et al. 2021), CC BY 4.0, 974 tasks, 2021-08."""
    for row in records("mbpp"):
        yield _task(row, "mbpp", row["text"], row["test_setup_code"])


@benchmark("mbpp_sanitized")
def mbpp_sanitized() -> Iterator[Task]:
    """The verified part of MBPP, CC BY 4.0, 427 tasks; ids 11-510 are the test split."""
    for row in records("mbpp_sanitized"):
        yield _task(row, "mbpp_sanitized", row["prompt"], "\n".join(row["test_imports"]))


@benchmark("mbpp_sanitized_test")
def mbpp_sanitized_test() -> Iterator[Task]:
    """The 257 verified tasks of the test split, which paper 1 used."""
    return (t for t in mbpp_sanitized() if 11 <= int(t.task_id.split("/")[1]) <= 510)


def _task(row: dict, name: str, prompt: str, setup: str) -> Task:
    """One task; the setup runs after the program, since it may use what the program defines."""
    reference, tests = unix(row["code"]), unix("\n".join(row["test_list"]))
    return Task(
        task_id=f"{name}/{row['task_id']}",
        benchmark=name,
        kind="write",
        prompt=unix(prompt),
        entry_point=entry_point(reference, tests),
        reference=reference,
        tests=tests,
        setup=unix(setup),
        cluster=f"mbpp/{row['task_id']}",
        released="2021-08-16",
    )


def unix(text: str) -> str:
    """Text with unix line ends."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def entry_point(reference: str, tests: str) -> str:
    """The function that the tests call: the first called name that the reference defines.

    The first name after `assert` would be wrong for `set(f(x)) == …` and `math.isclose(f(x), …)`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about escapes such as \w, which are the benchmark's
        body = ast.parse(reference).body
    defined = {n.name for n in body if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    for node in ast.walk(ast.parse(tests)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) in defined:
            return node.func.id
    raise ValueError(f"the tests call no function of the reference: {tests[:80]}")
