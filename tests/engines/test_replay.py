"""Stored samples as an engine, on small files of every format written here."""

import gzip
import json
from pathlib import Path

import pandas as pd
import pytest

from byrote import engines, pipeline
from byrote.engines import Request, Sampling
from byrote.engines.replay import Replay
from byrote.pipeline import coverage
from byrote.records import Generation, Variant, table


def variant(task_id: str, operator: str = "original", **changes: str) -> Variant:
    kind = "output" if task_id.startswith("cruxeval") else "write"
    return Variant(task_id, operator, kind=kind, **{"entry_point": "f"} | changes)


def asked(engine: Replay, *variants: Variant, samples: int = 1) -> dict[tuple[str, int], str]:
    """Task and sample of every answer given, with its text."""
    wanted = [Request(v, Sampling(), k) for v in variants for k in range(samples)]
    return {(r.variant.task_id, r.sample): a.text for r, a in engine.generate(wanted)}


def written(path: Path, *rows: object) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def test_lines_of_one_task_are_its_samples_in_order(tmp_path):
    rows = [{"task_id": "HumanEval/23", "completion": text} for text in ("a", "b")]
    engine = Replay(written(tmp_path / "samples.jsonl", *rows))
    assert asked(engine, variant("humaneval/23"), samples=3) == {
        ("humaneval/23", 0): "a",
        ("humaneval/23", 1): "b",
    }


def test_a_solution_comes_before_a_completion(tmp_path):
    row = {"task_id": "Mbpp/2", "solution": "whole", "completion": "part"}
    assert asked(Replay(written(tmp_path / "s", row)), variant("mbpp/2")) == {
        ("mbpp/2", 0): "whole"
    }


@pytest.mark.parametrize("stored", ["Mbpp/2", "MBPP/2", "mbpp/2", "MbppEval/2", 2, "2"])
def test_ids_of_other_harnesses_are_ours_whatever_their_case(tmp_path, stored):
    engine = Replay(written(tmp_path / "s", {"task_id": stored, "solution": "x"}))
    found = asked(engine, variant("mbpp/2"), variant("mbpp_sanitized/2"), variant("mbpp/3"))
    assert found == {("mbpp/2", 0): "x", ("mbpp_sanitized/2", 0): "x"}


def test_a_humaneval_answer_is_never_given_to_an_mbpp_task(tmp_path):
    engine = Replay(written(tmp_path / "s", {"task_id": "HumanEval/2", "solution": "x"}))
    assert asked(engine, variant("humaneval/2"), variant("mbpp/2")) == {("humaneval/2", 0): "x"}


def test_a_gzip_file_is_read_whatever_its_name(tmp_path):
    text = json.dumps({"task_id": "HumanEval/0", "completion": "x"})
    (tmp_path / "samples.txt").write_bytes(gzip.compress(text.encode()))
    engine = Replay(tmp_path / "samples.txt")
    assert asked(engine, variant("humaneval/0")) == {("humaneval/0", 0): "x"}


def test_a_line_separator_inside_a_text_ends_no_line(tmp_path):
    rows = [{"task_id": f"HumanEval/{n}", "completion": "a\u2028b"} for n in range(2)]
    text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    (tmp_path / "s").write_text(text, encoding="utf-8")
    assert asked(Replay(tmp_path / "s"), variant("humaneval/1")) == {("humaneval/1", 0): "a\u2028b"}


def test_evalplus_results_hold_solutions(tmp_path):
    row = {"task_id": "HumanEval/7", "solution": "x", "base_status": "pass"}
    engine = Replay(written(tmp_path / "s", {"date": "", "eval": {"HumanEval/7": [row, row]}}))
    assert len(asked(engine, variant("humaneval/7"), samples=5)) == 2


@pytest.mark.parametrize(
    ("texts", "right", "other"),
    [
        (["f(1)", "f('a')", "x"], "cruxeval_input/3", "cruxeval/3"),
        (["1", "'a'"], "cruxeval/3", "cruxeval_input/3"),
    ],
)
def test_cruxeval_answers_go_to_the_direction_they_were_asked_in(tmp_path, texts, right, other):
    engine = Replay(written(tmp_path / "generations.json", {"sample_3": texts}))
    assert asked(engine, variant(right), variant(other)) == {(right, 0): texts[0]}


def test_lists_of_the_harness_are_in_the_benchmarks_order(tmp_path):
    humaneval = Replay(written(tmp_path / "a", [[f"def f(): {n}"] for n in range(164)]))
    mbpp = Replay(written(tmp_path / "b", [[f"def f(): {n}"] for n in range(500)]))
    assert asked(humaneval, variant("humaneval/5")) == {("humaneval/5", 0): "def f(): 5"}
    assert asked(mbpp, variant("mbpp/11"), variant("mbpp/2")) == {("mbpp/11", 0): "def f(): 0"}


def test_lists_that_name_none_of_the_functions_are_refused(tmp_path):
    engine = Replay(written(tmp_path / "a", [["def other(): 1"]] * 164))
    with pytest.raises(ValueError, match="another one; list the ids"):
        asked(engine, variant("humaneval/5", entry_point="wanted"))


def test_lists_of_another_length_need_their_ids_in_the_sidecar(tmp_path):
    file = written(tmp_path / "a", [["f = 1"], ["f = 2"]])
    with pytest.raises(ValueError, match="2 lists, no known benchmark's length"):
        Replay(file)
    written(tmp_path / "a.meta.json", {"tasks": ["HumanEval/8", "HumanEval/9"], "model": "m-7b"})
    engine = Replay(file)
    assert asked(engine, variant("humaneval/9")) == {("humaneval/9", 0): "f = 2"}
    assert engine.provenance()["model"] == "m-7b"


def test_codet_samples_are_found_by_the_prompt_that_lost_its_examples(tmp_path):
    rows = [
        {"prompt": f'def f(x):\n    """{told} brackets."""\n', "samples": [told, "b"]}
        for told in ("Open", "Closed")
    ]
    engine = Replay(written(tmp_path / "s", *rows))
    prompt = 'def f(x):\n    """Closed brackets.\n    >>> f(1)\n    2\n    """\n'
    one = variant("humaneval/61", prompt=prompt)
    assert asked(engine, one, samples=2) == {
        ("humaneval/61", 0): "Closed",
        ("humaneval/61", 1): "b",
    }


def test_only_untouched_tasks_are_answered_from_foreign_samples(tmp_path):
    engine = Replay(written(tmp_path / "s", {"task_id": "HumanEval/1", "completion": "x"}))
    touched = variant("humaneval/1", "synonyms")
    assert asked(engine, touched) == {}
    assert len(asked(engine, touched, variant("humaneval/1"))) == 1


def bundle(path: Path, **changes: object) -> Path:
    """One own generation for each model, under a changed condition."""
    base = {
        **{"task_id": "ladder/1", "operator": "affine", "mode": "full", "wording": "1"},
        **{"level": 1.0, "seed": 0, "model": "m", "sampling": str(Sampling()), "sample": 0},
        **{"request": "k", "text": "x", "finish": "length", "tokens": 7},
    } | changes
    names = base.pop("models", ["m"])
    rows = [Generation(**base | {"model": m, "text": f"of {m}"}) for m in names]
    table(rows, Generation).to_parquet(path)
    return path


def test_the_own_bundle_answers_its_very_condition_and_sampling(tmp_path):
    engine = Replay(bundle(tmp_path / "generations.parquet"))
    one = variant("ladder/1", "affine", mode="full", wording="1", level=1.0)
    ((_, answer),) = engine.generate([Request(one, Sampling())])
    assert (answer.text, answer.finish, answer.tokens) == ("of m", "length", 7)
    assert list(engine.generate([Request(one, Sampling()), Request(one, Sampling(), 1)]))[1:] == []
    with pytest.raises(ValueError, match="holds none of the 1 tasks asked"):
        list(engine.generate([Request(one, Sampling(temperature=0.8))]))


def test_a_bundle_of_several_models_wants_one_named(tmp_path):
    file = bundle(tmp_path / "generations.parquet", models=["m", "n"])
    one = variant("ladder/1", "affine", mode="full", wording="1", level=1.0)
    with pytest.raises(ValueError, match="name one of its models: m, n"):
        Replay(file)
    assert asked(engines.open(f"replay:{file}#n"), one) == {("ladder/1", 0): "of n"}


def test_a_folder_with_one_generation_file_is_that_file(tmp_path):
    written(tmp_path / "generations.json", {"sample_3": ["1"]})
    written(tmp_path / "scored.json", {})
    assert asked(Replay(tmp_path), variant("cruxeval/3")) == {("cruxeval/3", 0): "1"}
    written(tmp_path / "generations2.json", {"sample_3": ["1"]})
    with pytest.raises(ValueError, match="generations.json, generations2.json"):
        Replay(tmp_path)


@pytest.mark.parametrize(
    ("content", "seen"),
    [
        (b"", "an empty file"),
        (b"\xff\xfe\x00", "no UTF-8 text"),
        (b"3", "a JSON int"),
        (b'{"a": 1}', r"keys \['a'\]"),
        (b"[1, 2]", "where records should be"),
        (b'{"task_id": "HumanEval/1", "text": "x"}', r"record 1 with the fields \['task_id'"),
        (b'{"task_id": "HumanEval/1", "completion": 3}', "record 1 with a int"),
        (b"PAR1 but no parquet", "no bundle"),
    ],
)
def test_an_unknown_format_is_named_with_what_was_seen_and_what_is_known(tmp_path, content, seen):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(ValueError, match=f"file: .*{seen}.*known formats: JSON lines"):
        Replay(tmp_path / "file")


def test_samples_of_another_benchmark_are_refused(tmp_path):
    import byrote.benchmarks  # noqa: F401  names what is known

    file = written(tmp_path / "s", {"task_id": "BigCodeBench/3", "solution": "x"})
    with pytest.raises(ValueError, match="tasks of bigcodebench, where benchmarks here are"):
        Replay(file)


def test_a_file_that_holds_none_of_the_tasks_says_what_it_holds(tmp_path):
    engine = Replay(written(tmp_path / "s", {"task_id": "HumanEval/1", "completion": "x"}))
    with pytest.raises(ValueError, match="none of the 1 tasks asked, such as mbpp/2; it holds 1"):
        asked(engine, variant("mbpp/2"))


def test_a_torn_last_line_is_an_error_with_file_and_line(tmp_path):
    whole = json.dumps({"task_id": "HumanEval/1", "completion": "x"})
    (tmp_path / "torn.jsonl").write_text(f"{whole}\n{whole}\n{whole[:30]}")
    with pytest.raises(ValueError, match="torn.jsonl, line 3: .* cut off"):
        Replay(tmp_path / "torn.jsonl")


def test_a_torn_gzip_file_is_an_error(tmp_path):
    (tmp_path / "torn.gz").write_bytes(gzip.compress(b"{}" * 5000)[:-9])
    with pytest.raises(ValueError, match="torn.gz: .* cut off"):
        Replay(tmp_path / "torn.gz")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file"):
        engines.open(f"replay:{tmp_path}/absent.jsonl")


def test_an_answer_that_never_came_is_an_error_not_a_wrong_program(tmp_path):
    engine = Replay(written(tmp_path / "s", {"task_id": "HumanEval/1", "completion": None}))
    ((_, answer),) = engine.generate([Request(variant("humaneval/1"), Sampling())])
    assert (answer.text, answer.finish) == ("", "error")


def test_the_request_key_follows_file_task_condition_and_sample_only(tmp_path):
    row = {"task_id": "HumanEval/1", "completion": "x"}
    engine, same = (Replay(written(tmp_path / name, row)) for name in "ab")
    other = Replay(written(tmp_path / "c", row | {"completion": "y"}))

    def key(engine, operator="original", sample=0, **sampling):
        one = Request(variant("humaneval/1", operator), Sampling(**sampling), sample)
        return engines.request_key(engine, one)

    assert key(engine) == key(same) == key(engine, temperature=0.8)
    different = [key(engine), key(other), key(engine, "synonyms"), key(engine, sample=1)]
    assert len(set(different)) == 4


def test_provenance_names_file_format_and_samples(tmp_path):
    file = written(tmp_path / "s.jsonl", {"task_id": "HumanEval/1", "completion": "x"})
    told = Replay(file).provenance()
    assert told["file"] == "s.jsonl" and told["format"] == "samples" and told["samples"] == "1"
    assert len(told["sha256"]) == 16
    assert pd.Series(told).map(type).eq(str).all()


SIDECAR = {"model": "org/mine-7b", "billions": 7.2, "family": "Mine", "licence": "MIT"}


def told(folder: Path, **sidecar: object) -> Path:
    """A file of one sample with a sidecar."""
    written(folder / "s.jsonl.meta.json", sidecar)
    return written(folder / "s.jsonl", {"task_id": "HumanEval/1", "completion": "x"})


def test_a_sidecar_puts_stored_samples_on_the_scale_axis(tmp_path, store):
    name = f"replay:{told(tmp_path, **SIDECAR)}"
    one = table([variant("humaneval/1"), variant("humaneval/2")], Variant).assign(sound=True)
    answers = pipeline.generations(one, [name, "mute"], store=store)
    told_of = coverage.provenance(answers, store).set_index("model")
    mine, mute = told_of.loc[name], told_of.loc["mute"]
    assert (mine["name"], mine["nature"], mine["billions"]) == ("org/mine-7b", "real", 7.2)
    assert (mine["family"], mine["licence"], mine["answers"]) == ("Mine", "MIT", 1)
    assert "file=s.jsonl sha256=" in mine["made with"]
    assert mute["name"] == "mute" and pd.isna(mute["billions"]) and mute["licence"] == ""


def test_samples_without_a_sidecar_are_real_and_of_no_known_size(tmp_path, store):
    file = written(tmp_path / "s.jsonl", {"task_id": "HumanEval/1", "completion": "x"})
    one = table([variant("humaneval/1")], Variant).assign(sound=True)
    [row] = coverage.provenance(
        pipeline.generations(one, [f"replay:{file}"], store=store), store
    ).to_dict("records")
    assert row["nature"] == "real" and row["name"] == f"replay:{file}" and pd.isna(row["billions"])


@pytest.mark.parametrize(
    ("sidecar", "fault"),
    [
        ({"size": 7}, "unknown key 'size'"),
        ({"billions": "7B"}, "billions is '7B', not a number over 0"),
        ({"billions": True}, "billions is True, not a number"),
        ({"billions": 0}, "billions is 0, not a number over 0"),
        ({"billions": float("nan")}, "billions is nan, not a number over 0"),
        ({"model": ["m"]}, r"model is \['m'\], not a text"),
        ({"family": " "}, "family is ' ', not a text"),
        ({"licence": None}, "licence is None, not a text"),
        ({"tasks": "HumanEval/1"}, "tasks is 'HumanEval/1', not a list"),
        ({"tasks": [1.5]}, r"tasks is \[1.5\], not a list of task ids"),
        ({"benchmark": 1}, "benchmark is 1, not a text"),
    ],
)
def test_a_wrong_sidecar_is_named_with_file_key_and_the_allowed_keys(tmp_path, sidecar, fault):
    allowed = "allowed: model .*, billions .*, family .*, licence .*, tasks .*, benchmark"
    with pytest.raises(ValueError, match=f"s.jsonl.meta.json: {fault}.*; {allowed}"):
        Replay(told(tmp_path, **sidecar))


@pytest.mark.parametrize(
    ("content", "fault"), [(b"{model: x}", "no JSON"), (b"\xff{}", "no JSON"), (b"[]", "JSON list")]
)
def test_a_sidecar_that_is_no_json_object_is_named(tmp_path, content, fault):
    file = told(tmp_path)
    (tmp_path / "s.jsonl.meta.json").write_bytes(content)
    with pytest.raises(ValueError, match=f"s.jsonl.meta.json: .*{fault}.*allowed: model"):
        Replay(file)
