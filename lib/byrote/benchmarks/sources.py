"""Where a public benchmark's file is had: a folder of the user's, or its hub at a fixed revision.

`BYROTE_DATA=/folder` is looked at first: the public file names, in the folder itself or in one
named after the benchmark. Otherwise the hub is asked, at the revision that data/revisions.json
holds; an entry there is written from the hub's own answer on first load, never typed. Nothing is
downloaded at import time.
"""

import gzip
import json
import os
import zlib
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from byrote import paths


@dataclass(frozen=True)
class Source:
    """One public data set: its file name, its hub id and the files there, licence and size."""

    name: str
    file: str
    hub: str
    hub_files: tuple[str, ...]
    licence: str
    records: int


SOURCES = {
    source.name: source
    for source in (
        Source(
            "mbpp",
            "mbpp.jsonl",
            "google-research-datasets/mbpp",
            tuple(
                f"full/{split}-00000-of-00001.parquet"
                for split in ("prompt", "test", "validation", "train")
            ),
            "CC BY 4.0",
            974,
        ),
        Source(
            "mbpp_sanitized",
            "sanitized-mbpp.json",
            "google-research-datasets/mbpp",
            tuple(
                f"sanitized/{split}-00000-of-00001.parquet"
                for split in ("prompt", "test", "validation", "train")
            ),
            "CC BY 4.0",
            427,
        ),
        Source("cruxeval", "cruxeval.jsonl", "cruxeval-org/cruxeval", ("test.jsonl",), "MIT", 800),
    )
}


def records(name: str) -> list[dict]:
    """All records of source `name`; raises FileNotFoundError that says where it is had."""
    source = SOURCES[name]
    file = _local(source)
    rows = read(file) if file else [row for path in _hub(source) for row in read(path)]
    if len(rows) != source.records:
        raise ValueError(
            f"{name}: {len(rows)} records in {file or source.hub}, not the published "
            f"{source.records}; get the whole file again"
        )
    return rows


def _local(source: Source) -> Path | None:
    folder = os.environ.get("BYROTE_DATA")
    if not folder:
        return None
    if not Path(folder).is_dir():
        raise FileNotFoundError(f"BYROTE_DATA={folder} is no folder")
    stem = Path(folder)
    for place in (stem, *(child for child in sorted(stem.iterdir()) if child.is_dir())):
        for name in (source.file, f"{source.file}.gz"):
            if (place / name).is_file():
                return place / name
    return None


def read(path: Path) -> list[dict]:
    """The records of a .jsonl, .json or .parquet file, gzip or not.

    Raises ValueError that names the file, and the line where there is one, if it is broken.
    """
    path = Path(path)
    try:
        return _parquet(path) if path.suffix == ".parquet" else _text(path)
    except (ValueError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{path}: {error}; the file may be cut off") from None


def _parquet(path: Path) -> list[dict]:
    frame = pd.read_parquet(path)
    return [{k: _plain(v) for k, v in row.items()} for row in frame.to_dict("records")]


def _text(path: Path) -> list[dict]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        if path.name.removesuffix(".gz").endswith(".json"):
            return json.load(lines)
        return [_line(number, line) for number, line in enumerate(lines, 1) if line.strip()]


def _line(number: int, line: str) -> dict:
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {number}: {error.msg}") from None


def _plain(value: object) -> object:
    return value.tolist() if hasattr(value, "tolist") else value


def _hub(source: Source) -> list[Path]:
    """The source's files from the hub, at the pinned revision."""
    from huggingface_hub import HfApi, hf_hub_download

    pins_file = paths.data() / "revisions.json"
    pins = json.loads(pins_file.read_text()) if pins_file.exists() else {}
    try:
        revision = pins.get(source.hub) or HfApi().dataset_info(source.hub).sha
        files = [
            Path(hf_hub_download(source.hub, name, repo_type="dataset", revision=revision))
            for name in source.hub_files
        ]
    except Exception as error:  # whatever the client raises: the user needs one thing, the file
        raise FileNotFoundError(
            f"benchmark {source.name}: the hub ({source.hub}) gave no file "
            f"({type(error).__name__}). Put {source.file} ({source.licence}, "
            f"{source.records} records) into a folder and set BYROTE_DATA=/that/folder"
        ) from error
    if source.hub not in pins:
        print(f"{source.hub}: revision {revision} pinned in {pins_file}")
        pins_file.write_text(json.dumps(pins | {source.hub: revision}, indent=1, sort_keys=True))
    return files
