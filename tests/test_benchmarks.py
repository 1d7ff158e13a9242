"""Benchmarks as they are loaded: counts, fields, references that pass, and what a bad file says."""

import gzip
import json
import os
from pathlib import Path

import huggingface_hub
import pandas as pd
import pytest

from byrote import benchmarks, paths
from byrote.benchmarks import humaneval, mbpp, sources
from byrote.records import Task, table
from byrote.sandbox import Program, run

SHARED = Path(os.environ.get("BYROTE_DATA") or Path(__file__).parents[2] / "shared" / "data")
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def shared(*parts: str) -> None:
    """Skip where the public file is not at hand."""
    if not SHARED.joinpath(*parts).is_file():
        pytest.skip(f"no {'/'.join(parts)} in {SHARED}")


def failed(tasks: list[Task]) -> dict[str, str]:
    """The tasks whose own reference does not pass all of its tests."""
    programs = [Program(t.reference, t.tests, t.setup, t.entry_point) for t in tasks]
    found = zip(tasks, run(programs), strict=True)
    return {t.task_id: f"{o.outcomes} {o.error}" for t, o in found if o.outcome != "passed"}


@pytest.fixture
def public(monkeypatch):
    monkeypatch.setenv("BYROTE_DATA", str(SHARED))


# HumanEval


def test_humaneval_is_whole_and_its_references_pass():
    tasks = benchmarks.load("humaneval")
    assert [t.task_id for t in tasks] == [f"humaneval/{n}" for n in range(164)]
    assert {t.kind for t in tasks} == {"complete"}
    assert all(t.entry_point in t.tests and t.prompt in t.reference for t in tasks)
    assert len(table(tasks, Task)) == 164
    assert failed(tasks) == {}


CHECK = """
METADATA = {'author': 'x'}

def check(candidate):
    # simple
    assert candidate(1) == 2, "first"
    assert True, "This prints if this assert fails 1 (good for debugging!)"
    assert candidate([1,\\
        2]) == {"candidate": 'candidate'}

"""

LOOP = """
def check(candidate):
    import math
    assert candidate(0) == 0
    for i in range(3):
        assert candidate(i) == i
        assert abs(candidate(i)) == i
    print("done")
    expected = 5
    assert candidate(5) == expected
    assert math.isclose(candidate(1), 1)
"""


def test_check_is_split_into_one_statement_a_test():
    assert humaneval.split(CHECK, "f") == (
        "",
        ["assert f(1) == 2", "assert f([1, 2]) == {'candidate': 'candidate'}"],
    )


def test_loops_and_what_shares_their_names_stay_together():
    setup, tests = humaneval.split(LOOP, "f")
    assert tests == ["assert f(0) == 0", "_check_rest(f)"]
    assert setup == (
        "def _check_rest(candidate):\n"
        "    import math\n"
        "    for i in range(3):\n"
        "        assert candidate(i) == i\n"
        "        assert abs(candidate(i)) == i\n"
        "    expected = 5\n"
        "    assert candidate(5) == expected\n"
        "    assert math.isclose(candidate(1), 1)"
    )
    right = Program("def f(n):\n    return n", "\n".join(tests), setup)
    wrong = Program("def f(n):\n    return min(n, 1)", "\n".join(tests), setup)
    assert [o.outcomes for o in run([right, wrong])] == ["..", ".F"]


def test_few_tasks_of_humaneval_need_their_check_whole():
    tasks = benchmarks.load("humaneval")
    whole = [t.task_id for t in tasks if "_check_rest" in t.tests]
    assert len(whole) == 6
    assert not any("assert True" in t.tests or "candidate" in t.tests for t in tasks)
    assert sum(t.tests.count("\n") + 1 for t in tasks) > 1000


# ladder


def test_ladder_is_written_here_and_its_references_pass():
    tasks = benchmarks.load("ladder")
    assert len(tasks) >= 40 and {t.seen for t in tasks} == {"no"}
    assert failed(tasks) == {}


# MBPP and CRUXEval


def test_mbpp_is_whole_and_keeps_the_authors_numbers(public):
    shared("mbpp", "mbpp.jsonl")
    tasks = benchmarks.load("mbpp")
    assert [t.task_id for t in tasks] == [f"mbpp/{n}" for n in range(1, 975)]
    assert len(table(tasks, Task)) == 974
    assert not any("\r" in t.reference + t.tests + t.prompt + t.setup for t in tasks)


def test_the_verified_part_and_its_test_split_have_the_published_sizes(public):
    shared("mbpp", "sanitized-mbpp.json")
    verified = benchmarks.load("mbpp_sanitized")
    split = benchmarks.load("mbpp_sanitized_test")
    assert (len(verified), len(split)) == (427, 257)
    assert {t.task_id for t in split} < {t.task_id for t in verified}
    assert all(t.cluster == t.task_id.replace("_sanitized", "") for t in verified)


def test_the_references_of_the_test_split_pass(public):
    """Task 123 computes for seconds and is left out."""
    shared("mbpp", "sanitized-mbpp.json")
    tasks = benchmarks.load("mbpp_sanitized_test")
    assert failed([t for t in tasks if t.task_id != "mbpp_sanitized/123"]) == {}


@pytest.mark.parametrize(
    "tests, name",
    [
        ("assert f(1) == 2", "f"),
        ("assert set(f(1)) == set([2])", "f"),
        ("assert math.isclose(f(1), 2.0, rel_tol=0.001)", "f"),
        ("assert not f(helper(1))", "f"),
        ("assert (f(1)) == f2(1)", "f"),
        ("root = Tree(1)\nassert f(root) == 1", "Tree"),
    ],
)
def test_the_entry_point_is_the_first_called_name_that_the_reference_defines(tests, name):
    reference = "class Tree: pass\ndef helper(x): return x\ndef f2(x): return x\ndef f(x): pass"
    assert mbpp.entry_point(reference, tests) == name


def test_wrapped_tests_of_mbpp_give_the_function_and_not_the_wrapper(public):
    shared("mbpp", "sanitized-mbpp.json")
    found = {t.task_id: t.entry_point for t in benchmarks.load("mbpp_sanitized")}
    assert found["mbpp_sanitized/2"] == "similar_elements"  # set(f(…)) == set(…)
    assert found["mbpp_sanitized/82"] == "volume_sphere"  # math.isclose(f(…), …)
    assert not {"set", "isclose", "sorted", "len"} & set(found.values())


def test_tests_that_call_nothing_of_the_reference_are_an_error():
    with pytest.raises(ValueError, match="the tests call no function of the reference: assert g"):
        mbpp.entry_point("def f(x): return x", "assert g(1) == 2")


@pytest.mark.parametrize("name, kind", [("cruxeval", "output"), ("cruxeval_input", "input")])
def test_cruxeval_is_whole(name, kind, public):
    shared("cruxeval", "cruxeval.jsonl")
    tasks = benchmarks.load(name)
    assert [t.task_id for t in tasks] == [f"{name}/{n}" for n in range(800)]
    assert {t.kind for t in tasks} == {kind}
    assert {t.cluster for t in tasks} == {f"cruxeval/{n}" for n in range(800)}
    assert len(table(tasks, Task)) == 800


# Names and limits


def test_a_limit_takes_the_first_tasks_and_zero_takes_all():
    assert [t.task_id for t in benchmarks.load("ladder", 2)] == ["ladder/01", "ladder/02"]
    assert len(benchmarks.load("ladder", 0)) == len(benchmarks.load("ladder", 10**6))
    with pytest.raises(ValueError, match="LIMIT=-1: 0"):
        benchmarks.load("ladder", -1)


def test_an_unknown_benchmark_lists_what_exists():
    with pytest.raises(ValueError, match="did you mean 'humaneval'.*cruxeval, cruxeval_input, hum"):
        benchmarks.load("humanevl")


# Files of the user's


def test_files_are_found_in_the_folder_or_one_below_and_may_be_compressed(tmp_path, monkeypatch):
    monkeypatch.setenv("BYROTE_DATA", str(tmp_path))
    lines = "".join(json.dumps({"id": n}) + "\n\n" for n in range(800))
    folder = tmp_path / "some_folder"
    folder.mkdir()
    (folder / "cruxeval.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    assert sources.records("cruxeval")[799] == {"id": 799}
    (tmp_path / "cruxeval.jsonl").write_text(lines.replace("799", "1799"))
    assert sources.records("cruxeval")[799] == {"id": 1799}


def test_a_folder_that_is_none_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("BYROTE_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match="BYROTE_DATA=.*nowhere is no folder"):
        benchmarks.load("mbpp")


ROWS = [{"task_id": n, "text": "é"} for n in range(3)]


def cut_jsonl(path: Path) -> Path:
    path = path / "rows.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in ROWS)[:-5])
    return path


def cut_json(path: Path) -> Path:
    path = path / "rows.json"
    path.write_text(json.dumps(ROWS, indent=0)[:-8])
    return path


def cut_within_a_character(path: Path) -> Path:
    path = path / "rows.jsonl"
    path.write_bytes(json.dumps(ROWS[0], ensure_ascii=False).encode()[:-3])
    return path


def cut_gzip(path: Path) -> Path:
    path = path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress(cut_jsonl(path.parent).read_bytes())[:-10])
    return path


def no_gzip(path: Path) -> Path:
    path = path / "rows.jsonl.gz"
    path.write_text("<html>not found</html>")
    return path


def cut_parquet(path: Path) -> Path:
    path = path / "rows.parquet"
    pd.DataFrame(ROWS).to_parquet(path)
    path.write_bytes(path.read_bytes()[:-20])
    return path


@pytest.mark.parametrize(
    "broken, line",
    [
        (cut_jsonl, "line 3"),
        (cut_json, "line 12"),
        (cut_within_a_character, ""),
        (cut_gzip, ""),
        (no_gzip, ""),
        (cut_parquet, ""),
    ],
)
def test_a_file_that_was_cut_off_is_named_with_its_line(broken, line, tmp_path):
    path = broken(tmp_path)
    with pytest.raises(ValueError) as error:
        sources.read(path)
    message = str(error.value)
    assert message.startswith(f"{path}: ") and message.endswith("; the file may be cut off")
    assert line in message


def test_a_file_that_lost_records_is_refused_with_both_counts(tmp_path, monkeypatch):
    monkeypatch.setenv("BYROTE_DATA", str(tmp_path))
    (tmp_path / "cruxeval.jsonl").write_text('{"id": "sample_0"}\n')
    with pytest.raises(ValueError, match="cruxeval: 1 records in .*cruxeval.jsonl, not.* 800"):
        benchmarks.load("cruxeval")


# The hub


class Hub:
    """A hub without a network: it has one commit and notes what it is asked."""

    def __init__(self, folder: Path):
        self.folder, self.commit, self.asked = folder, COMMIT, []

    def dataset_info(self, repo: str) -> "Hub":
        self.asked.append(repo)
        return self

    @property
    def sha(self) -> str:
        return self.commit

    def download(self, repo: str, name: str, repo_type: str, revision: str) -> str:
        assert repo_type == "dataset"
        self.asked.append((repo, name, revision))
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = [{"id": f"sample_{n}", "code": "", "input": "1", "output": "1"} for n in range(800)]
        path.write_text("".join(json.dumps(r) + "\n" for r in rows))
        return str(path)


@pytest.fixture
def hub(tmp_path, monkeypatch) -> Hub:
    hub = Hub(tmp_path / "hub")
    monkeypatch.delenv("BYROTE_DATA", raising=False)
    (tmp_path / "data").mkdir()
    monkeypatch.setattr(paths, "data", lambda: tmp_path / "data")
    monkeypatch.setattr(huggingface_hub, "HfApi", lambda: hub)
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", hub.download)
    return hub


def test_a_revision_is_pinned_from_the_hubs_own_answer_and_enforced_afterwards(hub, capsys):
    repo = "cruxeval-org/cruxeval"
    assert len(benchmarks.load("cruxeval")) == 800
    assert hub.asked == [repo, (repo, "test.jsonl", COMMIT)]
    pins = paths.data() / "revisions.json"
    assert json.loads(pins.read_text()) == {repo: COMMIT}
    assert f"{repo}: revision {COMMIT} pinned in {pins}" in capsys.readouterr().out
    hub.commit = "f" * 40  # the hub moves on
    hub.asked.clear()
    benchmarks.load("cruxeval_input")
    assert hub.asked == [(repo, "test.jsonl", COMMIT)]
    assert json.loads(pins.read_text()) == {repo: COMMIT}
    assert capsys.readouterr().out == ""


def test_other_pins_are_kept(hub):
    pins = paths.data() / "revisions.json"
    pins.write_text('{"org/other": "1"}')
    benchmarks.load("cruxeval")
    assert json.loads(pins.read_text()) == {"org/other": "1", "cruxeval-org/cruxeval": COMMIT}


@pytest.mark.parametrize("name, file", [("mbpp", "mbpp.jsonl"), ("cruxeval", "cruxeval.jsonl")])
def test_a_hub_that_cannot_be_reached_says_what_to_get_and_where_to_put_it(
    name, file, hub, monkeypatch, tmp_path
):
    def unreachable(*_, **__):
        raise ConnectionError("no network")

    monkeypatch.setattr(hub, "dataset_info", unreachable)
    monkeypatch.setenv("BYROTE_DATA", str(tmp_path))  # a folder without the file
    with pytest.raises(FileNotFoundError) as error:
        benchmarks.load(name)
    source = sources.SOURCES[name]
    for part in (name, source.hub, file, source.licence, str(source.records), "BYROTE_DATA="):
        assert part in str(error.value)
    assert "ConnectionError" in str(error.value)
    assert not (paths.data() / "revisions.json").exists()


def test_a_hub_that_gives_no_file_pins_nothing(hub, monkeypatch):
    def missing(*_, **__):
        raise OSError("404")

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", missing)
    with pytest.raises(FileNotFoundError, match="cruxeval.jsonl"):
        benchmarks.load("cruxeval")
    assert not (paths.data() / "revisions.json").exists()
