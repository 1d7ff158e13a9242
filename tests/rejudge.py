"""Judges stored generations of real models again, and compares with the verdicts on record.

    python tests/rejudge.py [word …]       all sets, or those with one of the words in their name

Reads ../shared/data (BYROTE_DATA puts it elsewhere) through the replay engine. Every answer is
judged twice: as it was stored, which must agree with the recomputed status of the very program,
and through our extraction, which may only repair. Programs run in the sandbox and nowhere else.
Prints a table (how many passed, how many verdicts agree), pass@k, and every difference with its
reason; exit status 1 if one has none, or if a set agrees on fewer than 99.5 % of its programs.
"""

import ast
import dataclasses
import gzip
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

DATA = Path(os.environ.get("BYROTE_DATA") or Path(__file__).parents[2] / "shared" / "data")
os.environ["BYROTE_DATA"] = str(DATA)  # where the benchmarks look

from byrote import benchmarks, operators  # noqa: E402
from byrote.engines import Request, Sampling  # noqa: E402
from byrote.engines.replay import Replay  # noqa: E402
from byrote.pipeline.judging import program_of  # noqa: E402
from byrote.records import Variant  # noqa: E402
from byrote.sandbox import Limits, Outcome, Program, run  # noqa: E402
from byrote.stats import mean_pass_at_k  # noqa: E402

AGREEMENT = 0.995
HEAD = "| set | programs | published | recomputed | as stored | agree | extracted | agree |"
CHECKS = "checks/recomputed_status.jsonl.gz"
CODET = "codet/HumanEval_codegen16B_temp0.8_topp0.95_num100_max300_code_solution.jsonl.gz"
CRUX = (("codellama-7b", "output"), ("codellama-7b", "input"), ("gpt-3.5-turbo-0613", "input"))
IMPORTS = (
    "".join(  # what the recomputation put in front of LDB's programs
        f"import {name}\n"
        for name in "math re sys copy datetime itertools collections heapq functools".split()
    )
    + "from typing import *\nfrom collections import *\n"
)
TOP_LEVEL = re.compile(r"\n(?:class|def|#|if|print|assert)")  # where CodeT's samples end


class Case(NamedTuple):
    """One stored answer: as a program of its own, and as our extraction makes it one."""

    key: str  # number of the task, or number#sample
    stored: Program
    extracted: Program


class Set(NamedTuple):
    """One set of generations and the verdicts that its file holds."""

    name: str
    cases: list[Case]
    published: dict[str, bool]
    seconds: float  # the limit of the recomputation


class Difference(NamedTuple):
    """A program on which two verdicts differ; `reason` is "" when nobody has found it."""

    name: str  # set and key
    told: str
    reason: str


class Result(NamedTuple):
    """What judging a set gave."""

    line: list
    rates: list[str]
    differences: list[Difference]
    agrees: bool


def sets(wanted: Callable[[str], bool]) -> Iterator[Set]:
    """The wanted sets, in the order of the table."""
    for benchmark in ("humaneval", "mbpp", "mbpp_sanitized"):
        if wanted(name := f"canon/{benchmark}"):
            known = [(v, "", v.reference) for v in variants(benchmark)]
            yield Set(name, cases(known, whole), {}, 5)
    for model, way in CRUX:
        folder = f"cruxeval/generations/{model}_temp0.2_{way}"
        benchmark = {"output": "cruxeval", "input": "cruxeval_input"}[way]
        if wanted(name := f"gen/crux_{model}_{way}"):
            found = answers(f"{folder}/generations.json.gz", benchmark, samples=10)
            yield Set(name, cases(found, whole), scored(f"{folder}/scored.json.gz"), 3)
    for file in sorted(DATA.glob("generations_ldb/*/*_*.gz")):
        stem = file.name.removeprefix("seed_").removesuffix(".jsonl.gz")
        if wanted(name := f"gen/ldb_{file.parent.name}_{stem}"):
            found = answers(file, "mbpp_ldb" if "mbpp" in name else "humaneval")
            yield Set(name, cases(found, with_imports), solved(file), 5)
    for file in sorted(DATA.glob("generations_evalplus/*.gz")):
        if wanted(name := f"gen/evalplus_{file.name.partition('_temp_0.0')[0]}"):
            found = answers(file, "humaneval" if file.name[0] == "h" else "mbpp_plus")
            yield Set(name, cases(found, whole), base_status(file), 5)
    if wanted(name := "gen/codet_codegen16B"):
        yield Set(name, cases(answers(CODET, "humaneval", samples=100), cut), {}, 3)


def variants(benchmark: str, path: str | Path = "") -> list[Variant]:
    """The untouched tasks of a benchmark; two editions of MBPP bring tests of their own."""
    own = own_tests(benchmark, path)
    tasks = benchmarks.load("mbpp" if own else benchmark)
    made = {number(t.task_id): operators.apply("original", t, 0.0, 0) for t in tasks}
    return [dataclasses.replace(made[k], **own.get(k, {})) for k in own or made]


def own_tests(benchmark: str, path: str | Path) -> dict[str, dict]:
    """The assertions of the early MBPP+, and those in the `check` functions of a file of LDB."""
    if benchmark == "mbpp_plus":
        rows = lines("mbpp_plus/MbppPlus.jsonl.gz")
        names = {"tests": "assertion", "entry_point": "entry_point"}
        return {number(r["task_id"]): {k: r[name] for k, name in names.items()} for r in rows}
    if benchmark == "mbpp_ldb":
        checks = ((r["task_id"], ast.parse(r["test"]).body) for r in lines(path))
        bodies = (
            (task, [n.body for n in check if hasattr(n, "body")][0]) for task, check in checks
        )
        return {number(task): {"tests": ast.unparse(body)} for task, body in bodies}
    return {}


def answers(path: str | Path, benchmark: str, samples: int = 1) -> Iterator[tuple]:
    """Variant, mark of the sample and text of every answer that the replay engine gives."""
    wanted = [Request(v, Sampling(), n) for v in variants(benchmark, path) for n in range(samples)]
    for request, answer in Replay(DATA / path).generate(wanted):
        yield request.variant, f"#{request.sample}" if samples > 1 else "", answer.text


def cases(found: Iterable[tuple], plain: Callable[[Variant, str], Program]) -> list[Case]:
    """Each answer in both forms."""
    return [Case(number(v.task_id) + n, plain(v, t), program_of(v, t)) for v, n, t in found]


def whole(variant: Variant, text: str) -> Program:
    """The stored text as it is; a prediction has no other form than the official rule's."""
    if variant.kind in ("output", "input"):
        return program_of(variant, text)
    return Program(text, variant.tests, variant.setup, variant.entry_point)


def with_imports(variant: Variant, text: str) -> Program:
    """The stored text behind the imports that LDB's programs take for granted."""
    return whole(variant, IMPORTS + text if text.strip() else "")


def cut(variant: Variant, text: str) -> Program:
    """Prompt and sample, cut at the first statement at the left margin."""
    return whole(variant, variant.prompt + TOP_LEVEL.split(text, maxsplit=1)[0])


def lines(path: str | Path) -> list[dict]:
    with gzip.open(DATA / path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def number(name: str) -> str:
    """HumanEval/3, mbpp/3, sample_3 and 3 are all 3; a sample number stays behind it."""
    return re.sub(r"^\D*", "", str(name))


def scored(path: str) -> dict[str, bool]:
    if "gpt" in path:  # not stored
        return {}
    found = lines(path)[0]["raw_scored_generations"].items()
    return {f"{number(k)}#{n}": right for k, row in found for n, right in enumerate(row)}


def solved(file: Path) -> dict[str, bool]:
    return {number(row["task_id"]): row["is_solved"] for row in lines(file)}


def base_status(file: Path) -> dict[str, bool]:
    found = lines(file)[0].get("eval", {}) if ".json." in file.name else {}
    return {number(k): rows[0]["base_status"] == "pass" for k, rows in found.items()}


def judge(programs: Iterable[Program], seconds: float) -> dict[Program, Outcome]:
    """The outcome of every program, each run once."""
    unique = list(dict.fromkeys(programs))
    return dict(zip(unique, run(unique, Limits(seconds, seconds)), strict=True))


def compare(chosen: Set, recomputed: dict[str, str]) -> Result:
    """Judge one set and hold the outcomes against both records."""
    found = judge((p for c in chosen.cases for p in c[1:]), chosen.seconds)
    stored = {c.key: found[c.stored] for c in chosen.cases}
    ours = {c.key: found[c.extracted] for c in chosen.cases}
    check = {number(k): status for k, status in recomputed.items()}
    same = sum(passed(stored[k]) == (check[k] == "pass") for k in stored if k in check)
    end = sum(passed(ours[k]) == right for k, right in chosen.published.items())
    published, status = chosen.published.values(), [*check.values()]
    line = [
        *(chosen.name, len(chosen.cases)),
        *(sum(published) if published else "", status.count("pass") if status else ""),
        *(sum(map(passed, stored.values())), f"{same} of {len(check)}" if check else ""),
        *(sum(map(passed, ours.values())), f"{end} of {len(published)}" if published else ""),
    ]
    differing = [*against_record(chosen, stored, check), *against_text(chosen, stored, ours)]
    told = rates(chosen.name, stored, ours)
    return Result(line, told, differing, agrees=same >= AGREEMENT * len(check))


def against_record(chosen: Set, stored: dict, check: dict) -> Iterator[Difference]:
    """The programs whose verdict is not the recomputed one, or the published if there is none."""
    record = check or {k: "pass" if v else "fail" for k, v in chosen.published.items()}
    for key, outcome in stored.items():
        if key in record and passed(outcome) != (record[key] == "pass"):
            name = f"{chosen.name} {key}"
            told = f"on record {record[key]}, ours {outcome.outcome} {outcome.error:.80}"
            yield Difference(name, told, reason(name, outcome, record[key]))


def reason(name: str, ours: Outcome, check: str) -> str:
    """The reason why one and the same text has two verdicts, "" for none."""
    if "timeout" in (check, ours.outcome):
        return "the time limit: wall time there, CPU time here"
    if "ModuleNotFoundError" in check and passed(ours):
        return "imports a package that is installed here and was not there"
    return known(name)


def against_text(chosen: Set, stored: dict, ours: dict) -> Iterator[Difference]:
    """The answers whose verdict extraction changed; only a repair has a reason."""
    for c in chosen.cases:
        a, b = stored[c.key], ours[c.key]
        if passed(a) != passed(b):
            told = f"as stored {a.outcome} {a.error:.60}, extracted {b.outcome} {b.error:.60}"
            name = f"{chosen.name} {c.key}"
            yield Difference(name, told, known(name) or repair(c, b))


def repair(case: Case, ours: Outcome) -> str:
    """What extraction did to a text whose verdict it changed, "" if it is no repair."""
    if "NameError" in ours.error and case.stored.source.startswith(IMPORTS):
        return "takes for granted an import that LDB put in front"
    if not passed(ours):
        return ""
    added = case.stored.source.removeprefix(IMPORTS).strip() in case.extracted.source
    return "the prompt's part was put in front" if added else "text around was dropped"


REASONS = {
    r"canon/mbpp (367|927)$": "the setup uses a class of the solution, and runs after it here",
    r"ldb_\w*mbpp_\S+ (56|349)$": "LDB's `check` replaces the program's own there",
    r"mbpp_starcoder 480$": "a tie is broken by the order of a set; our hash seed is fixed",
    r"codet_codegen16B 49#(56|80)$": "1,101 calls deep; Python's own limit is 1,000, more there",
    r"codet_codegen16B 50#48$": "a second program follows; CodeT cuts at its `class`",
}


def known(name: str) -> str:
    return next((why for sign, why in REASONS.items() if re.search(sign, name)), "")


def passed(outcome: Outcome) -> bool:
    return outcome.outcome == "passed"


def rates(name: str, stored: dict[str, Outcome], ours: dict[str, Outcome]) -> list[str]:
    """pass@k of a set with several samples a task, in percent."""
    sizes, told = Counter(key.partition("#")[0] for key in stored), []
    counts = list(sizes.values())
    for k in (k for k in (1, 5, 10, 100) if 1 < max(counts) and k <= min(counts)):
        for form, outcomes in (("as stored", stored), ("extracted", ours)):
            right = Counter(key.partition("#")[0] for key, o in outcomes.items() if passed(o))
            value = 100 * mean_pass_at_k(counts, [right[task] for task in sizes], k)
            told.append(f"- {name}: pass@{k} {value:.4f} {form}")
    return told


def main(words: list[str]) -> int:
    if not (DATA / CHECKS).exists():
        print(f"{DATA / CHECKS} is absent: set BYROTE_DATA to the folder of the shared data")
        return 2
    checks = {row["set"]: row["status"] for row in lines(CHECKS)}
    print(HEAD + "\n|" + " --- |" * 8)
    results = []
    for chosen in sets(lambda name: not words or any(word in name for word in words)):
        results.append(compare(chosen, checks.get(chosen.name, {})))
        print("| " + " | ".join(map(str, results[-1].line)) + " |", flush=True)
    differences = [d for r in results for d in r.differences]
    print("", *(rate for r in results for rate in r.rates), "", sep="\n")
    for d in differences:
        print(f"- {d.name}: {d.told} ({d.reason or 'NO REASON'})")
    print("", *Counter(d.reason or "NO REASON" for d in differences).items(), sep="\n")
    return int(not all(r.agrees for r in results) or not all(d.reason for d in differences))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
