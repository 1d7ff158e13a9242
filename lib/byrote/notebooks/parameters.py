"""The parameters of a notebook: read from its tagged cell, checked before anything runs.

papermill only warns of an unknown parameter and injects whatever it is given. Here a name must
exist and a value must have the type of its default; no code is executed to find either.
"""

import ast
from os import PathLike
from typing import Any

from byrote import registry

TAG = "parameters"


def items(value: Any, of: type = str) -> list:
    """A list parameter as a list: `"a,b"`, `"['a', 'b']"`, `["a", "b"]` or one value alone."""
    if isinstance(value, str):
        text = value.strip()
        if text[:1] in ("[", "("):
            value = ast.literal_eval(text)
        else:
            value = [of(part.strip()) for part in text.split(",") if part.strip()]
    return list(value) if isinstance(value, list | tuple) else [value]


def tagged(notebook: Any) -> list:
    """The cells of a notebook that are tagged `parameters`."""
    return [cell for cell in notebook.cells if TAG in cell.metadata.get("tags", [])]


def declared(notebook: Any, name: str) -> dict[str, Any]:
    """The parameters of a notebook with their defaults; raises ValueError for an unclear cell."""
    cells = tagged(notebook)
    if len(cells) != 1:
        found = f"{len(cells)} cells are" if cells else "no cell is"
        raise ValueError(f"{name}: {found} tagged {TAG!r}; exactly one must be")
    try:
        return dict(_assignment(line) for line in ast.parse(cells[0].source).body)
    except (ValueError, SyntaxError) as error:
        raise ValueError(
            f"{name}: the parameters cell may hold only NAME = literal ({error})"
        ) from None


def _assignment(line: ast.stmt) -> tuple[str, Any]:
    target = line.targets[0] if isinstance(line, ast.Assign) else getattr(line, "target", None)
    if not isinstance(target, ast.Name) or getattr(line, "value", None) is None:
        raise ValueError(f"line {line.lineno}: {ast.unparse(line)}")
    return target.id, ast.literal_eval(line.value)


def checked(passed: dict[str, Any], defaults: dict[str, Any], name: str) -> dict[str, Any]:
    """The passed values in the types of their defaults; raises ValueError that says what is wrong.

    A value may be text, as on the command line, or a Python value.
    """
    values = {}
    for parameter, value in passed.items():
        default = registry.find(f"parameter of {name}", defaults, parameter)
        try:
            values[parameter] = convert(value, default)
        except (ValueError, SyntaxError, TypeError) as error:
            raise ValueError(
                f"{name}: {parameter} is of type {type(default).__name__} (default {default!r}), "
                f"so {value!r} cannot be used: {error}"
            ) from None
    return values


def convert(value: Any, default: Any) -> Any:
    """`value` in the type of `default`; raises ValueError, SyntaxError or TypeError."""
    value = plain(value)
    if isinstance(default, list | tuple):
        kinds = {type(element) for element in default}
        parts = items(value)
        return [convert(part, default[0]) for part in parts] if len(kinds) == 1 else parts
    if isinstance(value, str) and not isinstance(default, str):
        value = _read(value, default)
    if isinstance(default, float) and type(value) is int:
        value = float(value)
    if default is not None and type(value) is not type(default):
        raise TypeError(f"it is of type {type(value).__name__}")
    return value


def _read(text: str, default: Any) -> Any:
    """What a text means where the default is no text."""
    if isinstance(default, bool):
        return {"true": True, "false": False}.get(text.lower(), text)
    if isinstance(default, int | float):
        return type(default)(text)
    try:
        return plain(ast.literal_eval(text))
    except (ValueError, SyntaxError):
        if default is None:
            return text
        raise


def plain(value: Any) -> Any:
    """`value` in types that can be written into a notebook; raises TypeError for any other.

    Arrays and numpy scalars become numbers and lists, paths text, tuples lists.
    """
    if isinstance(value, PathLike):
        return str(value)
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise TypeError(f"a dict needs text keys, not {sorted(map(repr, value))}")
        return {key: plain(part) for key, part in value.items()}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"{type(value).__name__} is not a literal")
