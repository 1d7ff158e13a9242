"""Prompts made longer, and nothing else: by code without effect, or by prose (SPEC 1.2).

Both add as many tokens as the contract of the same task has, so that a drop under a contract can
be set against what length alone costs; between them they differ in whether the text looks like
code. It stands where a contract stands, and the prompt stays byte for byte.
"""

import ast
import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from byrote.operators import blocks, isomorphism
from byrote.operators.contracts import SIDES, Identity, contract
from byrote.operators.seeding import stream
from byrote.operators.suite import Inapplicable
from byrote.operators.synonyms import FUNCTION_WORDS
from byrote.operators.wording import original
from byrote.records import Task, Variant
from byrote.registry import operator

TOLERANCE = 8  # tokens between an addition and the contract that it is matched to (SPEC 1.2)
# As tokenizers of code models cut: a word with the blank before it, one digit, a run of other
# signs, white space up to the blank that goes with the next word.
PIECE = re.compile(r" ?[^\W\d_]+|\d| ?(?:[^\w\s]|_)+|\s+(?!\S)|\s")
# A vocabulary holds few long words with a capital but no blank before them: these count two.
LONG = re.compile(r"(?<![A-Za-z ])[A-Z][a-z]{5,}")


def tokens(text: str) -> int:
    """About how many tokens `text` has, counted without a tokenizer.

    A variant is thus the same for every model, and needs no torch. On contracts and additions it
    differs from the embedded model's own tokenizer by 3 at most (tests/operators/test_padding.py).
    """
    return len(PIECE.findall(text)) + len(LONG.findall(text))


@cache
def lines(block: str) -> tuple[str, ...]:
    """A block of code, and what is left of it by cutting lines off its end where that parses."""
    rows = block.split("\n")
    starts = ["\n".join(rows[:n]) for n in range(len(rows), 0, -1) if rows[n - 1]]
    return tuple(start for start in starts if _parses(start))


def _parses(source: str) -> bool:
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


@cache
def words(sentence: str) -> tuple[str, ...]:
    """A sentence, and what is left of it by cutting words off its end, down to three words."""
    rows = sentence.rstrip(".").split()
    starts = [" ".join(rows[:n]).rstrip(",") for n in range(len(rows) - 1, 2, -1)]
    return sentence, *(f"{s}." for s in starts if s.split()[-1] not in FUNCTION_WORDS)


class Library(NamedTuple):
    """What an operator adds: pieces, what stands between them, what around them, how to cut."""

    pieces: tuple[str, ...]
    gap: str
    frame: str
    cuts: Callable[[str], tuple[str, ...]]  # a piece and its starts


CODE = Library(
    blocks.CODE, "\n\n\n", "### Other code in the same module\n```python\n{}\n```", lines
)
PROSE = Library(blocks.PROSE, " ", "### Other text on the same page\n{}", words)


class End(NamedTuple):
    """A piece, or a start of it, as the last that is added."""

    text: str
    whole: bool
    tokens: int  # with the gap before it


@cache
def _ends(piece: str, library: Library) -> tuple[End, ...]:
    return tuple(End(t, t == piece, tokens(library.gap + t)) for t in library.cuts(piece))


@operator("dead_code", family="wording")
def dead_code(task: Task, level: float, seed: int, mode: str, wording: str) -> Variant:
    """The task beside code without effect, as long as the task's contract (SPEC 1.2).

    The same code stands before the reference, so that the run which proves the variant sound
    proves the code without effect on this very task.
    """
    variant, code = _padded(task, "dead_code", CODE, (level, seed, mode, wording))
    return replace(variant, reference=f"{code}{CODE.gap}{task.reference}")


@operator("filler", family="wording")
def filler(task: Task, level: float, seed: int, mode: str, wording: str) -> Variant:
    """The task beside prose on other matters, as long as the task's contract (SPEC 1.2)."""
    return _padded(task, "filler", PROSE, (level, seed, mode, wording))[0]


def _padded(task: Task, name: str, library: Library, rest: tuple) -> tuple[Variant, str]:
    """The variant with a text from `library`, and that text without what stands around it."""
    level, seed, mode, wording = rest
    matched, wanted = _contract(task, seed)
    order = stream(seed, task.task_id, name, "order").sample(library.pieces, len(library.pieces))
    chosen = _filled(order, library, wanted)
    added = library.gap.join(chosen)
    text = library.frame.format(added)
    facts = {"tokens": tokens(text), "wanted": wanted, "matched": matched, "blocks": len(chosen)}
    variant = replace(
        original(task, 0.0, 0, "", ""),
        operator=name,
        mode=mode,
        wording=wording,
        level=level,
        seed=seed,
        family="wording",
        contract=text,
        parameters=json.dumps(facts),
        changed=isomorphism.share_added(task, text),
    )
    return variant, added


def _contract(task: Task, seed: int) -> tuple[str, int]:
    """Which contract an addition is matched to, and the tokens of that contract.

    The one of `affine` in mode full, wording 1; where affine does not apply, that of the control
    `contract_only`, which is the same for all tasks.
    """
    try:
        return "full", tokens(isomorphism.affine(task, 1.0, seed, "full", "1").contract)
    except Inapplicable:
        return "contract_only", tokens(contract(Identity(), SIDES["contract_only"], "1"))


def _filled(order: list[str], library: Library, wanted: int) -> list[str]:
    """The first pieces of `order` that fit into `wanted` tokens, and one more, cut to come nearest.

    It comes after them or in the place of their last. Of those that come equally near, whole
    pieces go before cut ones, then the order decides.
    """
    room = wanted - tokens(library.frame.format(order[0]))
    count = 1
    while (cost := _ends(order[count], library)[0].tokens) <= room:
        room, count = room - cost, count + 1
    last = _ends(order[count - 1], library)[0]
    nearest = (abs(room), False), order[:count]
    for piece in order[count:]:
        for end in _ends(piece, library):
            for kept, left in ((count, room), (count - 1, room + last.tokens)):
                rank = abs(left - end.tokens), not end.whole
                if rank < nearest[0]:
                    nearest = rank, [*order[:kept], end.text]
    return nearest[1]
