"""Makes an executed notebook the same bytes on every run of the same results.

Away go times, progress bars, what went to stderr, widgets, memory addresses, this machine's
folder and the names of versions; cells are counted 1 … n. Numbers and figures are left alone:
a notebook whose results differ shows as changed.
"""

import copy
import re
from pathlib import Path
from typing import Any

from byrote import paths

KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
INJECTED = "injected-parameters"
MAX_BYTES = 300_000

_ADDRESS = re.compile(r"(?<= at )0x[0-9a-fA-F]+")
_TABLE_ID = re.compile(r"\bT_[0-9a-f]{5}(?![0-9a-zA-Z])")  # drawn anew by each pandas Styler


def read(file: Path) -> Any:
    """A notebook from a file; raises ValueError that names a file that is none."""
    import nbformat

    try:
        return nbformat.read(file, 4)
    except (ValueError, AttributeError, nbformat.ValidationError) as error:
        raise ValueError(f"{file} is no notebook: {error}") from None


def text(notebook: Any) -> str:
    """A notebook as its file holds it."""
    import nbformat

    return nbformat.writes(notebook).rstrip("\n") + "\n"


def normalised(notebook: Any) -> Any:
    """A copy of an executed notebook without anything that differs from run to run."""
    notebook = copy.deepcopy(notebook)
    notebook.metadata.clear()
    notebook.metadata.update(kernelspec=dict(KERNELSPEC), language_info={"name": "python"})
    count, names = 0, {}
    for index, cell in enumerate(notebook.cells):
        tags = [tag for tag in cell.metadata.get("tags", []) if not tag.startswith("papermill-")]
        cell.metadata.clear()
        if tags:
            cell.metadata["tags"] = tags
        if "injected-parameters" in tags or "id" not in cell:
            cell["id"] = f"cell-{index}"
        if cell.cell_type != "code":
            continue
        count += bool(cell.source.strip())
        cell.execution_count = count if cell.source.strip() else None
        cell.outputs = _joined(
            [_steady(output, names) for output in cell.outputs if _stays(output)]
        )
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = cell.execution_count
    return notebook


def prepared(notebook: Any) -> Any:
    """A copy to execute: without cells injected earlier, every cell with a lasting id."""
    notebook = copy.deepcopy(notebook)
    notebook.metadata["kernelspec"] = dict(KERNELSPEC)
    cells = notebook.cells
    notebook.cells = [cell for cell in cells if INJECTED not in cell.metadata.get("tags", [])]
    notebook.nbformat_minor = max(5, notebook.nbformat_minor)
    for index, cell in enumerate(notebook.cells):
        cell.setdefault("id", f"cell-{index}")
    return notebook


def warned(notebook: Any) -> list[str]:
    """The warnings among what the notebook wrote to stderr, each once."""
    said = "\n".join(
        output.text
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if output.output_type == "stream" and output.name == "stderr"
    )
    return list(dict.fromkeys(re.findall(r"\w*Warning: .+", said)))


def _stays(output: Any) -> bool:
    if output.output_type == "stream":
        return output.name != "stderr"
    return not any("widget" in kind for kind in output.get("data", {}))


def _steady(output: Any, names: dict[str, str]) -> Any:
    """The output with its texts made steady; `names` keeps the new names of tables."""

    def steady(text: str) -> str:
        text = _ADDRESS.sub("0x…", text).replace(f"{paths.ROOT}/", "")
        return _TABLE_ID.sub(lambda m: names.setdefault(m[0], f"T_{len(names):05x}"), text)

    if output.output_type == "stream":
        output.text = steady(output.text)
    for kind, text in output.get("data", {}).items():
        if kind.startswith("text/") and isinstance(text, str):
            output.data[kind] = steady(text)
    return output


def _joined(outputs: list) -> list:
    """Neighbouring streams as one: where a kernel cuts them is chance."""
    joined: list = []
    for output in outputs:
        before = joined[-1] if joined else None
        both = before and before.output_type == output.output_type == "stream"
        if both and before.name == output.name:
            before.text += output.text
        else:
            joined.append(output)
    for output in joined:
        if output.output_type == "stream":  # of a line written over, the last version
            lines = output.text.split("\n")
            output.text = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines)
    return joined
