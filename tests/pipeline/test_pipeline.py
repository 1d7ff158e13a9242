"""The stages on a few tasks: known models give known values, and finished work is never repeated.

Names K02 … are public bug reports.
"""

import ast
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from byrote import operators, pipeline, sandbox
from byrote.engines import Sampling
from byrote.operators.contracts import SIDES
from byrote.pipeline import ORIGINAL, Condition
from byrote.records import Generation, Task, Variant, Verdict, check, rows, table
from byrote.store import Store, key

MODES = ("", *SIDES)
TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def judged_in(tmp_path_factory) -> Store:
    """One store for the tests that only judge, so that no program runs twice."""
    folder = tmp_path_factory.mktemp("judged")
    return Store(folder / "store.sqlite", folder)


@pytest.fixture(scope="module")
def loaded(ladder, judged_in) -> pd.DataFrame:
    """The tasks in every mode."""
    conditions = [ORIGINAL, *(Condition("affine", mode, "1") for mode in SIDES)]
    return pipeline.variants(ladder, conditions, store=judged_in)


def verdicts(loaded: pd.DataFrame, store: Store, *models: str, samples: int = 1) -> pd.DataFrame:
    answers = pipeline.generations(loaded, models, samples=samples, store=store)
    return pipeline.verdicts(answers, loaded, store)


def passed(frame: pd.DataFrame) -> dict[str, float]:
    """The share that passed, by mode; "" is the original."""
    return (frame["outcome"] == "passed").groupby(frame["mode"]).mean().to_dict()


# what known models give


def test_every_variant_of_the_ladder_tasks_is_sound(loaded):
    assert loaded["sound"].all() and len(loaded) == 3 * len(MODES)
    assert set(loaded.loc[loaded["mode"].isin(["", "contract_only"]), "reason"]) == {""}
    assert loaded.groupby("mode", sort=False).size().to_dict() == dict.fromkeys(MODES, 3)


def test_a_memorizer_would_pass_only_where_nothing_is_encoded(loaded):
    assert loaded.loc[loaded["mode"] == "contract_only", "floor"].all()
    assert not loaded.loc[loaded["mode"] != "contract_only", "floor"].any()


@pytest.mark.parametrize(
    ("model", "passes"),
    [
        ("oracle", set(MODES)),
        ("coin(1)", set(MODES)),
        ("parrot", {""}),
        ("contract_breaker", {"", "inputs", "contract_only"}),
        ("coin(0)", set()),
        ("mute", set()),
    ],
)
def test_a_scripted_model_passes_what_its_nature_says(loaded, judged_in, model, passes):
    frame = verdicts(loaded, judged_in, model)
    assert passed(frame) == {mode: float(mode in passes) for mode in MODES}


def test_what_a_scripted_model_fails_it_fails_in_its_own_way(loaded, judged_in):
    found = verdicts(loaded, judged_in, "mute", "contract_breaker", "parrot")
    failed = found[found["outcome"] != "passed"].groupby("model")
    assert set(failed.get_group("mute")["outcome"]) == {"invalid"}
    assert set(failed.get_group("contract_breaker")["outcome"]) == {"failed"}
    assert set("".join(failed.get_group("contract_breaker")["outcomes"])) <= {"F", "."}
    assert set("".join(failed.get_group("parrot")["outcomes"])) == {"E"}


def test_a_coin_falls_the_same_way_again_and_differs_between_samples(loaded, judged_in):
    first = verdicts(loaded, judged_in, "coin(0.5)", samples=5)
    again = verdicts(loaded, judged_in, "coin", samples=5)
    pd.testing.assert_frame_equal(first, again)
    rate = (first["outcome"] == "passed").mean()
    assert 0.3 < rate < 0.7
    by_sample = first.groupby("sample")["outcome"].agg(tuple)
    assert len(set(by_sample)) == 5
    one = verdicts(loaded, judged_in, "coin")
    same = first[first["sample"] == 0].reset_index(drop=True)
    pd.testing.assert_frame_equal(one, same)


def test_the_order_of_the_frames_is_the_order_of_the_variants_and_then_of_the_samples(
    loaded, judged_in
):
    mixed = loaded.sample(frac=1, random_state=1)
    wanted = [
        (*(getattr(v, c) for c in Variant.KEY), model, sample)
        for model in ("parrot", "oracle")
        for v in rows(mixed, Variant)
        for sample in range(2)
    ]
    answers = pipeline.generations(mixed, ["parrot", "oracle"], samples=2, store=judged_in)
    found = pipeline.verdicts(answers, loaded, judged_in)
    names = [*Variant.KEY, "model", "sample"]
    assert list(answers[names].itertuples(index=False, name=None)) == wanted
    assert list(found[names].itertuples(index=False, name=None)) == wanted
    check(answers, Generation)
    check(found, Verdict)


def test_no_model_is_shown_a_variant_whose_own_reference_fails(store, fake):
    good = Task("t/1", "b", "write", "p", "f", "def f(n):\n    return n", "assert f(1) == 1")
    wrong = Task("t/2", "b", "write", "p", "f", "def f(n):\n    return n", "assert f(1) == 2")
    none = Task("t/3", "b", "write", "p", "f", "def f(n):\n    return n", "assert f('a') == 'a'")
    frame = table([good, wrong, none], Task)
    found = pipeline.variants(frame, [ORIGINAL, Condition("affine", "full", "1")], store=store)
    assert found["sound"].tolist() == [True, False, True, True, False, False]
    assert found["reason"][1].startswith("its reference failed (F)")
    assert found["reason"][5] == "no integer in the tests"
    answers = pipeline.generations(found, ["fake"], store=store)
    assert answers["task_id"].tolist() == ["t/1", "t/3", "t/1"]
    assert len(fake.asked) == 3


def test_half_a_surrogate_pair_in_a_task_or_an_answer_stops_nothing(store, fake, monkeypatch):
    task = Task("t/1", "b", "write", "p\ud83d", "f", "def f():\n    return 1", "assert f() == 1")
    found = pipeline.variants(table([task], Task), [ORIGINAL], store=store)
    monkeypatch.setattr(
        type(fake),
        "generate",
        lambda self, requests: (
            (r, pipeline.engines.Answer("```python\ndef f(): return '\ud83d'\n```", "stop"))
            for r in requests
        ),
    )
    for _ in range(2):
        answers = pipeline.generations(found, ["fake"], store=store)
        assert answers["text"][0] == "```python\ndef f(): return '\ufffd'\n```"
        assert pipeline.verdicts(answers, found, store)["outcome"].tolist() == ["failed"]


def test_nothing_asked_gives_empty_frames_with_all_columns(store, loaded, fake):
    nothing = loaded.iloc[:0]
    answers = pipeline.generations(nothing, ["fake", "oracle"], store=store)
    assert len(check(answers, Generation)) == 0
    assert len(check(pipeline.verdicts(answers, nothing, store), Verdict)) == 0
    assert len(check(pipeline.generations(loaded, [], store=store), Generation)) == 0


# resume


def test_only_what_is_missing_is_asked_and_each_answer_once(store, variants, fake):
    first = pipeline.generations(variants[:2], ["fake"], samples=2, store=store)
    assert len(fake.asked) == 4
    every = pipeline.generations(variants, ["fake"], samples=3, store=store)
    wanted = {(r.variant, r.sample) for r in pipeline.requests(variants, Sampling(), 3)}
    assert len(fake.asked) == len(wanted) == 18
    assert {(r.variant, r.sample) for r in fake.asked} == wanted
    kept = every.merge(first, on=[*Generation.KEY, "text", "request"])
    assert len(kept) == 4
    again = pipeline.generations(variants, ["fake"], samples=3, store=store)
    pd.testing.assert_frame_equal(again, every)
    assert len(fake.asked) == 18


def test_k02_five_samples_come_back_in_order_and_every_other_setting_is_asked(
    store, variants, fake
):
    one = variants[:1]
    first = pipeline.generations(one, ["fake"], Sampling(0.8), 5, store)
    again = pipeline.generations(one, ["fake"], Sampling(0.8), 5, Store(store.file))
    assert again["text"].tolist() == first["text"].tolist() == [f"answer {n}" for n in range(1, 6)]
    assert len(fake.asked) == 5
    others = [
        Sampling(0.2),
        Sampling(0.8, max_tokens=64),
        Sampling(0.8, 0.9),
        Sampling(0.8, seed=1),
    ]
    for n, sampling in enumerate(others, 1):
        other = pipeline.generations(one, ["fake"], sampling, 5, store)
        assert len(fake.asked) == 5 + 5 * n
        assert set(other["sampling"]) == {str(sampling)}


def test_a_setting_written_as_a_whole_number_is_the_same_setting(store, variants, fake):
    pipeline.generations(variants, ["fake"], Sampling(0.0, 1.0), store=store)
    asked = len(fake.asked)
    again = pipeline.generations(variants, ["fake"], Sampling(0, 1), store=store)
    assert len(fake.asked) == asked and set(again["sampling"]) == {str(Sampling())}


def test_the_stored_request_is_whole_and_gives_its_own_key(store, variants, fake):
    frame = pipeline.generations(variants, ["fake"], store=store)
    for name, row in store.find("generations", frame["request"]).items():
        assert key(ast.literal_eval(row["canonical"])) == name
        assert row["provenance"] == "engine=fake"


def test_published_answers_are_found_below_the_store(store, variants, fake, tmp_path):
    frame = pipeline.generations(variants, ["fake"], store=store)
    store.published.mkdir()
    frame.to_parquet(store.published / "generations.parquet")
    fresh = Store(tmp_path / "new.sqlite", store.published)
    pd.testing.assert_frame_equal(pipeline.generations(variants, ["fake"], store=fresh), frame)
    assert len(fake.asked) == len(variants)


def test_fresh_looks_at_neither_stored_nor_published_answers(store, variants, fake):
    old = pipeline.generations(variants, ["fake"], store=store)
    store.published.mkdir()
    old.to_parquet(store.published / "generations.parquet")
    new = pipeline.generations(variants, ["fake"], store=store, fresh=True)
    assert len(fake.asked) == 2 * len(variants)
    assert not set(old["text"]) & set(new["text"])
    later = pipeline.generations(variants, ["fake"], store=store)
    pd.testing.assert_frame_equal(later, new)


def test_a_fresh_run_hides_the_published_answers_and_resumes_in_its_own_store(
    store, variants, fake, monkeypatch, tmp_path
):
    old = pipeline.generations(variants, ["fake"], store=store)
    store.published.mkdir()
    old.to_parquet(store.published / "generations.parquet")
    monkeypatch.setenv("BYROTE_FRESH", "1")
    own = Store(tmp_path / "fresh.sqlite", store.published)
    pipeline.generations(variants.head(2), ["fake"], store=own)
    assert len(fake.asked) == len(variants) + 2
    pipeline.generations(variants, ["fake"], store=own)
    assert len(fake.asked) == 2 * len(variants)


def test_an_answer_with_a_bad_value_is_named_and_asked_again_and_no_other(
    store, variants, fake, capsys
):
    frame = pipeline.generations(variants, ["fake"], store=store)
    bad = frame["request"][2]
    db = sqlite3.connect(store.file)
    with db:
        db.execute("UPDATE generations SET finish = 'banana' WHERE key = ?", [bad])
    db.close()
    asked = len(fake.asked)
    again = pipeline.generations(variants, ["fake"], store=store)
    assert f"{store.file}: generations row {bad}: finish is 'banana'" in capsys.readouterr().out
    assert [r.variant.task_id for r in fake.asked[asked:]] == [frame["task_id"][2]]
    assert again.drop(2)["text"].equals(frame.drop(2)["text"])
    pipeline.generations(variants, ["fake"], store=store)
    assert len(fake.asked) == asked + 1


def test_answers_that_come_in_another_order_belong_to_their_questions(
    store, variants, fake, monkeypatch
):
    straight = type(fake).generate
    monkeypatch.setattr(type(fake), "generate", lambda self, asked: straight(self, asked[::-1]))
    frame = pipeline.generations(variants, ["fake"], samples=2, store=store)
    assert frame["text"].tolist() == [f"answer {n}" for n in range(12, 0, -1)]


def test_an_answer_that_no_engine_gave_is_missing_and_not_wrong(store, variants, fake, monkeypatch):
    straight = type(fake).generate
    monkeypatch.setattr(fake, "live", False, raising=False)
    monkeypatch.setattr(type(fake), "generate", lambda self, asked: straight(self, asked[1:]))
    frame = pipeline.generations(variants, ["fake"], store=store)
    assert frame["task_id"].tolist() == variants["task_id"].tolist()[1:]


def test_what_was_answered_before_an_engine_broke_is_kept_and_the_engine_is_closed(
    store, variants, fake, monkeypatch
):
    straight, closed = type(fake).generate, []

    def breaks(self, requests):
        yield from straight(self, requests[:4])
        raise RuntimeError("out of memory")

    monkeypatch.setattr(fake, "close", lambda: closed.append(True), raising=False)
    with monkeypatch.context() as patch, pytest.raises(RuntimeError, match="out of memory"):
        patch.setattr(type(fake), "generate", breaks)
        pipeline.generations(variants, ["fake"], store=store)
    assert closed == [True]
    frame = pipeline.generations(variants, ["fake"], store=store)
    assert frame["text"].tolist() == [f"answer {n}" for n in range(1, len(variants) + 1)]
    assert len(fake.asked) == len(variants)


KILLED = """
import signal, sys
import pandas as pd
from conftest import Answering
from byrote import engines, pipeline
from byrote.store import Store

class Stops(Answering):
    def generate(self, requests):
        for n, pair in enumerate(super().generate(requests)):
            if n == 7:
                print("seven are stored", flush=True)
                signal.pause()
            yield pair

engines.open = lambda name: Stops()
store = Store(sys.argv[1], sys.argv[2])
pipeline.generations(pd.read_parquet(sys.argv[3]), ["fake"], samples=5, store=store)
"""


def test_a_run_that_is_killed_keeps_its_answers_and_the_next_asks_only_for_the_rest(
    store, variants, fake, tmp_path
):
    variants.to_parquet(tmp_path / "variants.parquet")
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, store.file, store.published, tmp_path / "variants.parquet"],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(TESTS)},
    )
    with process:
        assert process.stdout.readline() == "seven are stored\n"
        process.kill()
    assert process.returncode == -signal.SIGKILL
    again = Store(store.file, store.published)
    frame = pipeline.generations(variants, ["fake"], samples=5, store=again)
    assert len(frame) == 30 and len(fake.asked) == 23
    first = [f"answer {n}" for n in range(1, 8)]
    assert frame["text"].tolist() == first + [f"answer {n}" for n in range(1, 24)]


# without a model


def test_light_is_an_error_that_says_how_many_answers_are_missing(
    store, variants, fake, monkeypatch
):
    pipeline.generations(variants[:2], ["fake"], store=store)
    monkeypatch.setenv("BYROTE_LIGHT", "1")
    with pytest.raises(RuntimeError, match="fake: 4 answers are not stored .* without --light"):
        pipeline.generations(variants, ["fake"], store=store)
    assert len(fake.asked) == 2


def test_light_finds_what_is_stored_and_runs_scripted_models(store, variants, fake, monkeypatch):
    pipeline.generations(variants, ["fake"], store=store)
    monkeypatch.setenv("BYROTE_LIGHT", "1")
    assert len(pipeline.generations(variants, ["fake", "oracle"], store=store)) == 12


# bad input is refused at the start, with what exists


@pytest.fixture
def nothing_runs(monkeypatch):
    def fail(*_):
        raise AssertionError("something was run before the wrong name was refused")

    monkeypatch.setattr(sandbox, "run", fail)


def test_an_unknown_benchmark_lists_what_exists():
    with pytest.raises(
        ValueError, match=r"unknown benchmark 'laddr' .*'ladder'.*known: .*humaneval"
    ):
        pipeline.tasks(["ladder", "laddr"])


@pytest.mark.parametrize("limit", [-1, -100])
def test_a_limit_below_zero_is_refused_with_what_is_allowed(limit):
    with pytest.raises(ValueError, match=rf"LIMIT={limit}: 0 \(all\) or a positive number"):
        pipeline.tasks(["ladder"], limit)


def test_a_limit_takes_the_first_tasks_of_each_benchmark_and_zero_takes_all():
    assert pipeline.tasks(["ladder", "humaneval"], 2)["benchmark"].tolist() == [
        *("ladder", "ladder", "humaneval", "humaneval")
    ]
    assert len(pipeline.tasks(["ladder"])) == len(pipeline.tasks(["ladder"], 10**6)) == 84


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        (Condition("afine", "full"), r"unknown operator 'afine' .*known: .*affine.*original"),
        (Condition("affine", "ful"), r"unknown mode 'ful' of affine; known: full"),
        (Condition("original", "full"), r"unknown mode 'full' of original"),
        (Condition("affine", "full", "4"), r"unknown wording '4'; known: 1, 2, 3"),
    ],
)
def test_an_unknown_operator_mode_or_wording_lists_what_exists(
    ladder, store, nothing_runs, condition, told
):
    with pytest.raises(ValueError, match=told):
        pipeline.variants(ladder, [ORIGINAL, condition], store=store)


def test_an_unknown_model_is_refused_before_another_is_asked(store, variants, fake):
    for name in ("orcale", "vllm:x", "replay:", ""):
        with pytest.raises(ValueError, match=rf"unknown model '{name}'; known: .*oracle.*replay:"):
            pipeline.generations(variants, ["fake", name], store=store)
    with pytest.raises(ValueError, match="probability between 0 and 1"):
        pipeline.generations(variants, ["fake", "coin(1.5)"], store=store)
    assert fake.asked == []


def test_a_model_named_twice_is_refused_before_it_is_asked(store, variants, fake):
    for names in (["fake", "fake"], ["fake", "coin", "coin(0.5)"]):
        with pytest.raises(ValueError, match="stand twice"):
            pipeline.generations(variants, names, store=store)
    assert fake.asked == []


@pytest.mark.parametrize("samples", [0, -1])
def test_fewer_than_one_sample_is_refused(store, variants, samples):
    with pytest.raises(ValueError, match=f"samples={samples}: 1 or more"):
        pipeline.generations(variants, ["oracle"], samples=samples, store=store)


@pytest.mark.parametrize(
    "values", [{"temperature": -0.1}, {"top_p": 0}, {"top_p": 1.1}, {"max_tokens": 0}]
)
def test_a_sampling_that_cannot_be_is_refused_with_what_is_allowed(values):
    with pytest.raises(ValueError, match="temperature >= 0, 0 < top_p <= 1, max_tokens >= 1"):
        Sampling(**values)


def test_a_condition_that_stands_twice_is_refused(ladder, store):
    with pytest.raises(ValueError, match="'ladder/01', 'operator': 'original'.* stands twice"):
        pipeline.variants(ladder, [ORIGINAL, ORIGINAL], store=store)


def test_an_answer_to_a_variant_that_is_not_given_is_named(store, variants):
    answers = pipeline.generations(variants, ["oracle"], store=store)
    with pytest.raises(ValueError, match="no variant .*'ladder/01'.* for an answer of oracle"):
        pipeline.verdicts(answers, variants[1:], store)


def test_a_frame_that_was_changed_is_refused_by_the_next_stage(store, variants, ladder):
    answers = pipeline.generations(variants, ["oracle"], store=store)
    with pytest.raises(ValueError, match=r"Generation: missing columns \['text'\]"):
        pipeline.verdicts(answers.drop(columns="text"), variants, store)
    with pytest.raises(ValueError, match="stands twice"):
        pipeline.verdicts(pd.concat([answers, answers]), variants, store)


def test_operators_and_levels_travel_as_columns(loaded):
    assert set(loaded["operator"]) == {"original", "affine"} <= set(operators.names())
    assert set(loaded.loc[loaded["operator"] == "original", "level"]) == {0.0}
    assert set(loaded.loc[loaded["operator"] == "affine", "level"]) == {1.0}


def test_an_unknown_name_is_refused_before_any_work_with_the_list_of_what_exists():
    with pytest.raises(ValueError, match="unknown model 'gpt-9'; known: .*oracle"):
        pipeline.refuse_unknown(["oracle", "gpt-9"], ["ladder"])
    with pytest.raises(ValueError, match="unknown benchmark 'laddr'.*known: .*humaneval"):
        pipeline.refuse_unknown(["oracle"], ["laddr"])
    pipeline.refuse_unknown(["oracle", "coin(0.2)"], ["ladder", "humaneval"])
