"""The verdicts that ship on other people's samples: what they hold, and that they are right."""

import gzip
import json
import os
import re
from dataclasses import fields
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from byrote.pipeline import replayed
from byrote.pipeline.replayed import Replayed

SHARED = Path(os.environ.get("BYROTE_DATA") or Path(__file__).parents[3] / "shared" / "data")
CHECKS = SHARED / "checks" / "recomputed_status.jsonl.gz"
# (model, benchmark): tasks passed as published beside the samples, ours, why they differ
PUBLISHED = {
    ("CodeLlama-34B-Instruct", "humaneval"): (81, 81, ""),
    ("StarCoder", "humaneval"): (64, 62, "two take for granted an import that LDB put in front"),
    ("gpt-3.5-turbo-0613", "humaneval"): (
        121,
        123,
        "extraction puts the prompt's part in front of two",
    ),
    ("gpt-4-1106-preview", "humaneval"): (143, 144, "extraction drops an empty copy of one"),
    ("Llama-3-8B", "humaneval"): (45, 45, ""),
    ("Llama-3-8B-Instruct", "humaneval"): (105, 105, ""),
    ("Mistral-7B-Instruct-v0.2", "humaneval"): (74, 74, ""),
    ("CodeLlama-34B-Instruct", "mbpp"): (256, 256, ""),
    ("StarCoder", "mbpp"): (258, 258, ""),
    ("gpt-3.5-turbo-0613", "mbpp"): (338, 331, "imports that LDB put in front, mostly"),
    ("Llama-3-8B", "mbpp_sanitized"): (228, 232, "another edition's tests"),
    ("Llama-3-8B-Instruct", "mbpp_sanitized"): (249, 247, "another edition's tests"),
    ("Mistral-7B-Instruct-v0.2", "mbpp_sanitized"): (172, 170, "another edition's tests"),
}
RECOMPUTED = {  # the set in the recomputation, the model, the benchmark
    "gen/evalplus_humaneval_meta-llama--Meta-Llama-3-8B": ("Llama-3-8B", "humaneval"),
    "gen/evalplus_humaneval_meta-llama--Meta-Llama-3-8B-Instruct": (
        *("Llama-3-8B-Instruct", "humaneval"),
    ),
    "gen/evalplus_humaneval_mistralai--Mistral-7B-Instruct-v0.2": (
        *("Mistral-7B-Instruct-v0.2", "humaneval"),
    ),
    "gen/codet_codegen16B": ("CodeGen-16B-mono", "humaneval"),
    "gen/crux_codellama-7b_output": ("CodeLlama-7B", "cruxeval"),
    "gen/crux_codellama-7b_input": ("CodeLlama-7B", "cruxeval_input"),
    "gen/crux_gpt-3.5-turbo-0613_input": ("gpt-3.5-turbo-0613", "cruxeval_input"),
}
SOLVED = {  # LDB's own verdicts, with its imports in front
    "humaneval/seed_codellama": ("CodeLlama-34B-Instruct", "humaneval"),
    "humaneval/seed_starcoder": ("StarCoder", "humaneval"),
    "humaneval/seed_gpt-3.5-turbo-0613": ("gpt-3.5-turbo-0613", "humaneval"),
    "humaneval/seed_gpt-4-1106-preview": ("gpt-4-1106-preview", "humaneval"),
    "mbpp/seed_codellama": ("CodeLlama-34B-Instruct", "mbpp"),
    "mbpp/seed_starcoder": ("StarCoder", "mbpp"),
    "mbpp/seed_gpt-3.5-turbo-0613": ("gpt-3.5-turbo-0613", "mbpp"),
}


@pytest.fixture(scope="module")
def shipped() -> pd.DataFrame:
    rows = replayed.rows()
    return rows.assign(
        benchmark=rows["task_id"].str.split("/").str[0], passed=rows["outcome"] == "passed"
    )


def of(shipped: pd.DataFrame, model: str, benchmark: str) -> pd.DataFrame:
    return shipped[(shipped["model"] == model) & (shipped["benchmark"] == benchmark)]


def test_the_file_has_exactly_the_columns_of_a_row_and_is_small():
    names = pq.read_schema(replayed.file()).names
    assert names == [f.name for f in fields(Replayed)]
    assert replayed.file().stat().st_size < 300_000


def test_no_column_can_hold_a_program_or_an_answer(shipped):
    assert not {"text", "program", "prompt", "error"} & set(shipped.columns)
    texts = shipped.select_dtypes("str")
    for name in texts.columns.drop("outcomes"):
        values = texts[name].drop_duplicates()
        assert values.str.fullmatch(r"[\w./@=+ -]{0,80}").all(), name
    assert shipped["outcomes"].str.fullmatch(r"[.FETRC-]*").all()


def test_every_row_comes_from_a_set_that_allows_it(shipped):
    assert set(shipped["licence"]) == {"MIT", "Apache-2.0"}
    assert shipped["source"].str.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}").all()
    assert (shipped.groupby("source")["licence"].nunique() == 1).all()


def test_the_readme_names_every_source_with_commit_licence_and_number_of_verdicts(shipped):
    readme = (replayed.file().parent / "README.md").read_text(encoding="utf-8")
    lines = [re.sub(r"\s*\|\s*", "|", line) for line in readme.splitlines()]
    for (source, licence), part in shipped.groupby(["source", "licence"]):
        where, commit = source.split("@")
        [line] = [line for line in lines if line.startswith(f"|{where}|{commit}")]
        assert f"|{licence}" in line and line.endswith(f"|{len(part):,}|")
        assert all(model in line for model in set(part["model"]))


def test_the_models_have_one_size_each_and_closed_ones_none(shipped):
    models = replayed.models(shipped)
    sizes = models.groupby("model")["billions"].agg(["nunique", "first"])
    closed = sizes.index.str.contains("gpt", case=False)
    assert (sizes.loc[closed, "nunique"] == 0).all() and (sizes.loc[~closed, "nunique"] == 1).all()
    assert models["answers"].sum() == len(shipped) and set(models["nature"]) == {"real"}
    for name, size in sizes.loc[~closed, "first"].items():
        told = re.search(r"-(\d+)B", name)
        assert size == (int(told[1]) if told else {"StarCoder": 15.5}[name])


def test_a_model_with_samples_of_two_sources_has_a_row_for_each(shipped):
    models = replayed.models(shipped)
    gpt = models[models["model"] == "gpt-3.5-turbo-0613"]
    assert list(gpt["benchmarks"]) == ["humaneval, mbpp", "cruxeval_input"]
    assert list(gpt["licence"]) == ["Apache-2.0", "MIT"]


@pytest.mark.parametrize(("model", "benchmark"), PUBLISHED, ids=" on ".join)
def test_as_many_tasks_pass_as_published_or_the_difference_has_a_reason(shipped, model, benchmark):
    published, ours, why = PUBLISHED[model, benchmark]
    rows = of(shipped, model, benchmark)
    assert rows["passed"].sum() == ours and rows["task_id"].is_unique
    assert bool(why) == (ours != published)


@pytest.mark.parametrize(
    ("benchmark", "published"), [("cruxeval", 34.2125), ("cruxeval_input", 35.95)]
)
def test_cruxeval_scores_are_the_published_ones(shipped, benchmark, published):
    rows = of(shipped, "CodeLlama-7B", benchmark)
    assert len(rows) == 8000 and 100 * rows["passed"].mean() == pytest.approx(published)


def test_codegen_passes_as_often_as_in_the_recomputation(shipped):
    rows = of(shipped, "CodeGen-16B-mono", "humaneval")
    assert rows["task_id"].nunique() == 164 and set(rows["sample"]) == set(range(100))
    assert 100 * rows["passed"].mean() == pytest.approx(22.37, abs=0.2)


def agreement(rows: pd.DataFrame, other: dict[str, bool]) -> float:
    """The share of the rows whose verdict is the other judge's; both must hold the same answers."""
    keys = rows["task_id"].str.split("/").str[1]
    keys = keys + "#" + rows["sample"].astype(str) if rows["sample"].max() else keys
    assert set(keys) == set(other)
    return (keys.map(other) == rows["passed"]).mean()


def number(name: object) -> str:
    """Of the task, with its sample where it has several: HumanEval/3, sample_3#0, 3."""
    return re.sub(r"^\D*", "", str(name))


@pytest.mark.skipif(not CHECKS.is_file(), reason=f"{CHECKS} is absent")
@pytest.mark.parametrize("name", RECOMPUTED)
def test_the_verdicts_are_those_of_the_recomputation(shipped, name):
    with gzip.open(CHECKS, "rt", encoding="utf-8") as file:
        [status] = [row["status"] for row in map(json.loads, file) if row["set"] == name]
    other = {number(key): told == "pass" for key, told in status.items()}
    assert agreement(of(shipped, *RECOMPUTED[name]), other) >= 0.985


@pytest.mark.parametrize("name", SOLVED)
def test_the_verdicts_are_those_that_ldb_stored(shipped, name):
    path = SHARED / "generations_ldb" / f"{name}.jsonl.gz"
    if not path.is_file():
        pytest.skip(f"{path} is absent")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        other = {number(row["task_id"]): row["is_solved"] for row in map(json.loads, file)}
    assert agreement(of(shipped, *SOLVED[name]), other) >= 0.97  # 15 of 500 by its imports


def test_a_file_that_is_no_bundle_is_named_with_the_command_that_brings_it_back(tmp_path):
    (tmp_path / "replayed.parquet").write_bytes(b"PAR1")
    with pytest.raises(OSError, match="git checkout -- .*replayed.parquet"):
        replayed.rows(tmp_path / "replayed.parquet")
    with pytest.raises(OSError, match=r"absent.parquet cannot be read.*git checkout"):
        replayed.rows(tmp_path / "absent.parquet")


def test_a_row_of_another_licence_is_refused(tmp_path, shipped):
    shipped.head(3).assign(licence="CC BY-NC 4.0").to_parquet(tmp_path / "r.parquet")
    with pytest.raises(OSError, match="licence: .*CC BY-NC 4.0"):
        replayed.rows(tmp_path / "r.parquet")
