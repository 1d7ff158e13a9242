"""Writes data/published/replayed.parquet: our verdicts on other people's published samples.

    BYROTE_STORE=/tmp/replayed.sqlite python tests/derive_replayed.py

Reads ../shared/data (BYROTE_DATA puts it elsewhere), of which nothing else ships: the rows hold
which task, which model, how the judge found, and where the samples are from; no text. Verdicts are
kept in the store, so a run that was broken off goes on. Licence, repository and commit come from
the folder's MANIFEST.csv. With the word `check` the file on disk is compared, not written.
"""

import ast
import gzip
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pandas as pd

DATA = Path(os.environ.get("BYROTE_DATA") or Path(__file__).parents[2] / "shared" / "data")
os.environ["BYROTE_DATA"] = str(DATA)  # where the benchmarks look

from byrote import pipeline  # noqa: E402
from byrote.pipeline import replayed  # noqa: E402
from byrote.pipeline.replayed import Replayed  # noqa: E402
from byrote.records import rows, table  # noqa: E402
from byrote.store import Store  # noqa: E402

EARLY = "mbpp_plus/MbppPlus.jsonl.gz"  # the edition that ChatGPT was shown
CODET = "HumanEval_codegen16B_temp0.8_topp0.95_num100_max300_code_solution"
NAN = float("nan")
# billions as the publisher names them; bigcode's own page says 15.5 of StarCoder
LDB = (
    ("codellama", "CodeLlama-34B-Instruct", 34, "Code Llama"),  # by LDB's generators/model.py
    ("starcoder", "StarCoder", 15.5, "StarCoder"),
    ("gpt-3.5-turbo-0613", "gpt-3.5-turbo-0613", NAN, "GPT"),
    ("gpt-4-1106-preview", "gpt-4-1106-preview", NAN, "GPT"),
)
EVALPLUS = (
    ("meta-llama--Meta-Llama-3-8B", "Llama-3-8B", 8, "Llama 3"),
    ("meta-llama--Meta-Llama-3-8B-Instruct", "Llama-3-8B-Instruct", 8, "Llama 3"),
    ("mistralai--Mistral-7B-Instruct-v0.2", "Mistral-7B-Instruct-v0.2", 7, "Mistral"),
)
CRUX = (
    ("codellama-7b_temp0.2_output", "cruxeval", "CodeLlama-7B", 7, "Code Llama"),
    ("codellama-7b_temp0.2_input", "cruxeval_input", "CodeLlama-7B", 7, "Code Llama"),
    ("gpt-3.5-turbo-0613_temp0.2_input", "cruxeval_input", "gpt-3.5-turbo-0613", NAN, "GPT"),
)


class Set(NamedTuple):
    """One file of samples: which tasks it answers, and which model wrote it.

    `shown`: the edition whose tests the prompts showed; only tasks with the same tests are judged.
    """

    file: str
    benchmark: str
    model: str
    billions: float
    family: str
    sampling: str = "temperature=0"
    samples: int = 1
    shown: str = ""


def sets() -> Iterator[Set]:
    """Single answers only: nothing debugged after a test run, nothing tuned by the uploader."""
    for stem, *model in LDB:
        yield Set(f"generations_ldb/humaneval/seed_{stem}.jsonl.gz", "humaneval", *model)
    for stem, *model in LDB[:3]:
        yield Set(f"generations_ldb/mbpp/seed_{stem}.jsonl.gz", "mbpp", *model)
    # EvalPlus took the verified edition: its tests agree with the stored status on 1,122 of 1,134
    for stem, *model in EVALPLUS:
        for short, benchmark in (("humaneval", "humaneval"), ("mbpp", "mbpp_sanitized")):
            name = f"generations_evalplus/{short}_{stem}_temp_0.0_eval_results.json.gz"
            yield Set(name, benchmark, *model)
    name = "generations_evalplus/mbpp_chatgpt_temp_0.0.jsonl.gz"
    yield Set(name, "mbpp_sanitized", "ChatGPT", NAN, "GPT", shown=EARLY)
    for folder, benchmark, *model in CRUX:
        name = f"cruxeval/generations/{folder}/generations.json.gz"
        yield Set(name, benchmark, *model, sampling="temperature=0.2", samples=10)
    drawn = "temperature=0.8 top_p=0.95 max_tokens=300"
    codegen = ("CodeGen-16B-mono", 16, "CodeGen")
    yield Set(f"codet/{CODET}.jsonl.gz", "humaneval", *codegen, drawn, samples=100)


def judged(chosen: Set, manifest: pd.DataFrame, store: Store) -> list[Replayed]:
    """The rows of one set, through the same stages as any model's answers."""
    tasks = pipeline.tasks([chosen.benchmark])
    if chosen.shown:
        tasks = tasks[[*map(as_shown(chosen.shown), tasks["cluster"], tasks["tests"])]]
    variants = pipeline.variants(tasks, [pipeline.ORIGINAL], store=store)
    names = [f"replay:{DATA / chosen.file}"]
    answers = pipeline.generations(variants, names, samples=chosen.samples, store=store)
    verdicts = pipeline.verdicts(answers, variants, store)
    line = manifest.loc[chosen.file]
    facts = {
        "model": chosen.model,
        "sampling": chosen.sampling,
        "billions": float(chosen.billions),
        "family": chosen.family,
        "licence": line["licence"].split()[0],
        "source": f"{line['source_repository']}@{line['commit']}",
    }
    unsound = sorted(variants.loc[~variants["sound"], "task_id"])
    passed = (verdicts["outcome"] == "passed").sum()
    print(f"{chosen.file}: {passed} of {len(verdicts)} passed; unsound, left out: {unsound}")
    return rows(verdicts.assign(**facts), Replayed)


def as_shown(path: str) -> Callable[[str, str], bool]:
    """Whether an edition of MBPP has these very tests for this task."""
    with gzip.open(DATA / path, "rt", encoding="utf-8") as file:
        found = {row["task_id"].lower(): row["assertion"] for row in map(json.loads, file)}
    return lambda task, tests: _same(found.get(task, ""), tests)


def _same(one: str, other: str) -> bool:
    return ast.dump(ast.parse(one)) == ast.dump(ast.parse(other))


def derived() -> pd.DataFrame:
    """All rows, in the order of `sets`."""
    manifest = pd.read_csv(DATA / "MANIFEST.csv").set_index("file")
    store = Store()
    return table((row for chosen in sets() for row in judged(chosen, manifest, store)), Replayed)


def main(words: list[str]) -> int:
    if not (DATA / "MANIFEST.csv").exists() or words not in ([], ["check"]):
        print(f"usage: derive_replayed.py [check]; samples are looked for in {DATA}")
        return 2
    frame, target = derived(), replayed.file()
    if words:
        same = frame.equals(replayed.rows())
        print(f"{target}: {'the same' if same else 'OTHER'} rows")
        return int(not same)
    whole = target.with_suffix(".partial")  # a run that is killed leaves the old file
    frame.to_parquet(whole, index=False, compression="zstd")
    whole.replace(target)
    print(f"{target}: {len(frame)} verdicts, {target.stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
