"""Finished work, found by the hash of the whole canonical request.

One SQLite file in WAL mode (safe under kill -9 and under several notebooks at once) above the
published bundle `data/published/*.parquet`, which is read and never written by a run. A row that
fails its check is named with file and key and counts as missing; nothing else is lost.
"""

import hashlib
import json
import math
import shlex
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq

from byrote import paths
from byrote.records import utf8

WAIT_SECONDS = 60  # how long a writer waits for another notebook's write
BROKEN = ("SQLITE_CORRUPT", "SQLITE_NOTADB")


class Kind(NamedTuple):
    """One kind of stored work: its columns with their types, and the values allowed."""

    columns: dict[str, type]
    allowed: dict[str, set]


KINDS = {
    "generations": Kind(
        {
            "text": str,
            "finish": str,
            "prompt_tokens": int,
            "tokens": int,
            "logprob": float,
            "returned_model": str,
            "canonical": str,
            "provenance": str,
        },
        {"finish": {"stop", "length", "error"}},
    ),
    "verdicts": Kind(
        {
            "outcome": str,
            "outcomes": str,
            "error": str,
            "cpu_seconds": float,
            "isolation": str,
            "integrity": str,
        },
        {"outcome": {"passed", "failed", "invalid", "timeout", "resource", "crashed"}},
    ),
    "distances": Kind({"distance": float, "provenance": str}, {}),
}


def key(request: dict) -> str:
    """The hash of a canonical request: scalars, lists and dicts of them, order of names ignored."""
    text = json.dumps(request, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Store:
    """Finished work of one machine above the published bundle."""

    def __init__(self, file: Path | None = None, published: Path | None = None):
        self.file = Path(file or paths.store_file())
        self.published = paths.data() / "published" if published is None else Path(published)
        self._bundles: dict[str, dict[str, dict]] = {}
        if paths.flag("BYROTE_FRESH"):  # a run that asks the model again sees only its own store
            self._bundles = {kind: {} for kind in KINDS}
        self._local = threading.local()
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self._writing() as db:
            for kind, (columns, _) in KINDS.items():
                names = "".join(f", {name}" for name in columns)
                db.execute(f"CREATE TABLE IF NOT EXISTS {kind} (key TEXT PRIMARY KEY{names})")
                there = [c[0] for c in db.execute(f"SELECT * FROM {kind} LIMIT 0").description]
                if there != ["key", *columns]:
                    raise OSError(
                        f"{self.file}: its table {kind} has the columns {there}, so it is another "
                        f"program's file; {self._aside()}"
                    )

    def _connection(self) -> sqlite3.Connection:
        """One connection a thread, since SQLite connections do not travel."""
        if not hasattr(self._local, "db"):
            try:
                db = sqlite3.connect(self.file, timeout=WAIT_SECONDS)
                db.execute("PRAGMA journal_mode=WAL")
            except sqlite3.Error as error:
                raise self._failure(error) from error
            db.row_factory = sqlite3.Row
            db.text_factory = bytes  # so that one broken text does not hide the other rows
            self._local.db = db
        return self._local.db

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction: all of it is stored, or none."""
        db = self._connection()
        try:
            with db:
                yield db
        except sqlite3.Error as error:
            raise self._failure(error) from error

    def _aside(self) -> str:
        """The command that makes room for a new store."""
        name = shlex.quote(str(self.file))
        return f"published answers need no store; put it aside with: mv {name} {name}.broken"

    def _failure(self, error: sqlite3.Error) -> OSError:
        if str(getattr(error, "sqlite_errorname", "")).startswith(BROKEN):
            return OSError(f"{self.file}: {error}; {self._aside()}")
        return OSError(
            f"{self.file}: {error}. Stored work stays readable; free disk space or end the other "
            "program that writes, or set BYROTE_STORE=/another/file.sqlite, and run again"
        )

    def put(self, kind: str, rows: Iterable[tuple[str, dict]]) -> None:
        """Store rows by key; a key stored before is replaced, so no row is counted twice.

        Raises ValueError for a row that fails its check, which no later run could use.
        """
        columns = KINDS[kind].columns
        rows = list(rows)
        for name, row in rows:
            if fault := _fault(KINDS[kind], row):
                raise ValueError(f"{kind} row {name} is not stored: {fault}")
        rows = [(name, *(_plain(row[c]) for c in columns)) for name, row in rows]
        places = ", ".join("?" * (len(columns) + 1))
        with self._writing() as db:
            db.executemany(f"INSERT OR REPLACE INTO {kind} VALUES ({places})", rows)

    def find(self, kind: str, keys: Iterable[str], published: bool = True) -> dict[str, dict]:
        """The stored rows among `keys`; rows that fail their check are named and left out."""
        keys = list(dict.fromkeys(keys))
        found = {}
        if published:
            bundle = self._bundle(kind)
            found = {k: bundle[k] for k in keys if k in bundle}
        for start in range(0, len(keys), 500):
            part = keys[start : start + 500]
            marks = ", ".join("?" * len(part))
            query = f"SELECT * FROM {kind} WHERE key IN ({marks})"
            try:
                rows = self._connection().execute(query, part).fetchall()
            except sqlite3.Error as error:
                raise self._failure(error) from error
            for row in rows:
                name = _text(row["key"])
                row = _row(kind, {c: _text(row[c]) for c in KINDS[kind].columns})
                if self._good(kind, name, row, self.file):
                    found[name] = row
        return found

    def _bundle(self, kind: str) -> dict[str, dict]:
        """The published rows of one kind, by key; read once."""
        if kind not in self._bundles:
            rows: dict[str, dict] = {}
            for file in sorted(self.published.glob(f"{kind}*.parquet")):
                for row in _records(file):
                    name = row.get("request", "")
                    row = _row(kind, row)
                    if self._good(kind, name, row, file):
                        rows[name] = row
            self._bundles[kind] = rows
        return self._bundles[kind]

    def _good(self, kind: str, name: str, row: dict, file: Path) -> bool:
        fault = _fault(KINDS[kind], row)
        if fault:
            print(f"{file}: {kind} row {name}: {fault}; it counts as missing")
        return not fault


def _plain(value: object) -> object:
    return utf8(value) if isinstance(value, str) else value


def _text(value: object) -> object:
    """Text out of a column; bytes that are no text stay as they are, which the check names."""
    try:
        return value.decode() if isinstance(value, bytes) else value
    except UnicodeDecodeError:
        return value


def _row(kind: str, row: dict) -> dict:
    """The columns of one kind; an unknown `logprob` is NULL in both files, NaN for us."""
    row = {c: row.get(c, "") for c in KINDS[kind].columns}
    if "logprob" in row and row["logprob"] is None:
        row["logprob"] = math.nan
    return row


def _records(file: Path) -> list[dict]:
    try:
        # not through pandas, which turns a whole column to floats when one number is missing
        table = pq.read_table(file)
        if "request" not in table.column_names:
            raise ValueError(f"no column request among {table.column_names}")
        return table.to_pylist()
    except Exception as error:
        raise OSError(
            f"{file} cannot be read ({type(error).__name__}: {error}); "
            f"get it again with: git checkout -- {shlex.quote(str(file))}"
        ) from error


def _fault(kind: Kind, row: dict) -> str:
    """What is wrong with a stored row, "" when nothing is."""
    for name, wanted in kind.columns.items():
        good = isinstance(row[name], wanted) and not isinstance(row[name], bool)
        if wanted is float:
            good = isinstance(row[name], int | float) and not isinstance(row[name], bool)
        if not good:
            return f"{name} is {row[name]!r:.80}, not of type {wanted.__name__}"
        if name in kind.allowed and row[name] not in kind.allowed[name]:
            return f"{name} is {row[name]!r:.80}, not among {sorted(kind.allowed[name])}"
    return ""
