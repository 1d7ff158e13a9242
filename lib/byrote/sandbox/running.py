"""Judges many programs, each worker being one clean process that forks once per program."""

import os
import select
import time
from collections import deque
from collections.abc import Iterable, Iterator

from byrote.sandbox.terms import Limits, Outcome, Program
from byrote.sandbox.worker import Ticket, Worker

DEPTH = 3  # programs given to a worker at once, so that it never waits for a slow caller
WINDOW = 64  # unfinished or unread outcomes per worker, which bounds memory
TICK = 1.0


def run(
    programs: Iterable[Program], limits: Limits | None = None, workers: int | None = None
) -> Iterator[Outcome]:
    """Yield one outcome a program, in their order, reading `programs` only as fast as needed.

    `workers` defaults to the cores this process may use. Stopping early ends every process.
    """
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    count = (count or 1) if workers is None else workers
    if not isinstance(count, int) or count < 1:
        raise ValueError(f"workers is {workers!r}; it must be a whole number above 0, or None")
    return _outcomes(iter(programs), limits or Limits(), count)


def _outcomes(programs: Iterator[Program], limits: Limits, count: int) -> Iterator[Outcome]:
    crew: list[Worker] = []
    tickets: deque[Ticket] = deque()
    more = True
    try:
        while more or tickets:
            while more and len(tickets) < WINDOW * count and _room(crew, count):
                if more := (program := next(programs, None)) is not None:
                    tickets.append(Ticket(program))
                    _least_busy(crew, limits, count).give(tickets[-1])
            ready = bool(tickets) and tickets[0].outcome is not None
            if tickets:
                _advance(crew, 0.0 if ready else TICK)
            if ready:
                yield tickets.popleft().outcome
    finally:
        for worker in crew:
            worker.hang_up()
        for worker in crew:
            worker.close()


def _room(crew: list[Worker], count: int) -> bool:
    return len(crew) < count or any(len(worker.queue) < DEPTH for worker in crew)


def _least_busy(crew: list[Worker], limits: Limits, count: int) -> Worker:
    if len(crew) < count and all(worker.queue for worker in crew):
        crew.append(Worker(limits))
    return min(crew, key=lambda worker: len(worker.queue))


def _advance(crew: list[Worker], timeout: float) -> None:
    """Move bytes between the caller and the workers, waiting at most `timeout` for any."""
    poll = select.poll()
    for worker in crew:
        poll.register(worker.answers, select.POLLIN)
        if worker.outbox:
            poll.register(worker.jobs, select.POLLOUT)
    ready = {descriptor for descriptor, _ in poll.poll(timeout * 1000)}
    now = time.monotonic()
    for worker in crew:
        # Read first: an answer that came while the caller was busy counts as in time.
        alive = worker.receive() if worker.answers in ready else True
        if alive and worker.jobs in ready:
            worker.send()
        if not alive or worker.overdue(now):
            worker.restart()
