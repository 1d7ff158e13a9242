"""Rewordings by a model: asked once, checked, placed; and how far they are from their tasks."""

from dataclasses import replace

import pandas as pd
import pytest

from byrote import pipeline
from byrote.engines import Answer, embedding
from byrote.pipeline import Condition, rewording
from byrote.records import Task, rows, table
from byrote.store import Store


@pytest.fixture
def bare(ladder) -> pd.DataFrame:
    """Three tasks that bring no rewording."""
    return table([replace(t, rewordings="") for t in rows(ladder, Task)], Task)


@pytest.fixture
def saying(fake, monkeypatch):
    """The fake model says what it is told to, and counts what it is asked."""

    def say(*texts: str):
        def generate(self, requests):
            for request, text in zip(requests, texts, strict=True):
                self.asked.append(request)
                yield request, Answer(text, "stop")

        monkeypatch.setattr(type(fake), "generate", generate)
        return fake

    return say


def reworded_prose(tasks: pd.DataFrame) -> list[str]:
    return [f"What you do: {p[0].lower()}{p[1:]}" for p in tasks["prompt"]]


def test_a_model_writes_one_rewording_for_each_task_and_is_asked_once(bare, saying, store):
    texts = reworded_prose(bare)
    model = saying(*texts)
    found = rewording.reworded(bare, "fake", store=store)
    assert [eval(r) for r in found["rewordings"]] == [[t] for t in texts]
    assert set(found["reworded_by"]) == {"fake"} and len(model.asked) == 3
    pd.testing.assert_frame_equal(rewording.reworded(bare, "fake", store=store), found)
    assert len(model.asked) == 3
    variants = pipeline.variants(found, [Condition("reword", level=1.0)], store=store)
    assert variants["prompt"].tolist() == texts and variants["sound"].all()
    assert variants["parameters"].str.contains('"checked": false').all()


def test_a_task_that_brings_rewordings_is_not_asked_for(ladder, fake, store):
    pd.testing.assert_frame_equal(rewording.reworded(ladder, "fake", store=store), ladder)
    assert fake.asked == []


def test_a_refused_answer_leaves_no_rewording_and_says_why(bare, saying, store):
    first, *rest = reworded_prose(bare)
    saying("def f(): pass\nreturn the integer (", *rest)
    told = rewording.answers(bare, "fake", store=store)
    assert told["reason"].tolist()[1:] == ["", ""] and told["reason"].iloc[0]
    found = rewording.reworded(bare, "fake", store=store)
    variants = pipeline.variants(found, [Condition("reword", level=1.0)], store=store)
    assert variants["reason"].tolist()[0] == "the rewording by fake was refused"


def test_no_scripted_model_writes_rewordings(bare, store):
    with pytest.raises(ValueError, match="oracle writes no rewordings; name a model that does"):
        rewording.reworded(bare, "oracle", store=store)


@pytest.fixture
def measured(monkeypatch):
    """Distances without an encoder: the difference of lengths; what was asked is counted."""
    asked = []

    def distances(pairs):
        for n, (first, second) in enumerate(pairs):
            asked.append((first, second))
            yield n, abs(len(first) - len(second)) / 1000, "made=here"

    monkeypatch.setattr(embedding, "distances", distances)
    return asked


CONDITIONS = [Condition("reword", level=1.0), Condition("reword", level=5.0)]


def test_distances_are_measured_once_and_found_in_the_bundle(
    ladder, store, measured, tmp_path, monkeypatch
):
    variants = pipeline.variants(ladder, CONDITIONS, store=store)
    found = rewording.distances(variants, ladder, store)
    assert len(found) == len(measured) == 6 and set(found["level"]) == {1.0, 5.0}
    assert (found["by"] == "hand").all() and found["checked"].all()
    assert (found["distance"] > 0).any()
    assert rewording.publish(found, store).name == "distances.parquet"
    monkeypatch.setenv("BYROTE_LIGHT", "1")
    empty = Store(tmp_path / "other.sqlite", store.published)
    again = rewording.distances(variants, ladder, empty)
    pd.testing.assert_frame_equal(again, found)
    assert len(measured) == 6


def test_light_runs_say_how_many_distances_are_missing(ladder, store, measured, monkeypatch):
    variants = pipeline.variants(ladder, CONDITIONS, store=store)
    monkeypatch.setenv("BYROTE_LIGHT", "1")
    with pytest.raises(RuntimeError, match="6 distances are not stored and --light asks no model"):
        rewording.distances(variants, ladder, store)
    assert measured == []


# A task with a docstring

OLD, NEW = "Return twice the given number x.", "Given the number x, give back its double."
PROMPT = f'''def f(x: int) -> int:
    """{OLD}
    >>> f(2)
    4
    """
'''
DOUBLE = "def f(x):\n    return 2 * x\n"
TASK = Task("t/1", "t", "complete", PROMPT, "f", DOUBLE, "assert f(2) == 4")
SHOWN = table([TASK], Task)


def test_the_prose_of_a_docstring_is_asked_for_and_replaced_alone(saying, store):
    model = saying(f" {NEW}\n")
    [made] = rows(rewording.reworded(SHOWN, "fake", store=store), Task)
    assert made.rewordings == repr([PROMPT.replace(OLD, NEW)])
    assert replace(made, rewordings="", reworded_by="") == TASK
    canonical = model.canonical(model.asked[0])
    assert canonical["prompt"].endswith(f"\n\nText: {OLD}\nIn other words:")
    assert canonical["stop"][0] == "\n" and ">>>" not in canonical["prompt"]


def test_published_answers_reword_without_the_model(saying, store, monkeypatch, tmp_path):
    model = saying(NEW)
    made = rewording.reworded(SHOWN, "fake", store=store)
    store.published.mkdir()
    stored = rewording.generations(SHOWN, "fake", store=store)
    stored.to_parquet(store.published / "generations.parquet")
    monkeypatch.setenv("BYROTE_LIGHT", "1")
    other = Store(tmp_path / "other.sqlite", store.published)
    pd.testing.assert_frame_equal(rewording.reworded(SHOWN, "fake", store=other), made)
    assert len(model.asked) == 1
    empty = Store(tmp_path / "empty.sqlite", tmp_path / "none")
    with pytest.raises(RuntimeError, match="1 answers are not stored and --light asks no model"):
        rewording.reworded(SHOWN, "fake", store=empty)


@pytest.mark.parametrize(
    ("text", "finish", "reason"),
    [
        (f"{NEW}\nText: and on", "length", ""),  # whole: its line has ended
        (NEW, "length", "cut off"),
        ("", "error", "no answer"),
        ("\nlater", "stop", "empty"),
        (OLD, "stop", "repeats the text"),
        ("Return three times the given number 3.", "stop", "other numbers"),
        ('Give back """twice""" the number x', "stop", "breaks the docstring"),
    ],
)
def test_each_refusal_has_its_reason(text, finish, reason, fake, monkeypatch, store):
    def generate(self, requests):
        return ((request, Answer(text, finish)) for request in requests)

    monkeypatch.setattr(type(fake), "generate", generate)
    found = rewording.answers(SHOWN, "fake", store=store).iloc[0]
    assert (found["reason"], found["prompt"] == "") == (reason, bool(reason))


def test_a_task_without_prose_is_refused_and_not_asked_for(fake, store):
    tasks = table([replace(TASK, prompt="def f(x):\n")], Task)
    found = rewording.answers(tasks, "fake", store=store)
    assert (found["reason"].tolist(), fake.asked) == (["no prose to reword"], [])


def test_prose_that_announces_something_still_ends_with_a_colon(saying, store):
    saying(NEW)
    tasks = table([replace(TASK, prompt=PROMPT.replace("x.", "x:"))], Task)
    [made] = rewording.reworded(tasks, "fake", store=store)["rewordings"]
    assert NEW.replace(".", ":") in made


def test_what_was_measured_before_the_encoder_broke_is_kept(ladder, store, measured, monkeypatch):
    variants, whole = pipeline.variants(ladder, CONDITIONS, store=store), embedding.distances

    def breaks(pairs):
        yield next(whole(pairs))
        raise RuntimeError("out of memory")

    with monkeypatch.context() as patch, pytest.raises(RuntimeError, match="out of memory"):
        patch.setattr(embedding, "distances", breaks)
        rewording.distances(variants, ladder, store)
    measured.clear()
    assert len(rewording.distances(variants, ladder, store)) == 6 and len(measured) == 5
