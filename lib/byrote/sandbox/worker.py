"""One worker seen from the caller: starts the clean process, talks to it, replaces it if it dies.

Frames in both directions are a length (four bytes) and JSON. Nothing is unpickled.
"""

import dataclasses
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections import deque
from pathlib import Path

from byrote.sandbox.isolation import INTEGRITY, ISOLATION
from byrote.sandbox.terms import Limits, Outcome, Program

INSIDE = Path(__file__).with_name("inside")
MARK = "BYROTE_SANDBOX"
GRACE = 30.0  # seconds beyond the wall limit before a worker counts as frozen
TRIES = 2
ENVIRONMENT = {
    "PATH": os.defpath,
    "LC_ALL": "C.UTF-8",
    "PYTHONUTF8": "1",
    "PYTHONHASHSEED": "0",
    "MALLOC_ARENA_MAX": "2",  # else each thread reserves 64 MiB of the memory limit
    **{f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")},
}


class Ticket:
    """A program on its way through a worker."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.tries, self.end = 0, ""
        self.outcome: Outcome | None = None

    @property
    def frame(self) -> bytes:
        """What the worker is told; after the last try only the tests, to be counted."""
        program = dataclasses.asdict(self.program)
        if self.tries >= TRIES:
            program["source"] = ""
        body = json.dumps(program).encode()
        return struct.pack("<I", len(body)) + body

    def settle(self, answer: dict) -> None:
        """Take the worker's answer as the outcome, unless the program has ended its worker."""
        if self.tries >= TRIES:
            answer["outcome"] = "crashed"
            answer["outcomes"] = "C" + answer["outcomes"][1:] if answer["outcomes"] else ""
            answer["error"] = f"the process that watched it ended: {self.end}"
        self.outcome = Outcome(**answer, isolation=ISOLATION, integrity=INTEGRITY)


class Worker:
    """A clean process and the programs given to it, the first of which is running."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.queue: deque[Ticket] = deque()
        self._start()

    def _start(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="byrote-")
        self.inbox, self.outbox = bytearray(), bytearray()
        self.since, self.ready = time.monotonic(), False
        settings = json.dumps(dataclasses.asdict(self.limits))
        self.stderr = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [sys.executable, "-s", "-P", str(INSIDE), self.folder, settings],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.stderr,
            bufsize=0,
            cwd=self.folder,
            env={**ENVIRONMENT, MARK: self.folder},
            start_new_session=True,
        )
        self.jobs, self.answers = self.process.stdin.fileno(), self.process.stdout.fileno()
        os.set_blocking(self.jobs, False)
        os.set_blocking(self.answers, False)

    def give(self, ticket: Ticket) -> None:
        """Put a program at the end of the queue."""
        if not self.queue:
            self.since = time.monotonic()
        self.queue.append(ticket)
        self.outbox += ticket.frame
        self.send()

    def send(self) -> None:
        """Write as much as the worker takes now."""
        try:
            while self.outbox:
                del self.outbox[: os.write(self.jobs, self.outbox[:65536])]
        except BlockingIOError:
            pass
        except BrokenPipeError:
            self.outbox.clear()  # its death shows as the end of its answers

    def receive(self) -> bool:
        """Read what the worker has answered; False when it is gone."""
        try:
            data = os.read(self.answers, 65536)
        except BlockingIOError:
            return True
        self.inbox += data
        while len(self.inbox) >= 4:
            end = 4 + struct.unpack_from("<I", self.inbox)[0]
            if len(self.inbox) < end:
                break
            self._note(json.loads(self.inbox[4:end]))
            del self.inbox[:end]
        return bool(data)

    def _note(self, answer: dict) -> None:
        if not self.ready:  # the first frame only says that the start succeeded
            self.ready = True
            return
        self.queue.popleft().settle(answer)
        self.since = time.monotonic()

    def overdue(self, now: float) -> bool:
        """Whether the running program has had so long that the worker itself must be frozen."""
        return bool(self.queue) and now - self.since > 10 * self.limits.seconds + GRACE

    def restart(self) -> None:
        """Replace a dead or frozen process; its program is tried once more, then called crashed."""
        self.hang_up()
        self.process.kill()
        self.close()
        if not self.ready:
            raise RuntimeError(f"the sandbox process did not start: {self.message}")
        if self.queue:
            first = self.queue[0]
            first.tries += 1
            first.end = self.message.split("\n")[-1] or "killed or frozen"
            if first.tries > TRIES:  # and that with no source at all: it is the machine
                raise RuntimeError(f"the sandbox process does not live: {first.end}")
        self._start()
        for ticket in self.queue:
            self.outbox += ticket.frame
        self.send()

    def hang_up(self) -> None:
        """Close both pipes, upon which the process ends its program and itself."""
        self.process.stdin.close()
        self.process.stdout.close()

    def close(self) -> None:
        """Wait for the end, and make sure that nothing is left behind."""
        try:
            status = self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        if status != 0:
            _end_marked(self.folder)
        if not self.stderr.closed:
            self.stderr.seek(0)
            self.message = self.stderr.read(4096).decode(errors="replace").strip()
            self.stderr.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def _end_marked(folder: str) -> None:
    """Kill what a dead worker left: every process that was started with its mark (Linux)."""
    mark = f"{MARK}={folder}".encode()
    for _ in range(100):  # again until none is seen, for one may fork while we look
        found = False
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    os.kill(int(entry.name), signal.SIGKILL)
                    found = True
            except OSError:
                continue  # ended meanwhile, or of another user
        if not found:
            return
        time.sleep(0.01)
