"""The child's side: runs one program and then its tests, reporting over a private pipe.

Runs with the program in one interpreter, so nothing here holds against a program that means harm.
"""

import ast
import atexit
import contextlib
import os
import random
import resource
import signal
import sys
import threading
import types

REPORT = 3  # descriptor of the private pipe
LARGEST_FILE = 16 * 2**20
PDEATHSIG = 1
prctl = None  # set before the first fork where there is one


def reporter(token: str):
    """A function that writes records `token kind index text` to the private pipe."""
    # Bound here, before the program can put other functions in their place.
    write, getpid, leave, owner = os.write, os.getpid, os._exit, os.getpid()

    def say(kind: str, index: int = 0, text: str = "") -> None:
        if getpid() != owner:
            leave(1)  # a fork of the program came back into our code
        write(REPORT, f"\n{token} {kind} {index} {text}\n".encode("utf-8", "backslashreplace"))

    return say


def run(job: dict, limits: dict, folder: str, token: str, pipe: int, files: tuple) -> None:
    """Take the place of the fork: confine it, run the program and its tests, end. Never returns."""
    leave = os._exit
    try:
        confine(limits, folder, pipe, files)
        judge(job, limits, reporter(token))
    finally:
        leave(0)


def confine(limits: dict, folder: str, pipe: int, files: tuple) -> None:
    """Own session, own files, own folder, own limits."""
    os.setsid()
    if prctl:
        prctl(PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    for standard, given in enumerate(files):
        os.dup2(given, standard)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    if pipe != REPORT:
        os.dup2(pipe, REPORT, inheritable=False)
    os.closerange(REPORT + 1, max(4096, resource.getrlimit(resource.RLIMIT_NOFILE)[0]))
    os.chdir(folder)
    os.environ["HOME"] = os.environ["TMPDIR"] = folder
    lower(resource.RLIMIT_CPU, int(limits["cpu_seconds"]) + 2)  # behind the watch from outside
    lower(resource.RLIMIT_AS, limits["memory_bytes"])
    lower(resource.RLIMIT_FSIZE, LARGEST_FILE)
    lower(resource.RLIMIT_CORE, 0)
    lower(resource.RLIMIT_NOFILE, 512)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    random.seed(0)  # a fork would else draw a new seed, and no verdict could be repeated


def lower(kind: int, value: int) -> None:
    """Set a limit, or what the machine allows at most (case S20)."""
    hard = resource.getrlimit(kind)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    with contextlib.suppress(ValueError, OSError):  # macOS knows no RLIMIT_AS
        resource.setrlimit(kind, (value, value if kind != resource.RLIMIT_CPU else hard))


def judge(job: dict, limits: dict, say) -> None:
    """Compile all, then run source, setup and each test, and say how each ended."""
    try:
        tests = statements(job["tests"])
    except BaseException as error:
        return say("invalid", 0, f"test does not parse: {first_line(error, job['tests'])}")
    say("tests", len(tests))
    if not tests or not job["source"].strip():
        return say("invalid", 0, "empty source" if tests else "no tests")
    try:
        source = compile(job["source"], "<program>", "exec", dont_inherit=True)
        setup = compile(job["setup"], "<setup>", "exec", dont_inherit=True)
    except BaseException as error:
        return say("invalid", 0, describe(error))
    say("running")
    feeds = job["stdin"] is not None
    space = module("__main__" if feeds else "program")
    kind, text = attempt(source, space)
    if feeds:
        kind, text = finish(kind, text, space, limits)
    if kind == ".":
        kind, text = attempt(setup, space)
        text = f"setup: {text}"
    if kind != ".":
        return say({"R": "resource", "X": "left"}.get(kind, "invalid"), 0, text)
    if job["entry_point"] and job["entry_point"] not in space:
        return say("invalid", 0, f"entry point {job['entry_point']} is not defined")
    say("testing")
    for index, test in enumerate(tests):
        kind, text = attempt(test, space)
        say("E" if kind == "X" else kind, index, text)
    say("end")


def statements(tests: str) -> list[types.CodeType]:
    """One code object per top-level statement."""
    body = ast.parse(tests).body
    return [compile(ast.Module([node], []), "<test>", "exec", dont_inherit=True) for node in body]


def module(name: str) -> dict:
    """The namespace of the program, found by name as a module is (dataclasses and pickle look)."""
    made = types.ModuleType(name)
    sys.modules[name] = sys.modules["__main__"] = made
    return made.__dict__


def attempt(code: types.CodeType, space: dict) -> tuple[str, str]:
    """Run code; `.` and "", or the kind of its end (F, E, R, X for sys.exit) and its exception."""
    try:
        exec(code, space)
    except MemoryError:
        return "R", "memory limit"
    except AssertionError as error:
        return "F", describe(error)
    except SystemExit as error:
        return "X", describe(error)
    except BaseException as error:
        return "E", describe(error)
    return ".", ""


def finish(kind: str, text: str, space: dict, limits: dict) -> tuple[str, str]:
    """End a stdin program as a process ends, and give its output to the tests as `stdout`."""
    if text in ("SystemExit", "SystemExit: 0"):
        kind = "."  # a usual last line of such programs; the output decides
    elif kind in "EF":
        kind = "X"  # here running the source is the test, so this is a failure, not bad code
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    atexit._run_exitfuncs()
    with contextlib.suppress(Exception):  # closed by the program, or the file is full
        sys.stdout.flush()
    if os.fstat(1).st_size > limits["output_bytes"]:
        return "R", f"output limit of {limits['output_bytes']} bytes"
    space["stdout"] = os.pread(1, int(limits["output_bytes"]), 0).decode("utf-8", "replace")
    return kind, text


def describe(error: BaseException) -> str:
    """Class and first line of the message, without running code of the exception (its __str__)."""
    name = type.__dict__["__name__"].__get__(type(error))
    parts = [p for p in BaseException.args.__get__(error)[:2] if type(p) in (str, int, float)]
    shown = [str(part) for part in parts if type(part) is not int or part.bit_length() < 64]
    lines = " ".join(shown).strip().splitlines()
    return f"{name}: {lines[0]}"[:300] if lines else name


def first_line(error: BaseException, tests: str) -> str:
    """The line of the tests at which the parser stopped, or its complaint."""
    number = getattr(error, "lineno", None) or 0
    lines = tests.split("\n")
    return lines[number - 1].strip()[:200] if 0 < number <= len(lines) else describe(error)
