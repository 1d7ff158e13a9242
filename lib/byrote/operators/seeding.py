"""Random streams: one per task, operator and purpose, never one over the data set.

The level is no part of the seed, so that the draws of a lower level nest in those of a higher
one, and no result depends on the order of tasks (SPEC 0).
"""

import hashlib
import random


def stream(seed: int, task_id: str, operator: str, purpose: str) -> random.Random:
    """A generator of its own for one purpose on one task."""
    text = f"{seed}|{task_id}|{operator}|{purpose}"
    return random.Random(int.from_bytes(hashlib.sha256(text.encode()).digest()))
