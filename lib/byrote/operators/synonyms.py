"""Synonym substitution: a share of a prompt's words replaced by WordNet synonyms (SPEC 1.1).

Words are replaced where they stand, by character offsets; no other byte changes. Each eligible
word has one draw, which all levels share, so the words replaced at 0.2 are among those at 0.4.
The part of speech alone picks the synonyms, as in paper 1: many do not keep the meaning.
"""

import ast
import io
import json
import keyword
import re
import tokenize
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from byrote import wordnet
from byrote.operators.seeding import stream
from byrote.operators.suite import Inapplicable
from byrote.operators.wording import original
from byrote.records import Task, Variant
from byrote.registry import operator

LEVELS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
# Version 1. Words that carry grammar: they are never replaced, and English prose is full of them.
FUNCTION_WORDS = frozenset(
    """
    a an the this that these those such same other another each every all any both either neither
    some none few many much more most less least several enough own only just even also too very
    and or but nor not so yet if then else than as because since while until unless although though
    whether when whenever where wherever who whom whose which what whatever how why there here
    about above across after against along among around at before behind below beneath beside
    besides between beyond by down during except for from in inside into like near of off on onto
    out outside over per through throughout to toward towards under up upon via with within without
    he her hers herself him himself his i it its itself me mine my myself one ones our ours
    ourselves she their theirs them themselves they us we you your yours yourself
    am are be been being can cannot could did do does doing done had has have having is may might
    must ought shall should was were will would let again once ever never always now otherwise
    thus hence therefore however moreover etc first second third last next no yes
    """.split()
)
# Code and quoted text inside prose: nothing in it is replaced.
PROTECTED = re.compile(
    r"""
      (?s:(```|~~~).*?(?:\1|\Z))                                # fenced block
    | (?m:^[ \t]*>>>.*(?:\n(?![ \t\r]*$).*)*)                   # doctest, up to a blank line
    | (?m:^[ \t]*(?:\.\.\.|assert\b|@|[-=]>|\w+[ ]=|(?:[Ii]n|[Oo]ut)puts?[ ]*:).*)  # test, data
    | `[^`\n]+`
    | (?<!\w)"[^"\n]*(?:\n[^"\n]*)?"(?!\w) | (?<!\w)'[^'\n]*'(?!\w)
    | “[^”]*” | ‘[^’\n]*’(?!\w)
    """,
    re.VERBOSE,
)
# A word and the punctuation at it; whatever else stands in a token makes it no word.
WORD = re.compile(r"""(?<!\S)[(\["'“‘]*([^\W\d_]+)[)\]"'”’.,;:!?]*(?!\S)""")
PROSE_NODES = (ast.Module, ast.Expr, ast.Name, ast.Constant, ast.Tuple, ast.AnnAssign, ast.Load)


class Draw(NamedTuple):
    """One eligible word: where it stands, its synonym, and the level from which it is replaced."""

    start: int
    old: str
    new: str
    u: float


@operator("synonyms", family="wording", levels=LEVELS)
def synonyms(task: Task, level: float, seed: int, mode: str, wording: str) -> Variant:
    """The share `level` of the eligible words replaced; raises ValueError for no share."""
    if not 0 <= level <= 1:
        raise ValueError(f"level {level!r} of synonyms: it is a share, from 0 to 1")
    drawn, words = draws(task, seed)
    if not drawn and level:
        raise Inapplicable("no word that has a synonym")
    prompt = task.prompt
    chosen = [d for d in drawn if d.u < level]
    for d in reversed(chosen):
        prompt = prompt[: d.start] + d.new + prompt[d.start + len(d.old) :]
    parameters = {
        "words": words,
        "eligible": len(drawn),
        "replaced": len(chosen),
        "rate_eligible": len(chosen) / max(len(drawn), 1),
        "rate_words": len(chosen) / max(words, 1),
    }
    return replace(
        original(task, 0.0, 0, "", ""),
        operator="synonyms",
        mode=mode,
        wording=wording,
        level=level,
        seed=seed,
        family="wording",
        prompt=prompt,
        parameters=json.dumps(parameters),
        changed=len(chosen) / max(len(task.prompt.split()), 1),
    )


def draws(task: Task, seed: int) -> tuple[list[Draw], int]:
    """The draw of every eligible word, whatever the level, and the number of all words.

    Of a task that completes code, only the docstring of the entry point is prose. Raises
    Inapplicable where the prose is not English.
    """
    whole = task.kind != "complete"
    start, end = (0, len(task.prompt)) if whole else docstring(task.prompt, task.entry_point)
    text = task.prompt[start:end]
    words = list(_words(text, task.entry_point))
    common = sum(word.lower() in FUNCTION_WORDS for _, word in words)
    if len(words) > 5 and common * 10 < len(words):
        raise Inapplicable("the prose is not English")
    names = identifiers(task.reference) | identifiers(task.tests) | {task.entry_point.lower()}
    fixed, tagged = FUNCTION_WORDS | names, _tagged(text)
    rng = stream(seed, task.task_id, "synonyms", "draws")
    drawn = []
    for at, word in words:
        if len(word) < 3 or word.lower() in fixed or not word[1:].islower():
            continue
        if found := wordnet.synonyms(word, tagged[at]):
            choice = stream(seed, task.task_id, "synonyms", f"choice {len(drawn)}").choice(found)
            new = choice.capitalize() if word[0].isupper() else choice
            drawn.append(Draw(start + at, word, new, rng.random()))
    return drawn, len(words)


def _words(text: str, entry_point: str) -> Iterator[tuple[int, str]]:
    """The words of the prose in `text`, each with its offset."""
    hidden = bytearray(len(text))
    spans = [m.span() for m in PROTECTED.finditer(text)]
    spans += [m.span() for m in re.finditer(r".+", text) if _code(m[0].strip(), entry_point)]
    for start, end in spans:
        hidden[start:end] = b"\1" * (end - start)
    for m in WORD.finditer(text):
        if not hidden[m.start(1)]:
            yield m.start(1), m[1]


def _code(line: str, entry_point: str) -> bool:
    """Whether a line is code or a test: it calls the entry point to a result, or it parses."""
    call = f"{entry_point}("
    if line.startswith(call) or (call in line and re.search(r"[=-]>|[=➞→]", line)):
        return True
    if not line.isascii() or "\\" in line:  # the parser warns of escapes
        return False
    try:
        tree = ast.parse(f"{line} pass" if line.endswith(":") else line)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return not all(isinstance(n, (*PROSE_NODES, ast.Store)) for n in ast.walk(tree))


def _tagged(text: str) -> dict[int, str]:
    """The tag of every token by its offset; a sentence's first word is tagged in lower case."""
    tokens = list(re.finditer(r"\w+|[^\w\s]", text))
    before = ["."] + [m[0] for m in tokens]
    words = (m[0].lower() if b in ".!?:" else m[0] for b, m in zip(before, tokens, strict=False))
    return dict(zip((m.start() for m in tokens), wordnet.tags(tuple(words)), strict=True))


def identifiers(source: str) -> set[str]:
    """The names in Python source, in lower case; of source that breaks off, those before."""
    return {t.string.lower() for t in _tokens(source) if t.type == tokenize.NAME} - {
        name.lower() for name in keyword.kwlist
    }


def docstring(source: str, name: str) -> tuple[int, int]:
    """Where the text of the docstring of function `name` stands, quotes apart; (0, 0) if nowhere.

    Also of one that does not stand first in the function, as in HumanEval/115.
    """
    starts = [0]
    for line in source.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    skipped = (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT)
    inside, before = False, None
    for token in (t for t in _tokens(source) if t.type not in skipped):
        if before and before.string == "def":
            inside = token.string == name
        elif inside and token.type == tokenize.STRING and before.type == tokenize.NEWLINE:
            quotes = re.match(r"""(\w*)(\"""|'''|"|')""", token.string)
            (row, column), (last, final) = token.start, token.end
            end = starts[last - 1] + final - len(quotes[2])
            return starts[row - 1] + column + quotes.end(), end
        before = token
    return 0, 0


def _tokens(source: str) -> Iterator[tokenize.TokenInfo]:
    try:
        yield from tokenize.generate_tokens(io.StringIO(source).readline)
    except (tokenize.TokenError, SyntaxError):
        return
