"""The shape every numbered notebook has, so that a reader who knows one finds the way in all."""

import ast
import io
import re
import tokenize
from pathlib import Path
from typing import Any

from byrote.notebooks import parameters
from byrote.notebooks.outputs import INJECTED, MAX_BYTES, read

SECTIONS = ("Parameters", "Setup", "Data", "Method", "Results", "Checks", "Takeaway")
MAX_CELLS = 30
MAX_LINES = 15
NEEDED = ("OUT",)  # a trial run must be able to write elsewhere


def check(path: str | Path) -> list[str]:
    """What is wrong with a notebook's shape, one sentence each; empty when nothing is."""
    path = Path(path)
    notebook = read(path)
    faults = []
    if path.stat().st_size > MAX_BYTES:
        faults.append(f"{path.stat().st_size // 1000} KB, more than {MAX_BYTES // 1000}")
    if len(notebook.cells) > MAX_CELLS:
        faults.append(f"{len(notebook.cells)} cells, more than {MAX_CELLS}")
    faults += _sections(notebook) + _parameters(notebook, path.stem)
    count = 0
    for index, cell in enumerate(notebook.cells, 1):
        if cell.cell_type == "code" and cell.source.strip():
            count += 1
            faults += [f"cell {index}: {fault}" for fault in _code(cell, count)]
    return faults


def _sections(notebook: Any) -> list[str]:
    """Faults of the order: a title, then the sections, as headings of the second level."""
    faults = []
    first = notebook.cells[0] if notebook.cells else None
    if not first or first.cell_type != "markdown" or not first.source.startswith("# "):
        faults.append("the first cell is not a markdown cell that starts with a # title")
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    prose = re.sub(r"```.*?(```|\Z)", "", "\n".join(texts), flags=re.DOTALL)
    found = tuple(re.findall(r"^## +(\w+)", prose, flags=re.MULTILINE))
    if found != SECTIONS:
        faults.append(f"its ## sections are {', '.join(found)}, not {', '.join(SECTIONS)}")
    return faults


def _parameters(notebook: Any, name: str) -> list[str]:
    """Faults of the parameters cell: literals with upper-case names, each with a comment."""
    try:
        defaults = parameters.declared(notebook, name)
    except ValueError as error:
        return [str(error)]
    cell = parameters.tagged(notebook)[0]
    faults = [f"parameter {n} is not upper-case" for n in defaults if not n.isupper()]
    faults += [f"there is no parameter {n}" for n in NEEDED if n not in defaults]
    faults += [f"parameter {n} has no type: None" for n in defaults if defaults[n] is None]
    tokens = tokenize.generate_tokens(io.StringIO(cell.source).readline)
    commented = {token.start[0] for token in tokens if token.type == tokenize.COMMENT}
    for line in ast.parse(cell.source).body:
        if not commented & set(range(line.lineno, line.end_lineno + 1)):
            faults.append(f"parameter without a trailing comment: {ast.unparse(line)}")
    before = notebook.cells[notebook.cells.index(cell) - 1]
    if before.cell_type != "markdown" or "## Parameters" not in before.source:
        faults.append("the parameters cell does not follow the heading ## Parameters")
    return faults


def _code(cell: Any, count: int) -> list[str]:
    """Faults of one code cell, the `count`-th."""
    faults = []
    lines = cell.source.splitlines()
    if len(lines) > MAX_LINES:
        faults.append(f"{len(lines)} lines, more than {MAX_LINES}")
    python = "\n".join("" if re.match(r"\s*[%!?]", line) else line for line in lines)
    try:
        nodes = list(ast.walk(ast.parse(python)))
    except SyntaxError as error:
        return [*faults, f"it is no Python ({error})"]
    if any(isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) for n in nodes):
        faults.append("it defines a function or a class: that belongs into lib/")
    if any(output.output_type == "error" for output in cell.outputs):
        faults.append("it carries an error")
    if cell.execution_count != count:
        faults.append(f"its execution count is {cell.execution_count}, not {count}")
    if INJECTED in cell.metadata.get("tags", []):
        faults.append("it was injected by a run with parameters")
    return faults
