"""The stages: tasks, variants, generations, verdicts. Each reads what exists and does the rest.

Frames travel between stages. Finished work is found in the store by the hash of its request, and
results are written as they arrive, so a run that was broken off goes on where it stopped.
"""

import dataclasses
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import pandas as pd
from tqdm import tqdm

from byrote import benchmarks, engines, operators, paths, registry
from byrote.engines import Request, Sampling
from byrote.pipeline.execution import judged
from byrote.pipeline.judging import program_of
from byrote.records import Generation, Task, Variant, Verdict, check, rows, table
from byrote.sandbox import Limits, Program
from byrote.store import Store

LIMITS = Limits()
# for questions that only a quick yes answers: does the bare reference pass, or a composition?
QUICK = Limits(seconds=3, cpu_seconds=3)


class Condition(NamedTuple):
    """What is done to a task: one operator in one mode, wording and level."""

    operator: str = "original"
    mode: str = ""
    wording: str = ""
    level: float = 1.0


ORIGINAL = Condition(level=0.0)


def refuse_unknown(models: Iterable[str], names: Iterable[str]) -> None:
    """Raise ValueError for a model or benchmark that does not exist, before any work is done."""
    for model in models:
        engines.open(model).close()
    for name in names:
        registry.find("benchmark", registry.BENCHMARKS, name)


def tasks(names: Iterable[str], limit: int = 0) -> pd.DataFrame:
    """The tasks of the named benchmarks, the first `limit` of each (all for 0)."""
    return table((t for name in names for t in benchmarks.load(name, limit)), Task)


def variants(
    tasks: pd.DataFrame,
    conditions: Sequence[Condition],
    seed: int = 0,
    store: Store | None = None,
) -> pd.DataFrame:
    """Every task under every condition; `sound` says that its own reference passed its own tests.

    Nothing unsound is ever shown to a model. `floor` says that the untransformed reference
    passes too, so that a memorizer would not be noticed there (SPEC 3.3 step 7).
    """
    store = store or Store()
    known = rows(tasks, Task)
    made = [
        operators.apply(c.operator, task, c.level, seed, c.mode, c.wording)
        for c in conditions
        for task in known
    ]
    plain = {task.task_id: task.reference for task in known}
    wrapped = {n: _program(v, v.reference) for n, v in enumerate(made) if not v.reason}
    coded = {n for n, v in enumerate(made) if v.family == "isomorphism"}
    bare = {n: _program(made[n], plain[made[n].task_id]) for n in wrapped if n in coded}
    found = judged(wrapped, LIMITS, store, "references")
    floors = judged(bare, QUICK, store, "bare references")
    checked = []
    for n, v in enumerate(made):
        if not v.reason:
            outcome = found[n]
            sound = outcome["outcome"] == "passed"
            floor = n in floors and floors[n]["outcome"] == "passed"
            reason = "" if sound else f"its reference {_told(outcome)}"
            v = dataclasses.replace(v, sound=sound, floor=floor and sound, reason=reason)
        checked.append(v)
    return table(checked, Variant)


def _program(v: Variant, source: str) -> Program:
    return Program(source, v.tests, v.setup, v.entry_point)


def _told(outcome: dict) -> str:
    return f"{outcome['outcome']} ({outcome['outcomes']}): {outcome['error']}".strip(": ")


def generations(
    variants: pd.DataFrame,
    models: Iterable[str],
    sampling: Sampling | None = None,
    samples: int = 1,
    store: Store | None = None,
    fresh: bool = False,
) -> pd.DataFrame:
    """The answers of `models` to the sound `variants`: stored ones, and the rest asked for now.

    With `fresh` stored answers are not looked at; BYROTE_FRESH hides the published ones only, so
    that a fresh run which was broken off goes on. With BYROTE_LIGHT set no model is opened:
    answers that are not stored are an error that says how many.
    """
    if samples < 1:
        raise ValueError(f"samples={samples}: 1 or more answers to each question")
    opened = [engines.open(name) for name in models]  # a wrong name ends here, before any answer
    names = [engine.name for engine in opened]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"models {twice} stand twice in {names}; name each once")
    store = store or Store()
    sampling = sampling or Sampling()
    wanted = requests(variants, sampling, samples)
    frames = [_of_model(engine, wanted, store, fresh) for engine in opened]
    return pd.concat(frames, ignore_index=True) if frames else table([], Generation)


def requests(variants: pd.DataFrame, sampling: Sampling, samples: int = 1) -> list[Request]:
    """The questions that the sound variants make."""
    return [
        Request(v, sampling, sample)
        for v in rows(variants[variants["sound"]], Variant)
        for sample in range(samples)
    ]


def _of_model(
    engine: engines.Engine, wanted: list[Request], store: Store, fresh: bool
) -> pd.DataFrame:
    try:
        keyed = [(engines.request_key(engine, request), request) for request in wanted]
        if not engine.live:
            names = {id(request): name for name, request in keyed}
            found = {names[id(r)]: a._asdict() for r, a in engine.generate(wanted)}
        else:
            found = {} if fresh else store.find("generations", (name for name, _ in keyed))
            missing = {k: r for k, r in keyed if k not in found}
            if missing:
                found |= _asked(engine, missing, store)
        # a request whose answer was never produced is missing, not wrong
        return table(
            (_generation(engine.name, k, found[k], r) for k, r in keyed if k in found), Generation
        )
    finally:
        engine.close()


def _generation(model: str, name: str, answer: dict, request: Request) -> Generation:
    return Generation(
        **{column: getattr(request.variant, column) for column in Variant.KEY},
        model=model,
        sampling=str(request.sampling),
        sample=request.sample,
        request=name,
        **{f: answer[f] for f in engines.Answer._fields},
    )


def _asked(engine: engines.Engine, missing: dict[str, Request], store: Store) -> dict[str, dict]:
    """Ask the model, storing each batch as it arrives."""
    if paths.flag("BYROTE_LIGHT"):
        raise RuntimeError(
            f"{engine.name}: {len(missing)} answers are not stored and --light asks no model; "
            "run ./run_all.sh without --light"
        )
    by_request = {id(r): k for k, r in missing.items()}
    provenance = " ".join(f"{k}={v}" for k, v in engine.provenance().items() if v)
    found = {}
    with tqdm(total=len(missing), desc=engine.name, unit="answer") as bar:
        for request, answer in engine.generate(list(missing.values())):
            name = by_request[id(request)]
            found[name] = answer._asdict() | {
                "canonical": str(engine.canonical(request)),
                "provenance": provenance,
            }
            if answer.finish != "error":  # a fault may be mended: it is asked again next time
                store.put("generations", [(name, found[name])])
            bar.update()
    return found


def verdicts(
    generations: pd.DataFrame,
    variants: pd.DataFrame,
    store: Store | None = None,
    limits: Limits = LIMITS,
) -> pd.DataFrame:
    """What judging every generation gave; the same program on the same tests is judged once."""
    store = store or Store()
    check(generations, Generation)
    by_key = {tuple(getattr(v, c) for c in Variant.KEY): v for v in rows(variants, Variant)}
    answers = rows(generations, Generation)
    programs = {n: program_of(_variant_of(a, by_key), a.text) for n, a in enumerate(answers)}
    found = judged(programs, limits, store, "verdicts")
    return table(
        (
            Verdict(
                **{column: getattr(a, column) for column in Verdict.KEY},
                program=programs[n].source,
                **found[n],
            )
            for n, a in enumerate(answers)
        ),
        Verdict,
    )


def _variant_of(answer: Generation, by_key: dict[tuple, Variant]) -> Variant:
    name = tuple(getattr(answer, c) for c in Variant.KEY)
    if name not in by_key:
        raise ValueError(f"no variant {name} for an answer of {answer.model}; pass all variants")
    return by_key[name]
