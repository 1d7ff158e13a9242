"""The published study as a run: what it asks, what it says first, what it publishes."""

import subprocess
import sys

import pandas as pd
import pytest

from byrote import operators, study
from byrote.engines import Sampling
from byrote.pipeline import ORIGINAL, Condition
from byrote.records import Generation, check
from byrote.store import Store
from byrote.study import Part

SPREAD = Sampling(temperature=0.2, max_tokens=128)
FULL = Condition("affine", "full", "1")


@pytest.fixture
def small(fake, ladder, store, monkeypatch):
    """The study on three tasks, one model that needs no weights, and a store of its own."""
    monkeypatch.setattr(study, "MODEL", "fake")
    monkeypatch.setattr(
        study,
        "PARTS",
        (
            Part("ladder", (ORIGINAL, FULL)),
            Part("ladder", (ORIGINAL,), SPREAD, 2),
        ),
    )
    monkeypatch.setattr(study.pipeline, "tasks", lambda names, limit: ladder)
    monkeypatch.setattr(study, "Store", lambda: store)
    return fake


def test_a_run_asks_every_answer_once_and_the_next_asks_none(small, store):
    first = study.run(store)
    assert len(check(first, Generation)) == len(small.asked) == 3 * 2 + 3 * 2
    pd.testing.assert_frame_equal(study.run(store), first)
    assert len(small.asked) == 12


def test_a_run_says_what_it_will_ask_before_the_first_question(small, store, capsys, monkeypatch):
    said = []
    straight = type(small).generate

    def listening(self, requests):
        said.append(capsys.readouterr().out)
        yield from straight(self, requests)

    monkeypatch.setattr(type(small), "generate", listening)
    study.run(store)
    assert said[0].startswith("fake: 12 answers to ask for, about ")
    assert "hours on two quiet cores" in said[0]
    study.run(store)
    assert "fake: 0 answers to ask for" in capsys.readouterr().out


def test_a_run_that_was_broken_off_says_and_asks_only_the_rest(small, store, capsys, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(study, "PARTS", study.PARTS[:1])
        study.run(store)
    capsys.readouterr()
    study.run(store)
    assert "fake: 6 answers to ask for" in capsys.readouterr().out
    assert len(small.asked) == 12


def test_what_is_published_is_found_by_an_empty_store_with_its_provenance(
    small, store, tmp_path, capsys
):
    frame = study.run(store)
    study.publish(store)
    file = store.published / "generations.parquet"
    assert f"{file}: 12 answers" in capsys.readouterr().out
    assert [f.name for f in store.published.iterdir()] == [file.name]
    pd.testing.assert_frame_equal(study.run(Store(tmp_path / "new", store.published)), frame)
    assert len(small.asked) == 12
    published = pd.read_parquet(file)
    check(published, Generation)
    assert set(published["provenance"]) == {"engine=fake"}
    assert published["canonical"].str.contains("'prompt'").all()


def test_publishing_twice_or_from_the_bundle_alone_gives_the_same_bytes(small, store, tmp_path):
    study.publish(store)
    file = store.published / "generations.parquet"
    first = file.read_bytes()
    study.publish(store)
    assert file.read_bytes() == first
    study.publish(Store(tmp_path / "new.sqlite", store.published))
    assert file.read_bytes() == first


def test_a_publishing_that_breaks_off_leaves_the_old_bundle(small, store, monkeypatch):
    study.publish(store)
    file = store.published / "generations.parquet"
    first = file.read_bytes()

    def breaks(self, path, **_):
        path.write_bytes(first[:100])
        raise OSError("disk full")

    monkeypatch.setattr(pd.DataFrame, "to_parquet", breaks)
    with pytest.raises(OSError, match="disk full"):
        study.publish(store)
    assert file.read_bytes() == first
    assert len(Store(store.file, store.published).find("generations", ["x"])) == 0


def test_the_live_check_asks_stored_greedy_answers_again_and_shows_what_differs(
    small, store, capsys, monkeypatch
):
    study.run(store)
    capsys.readouterr()
    assert study.live(4) == 4
    said = capsys.readouterr().out
    assert "live check: 0 of 4 stored answers came back identical from fake" in said
    assert "differs from character 7" in said and "stored '" in said
    assert {r.sampling for r in small.asked[12:]} == {study.GREEDY}
    stored = {(r.variant, r.sampling): n for n, r in enumerate(small.asked[:12], 1)}

    def same(self, requests):
        for r in requests:
            text = f"answer {stored[r.variant, r.sampling]}"
            yield r, study.engines.Answer(text, "stop")

    monkeypatch.setattr(type(small), "generate", same)
    assert study.live() == 0
    assert "live check: 6 of 6 stored answers came back identical" in capsys.readouterr().out


def test_the_live_check_stores_nothing(small, store):
    frame = study.run(store)
    study.live(4)
    assert study.run(store)["text"].tolist() == frame["text"].tolist()


def test_the_live_check_of_an_empty_store_is_an_error_and_no_success(small):
    with pytest.raises(RuntimeError, match="no stored answers.*python -m byrote.study"):
        study.live()
    assert small.asked == []


def test_every_part_of_the_study_names_what_exists(ladder):
    from byrote.records import Task, rows

    [task] = rows(ladder[:1], Task)
    for name, conditions, sampling, samples, _ in study.PARTS:
        assert name in ("ladder", "humaneval") and samples >= 1
        assert sampling.max_tokens == 128 and (samples == 1 or sampling.temperature > 0)
        for c in conditions:
            assert not operators.apply(c.operator, task, c.level, 0, c.mode, c.wording).reason


def test_no_part_of_the_study_asks_what_another_asks():
    asked = [(part.benchmark, c, part.sampling) for part in study.PARTS for c in part.conditions]
    assert len(set(asked)) == len(asked)


def test_an_unknown_word_ends_the_command_with_the_known_ones():
    done = subprocess.run(
        [sys.executable, "-m", "byrote.study", "publsh"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert "unknown word 'publsh'; known: publish, live" in done.stderr
