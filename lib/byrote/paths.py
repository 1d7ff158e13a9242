"""Where the project's files are: the only module that knows folders."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def data() -> Path:
    """The project's own data: ladder.jsonl, revisions.json, the published bundle."""
    return ROOT / "data"


def store_file() -> Path:
    """Finished work of this machine; `BYROTE_STORE=/file.sqlite` puts it elsewhere."""
    return Path(os.environ.get("BYROTE_STORE") or data() / "store.sqlite")


def flag(name: str) -> bool:
    """Whether an environment variable is set to anything but nothing and 0."""
    return os.environ.get(name, "0") not in ("", "0")


def cache() -> Path:
    """Copies that can be made again, such as converted weights."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "byrote"
