"""Run programs once: what was judged before is found by program, tests and limits."""

import sys
from collections.abc import Hashable
from dataclasses import asdict
from functools import cache
from importlib.metadata import distributions

from tqdm import tqdm

from byrote import sandbox
from byrote.sandbox import Limits, Program
from byrote.store import Store, key

WRITE_EVERY = 64  # outcomes a transaction: what a kill -9 can lose at most


def judged(
    programs: dict[Hashable, Program], limits: Limits, store: Store, label: str
) -> dict[Hashable, dict]:
    """The outcome of each program, by the caller's name for it; the rest is run and stored."""
    names = {name: program_key(p, limits) for name, p in programs.items()}
    unique = {names[name]: program for name, program in programs.items()}
    found = store.find("verdicts", unique)
    missing = {k: p for k, p in unique.items() if k not in found}
    waiting = []
    outcomes = sandbox.run(missing.values(), limits)
    bar = tqdm(outcomes, desc=label, total=len(missing), unit="program", disable=len(missing) < 20)
    for name, outcome in zip(missing, bar, strict=True):
        found[name] = asdict(outcome)
        waiting.append((name, found[name]))
        if len(waiting) == WRITE_EVERY:
            store.put("verdicts", waiting)
            waiting = []
    store.put("verdicts", waiting)
    return {name: found[names[name]] for name in programs}


def program_key(program: Program, limits: Limits) -> str:
    """The hash of everything that decides a verdict; the time a run took is no part of it.

    The installed packages belong to it: of 16,400 stored CodeT programs 13 pass or fail by whether
    an import is there.
    """
    where = {"isolation": sandbox.level().name, "environment": environment()}
    return key(asdict(program) | asdict(limits) | where)


@cache
def environment() -> list[str]:
    """The interpreter's version and the packages that a program could import."""
    found = {f"{d.name}=={d.version}" for d in distributions()}
    return [f"python=={sys.version_info[0]}.{sys.version_info[1]}", *sorted(found)]
