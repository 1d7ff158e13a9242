"""The published study: which conditions are asked, and the run that fills them.

python -m byrote.study            ask the model for every answer that is missing
python -m byrote.study publish    write data/published from the store
python -m byrote.study live       ask for twenty stored answers again and compare
"""

import sys
from typing import NamedTuple

import pandas as pd

from byrote import engines, pipeline
from byrote.engines import Sampling
from byrote.operators.contracts import SIDES
from byrote.pipeline import ORIGINAL, Condition, rewording
from byrote.store import Store

MODEL = "smollm2-135m-instruct"
SEED = 0
GREEDY = Sampling(max_tokens=128)
SPREAD = Sampling(temperature=0.2, max_tokens=128)
SPREAD_SAMPLES = 5
SPREAD_TASKS = 40  # the first of the ladder
MODES = tuple(Condition("affine", mode, "1") for mode in SIDES)
FULL = Condition("affine", "full", "1")
CONTROL = Condition("affine", "contract_only", "1")
EXTRA = (  # the paper's own parameters, and the other two wordings
    Condition("affine_fixed", "full", "1"),
    Condition("affine", "full", "2"),
    Condition("affine", "full", "3"),
)
SYNONYMS = tuple(Condition("synonyms", level=tenth / 10) for tenth in range(1, 7))
DEAD_CODE, FILLER = Condition("dead_code"), Condition("filler")
REWORDINGS = tuple(Condition("reword", level=float(far)) for far in (1, 3, 5))  # of five
FAMILIES = tuple(Condition(name, "full", "1") for name in ("base_read", "base_write", "cubic"))


class Part(NamedTuple):
    """One block of the published run."""

    benchmark: str
    conditions: tuple[Condition, ...]
    sampling: Sampling = GREEDY
    samples: int = 1
    limit: int = 0  # the first tasks only; 0 is all


# in the order in which they are asked
PARTS = (
    Part("ladder", (ORIGINAL, *MODES)),
    Part("humaneval", (ORIGINAL, *MODES)),
    Part("ladder", EXTRA),
    Part("ladder", (ORIGINAL, FULL), SPREAD, SPREAD_SAMPLES, SPREAD_TASKS),
    Part("ladder", (*SYNONYMS, DEAD_CODE, FILLER, *REWORDINGS, *FAMILIES)),
    Part("humaneval", (SYNONYMS[1], SYNONYMS[3], DEAD_CODE, REWORDINGS[0])),
)
SECONDS_PER_TOKEN = {"prompt": 1 / 264, "new": 1 / 40}  # two quiet cores, batches of 16


def run(store: Store | None = None) -> pd.DataFrame:
    """Every answer of the published study: stored ones are found, missing ones asked for."""
    store = store or Store()
    written = [
        rewording.generations(_tasks(part), MODEL, store=store) for part in PARTS if _rewords(part)
    ]
    parts = [(_variants(part, store), part.sampling, part.samples) for part in PARTS]
    _announce(parts, store)
    frames = [
        pipeline.generations(variants, [MODEL], sampling, samples, store)
        for variants, sampling, samples in parts
    ]
    return pd.concat([*written, *frames], ignore_index=True)


def _tasks(part: Part) -> pd.DataFrame:
    return pipeline.tasks([part.benchmark], part.limit)


def _rewords(part: Part) -> bool:
    return any(c.operator == "reword" for c in part.conditions)


def _variants(part: Part, store: Store) -> pd.DataFrame:
    tasks = _tasks(part)
    if _rewords(part):  # the model's own words where a task brings no rewording
        tasks = rewording.reworded(tasks, MODEL, store=store)
    return pipeline.variants(tasks, part.conditions, SEED, store)


def _announce(parts: list, store: Store) -> None:
    """Say what will be asked before the first question: answers, tokens, hours."""
    engine = engines.open(MODEL)
    missing = []
    for variants, sampling, samples in parts:
        wanted = pipeline.requests(variants, sampling, samples)
        keys = {engines.request_key(engine, r): r for r in wanted}
        found = store.find("generations", keys)
        missing += [r for k, r in keys.items() if k not in found]
    prompt = sum(len(engines.prompts.question(r.variant)) // 3 for r in missing)
    new = sum(r.sampling.max_tokens // 2 for r in missing)
    hours = (prompt * SECONDS_PER_TOKEN["prompt"] + new * SECONDS_PER_TOKEN["new"]) / 3600
    print(
        f"{MODEL}: {len(missing)} answers to ask for, about {prompt:,} tokens to read and {new:,} "
        f"to write, about {hours:.1f} hours on two quiet cores",
        flush=True,
    )


def publish(store: Store | None = None) -> None:
    """Write the study's answers and their provenance to data/published; all must be stored."""
    store = store or Store()
    frame = run(store)
    stored = store.find("generations", frame["request"], published=True)
    extra = [{k: stored[name][k] for k in ("canonical", "provenance")} for name in frame["request"]]
    frame = pd.concat([frame, pd.DataFrame(extra, dtype="str")], axis=1)
    frame = frame.sort_values(["model", *frame.columns[:6], "sampling", "sample"])
    target = store.published / "generations.parquet"
    target.parent.mkdir(parents=True, exist_ok=True)
    whole = target.with_suffix(".partial")  # a run that is killed leaves the old bundle
    frame.to_parquet(whole, index=False, compression="zstd")
    whole.replace(target)
    print(f"{target}: {len(frame)} answers, {target.stat().st_size / 1e6:.1f} MB")
    _publish_distances(store)


def _publish_distances(store: Store) -> None:
    """Write how far the rewordings that are asked are from their tasks, so that replay knows."""
    found = []
    for part in filter(_rewords, PARTS):
        tasks = rewording.reworded(_tasks(part), MODEL, store=store)
        found.append(rewording.distances(_variants(part, store), tasks, store))
    if found:
        target = rewording.publish(pd.concat(found, ignore_index=True), store)
        print(f"{target}: distances of {sum(map(len, found))} rewordings")


def live(count: int = 20) -> int:
    """Ask for `count` random stored answers again; prints how many came back identical."""
    store = Store()
    greedy = [part for part in PARTS if part.sampling == GREEDY]
    wanted = [r for part in greedy for r in pipeline.requests(_variants(part, store), GREEDY)]
    engine = engines.open(MODEL)
    keys = {engines.request_key(engine, r): r for r in wanted}
    stored = store.find("generations", keys)
    if not stored:
        raise RuntimeError(
            f"no stored answers of {MODEL} to ask again; make them with: python -m byrote.study"
        )
    drawn = pd.Series(list(stored)).sample(min(count, len(stored))).tolist()
    same = 0
    try:
        for request, answer in engine.generate([keys[k] for k in drawn]):
            before = stored[engines.request_key(engine, request)]["text"]
            same += answer.text == before
            if answer.text != before:
                print(_difference(request, before, answer.text))
    finally:
        engine.close()
    print(f"live check: {same} of {len(drawn)} stored answers came back identical from {MODEL}")
    return len(drawn) - same


def _difference(request: engines.Request, before: str, after: str) -> str:
    where = next(
        (n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b),
        min(len(before), len(after)),
    )
    v = request.variant
    return (
        f"{v.task_id} {v.operator} {v.mode}: differs from character {where} on:\n"
        f"  stored {before[where : where + 60]!r}\n  now    {after[where : where + 60]!r}"
    )


if __name__ == "__main__":
    known = {"": run, "publish": publish, "live": live}
    word = " ".join(sys.argv[1:])
    if word not in known:
        sys.exit(f"unknown word {word!r}; known: publish, live, or none to ask what is missing")
    known[word]()
