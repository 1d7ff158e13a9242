"""Answers from stored samples: files that other harnesses wrote, or the project's own bundle.

The format is recognised by content, never by the file's name, and a gzip file is read as it is:

- JSON lines with `task_id` and `solution` or `completion` (HumanEval, EvalPlus, LDB): several lines
  of one task are its samples in order; a bare number is an MBPP id
- an EvalPlus result file, {"eval": {task id: [{"solution": …}]}}
- CRUXEval, {"sample_0": [text, …]}: input prediction where most answers call `f(`
- bigcode-evaluation-harness, [[text, …], …] in the benchmark's order
- CodeT, JSON lines with `prompt` and `samples`, found by the prompt's own words
- our generations*.parquet; one that holds several models is opened as `file.parquet#model`

Only the own bundle knows conditions: the others answer requests of the operator `original`. What
is not stored is not answered, so it stays missing. A sidecar `<file>.meta.json` may say of the
samples model, billions (of parameters), family and licence, and for files without ids `tasks` (ids
in order) or `benchmark`.
"""

import hashlib
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path

from byrote.engines import Answer, Request
from byrote.engines.samples import read
from byrote.records import CONDITION, Variant

TOLD = ("model", "billions", "family", "licence")
SIDECAR = {  # key: what it must be
    "model": "a text",
    "billions": "a number over 0",
    "family": "a text",
    "licence": "a text",
    "tasks": "a list of task ids",
    "benchmark": "a text",
}


class Replay:
    """A file of stored samples as an engine."""

    live = False

    def __init__(self, path: str | Path):
        self.name = f"replay:{path}"
        name, _, self._model = str(path).partition("#")
        self.file = _file(Path(name))
        content = self.file.read_bytes()
        self.sha256 = hashlib.sha256(content).hexdigest()
        self.meta = _sidecar(self.file)
        self._samples = read(self.file, content, self.meta, self._model)
        self._by_prompt: dict[str, tuple | None] = {}

    def canonical(self, request: Request) -> dict:
        """What determines the answer: the file, and where in it the answer is looked for."""
        v = request.variant
        found = {
            "engine": "replay",
            "file": self.sha256,
            "task": v.task_id,
            "condition": [getattr(v, name) for name in CONDITION],
            "sample": request.sample,
        }
        own = {"model": self._model, "sampling": str(request.sampling)}
        return found | own if self._samples.format == "bundle" else found

    def generate(self, requests: list[Request]) -> Iterator[tuple[Request, Answer]]:
        """The stored answers; raises ValueError when not one of the tasks asked is in the file."""
        bundle = self._samples.format == "bundle"
        asked = [r for r in requests if bundle or r.variant.operator == "original"]
        stored = {r.variant.task_id: self._stored(r) for r in asked}
        if asked and not any(stored.values()):
            raise ValueError(
                f"{self.file} holds none of the {len(stored)} tasks asked, such as "
                f"{next(iter(stored))}; it holds {self._held()}"
            )
        if self._samples.format == "bigcode":
            self._check_order(asked)
        for request in requests:
            answer = self._stored(request).get(request.sample)
            if answer is not None:
                yield request, answer

    def provenance(self) -> dict[str, str]:
        """Which file answers, and what its sidecar says of the model."""
        count = sum(map(len, self._samples.answers.values()))
        told = {name: str(self.meta[name]) for name in TOLD if name in self.meta}
        return {
            "engine": "replay",
            "file": self.file.name,
            "sha256": self.sha256[:16],
            "format": self._samples.format,
            "samples": str(count),
        } | told

    def close(self) -> None:
        """Nothing is held."""

    def _stored(self, request: Request) -> dict[int, Answer]:
        """The answers to the variant of a request, by sample number."""
        v, answers = request.variant, self._samples.answers
        if self._samples.format == "bundle":
            key = (*(getattr(v, name) for name in Variant.KEY), str(request.sampling))
            return answers.get(key, {})
        if v.operator != "original":
            return {}
        if self._samples.prompts:
            return answers.get(self._found(v), {})
        name = v.task_id.lower()
        cluster = re.sub(r"^mbpp_sanitized\w*/", "mbpp/", name)
        return answers.get((name,)) or answers.get((cluster,)) or {}

    def _found(self, variant: Variant) -> tuple | None:
        """The key of the one stored prompt that is the variant's, save for what was left out."""
        name = variant.task_id
        if name not in self._by_prompt:
            whole, head = _words(variant.prompt), f"def {variant.entry_point}("
            fit = [
                key
                for prompt, key in self._samples.prompts
                if head in prompt and _within(_words(prompt), whole)
            ]
            self._by_prompt[name] = fit[0] if len(fit) == 1 else None
        return self._by_prompt[name]

    def _check_order(self, asked: list[Request]) -> None:
        """A list without ids is matched by position, so its texts must speak of the tasks."""
        pairs = [(r.variant, self._stored(r)) for r in asked if r.variant.kind != "output"]
        texts = [(v, a.text) for v, answers in pairs for a in answers.values() if a.text.strip()]
        if texts and not any(v.entry_point in text for v, text in texts):
            raise ValueError(
                f"{self.file}: none of {len(texts)} texts names the function of its task, so the "
                f'order is another one; list the ids as "tasks" in {self.file.name}.meta.json'
            )

    def _held(self) -> str:
        keys = [key for key, answers in self._samples.answers.items() if answers]
        shown = ", ".join(" ".join(str(part) for part in key if part != "") for key in keys[:3])
        return f"{len(keys)} tasks: {shown} …"


def _file(path: Path) -> Path:
    """The file itself, or the one generation file of a folder."""
    if path.is_file():
        return path
    if not path.is_dir():
        raise FileNotFoundError(f"replay:{path}: no such file or folder")
    kinds = re.compile(r"(?<!\.meta)\.(jsonl|json|parquet)(\.gz)?$")
    files = [f for f in sorted(path.iterdir()) if f.is_file() and kinds.search(f.name)]
    named = [f for f in files if f.name.startswith("generations")] or files
    if len(named) != 1:
        seen = ", ".join(f.name for f in named) or "none"
        raise ValueError(f"replay:{path}: name one generation file; the folder has {seen}")
    return named[0]


def _sidecar(file: Path) -> dict:
    """What the sidecar says, {} without one; raises ValueError that names file, key and keys."""
    side = file.with_name(f"{file.name}.meta.json")
    if not side.is_file():
        return {}
    allowed = "allowed: " + ", ".join(f"{key} ({what})" for key, what in SIDECAR.items())
    try:
        told = json.loads(side.read_text(encoding="utf-8"))
    except ValueError as error:  # of JSON, or of UTF-8
        raise ValueError(f"{side}: no JSON ({error}); {allowed}") from None
    if not isinstance(told, dict):
        raise ValueError(f"{side}: a JSON {type(told).__name__}, not an object; {allowed}")
    for key, value in told.items():
        if key not in SIDECAR:
            raise ValueError(f"{side}: unknown key {key!r}; {allowed}")
        if not _fits(SIDECAR[key], value):
            raise ValueError(f"{side}: {key} is {value!r:.80}, not {SIDECAR[key]}; {allowed}")
    return told


def _fits(what: str, value: object) -> bool:
    if what == "a text":
        return isinstance(value, str) and bool(value.strip())
    if what == "a list of task ids":
        return isinstance(value, list) and all(type(name) in (str, int) for name in value)
    return type(value) in (int, float) and 0 < value < math.inf


def _words(prompt: str) -> list[str]:
    return re.findall(r"\w+|[^\w\s]", prompt)


def _within(part: list[str], whole: list[str]) -> bool:
    """Whether all of `part` occurs in `whole`, in that order."""
    rest = iter(whole)
    return all(word in rest for word in part)
