"""Runs programs written by a model, and says what each did to its tests.

    from byrote.sandbox import Limits, Program, run
    for outcome in run([Program("def f(n): return n * n", "assert f(3) == 9")]):
        print(outcome.outcome, outcome.outcomes)

What it does: every program runs in a process and session of its own, forked from a clean
interpreter (empty environment, PYTHONHASHSEED=0, one BLAS thread), with stdin closed or a given
text, output thrown away or kept up to a limit, an empty private working folder that is removed
afterwards, and limits on CPU time, idle time, memory, file size and number of processes. Time is
kept from outside the program. Whatever it leaves running is ended. Each test is reported alone.

What it does NOT protect against (isolation "limits", integrity "in-process"): a program can read,
change and delete the user's files, reach the network and local sockets, see other processes,
and signal them. It can fill a disk with many small files. It shares an interpreter with its tests,
so an object that equals everything, a patched builtin, or code that reads the caller's frames can
obtain a pass it does not deserve. Enough against accidents; against an adversary no sandbox.
"""

from byrote.sandbox.isolation import Level, level
from byrote.sandbox.running import run
from byrote.sandbox.terms import Limits, Outcome, Program

__all__ = ["Level", "Limits", "Outcome", "Program", "level", "run"]
