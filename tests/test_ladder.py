"""Checks `data/ladder.jsonl` as a file: form, references, tests, rewordings.

Reads nothing else of the library, and says nothing about what a model can solve.
"""

import ast
import builtins
import copy
import json
import re
import sys
from pathlib import Path

import pytest

DATA = Path(__file__).parents[1] / "data"
TASKS = [
    json.loads(line) for line in (DATA / "ladder.jsonl").read_text(encoding="utf-8").splitlines()
]
KEYS = "task_id title prompt entry_point reference tests released rung rewordings".split()
LINE_LIMIT = 5_000  # lines run per reference or mutant; the longest honest run needs a few hundred

# The boundary and the opposite of each comparison. All fifteen swaps would add mutants such as
# `n % 2 <= 0`, which no test can tell from `n % 2 == 0`.
COMPARISONS = {
    ast.Lt: [ast.LtE, ast.GtE],
    ast.LtE: [ast.Lt, ast.Gt],
    ast.Gt: [ast.GtE, ast.LtE],
    ast.GtE: [ast.Gt, ast.Lt],
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
}
ARITHMETIC = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
}

each_task = pytest.mark.parametrize("task", TASKS, ids=[task["task_id"] for task in TASKS])


class Endless(Exception):
    """Raised inside code under test that runs more lines than the limit."""


def outcome(source: str, statements: list[str]) -> str:
    """Run a source and its tests; the name of the exception that ended it, or "pass"."""
    lines = 0

    def count(frame, event, argument):
        nonlocal lines
        lines += event == "line"
        if lines > LINE_LIMIT:
            raise Endless
        return count

    before = sys.gettrace()
    namespace: dict = {}
    try:
        sys.settrace(count)
        exec(source, namespace)
        for statement in statements:
            exec(statement, namespace)
    except Exception as error:  # a mutant's crash is the outcome that is asked for
        return type(error).__name__
    finally:
        sys.settrace(before)
    return "pass"


def split(statement: str) -> tuple[str, list, object]:
    """Take `assert name(literals) == literal` apart; raise on any other form."""
    match ast.parse(statement).body:
        case [
            ast.Assert(
                test=ast.Compare(
                    left=ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]),
                    ops=[ast.Eq()],
                    comparators=[expected],
                ),
                msg=None,
            )
        ]:
            return name, [ast.literal_eval(a) for a in arguments], ast.literal_eval(expected)
    raise ValueError(f"expected `assert name(literals) == literal`, got {statement!r}")


def leaves(value: object) -> list:
    """All values in nested containers that are no containers."""
    if isinstance(value, dict):
        return [leaf for pair in value.items() for leaf in leaves(pair)]
    if isinstance(value, list | tuple | set):
        return [leaf for element in value for leaf in leaves(element)]
    return [value]


def numeric(task: dict) -> bool:
    """Whether the tests have integers and nothing else on both sides."""
    _, arguments, expected = zip(*map(split, task["tests"]), strict=True)
    return all({type(leaf) for leaf in leaves(side)} == {int} for side in (arguments, expected))


def distance(text: str, other: str) -> float:
    """One minus the share of common words among all words of two texts."""
    words, others = (set(re.findall(r"\w+", each.lower())) for each in (text, other))
    return 1 - len(words & others) / len(words | others)


def encode(value: object) -> object:
    """Write every integer x as 2x - 94, inside containers too."""
    if type(value) is int:
        return 2 * value - 94
    if isinstance(value, dict):
        return {encode(key): encode(element) for key, element in value.items()}
    if isinstance(value, list | tuple | set):
        return type(value)(encode(element) for element in value)
    return value


def normalised(source: str) -> str:
    """Dump the syntax tree with own names numbered in order of appearance, builtins kept."""
    names: dict[str, str] = {}
    tree = ast.parse(source)

    class Rename(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            for field in ("name", "arg", "id"):
                name = getattr(node, field, None)
                if isinstance(name, str) and not hasattr(builtins, name):
                    setattr(node, field, names.setdefault(name, f"name{len(names)}"))
            if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is not None:
                node.body = node.body[1:]
            return self.generic_visit(node)

    return ast.dump(Rename().visit(tree))


def faults(node: ast.AST) -> list[ast.AST]:
    """Every replacement of one node that is one fault."""

    def changed(**fields) -> ast.AST:
        twin = copy.copy(node)
        for field, value in fields.items():
            setattr(twin, field, value)
        return twin

    found: list[ast.AST] = []
    match node:
        case ast.Compare(ops=[operator]):
            found += [changed(ops=[other()]) for other in COMPARISONS.get(type(operator), [])]
        case ast.BinOp(op=operator) | ast.AugAssign(op=operator) if type(operator) in ARITHMETIC:
            found.append(changed(op=ARITHMETIC[type(operator)]()))
        case ast.BoolOp(op=operator):
            found.append(changed(op=ast.Or() if isinstance(operator, ast.And) else ast.And()))
        case ast.Constant(value=bool(value)):
            found.append(ast.Constant(not value))
        case ast.Constant(value=int(value)):
            found += [ast.Constant(value + 1), ast.Constant(value - 1)]
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            found.append(changed(test=ast.UnaryOp(ast.Not(), test)))
        case ast.comprehension(ifs=[test]):
            found += [changed(ifs=[ast.UnaryOp(ast.Not(), test)]), changed(ifs=[])]
        case ast.Call(func=ast.Name(id="range"), args=bounds):
            for index, bound in enumerate(bounds[:2]):
                for operator in (ast.Add(), ast.Sub()):
                    shifted = ast.BinOp(bound, operator, ast.Constant(1))
                    found.append(changed(args=[*bounds[:index], shifted, *bounds[index + 1 :]]))
        case ast.Return():
            found.append(ast.Return(ast.Constant(0)))
    if isinstance(node, ast.stmt) and not isinstance(node, ast.FunctionDef):
        found.append(ast.Pass())
    return found


def mutants(source: str) -> list[str]:
    """All distinct sources that differ from this one by a single fault, in a fixed order."""
    tree = ast.parse(source)
    found: dict[str, None] = {}
    for target in ast.walk(tree):
        for fault in faults(target):

            class Replace(ast.NodeTransformer):
                def visit(self, node: ast.AST, target=target, fault=fault) -> ast.AST:
                    if node is target:
                        return copy.deepcopy(fault)
                    twin = copy.copy(node)  # generic_visit writes lists in place
                    for field, value in ast.iter_fields(twin):
                        if isinstance(value, list):
                            setattr(twin, field, list(value))
                    return self.generic_visit(twin)

            found[ast.unparse(ast.fix_missing_locations(Replace().visit(tree)))] = None
    found.pop(ast.unparse(tree), None)
    return list(found)


def test_ids_are_sequential_and_names_are_unique():
    assert [task["task_id"] for task in TASKS] == [
        f"ladder/{number:02d}" for number in range(1, len(TASKS) + 1)
    ]
    assert len(TASKS) >= 80
    for key in ("title", "prompt", "entry_point"):
        assert len({task[key] for task in TASKS}) == len(TASKS), key


@each_task
def test_every_row_has_the_keys_in_order_and_plain_values(task):
    assert list(task) == KEYS
    assert 2 <= len(task["title"].split()) <= 4
    assert task["released"] == "2026-11-30"
    assert task["rung"] in (1, 2, 3)
    assert task["entry_point"].isidentifier()
    assert task["entry_point"] not in task["prompt"]


@each_task
def test_every_reference_defines_only_the_entry_point_and_divides_truly_only_for_floats(task):
    tree = ast.parse(task["reference"])
    assert [node.name for node in tree.body] == [task["entry_point"]]
    assert not [n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom)]
    if any(isinstance(node, ast.Div) for node in ast.walk(tree)):
        assert {type(split(statement)[2]) for statement in task["tests"]} == {float}


@each_task
def test_every_test_compares_a_call_on_literals_with_a_literal(task):
    assert len(set(task["tests"])) == len(task["tests"]) >= 6
    differs = False
    for statement in task["tests"]:
        name, arguments, expected = split(statement)
        assert name == task["entry_point"]
        differs |= all(expected != argument for argument in arguments)
        for side in (arguments, expected):
            kinds = {type(leaf) for leaf in leaves(side)}
            assert len({bool, int, float} & kinds) <= 1
            assert all((64 * leaf).is_integer() for leaf in leaves(side) if type(leaf) is float)
        if any(type(leaf) is int for leaf in leaves(arguments)):
            # an int equal to the float would be right here and wrong once ints are encoded
            assert not (type(expected) is float and expected.is_integer())
            assert all(abs(leaf) < 10**6 for leaf in leaves(side) if type(leaf) is int)
    assert differs, "every expected value is also an argument"


@each_task
def test_every_reference_passes_its_tests(task):
    assert outcome(task["reference"], task["tests"]) == "pass"


def test_most_tasks_have_integers_on_both_sides():
    assert sum(map(numeric, TASKS)) >= 60


def test_few_references_pass_the_encoded_tests_as_they_are_and_none_of_integers_does():
    passing = []
    for task in TASKS:
        statements = []
        for name, arguments, expected in map(split, task["tests"]):
            written = ", ".join(repr(encode(argument)) for argument in arguments)
            statements.append(f"assert {name}({written}) == {encode(expected)!r}")
        if outcome(task["reference"], statements) == "pass":
            passing.append(task)
    assert len(passing) <= 12, passing
    assert not [task["task_id"] for task in passing if numeric(task)]


def test_no_two_references_share_their_syntax_tree():
    trees = [normalised(task["reference"]) for task in TASKS]
    assert len(set(trees)) == len(trees)


def test_renaming_does_not_make_a_reference_new():
    assert normalised("def f(a):\n    return len(a)") == normalised("def g(b):\n    return len(b)")
    assert normalised("def f(a):\n    return len(a)") != normalised("def g(b):\n    return sum(b)")


def test_endless_code_is_stopped():
    assert outcome("def f():\n    while True:\n        pass", ["f()"]) == "Endless"


@each_task
def test_the_tests_kill_nine_of_ten_mutants(task):
    every = mutants(task["reference"])
    assert len(every) >= 2
    survivors = [mutant for mutant in every if outcome(mutant, task["tests"]) == "pass"]
    assert len(survivors) <= 0.1 * len(every), "\n\n".join(survivors)


@each_task
def test_every_task_has_five_different_rewordings_that_move_away_from_the_prompt(task):
    rewordings = task["rewordings"]
    assert len(rewordings) == 5
    assert len({task["prompt"], *rewordings}) == 6
    for reworded in rewordings:
        assert reworded == " ".join(reworded.split())
        assert task["entry_point"] not in reworded
        assert not re.search(r"`|\bdef |\bassert |==", reworded)
    distances = [distance(task["prompt"], reworded) for reworded in rewordings]
    assert 0 < distances[0] == min(distances)
    assert distances[-1] > distances[1]


def test_the_distance_of_rewordings_grows_on_average_with_their_rank():
    tables = [[distance(t["prompt"], reworded) for reworded in t["rewordings"]] for t in TASKS]
    means = [sum(column) / len(TASKS) for column in zip(*tables, strict=True)]
    assert means == sorted(means)


def test_distance_counts_words_without_case_or_punctuation():
    assert distance("Add one.", "add, ONE!") == 0
    assert distance("add one two", "add one three") == 0.5
    assert distance("add one", "two three") == 1
