"""Which isolation is in force here, and why not a stronger one."""

import os
from dataclasses import dataclass

ISOLATION = "limits"
INTEGRITY = "in-process"


@dataclass(frozen=True)
class Level:
    """The isolation in force; `number` grows with its strength (1 limits … 3 namespaces)."""

    number: int
    name: str
    integrity: str
    reason: str

    def __str__(self) -> str:
        return (
            f"sandbox: level {self.number} {self.name}, tests {self.integrity}; "
            f"not stronger because {self.reason}"
        )


def level() -> Level:
    """The isolation in force, with what this machine lacks even for it."""
    reason = "namespaces, landlock and system call filters are not built yet"
    if not os.path.exists("/proc/self/schedstat"):
        reason += "; no /proc/self/schedstat, so idle time ends by the wall clock only"
    if not os.path.exists(f"/proc/{os.getpid()}/task/{os.getpid()}/children"):
        reason += "; no children lists in /proc, so processes are not counted and may survive"
    return Level(1, ISOLATION, INTEGRITY, reason)
