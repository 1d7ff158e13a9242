"""What the issue asks to be measured, as ratios and counts; not collected by pytest.

python tests/benchmarks/measure.py variants   variants built a second
python tests/benchmarks/measure.py tokens     tokens a CPU second, batch 16 against 1
python tests/benchmarks/measure.py run        seconds and peak memory of ./run_all.sh, clone size
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from byrote import benchmarks, engines, operators, paths, study
from byrote.engines import Request, Sampling


def variants() -> None:
    """All conditions of the study, built but not executed, twice: MBPP's 974 tasks where they are
    at hand (BYROTE_DATA), else HumanEval and ladder."""
    names = ("mbpp",) if os.environ.get("BYROTE_DATA") else ("ladder", "humaneval")
    tasks = [t for name in names for t in benchmarks.load(name)]
    conditions = (*study.MODES, *study.EXTRA, *study.SYNONYMS, study.DEAD_CODE, study.FILLER)
    for run in ("first", "second"):
        start, count = time.perf_counter(), 0
        for c in (*conditions, *study.REWORDINGS, *study.FAMILIES):
            for task in tasks:
                operators.apply(c.operator, task, c.level, 0, c.mode, c.wording)
                count += 1
        seconds = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(
            f"{run} run, {', '.join(names)}: {count} variants in {seconds:.1f} s, "
            f"{count / seconds:.0f} a second, peak {peak:.2f} GB"
        )


def tokens(count: int = 32) -> None:
    """The same questions in batches of 16 and one at a time, same threads, interleaved twice."""
    tasks = benchmarks.load("ladder", count)
    requests = [Request(operators.apply("original", t), Sampling(max_tokens=64)) for t in tasks]
    rates: dict[int, list[float]] = {1: [], 16: []}
    for _ in range(2):
        for batch in (16, 1):
            rates[batch].append(_rate(requests, batch))
    best = {batch: max(found) for batch, found in rates.items()}
    for batch, rate in best.items():
        print(f"batch {batch}: {rate:.1f} tokens a CPU second (of {rates[batch]})")
    print(f"ratio {best[16] / best[1]:.2f} (at least 2.5 asked)")


def _rate(requests: list[Request], batch: int) -> float:
    """Tokens generated a CPU second of the model's process, its loading not counted."""
    os.environ["BYROTE_BATCH"] = str(batch)
    spent = []
    for asked in ([], requests):
        engine = engines.open(study.MODEL)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        engine.provenance()
        written = sum(answer.tokens for _, answer in engine.generate(asked)) if asked else 0
        engine.close()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return written / (spent[1] - spent[0])


def run() -> None:
    """./run_all.sh in a fresh clone with this environment: seconds, peak memory, bytes."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "byrote"
        subprocess.run(["git", "clone", "-q", paths.ROOT, clone], check=True)
        bytes_ = sum(f.stat().st_size for f in clone.rglob("*") if f.is_file())
        print(f"clone: {bytes_ / 1e6:.1f} MB (at most 40)")
        # as an active environment, with the clone's library in front of this one's
        here = Path(sys.executable).parent
        environment = os.environ | {"PYTHONPATH": str(clone / "lib")}
        environment["PATH"] = f"{here}:{environment['PATH']}"
        start = time.perf_counter()
        process = subprocess.Popen(
            ["bash", "run_all.sh"], cwd=clone, env=environment, start_new_session=True
        )
        peak = 0
        while process.poll() is None:
            peak = max(peak, _resident(os.getpgid(process.pid)))
            time.sleep(0.5)
        print(f"run_all.sh: status {process.returncode}, {time.perf_counter() - start:.0f} s")
        print(f"peak memory of all its processes together: {peak / 1e9:.2f} GB (at most 4)")


def _resident(session: int) -> int:
    """Resident bytes of all processes of a session, shared pages counted each time."""
    total = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it ended meanwhile
            continue
        if int(fields[3]) == session:
            total += int(fields[21]) * resource.getpagesize()
    return total


if __name__ == "__main__":
    known = {"variants": variants, "tokens": tokens, "run": run}
    for word in sys.argv[1:] or known:
        known[word]()
