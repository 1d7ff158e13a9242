"""Operators on the wording of a task. Here so far: `original`, which changes nothing."""

import ast

from byrote.operators.suite import Inapplicable, parse, shown_test
from byrote.records import Task, Variant
from byrote.registry import operator


@operator("original", family="none", levels=(0.0,))
def original(task: Task, level: float, seed: int, mode: str, wording: str) -> Variant:
    """The untouched task, so that no stage has a special case for it."""
    return Variant(
        task_id=task.task_id,
        operator="original",
        kind=task.kind,
        prompt=task.prompt,
        code=task.code,
        example=_example(task),
        entry_point=task.entry_point,
        reference=task.reference,
        tests=task.tests,
        setup=task.setup,
    )


def _example(task: Task) -> str:
    """The test shown in the prompt: the one that every other operator shows too."""
    try:
        suite = parse(task.tests, task.entry_point)
    except Inapplicable:
        return ""
    shown = suite[shown_test(suite)]
    return ast.unparse(shown.statement) if shown.shape != "any" else ""
