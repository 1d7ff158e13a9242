"""A program is run once: what was judged is found by program, tests and limits."""

import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace

import pytest

from byrote import pipeline, sandbox
from byrote.pipeline.execution import WRITE_EVERY, judged, program_key
from byrote.sandbox import Limits, Program
from byrote.store import Store

LIMITS = Limits()


def program(number: int = 0, **changes) -> Program:
    source = f"def f(n):\n    return n + {number}\n"
    return replace(Program(source, f"assert f(1) == {1 + number}", "", "f"), **changes)


@pytest.fixture
def ran(monkeypatch) -> list[Program]:
    """Every program that the sandbox is given."""
    given, real = [], sandbox.run

    def run(programs, *rest):
        programs = list(programs)
        given.extend(programs)
        return real(programs, *rest)

    monkeypatch.setattr(sandbox, "run", run)
    return given


def test_each_caller_gets_its_outcome_under_its_own_name_in_its_order(store, ran):
    wrong = program(tests="assert f(1) == 1\nassert f(1) == 2")
    mixed = {("a", 1): program(), 7: wrong, "again": program(), "none": program(source="")}
    found = judged(mixed, LIMITS, store, "test")
    assert list(found) == list(mixed)
    assert [o["outcome"] for o in found.values()] == ["passed", "failed", "passed", "invalid"]
    assert found[7]["outcomes"] == ".F"
    assert len(ran) == 3


def test_the_same_program_is_run_once_also_in_another_run(store, ran):
    first = judged({n: program() for n in range(5)}, LIMITS, store, "test")
    again = judged({"x": program()}, LIMITS, Store(store.file, store.published), "test")
    assert len(ran) == 1
    assert again["x"] == first[0]


@pytest.mark.parametrize(
    "changes",
    [
        {"source": "def f(n):\n    return n\n\n"},
        {"tests": "assert f(1) == 1\nassert f(2) == 2"},
        {"setup": "import math"},
        {"entry_point": "g"},
        {"stdin": ""},
    ],
)
def test_a_program_that_differs_in_anything_is_another_one(changes):
    assert program_key(program(**changes), LIMITS) != program_key(program(), LIMITS)


@pytest.mark.parametrize("name", ["seconds", "cpu_seconds", "memory_mb", "output_bytes"])
def test_other_limits_are_another_judgement(name):
    other = replace(LIMITS, **{name: getattr(LIMITS, name) + 1})
    assert program_key(program(), other) != program_key(program(), LIMITS)


def test_another_isolation_is_another_judgement(monkeypatch):
    before = program_key(program(), LIMITS)
    monkeypatch.setattr(sandbox, "level", lambda: type("Level", (), {"name": "stronger"}))
    assert program_key(program(), LIMITS) != before


def test_the_same_answer_of_two_models_and_of_two_samples_is_judged_once(store, variants, ran):
    models = ["oracle", "coin(1)", "mute", "coin(0)"]
    answers = pipeline.generations(variants, models, samples=3, store=store)
    found = pipeline.verdicts(answers, variants, store)
    assert len(found) == len(answers) == 4 * 3 * len(variants)
    # a right program, an empty one and one that raises, for each of the variants
    assert len(ran) == len(set(ran)) == 3 * len(variants)
    pipeline.verdicts(answers, variants, store)
    assert len(ran) == 3 * len(variants)


def test_the_reference_that_made_a_variant_sound_is_not_run_again_for_the_oracle(
    ladder, store, ran
):
    made = pipeline.variants(ladder, [pipeline.ORIGINAL], store=store)
    assert len(ran) == 3
    answers = pipeline.generations(made, ["oracle"], store=store)
    pipeline.verdicts(answers, made, store)
    assert len(ran) == 3


def test_a_verdict_with_a_bad_value_is_named_and_judged_again_and_no_other(store, ran, capsys):
    programs = {n: program(n) for n in range(4)}
    before = judged(programs, LIMITS, store, "test")
    bad = program_key(program(2), LIMITS)
    db = sqlite3.connect(store.file)
    with db:
        db.execute("UPDATE verdicts SET outcome = NULL WHERE key = ?", [bad])
    db.close()
    after = judged(programs, LIMITS, store, "test")
    assert f"{store.file}: verdicts row {bad}: outcome is None" in capsys.readouterr().out
    assert ran[4:] == [program(2)]
    assert [o["outcome"] for o in after.values()] == [o["outcome"] for o in before.values()]
    assert store.find("verdicts", [bad])


KILLED = """
import signal, sys
from byrote import sandbox
from byrote.pipeline.execution import judged
from byrote.sandbox import Limits, Program
from byrote.store import Store

real = sandbox.run

def run(programs, limits):
    for n, outcome in enumerate(real(programs, limits)):
        if n == int(sys.argv[3]):
            print("judged", flush=True)
            signal.pause()
        yield outcome

sandbox.run = run
source = "def f(n):\\n    return n + {}\\n"
programs = {n: Program(source.format(n), f"assert f(1) == {1 + n}", "", "f") for n in range(140)}
judged(programs, Limits(), Store(sys.argv[1], sys.argv[2]), "test")
"""


@pytest.mark.parametrize("finished", [2 * WRITE_EVERY - 1])
def test_a_run_that_is_killed_loses_at_most_one_batch_of_verdicts(store, ran, finished):
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, store.file, store.published, str(finished)],
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout.readline() == "judged\n"
        process.kill()
    assert process.returncode == -signal.SIGKILL
    programs = {n: program(n) for n in range(140)}
    again = Store(store.file, store.published)
    kept = again.find("verdicts", [program_key(p, LIMITS) for p in programs.values()])
    assert 0 <= finished - len(kept) < WRITE_EVERY
    found = judged(programs, LIMITS, again, "test")
    assert {o["outcome"] for o in found.values()} == {"passed"}
    assert len(ran) == 140 - len(kept)
