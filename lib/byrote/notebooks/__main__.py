"""`python -m byrote.notebooks [PATTERN ...] [-p NAME VALUE ...] [--out DIR]`: run notebooks.

Without a pattern all numbered notebooks run, on their published defaults. Exit status: 0 all ran,
1 a notebook failed, 2 the command makes no sense.
"""

import argparse
import os
import sys
from pathlib import Path

from byrote import paths
from byrote.notebooks.running import Result, run, selected


def main(arguments: list[str]) -> int:
    """Run what the arguments say and tell what was written; gives the exit status."""
    parser = argparse.ArgumentParser("python -m byrote.notebooks", description=__doc__)
    parser.add_argument("pattern", nargs="*", help="03, or a path; none: all numbered notebooks")
    parser.add_argument("-p", nargs=2, metavar=("NAME", "VALUE"), help="a parameter, repeatable")
    parser.add_argument("--out", type=Path, help="folder for the executed copies")
    try:
        rest, passed = _parameters(arguments)
        chosen = parser.parse_args(rest)
        if passed:  # a trial run leaves the published figures alone
            passed.setdefault("OUT", str(paths.ROOT / "scratch" / "figures"))
        places = [Path(passed["OUT"])] if passed.get("OUT") else [paths.ROOT / "figures"]
        before = _times(places)
        results = run(selected(chosen.pattern), passed, chosen.out)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped; finished answers are kept, so the next run goes on from here")
        return 130
    _tell(results, before, _times(places))
    return int(any(result.fault for result in results))


def _parameters(arguments: list[str]) -> tuple[list[str], dict[str, str]]:
    """The arguments without `-p NAME VALUE`, and those: argparse takes no value like -94,2."""
    rest, passed = list(arguments), {}
    while "-p" in rest:
        at = rest.index("-p")
        if len(rest) < at + 3:
            raise ValueError("-p takes a name and a value, as in: -p LIMIT 10")
        _, name, value = rest[at : at + 3]
        # a notebook runs in its own folder, the command means the caller's
        passed[name] = str(Path(value).resolve()) if name == "OUT" else value
        del rest[at : at + 3]
    return rest, passed


def _times(folders: list[Path]) -> dict[Path, int]:
    files = (file for folder in folders for file in folder.rglob("*") if file.is_file())
    return {file: file.stat().st_mtime_ns for file in files}


def _tell(results: list[Result], before: dict[Path, int], after: dict[Path, int]) -> None:
    good = [result for result in results if not result.fault]
    for folder in sorted({result.written.parent for result in good}):
        names = ", ".join(r.notebook.stem for r in good if r.written.parent == folder)
        print(f"executed into {_short(folder)}: {names}")
    written = [file for file, time in after.items() if before.get(file) != time]
    for folder in sorted({file.parent for file in written}):
        number = sum(file.parent == folder for file in written)
        print(f"written into {_short(folder)}: {number} files")
    for result in results:
        if result.fault:
            kept = f"; see {_short(result.written)}" if result.written.exists() else ""
            print(f"FAILED {result.notebook.stem}: {result.fault}{kept}")


def _short(path: Path) -> str:
    return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
