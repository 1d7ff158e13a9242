"""Runs notebooks one after another, one process each, and puts back clean what they wrote.

With the published defaults a notebook is written back in place, normalised. With parameters, or
with an output folder, the original stays and the executed copy goes to that folder.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from byrote import paths
from byrote.notebooks import outputs, parameters
from byrote.notebooks.terminal import Terminal

FOLDER = paths.ROOT / "notebooks"
EXECUTED = paths.ROOT / "scratch" / "executed"


class Result(NamedTuple):
    """How one notebook went: `fault` is "" when it ran; `written` is its executed file."""

    notebook: Path
    written: Path
    seconds: float
    fault: str


def selected(patterns: list[str], folder: Path = FOLDER) -> list[Path]:
    """The notebooks meant: `03` is the one whose name starts so; none given, all numbered ones."""
    found: dict[Path, None] = {}
    for pattern in patterns or ["[0-9]"]:
        path = Path(pattern)
        files = [path] if path.suffix == ".ipynb" and path.is_file() else None
        files = files or sorted(folder.glob(f"{path.name.removesuffix('.ipynb')}*.ipynb"))
        if not files:
            known = ", ".join(sorted(file.stem for file in folder.glob("*.ipynb"))) or "none"
            wanted = f"called {pattern}…" if patterns else "to run"
            raise ValueError(f"no notebook {wanted} in {folder}; there are: {known}")
        found |= dict.fromkeys(file.resolve() for file in files)
    return list(found)


def run(
    notebooks: list[Path], passed: dict[str, Any] | None = None, out: Path | None = None
) -> list[Result]:
    """Run notebooks; a failing one does not keep the others from running.

    All parameters are checked before the first notebook starts. A parameter that only some of
    the notebooks know goes to those, and the others are named. Raises ValueError.
    """
    orders = _orders(notebooks, passed or {})
    folder = Path(out or EXECUTED).resolve()
    if out and any(notebook.parent == folder for notebook in orders):
        raise ValueError(f"{out} holds the notebooks; executed copies need another folder")
    folder.mkdir(parents=True, exist_ok=True)
    in_place = not passed and out is None
    results = []
    with _environment() as environment:
        for number, (notebook, values) in enumerate(orders.items(), 1):
            copy = folder / notebook.name
            order = {"input": str(notebook), "output": str(copy), "parameters": values}
            label = f"[{number}/{len(orders)}] {notebook.stem}"
            results.append(_run(order, notebook if in_place else copy, label, environment))
    return results


def _orders(notebooks: list[Path], passed: dict[str, Any]) -> dict[Path, dict[str, Any]]:
    """The checked parameters of each notebook."""
    orders, known = {}, {}
    for notebook in (Path(file).resolve() for file in notebooks):
        defaults = parameters.declared(outputs.read(notebook), notebook.stem)
        known |= defaults
        mine = {name: value for name, value in passed.items() if name in defaults}
        orders[notebook] = parameters.checked(mine, defaults, notebook.stem)
    parameters.checked(passed, known, ", ".join(notebook.stem for notebook in orders))
    for notebook, values in orders.items():
        if lacking := [name for name in passed if name not in values]:
            print(f"{notebook.stem} has no parameter {', '.join(lacking)} and runs without")
    return orders


@contextmanager
def _environment() -> Iterator[dict[str, str]]:
    """The environment of the notebooks' processes.

    `python3` is this interpreter whatever kernels are installed; the user's own Jupyter start-up
    files and plotting back end stay out, since both change what a notebook shows.
    """
    from ipykernel.kernelspec import write_kernel_spec

    with tempfile.TemporaryDirectory(prefix="byrote-") as folder:
        write_kernel_spec(Path(folder) / "kernels" / "python3")
        terminal = Path(folder) / "terminal"
        terminal.touch()
        environment = {k: v for k, v in os.environ.items() if k != "MPLBACKEND"}
        jupyter = [folder, environment.get("JUPYTER_PATH", "")]
        environment["JUPYTER_PATH"] = os.pathsep.join(filter(None, jupyter))
        environment["IPYTHONDIR"] = str(Path(folder) / "ipython")
        environment["BYROTE_TERMINAL"] = str(terminal)
        yield environment


def _run(order: dict, target: Path, label: str, environment: dict[str, str]) -> Result:
    """Run one notebook and put its result where it belongs."""
    copy = Path(order["output"])
    copy.unlink(missing_ok=True)
    started = time.monotonic()
    with Terminal(label, Path(environment["BYROTE_TERMINAL"])) as terminal:
        fault = _executed(order, environment, terminal) or _settled(copy, target, terminal)
        terminal.end(f"FAILED: {fault}" if fault else "")
    seconds = time.monotonic() - started
    return Result(Path(order["input"]), copy if fault else target, seconds, fault)


def _executed(order: dict, environment: dict[str, str], terminal: Terminal) -> str:
    """Execute in a process of its own, which ends when this one does; gives the fault."""
    command = [sys.executable, "-m", "byrote.notebooks.execute"]
    with (
        tempfile.TemporaryFile("w+") as said,
        tempfile.TemporaryFile("w+") as log,
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=said,
            stderr=log,
            text=True,
            env=environment,
            start_new_session=True,
        ) as process,
    ):
        process.stdin.write(json.dumps(order) + "\n")
        process.stdin.flush()
        while process.poll() is None:
            terminal.show()
            time.sleep(0.1)
        if process.returncode == 0:
            return ""
        said.seek(0)
        log.seek(0)
        lines = log.read().strip().splitlines()
        ended = f"its process ended with status {process.returncode}: {' '.join(lines[-1:])}"
        return said.read().strip() or ended


def _settled(executed: Path, target: Path, terminal: Terminal) -> str:
    """Move the normalised result to its place, whole or not at all; gives the fault."""
    notebook = outputs.read(executed)
    for warning in outputs.warned(notebook):
        terminal.say(f"warned: {warning}")
    text = outputs.text(outputs.normalised(notebook))
    size = len(text.encode())
    if size > outputs.MAX_BYTES:
        return (
            f"{size // 1000} KB with its outputs, more than {outputs.MAX_BYTES // 1000}: "
            "show fewer rows or smaller figures"
        )
    executed.unlink()
    fresh = target.with_name(f".{target.name}.{os.getpid()}")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(target)
    return ""
