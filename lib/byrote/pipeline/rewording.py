"""Rewordings by a model, and how far rewordings are from their tasks.

A model is asked once for each task that brings no rewording, and its answer is stored like any
other. What passes the checks is shown; whether it still means the same nobody has checked, which
the column `checked` says.
"""

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
from tqdm import tqdm

from byrote import engines, paths, pipeline
from byrote.engines import Sampling, embedding
from byrote.operators import rewording
from byrote.operators.suite import Inapplicable
from byrote.records import Task, Variant, rows, table
from byrote.store import Store, key

SAMPLING = Sampling(max_tokens=160)


def questions(tasks: pd.DataFrame) -> pd.DataFrame:
    """What a model is asked: the prose of each task without rewordings, as a variant."""
    wanted = [_question(task) for task in rows(tasks, Task) if not task.rewordings]
    return table(wanted, Variant)


def _question(task: Task) -> Variant:
    plain = Variant(task.task_id, "rewording", kind="reword")
    try:
        return replace(plain, prompt=rewording.asked(task), sound=True)
    except Inapplicable as reason:
        return replace(plain, reason=str(reason))


def generations(
    tasks: pd.DataFrame, model: str, sampling: Sampling = SAMPLING, store: Store | None = None
) -> pd.DataFrame:
    """What `model` says to `questions`: stored answers, and the rest asked for now.

    Published like the study's other answers. Raises ValueError for a model that only scripts or
    replays.
    """
    engine = engines.open(model)
    engine.close()
    if not engine.live:
        known = ", ".join(engines.MODELS)
        raise ValueError(f"{model} writes no rewordings; name a model that does, such as {known}")
    return pipeline.generations(questions(tasks), [model], sampling, store=store)


def answers(
    tasks: pd.DataFrame, model: str, sampling: Sampling = SAMPLING, store: Store | None = None
) -> pd.DataFrame:
    """One rewording by `model` for each task that has none, and whether it may be shown.

    Columns: task_id, old, new (the prose), prompt (the whole, "" where refused), reason (why
    refused, "" where it is not).
    """
    said = {a.task_id: a for a in generations(tasks, model, sampling, store).itertuples()}
    by_id = {task.task_id: task for task in rows(tasks, Task)}
    found = []
    for q in rows(questions(tasks), Variant):
        new = prompt = ""
        reason = q.reason
        if not reason:
            new, reason = _said(said.get(q.task_id))
            new, prompt, reason = _placed(by_id[q.task_id], q.prompt, new, reason)
        found.append((q.task_id, q.prompt, new, prompt, reason))
    return pd.DataFrame(found, columns=["task_id", "old", "new", "prompt", "reason"], dtype="str")


def _said(answer: object | None) -> tuple[str, str]:
    """The text in other words, which is one line, and why there is none."""
    if answer is None or answer.finish == "error":
        return "", "no answer"
    line, end, _ = answer.text.partition("\n")
    cut = answer.finish == "length" and not end
    return " ".join(line.split()), "cut off" if cut else ""


def _placed(task: Task, old: str, new: str, reason: str) -> tuple[str, str, str]:
    """The new prose, the whole prompt, and why it is refused."""
    names = rewording.parameters(task.reference, task.entry_point)
    reason = reason or rewording.refusal(old, new, names)
    if reason:
        return new, "", reason
    if old.endswith(":"):  # what it announces follows unchanged
        new = new.rstrip(".:") + ":"
    prompt = rewording.placed(task, new)
    return new, prompt, "" if prompt else "breaks the docstring"


def reworded(
    tasks: pd.DataFrame, model: str, sampling: Sampling = SAMPLING, store: Store | None = None
) -> pd.DataFrame:
    """The tasks, those without rewordings with one by `model`; see `answers` for what is refused.

    A refused one leaves `rewordings` empty and the model's name in `reworded_by`.
    """
    found = answers(tasks, model, sampling, store).set_index("task_id")["prompt"]
    made = []
    for task in rows(tasks, Task):
        if task.task_id in found.index:
            prompt = found[task.task_id]
            task = replace(task, rewordings=repr([prompt]) if prompt else "", reworded_by=model)
        made.append(task)
    return table(made, Task)


def distances(
    variants: pd.DataFrame, tasks: pd.DataFrame, store: Store | None = None
) -> pd.DataFrame:
    """How far each rewording is from its task: cosine distance of the prose's embeddings, 0 to 2.

    Columns: task_id, level, by, checked, distance, request, provenance. Stored distances are
    found, the rest are measured by the encoder of `engines.embedding`.
    """
    by_id = {task.task_id: task for task in rows(tasks, Task)}
    chosen = variants[(variants["operator"] == "reword") & (variants["reason"] == "")]
    pairs = {}
    for v in rows(chosen, Variant):
        task = by_id[v.task_id]
        pairs[v] = rewording.asked(task), rewording.asked(replace(task, prompt=v.prompt))
    keys = {v: key(embedding.canonical(*pair)) for v, pair in pairs.items()}
    found = _measured({keys[v]: pair for v, pair in pairs.items()}, store or Store())
    made = [
        {"task_id": v.task_id, "level": v.level, **json.loads(v.parameters)}
        | {"request": keys[v], **found[keys[v]]}
        for v in pairs
    ]
    columns = ["task_id", "level", "by", "checked", "distance", "request", "provenance"]
    return pd.DataFrame(made, columns=columns)


def _measured(pairs: dict[str, tuple[str, str]], store: Store) -> dict[str, dict]:
    """The distance of each pair by its key, storing each as it comes."""
    found = store.find("distances", pairs)
    missing = [name for name in pairs if name not in found]
    if missing and paths.flag("BYROTE_LIGHT"):
        raise RuntimeError(
            f"{len(missing)} distances are not stored and --light asks no model; "
            "run ./run_all.sh without --light"
        )
    if missing:
        wanted = [pairs[name] for name in missing]
        for index, distance, told in tqdm(embedding.distances(wanted), "distances", len(missing)):
            row = {"distance": distance, "provenance": told}
            store.put("distances", [(missing[index], row)])
            found[missing[index]] = row
    return found


def publish(found: pd.DataFrame, store: Store) -> Path:
    """Write what `distances` gave to data/published/distances.parquet, each pair once, by key."""
    columns = ["request", "distance", "provenance"]
    frame = found[columns].drop_duplicates("request").sort_values("request")
    target = store.published / "distances.parquet"
    target.parent.mkdir(parents=True, exist_ok=True)
    whole = target.with_suffix(".partial")  # a run that is killed leaves the old file
    frame.to_parquet(whole, index=False, compression="zstd")
    whole.replace(target)
    return target
