"""The clean process of one worker: starts once, then judges the programs it is sent, one by one.

Started as `python -s -P <this folder> <scratch folder> <limits>` with an environment of its own.
Frames on standard input are programs, frames on standard output are answers.
"""

import ctypes
import gc
import importlib
import json
import os
import shutil
import signal
import struct
import sys

import execute
import supervise
import tree

# What model programs import most; each module kept here is one that no program loads again.
PRELOADED = (
    "bisect collections copy dataclasses datetime decimal fractions functools hashlib heapq io "
    "itertools math operator random re statistics string threading typing"
).split()
SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER: orphans of a program become our children


def main() -> None:
    """Serve until the caller hangs up; leave no process and no file behind."""
    folder, limits = sys.argv[1], json.loads(sys.argv[2])
    jobs, answers = open(os.dup(0), "rb"), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)
    try:
        prepare()
        limits["memory_bytes"] = int(limits["memory_mb"] * 2**20)
        if sys.platform == "linux":  # the limit comes on top of what a fork starts with
            with open("/proc/self/statm") as file:
                pages = int(file.read().split()[0])
            limits["memory_bytes"] += pages * os.sysconf("SC_PAGE_SIZE")
        write(answers, {"ready": True})
        while len(head := jobs.read(4)) == 4:
            job = json.loads(jobs.read(struct.unpack("<I", head)[0]))
            write(answers, supervise.judge(job, limits, folder, jobs.fileno()))
    except (supervise.HungUp, BrokenPipeError):
        pass
    finally:
        tree.sweep()
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


def prepare() -> None:
    """Become what each program is forked from."""
    for name in PRELOADED:
        importlib.import_module(name)
    for name in ("execute", "supervise", "tree"):
        del sys.modules[name]  # ours; no program is to find them by name
    del sys.path[0]
    sys.dont_write_bytecode = True
    if sys.platform == "linux":
        execute.prctl = ctypes.CDLL(None).prctl
        execute.prctl(SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the caller decides when to stop
    gc.collect()
    gc.freeze()


def write(descriptor: int, answer: dict) -> None:
    """Send one frame."""
    body = json.dumps(answer).encode()
    frame = struct.pack("<I", len(body)) + body
    while frame:
        frame = frame[os.write(descriptor, frame) :]


main()
