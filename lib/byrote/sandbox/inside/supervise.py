"""The parent's side: forks one program, keeps its time, ends it, and says what it did."""

import contextlib
import os
import select
import shutil
import signal
import subprocess
import time

import execute
import tree

MOST_PROCESSES = 256
MOST_TESTS = 10**6
LONGEST_LINE = 65536
BACKSTOP = 10  # times the limit by the wall clock, however loaded the machine is
SEVERITY = ("passed", "failed", "invalid", "timeout", "resource", "crashed")
MEANS = {".": "passed", "F": "failed", "E": "failed", "R": "resource"}
MARKS = {"timeout": "T", "resource": "R", "crashed": "C", "failed": "E"}


class HungUp(Exception):
    """The caller is gone or wants no more."""


class Report:
    """What a program's side has said so far."""

    def __init__(self, token: str) -> None:
        self.token, self.rest = token.encode(), b""
        self.vector: list[str] = []
        self.reached, self.stage = 0, "compiling"
        self.findings: list[tuple[str, str]] = []

    def feed(self, data: bytes) -> None:
        """Take bytes from the pipe; lines without the token are the program's own noise."""
        *lines, rest = (self.rest + data).split(b"\n")
        self.rest = rest[-LONGEST_LINE:]
        for line in lines:
            parts = line.split(b" ", 3)
            if len(parts) == 4 and parts[0] == self.token and parts[2][:7].isdigit():
                self.note(parts[1].decode(), int(parts[2][:7]), parts[3].decode("utf-8", "replace"))

    def note(self, kind: str, index: int, text: str) -> None:
        """Take one record; a test counts only in its turn."""
        if kind == "tests" and not self.vector:
            self.vector = ["-"] * min(index, MOST_TESTS)
        elif kind in MEANS and index == self.reached < len(self.vector):
            self.vector[index], self.reached = kind, index + 1
            if kind != ".":
                self.findings.append((MEANS[kind], text))
        elif kind in ("invalid", "resource"):
            self.findings.append((kind, text))
            self.stage = "end"
        elif kind == "left":
            self.stop("failed", text)
        elif kind in ("running", "testing", "end"):
            self.stage = kind

    def stop(self, outcome: str, error: str) -> None:
        """Put down an end that came before the last test."""
        if self.stage == "compiling" and outcome == "failed":
            raise RuntimeError(f"a fork could not be set up: {error}")
        if self.stage == "compiling" and outcome == "crashed":
            outcome, error = "invalid", f"{error} in the compiler"
        # An end of its own making (exit) is put down to the first test when none was reached.
        if self.vector and (self.stage == "testing" or outcome == "failed"):
            self.vector[min(self.reached, len(self.vector) - 1)] = MARKS[outcome]
        self.findings.append((outcome, error))
        self.stage = "end"

    def answer(self, cpu: float) -> dict:
        """The worst finding, the first of its kind."""
        if not self.findings and (not self.vector or "-" in self.vector):
            self.findings.append(("failed", "incomplete"))
        ranked = sorted(self.findings, key=lambda finding: -SEVERITY.index(finding[0]))
        outcome, error = ranked[0] if ranked else ("passed", "")
        vector = "".join(self.vector)
        return {"outcome": outcome, "outcomes": vector, "error": error, "cpu_seconds": cpu}


def judge(job: dict, limits: dict, scratch: str, jobs: int) -> dict:
    """Run one program in a fork, and clear away all it leaves."""
    folder, token = f"{scratch}/box", os.urandom(16).hex()
    os.mkdir(folder, 0o700)
    files = () if job["stdin"] is None else streams(job["stdin"], scratch)
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        execute.run(job, limits, folder, token, writing, files)
    for descriptor in (writing, *files):
        os.close(descriptor)
    os.set_blocking(reading, False)
    report = Report(token)
    try:
        watch(pid, reading, jobs, limits, report)
    finally:
        tree.end(pid)
        _, status, usage = os.wait4(pid, 0)
        tree.sweep()
        drain(reading, report)
        os.close(reading)
        remove(folder)
    if report.stage != "end":
        report.stop(*ending(status, limits))
    return report.answer(round(usage.ru_utime + usage.ru_stime, 6))


def streams(text: str, scratch: str) -> tuple[int, int]:
    """Nameless files for standard input, holding the text, and for standard output."""
    made = []
    for content in (text.encode("utf-8", "replace"), b""):
        path = f"{scratch}/stream"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        os.unlink(path)
        while content:
            content = content[os.write(descriptor, content) :]
        os.lseek(descriptor, 0, os.SEEK_SET)
        made.append(descriptor)
    return made[0], made[1]


def watch(pid: int, reading: int, jobs: int, limits: dict, report: Report) -> None:
    """Return when the program has reported its end, has died, or has used up a limit."""
    started = time.monotonic()
    poll = select.poll()
    poll.register(reading, select.POLLIN)
    poll.register(jobs, 0)  # only its closing, not the next job, is of interest
    death = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else None
    if death is not None:
        poll.register(death, select.POLLIN)
    pause = min(0.1, limits["cpu_seconds"] / 4, limits["seconds"] / 4)
    due = started + pause
    try:
        while report.stage != "end":
            ready = {descriptor for descriptor, _ in poll.poll(1000 * pause)}
            if jobs in ready:
                raise HungUp
            closed = reading in ready and not drain(reading, report)
            if death in ready or (closed and death is None):
                return
            if closed:
                poll.unregister(reading)  # by the program; its death or a limit follows
            if report.stage == "end" or (now := time.monotonic()) < due:
                continue
            if found := excess(pid, now - started, limits):
                report.stop(*found)
            due = now + pause
    finally:
        if death is not None:
            os.close(death)


def drain(reading: int, report: Report) -> bool:
    """Read what there is, at most a few buffers full, so that a flood cannot stop the clock."""
    with contextlib.suppress(BlockingIOError):
        for _ in range(4):
            if not (data := os.read(reading, 65536)):
                return False
            report.feed(data)
    return True


def excess(pid: int, wall: float, limits: dict) -> tuple[str, str] | None:
    """Which limit the program is over, judged by its CPU clock and its idle time."""
    cpu = 0.0
    with contextlib.suppress(OSError):  # the clock of all its threads, by the kernel's numbering
        cpu = time.clock_gettime((~pid << 3) | 2)
    if cpu > limits["cpu_seconds"]:
        return "timeout", f"cpu limit of {limits['cpu_seconds']:g} s"
    if wall > BACKSTOP * limits["seconds"]:
        return "timeout", f"wall limit of {BACKSTOP * limits['seconds']:g} s"
    if wall > limits["seconds"]:
        queued = queue_wait(pid)
        if queued is not None and wall - cpu - queued > limits["seconds"]:
            return "timeout", f"idle limit of {limits['seconds']:g} s"
    if len(tree.descendants(os.getpid())) > MOST_PROCESSES:
        return "resource", f"process limit of {MOST_PROCESSES}"
    return None


def queue_wait(pid: int) -> float | None:
    """Seconds its threads were ready but had no core; None where the kernel does not say."""
    total = 0
    with contextlib.suppress(OSError, IndexError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/schedstat") as file:
                total += int(file.read().split()[1])
        return total / 1e9
    return None


def ending(status: int, limits: dict) -> tuple[str, str]:
    """What the wait status of a program that did not report its end means."""
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return "failed", f"exit with status {code} before the last test"
    if -code == signal.SIGXCPU:
        return "timeout", f"cpu limit of {limits['cpu_seconds']:g} s"
    name = signal.Signals(-code).name if -code in list(signal.Signals) else "real-time"
    return "crashed", f"signal {-code} ({name})"


def remove(folder: str) -> None:
    """Remove a working folder, whatever modes and depths the program gave it."""
    try:
        if os.path.islink(folder):  # put there by the program; never follow it
            return os.unlink(folder)
        return os.rmdir(folder)
    except OSError:
        with contextlib.suppress(RecursionError):
            shutil.rmtree(folder, ignore_errors=True)
    for command in (["chmod", "-R", "u+rwx", folder], ["rm", "-rf", folder]):
        if os.path.lexists(folder):
            subprocess.run(command, stderr=subprocess.DEVNULL, check=False)
