"""One line a notebook on the terminal, and below it what the notebook wants said there."""

import sys
import time
from pathlib import Path


class Terminal:
    """The line `[2/3] 03_isomorphisms … 41 s`, counting up where there is a real terminal.

    A notebook speaks to the terminal by appending lines to the file `BYROTE_TERMINAL`.
    """

    def __init__(self, label: str, lines: Path):
        self.label = label
        self.lines = lines

    def __enter__(self) -> "Terminal":
        self.started = time.monotonic()
        self.file = self.lines.open(encoding="utf-8", errors="replace")
        self.file.seek(0, 2)
        self.rest = ""
        self.counts = sys.stdout.isatty()
        self.shown = -1
        self.whole = False  # the line was ended by a message below it
        print(f"{self.label} …", end="", flush=True)
        return self

    def __exit__(self, kind: object, *rest: object) -> None:
        self.file.close()
        if kind:
            print()

    def show(self) -> None:
        """Show what the notebook wrote since, and how long it runs."""
        *whole, self.rest = (self.rest + self.file.read()).split("\n")
        for line in whole:
            self.say(line)
        seconds = int(time.monotonic() - self.started)
        if self.counts and seconds != self.shown:
            print(f"\r{self.label} … {seconds} s", end="", flush=True)
            self.shown, self.whole = seconds, False

    def say(self, line: str) -> None:
        """A line below the notebook's own."""
        print("" if self.whole else "\n", f"      {line}", sep="", flush=True)
        self.whole = True

    def end(self, note: str = "") -> None:
        """The last state of the line, with the seconds it took."""
        self.show()
        if self.rest:
            self.say(self.rest)
        seconds = f"{time.monotonic() - self.started:.0f} s"
        start = self.label + " … " if self.whole else ("\r" + self.label + " … ") * self.counts
        print(start or " ", seconds, f"  {note}" * bool(note), sep="", flush=True)
