"""Why a generation failed behind a contract (SPEC 3.5): found by running it, asking no model.

The program is composed with the missing halves of the contract and run on the ORIGINAL tests.
Which composition passes names what the program left out, so that keeping the contract and solving
the task are told apart.
"""

import ast
import json
from dataclasses import asdict
from itertools import product

import pandas as pd

from byrote.operators.codecs import OUTSIDE, codec, composed
from byrote.operators.contracts import SIDES, Sides
from byrote.operators.isomorphism import transform_of
from byrote.operators.suite import Inapplicable, parse
from byrote.operators.values import ValueMap, lift
from byrote.pipeline import QUICK
from byrote.pipeline.execution import judged
from byrote.records import Generation, Task, Variant, rows
from byrote.sandbox import Program
from byrote.store import Store

CAUSES = (
    "encode missing",
    "decode missing",
    "contract ignored",  # both missing
    "wrong side",  # a side was coded that the contract leaves plain
    "boundary",  # a bool, float or text was pushed through the contract
    "ambiguous",  # two omissions explain it equally well
    "other",  # no composition passes: the task itself was not solved
    "cut off",  # the answer reached its token limit before its program was whole
    "no program",
)
KEY = list(Variant.KEY)


def causes(
    verdicts: pd.DataFrame,
    answers: pd.DataFrame,
    variants: pd.DataFrame,
    tasks: pd.DataFrame,
    store: Store | None = None,
) -> pd.DataFrame:
    """The failed verdicts behind an isomorphism with a `cause` each, one of CAUSES."""
    store = store or Store()
    plain = {t.task_id: t for t in rows(tasks, Task)}
    shown = {tuple(getattr(v, c) for c in KEY): v for v in rows(variants, Variant)}
    failed = verdicts[(verdicts["outcome"] != "passed") & (verdicts["mode"] != "")]
    failed = failed[failed["mode"] != "contract_only"]
    ends = answers[[*Generation.KEY, "finish"]]
    failed = failed.merge(ends, on=list(Generation.KEY), validate="one_to_one")
    programs = {}
    for n, row in enumerate(failed.to_dict("records")):
        variant = shown[tuple(row[c] for c in KEY)]
        if row["outcome"] != "invalid":
            programs |= _programs(n, row["program"], variant, plain[row["task_id"]])
    found = judged(programs, QUICK, store, "taxonomy")
    passed = {name for name, outcome in found.items() if outcome["outcome"] == "passed"}
    named = [
        _cause(n, row.mode, passed)
        if row.outcome != "invalid"
        else ("cut off" if row.finish == "length" else "no program")
        for n, row in enumerate(failed.itertuples())
    ]
    return failed.assign(cause=pd.Series(named, dtype="str"))


def _programs(n: int, source: str, variant: Variant, task: Task) -> dict[tuple, Program]:
    """The four compositions on the original tests, and the tests of the boundary."""
    known, transform = json.loads(variant.parameters), transform_of(variant)
    entry = variant.entry_point
    programs = {
        (n, sides): Program(
            composed(source, entry, transform, sides), task.tests, task.setup, entry
        )
        for sides in _compositions(known, SIDES[variant.mode])
    }
    if any(_is_constant(node, transform) for node in ast.walk(ast.parse(source))):
        for pushed in (False, True):
            tests = boundary_tests(task, transform, SIDES[variant.mode], pushed)
            if tests:
                setup = BOUNDARY.format(codec=codec(transform, OUTSIDE))
                programs[n, "boundary", pushed] = Program(source, tests, setup, entry)
    return programs


def _compositions(known: dict, wanted: Sides) -> list[Sides]:
    """The compositions that can differ: a side without integers in the tests is left as wanted."""
    inputs = (False, True) if known["n_in"] else (wanted.inputs,)
    outputs = (False, True) if known["n_out"] else (wanted.outputs,)
    return [Sides(*pair) for pair in product(inputs, outputs)]


def _is_constant(node: ast.AST, transform: ValueMap) -> bool:
    """Whether a node is the contract's own number: a program without it pushed nothing through."""
    own = [3, *map(abs, asdict(transform).values())]  # x**3 where no parameter is a mark
    mark = next(number for number in reversed(own) if number > 1)
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value == mark


def _cause(n: int, mode: str, passed: set) -> str:
    """The cause of one failure: the smallest departure from the contract that explains it.

    Where the task's function commutes with the map, a program that left one side out also passes
    with both left out, or with one coded for nothing: the smaller departure is named, an omission
    before a superfluous side, and only a tie is ambiguous.
    """
    wanted = SIDES[mode]
    tried = [Sides(*pair) for pair in product((False, True), repeat=2)]
    right = [done for done in tried if (n, done) in passed and done != wanted]
    if right:
        ranks = [_departures(done, wanted) for done in right]
        nearest = [done for done, rank in zip(right, ranks, strict=True) if rank == min(ranks)]
        return _omission(nearest[0], wanted) if len(nearest) == 1 else "ambiguous"
    pushed = any((n, "boundary", pushed) in passed for pushed in (False, True))
    # the wanted composition passes but the variant's stricter types do not: a float for an int
    return "boundary" if pushed or (n, wanted) in passed else "other"


def _departures(done: Sides, wanted: Sides) -> tuple[int, int]:
    """How many sides differ from the contract, and how many of them are coded for nothing."""
    sides = list(zip(done, wanted, strict=True))
    return sum(d != w for d, w in sides), sum(d > w for d, w in sides)


def _omission(done: Sides, wanted: Sides) -> str:
    """What a program that decodes and encodes as `done` says left out of `wanted`."""
    if (done.inputs and not wanted.inputs) or (done.outputs and not wanted.outputs):
        return "wrong side"
    if done.inputs == wanted.inputs:
        return "encode missing"
    return "decode missing" if done.outputs == wanted.outputs else "contract ignored"


def boundary_tests(task: Task, transform: ValueMap, sides: Sides, pushed: bool) -> str:
    """Tests that a program passes if its only fault is to code what is never coded.

    Integers must be right; a bool, float or text may come back as the number that the contract
    would make of it, or as the truth value of that number. With `pushed`, bools and floats among
    the arguments are coded as well, for programs that decode them. "" where nothing can differ.
    """
    try:
        suite = [t for t in parse(task.tests, task.entry_point) if t.shape == "equal"]
    except Inapplicable:
        return ""
    lines = []
    for test in suite:
        args, expected = test.args, test.expected
        if sides.inputs:
            args = [_pushed(transform, v) if pushed else transform.encode(v) for v in args]
        call = f"{task.entry_point}({', '.join(map(repr, args))})"
        lines.append(f"assert _agrees({call}, {expected!r}, {sides.outputs})")
    differs = any(_has_other(v) for t in suite for v in ((t.args,) if pushed else (t.expected,)))
    return "\n".join(lines) if differs and not any(t.kwargs for t in suite) else ""


def _pushed(transform: ValueMap, value: object) -> object:
    if type(value) in (bool, float):
        try:
            return transform.encode_number(value + 0)
        except ValueError:  # a fraction has no digits in another base
            return value
    if type(value) in (list, tuple):
        return type(value)(_pushed(transform, v) for v in value)
    return lift(transform.encode_number, value)


def _has_other(value: object) -> bool:
    """Whether a bool, float or text stands in `value`."""
    if isinstance(value, list | tuple | set | frozenset):
        return any(map(_has_other, value))
    if isinstance(value, dict):
        return _has_other(list(value)) or _has_other(list(value.values()))
    return type(value) in (bool, float, str)


BOUNDARY = """\
{codec}

def _image(want, coded):
    try:
        return _encode_outside_number(want + 0) if coded else want
    except ValueError:  # a fraction has no digits in another base
        return want


def _agrees(got, want, coded):
    if type(want) is int:
        return type(got) is int and got == _image(want, coded)
    if type(want) in (bool, float):
        image = _image(want, coded)
        truth = type(want) is bool and type(got) is bool and got == bool(image)
        return got == want or truth or abs(got - image) < 1e-9
    if type(want) is str and want.lstrip("-").isdigit():
        image = _image(int(want), coded)
        return got in (want, str(image), image)
    if type(want) in (list, tuple):
        return (
            type(got) is type(want)
            and len(got) == len(want)
            and all(_agrees(g, w, coded) for g, w in zip(got, want))
        )
    return got == want
"""
