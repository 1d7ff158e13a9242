"""Reads files of stored samples: the formats of other harnesses, and the project's own bundle.

The format is recognised by content, never by the file's name, and a gzip file is read as it is.
Texts come out as they were stored.
"""

import gzip
import io
import json
import re
import zlib
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from byrote import registry
from byrote.engines import Answer
from byrote.records import Generation, Variant, check

KNOWN = (
    "JSON lines with task_id and solution or completion; EvalPlus results; CRUXEval generations; "
    "bigcode-evaluation-harness lists; CodeT samples; our generations parquet"
)
PREFIXES = {"mbppeval": "mbpp"}  # CodeT's name
IN_ORDER = {
    164: [f"humaneval/{n}" for n in range(164)],
    500: [f"mbpp/{n}" for n in range(11, 511)],  # the test split
    974: [f"mbpp/{n}" for n in range(1, 975)],
}


class Samples(NamedTuple):
    """What a file holds: its format, and per key the answers by sample number."""

    format: str
    answers: dict[tuple, dict[int, Answer]]
    prompts: list[tuple[str, tuple]] = []  # CodeT: prompt and key, where no id is known


def read(file: Path, content: bytes, meta: dict, model: str) -> Samples:
    """The samples in a file, by what its content shows."""
    if content[:4] == b"PAR1":
        return _bundle(file, content, model)
    try:
        content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
        text = content.decode("utf-8-sig")
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{file}: {error}; the file may be cut off") from None
    except UnicodeDecodeError:
        raise _unknown(file, "no UTF-8 text") from None
    value = _parsed(file, text)
    if isinstance(value, dict) and isinstance(value.get("eval"), dict):
        pairs = value["eval"].items()
        rows = [{"task_id": name} | row for name, rows in pairs for row in _dicts(file, rows)]
        return Samples("evalplus", _by_id(file, rows))
    if isinstance(value, dict):
        return _crux(file, value.get("raw_generations", value), meta)
    if value and all(isinstance(row, list) for row in value):
        return Samples("bigcode", _by_position(file, value, meta))
    rows = _dicts(file, value)
    if all({"prompt", "samples"} <= set(row) for row in rows):
        return _codet(file, rows)
    return Samples("samples", _by_id(file, rows))


def _parsed(file: Path, text: str) -> dict | list:
    """A JSON document, or the records of JSON lines."""
    # Not splitlines: a line separator inside a string is no end of line.
    lines = [(n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not lines:
        raise _unknown(file, "an empty file")
    try:
        value = json.loads(text)
    except json.JSONDecodeError as whole:
        # A document that is torn, or indented, has no whole record on its first line.
        if not _is_record(lines[0][1]):
            raise ValueError(
                f"{file}, line {whole.lineno}: {whole.msg}; the file may be cut off, or is none of "
                f"the known formats: {KNOWN}"
            ) from None
        return [_line(file, number, line) for number, line in lines]
    if not isinstance(value, dict | list):
        raise _unknown(file, f"a JSON {type(value).__name__}")
    return [value] if isinstance(value, dict) and "task_id" in value else value


def _is_record(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except json.JSONDecodeError:
        return False


def _line(file: Path, number: int, line: str) -> dict:
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"{file}, line {number}: {error.msg}; the file may be cut off") from None


def _dicts(file: Path, rows: list) -> list[dict]:
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise _unknown(file, f"{str(rows)[:80]!r} where records should be")
    return rows


def _by_id(file: Path, rows: list[dict]) -> dict[tuple, dict[int, Answer]]:
    """Answers of records with a task id, numbered as they come."""
    answers: dict[tuple, dict[int, Answer]] = {}
    for number, row in enumerate(rows, 1):
        # EvalPlus takes `solution` first, too.
        column = next((c for c in ("solution", "completion") if c in row), "")
        if "task_id" not in row or not column:
            raise _unknown(file, f"record {number} with the fields {sorted(row)}")
        samples = answers.setdefault((_task_id(row["task_id"]),), {})
        samples[len(samples)] = _answer(file, f"record {number}", row[column])
    prefixes = {key[0].partition("/")[0] for key in answers}
    if registry.BENCHMARKS and not prefixes & set(registry.BENCHMARKS):
        held, known = sorted(prefixes)[:3], ", ".join(sorted(registry.BENCHMARKS))
        raise _unknown(file, f"tasks of {', '.join(held)}, where benchmarks here are {known}")
    return answers


def _task_id(given: str | int) -> str:
    """HumanEval/23 -> humaneval/23, Mbpp/2 and 2 -> mbpp/2."""
    name, _, number = str(given).lower().rpartition("/")
    name = name or ("mbpp" if number.isdecimal() else "")
    return f"{PREFIXES.get(name, name)}/{number}".removeprefix("/")


def _answer(file: Path, where: str, text: str | None, model: str = "") -> Answer:
    if text is not None and not isinstance(text, str):
        raise _unknown(file, f"{where} with a {type(text).__name__} for a text")
    return Answer(text or "", "error" if text is None else "stop", returned_model=model)


def _numbered(file: Path, where: str, texts: list) -> dict[int, Answer]:
    if not isinstance(texts, list):
        raise _unknown(file, f"{where} with a {type(texts).__name__} for a list of texts")
    return {n: _answer(file, where, text) for n, text in enumerate(texts)}


def _by_position(file: Path, lists: list[list], meta: dict) -> dict[tuple, dict[int, Answer]]:
    """Answers of lists without ids: the length, or the sidecar, says which benchmark it is."""
    tasks = [_task_id(name) for name in meta.get("tasks", IN_ORDER.get(len(lists), []))]
    if len(tasks) != len(lists):
        raise _unknown(
            file,
            f"{len(lists)} lists, no known benchmark's length ({', '.join(map(str, IN_ORDER))}); "
            f'list their ids as "tasks" in {file.name}.meta.json',
        )
    pairs = zip(tasks, lists, strict=True)
    return {(task,): _numbered(file, task, texts) for task, texts in pairs}


def _crux(file: Path, value: dict, meta: dict) -> Samples:
    """CRUXEval generations; the file does not say which way it asked, its answers do."""
    keys = list(value)
    if not keys or not all(re.fullmatch(r"sample_\d+", key) for key in keys):
        raise _unknown(file, f"a JSON object with the keys {[key[:40] for key in keys[:3]]}")
    samples = {key: _numbered(file, key, texts) for key, texts in value.items()}
    texts = [answer.text for answers in samples.values() for answer in answers.values()]
    calls = sum("f(" in text for text in texts)
    guess = "cruxeval_input" if 2 * calls > len(texts) else "cruxeval"
    name = meta.get("benchmark", guess)
    return Samples("crux", {(f"{name}/{key[7:]}",): found for key, found in samples.items()})


def _codet(file: Path, rows: list[dict]) -> Samples:
    answers, prompts = {}, []
    for number, row in enumerate(rows, 1):
        key = (f"prompt {number}",)
        answers[key] = _numbered(file, f"record {number}", row["samples"])
        prompts.append((row["prompt"], key))
    return Samples("codet", answers, prompts)


def _bundle(file: Path, content: bytes, model: str) -> Samples:
    """The project's own generations, of one model."""
    try:
        frame = check(pd.read_parquet(io.BytesIO(content)), Generation)
    except (OSError, ValueError) as error:
        raise _unknown(file, f"a parquet file that is no bundle ({error})") from error
    models = sorted(set(frame["model"]))
    if not models:
        raise _unknown(file, "a bundle without a row")
    if model not in models and (model or len(models) > 1):
        raise ValueError(f"replay:{file}#{model}: name one of its models: {', '.join(models)}")
    answers: dict[tuple, dict[int, Answer]] = {}
    for row in frame[frame["model"] == (model or models[0])].to_dict("records"):
        key = tuple(row[name] for name in (*Variant.KEY, "sampling"))
        answers.setdefault(key, {})[row["sample"]] = Answer(*(row[f] for f in Answer._fields))
    return Samples("bundle", answers)


def _unknown(file: Path, seen: str) -> ValueError:
    return ValueError(f"{file}: {seen}; known formats: {KNOWN}")
