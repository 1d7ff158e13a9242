"""The processes below this one: finds them, counts them, ends them."""

import contextlib
import os
import signal
import time


def descendants(root: int) -> list[int]:
    """Every live process below `root`, where the kernel lists children ([] elsewhere)."""
    found: list[int] = []
    look = [root]
    while look:
        pid = look.pop()
        try:
            for task in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{task}/children") as file:
                    look += (below := [int(child) for child in file.read().split()])
                    found += below
        except OSError:
            continue  # ended meanwhile
    return found


def end(pid: int) -> None:
    """Kill a program and its process group."""
    # The group is of the program's making only after its setsid; before that there is none.
    for kill in (os.kill, os.killpg):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)


def sweep() -> None:
    """Kill and reap all that is left, also what moved to another session.

    Orphans become children of this process (it is their subreaper), so one that is killed hands
    its own children up to us until none is left.
    """
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        for pid in descendants(os.getpid()):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.001)
    raise RuntimeError("processes of a program could not be ended")
