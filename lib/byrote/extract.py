"""Reads a model's answer: its program, value or letter. No text makes these functions raise.

The stored text stays as it is. The faults guarded against are public reports on other harnesses,
named in `tests/test_extract.py`. Rules of `program`:
 1. Thinking (`</think>`), a byte-order mark and all from a special token on are no answer.
 2. An answer that goes on with the function the prompt left open is prompt + answer; an indent
    that was lost, odd or of tabs is repaired.
 3. Else the first Python block that defines the entry point; a later one if the words before it
    announce a correction or the complete code, or if only it has a real body.
 4. No such block: the text outside fences, then blocks tagged as another language.
 5. Added: statements of other Python blocks that it needs, and the prompt's imports, helpers and
    constants that it lacks (tests use them too).
 6. Dropped: lines around it that do not parse, a cut-off definition it does not need and, after
    the last thing it needs, demonstrations (print, assert, input, calls of main or entry point).
 7. A cut entry point is returned as it stands: it does not parse, and the judge says so.
 8. Nothing defines the entry point: the longest Python there is (a method stays a method).
"""

import ast
import builtins
import re
import symtable
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_END = re.compile(  # not before a quote: a program may hold such a token as a string
    r"(?:<[|｜][\w▁][\w▁ /]{0,40}[|｜]>|<(?:eos|EOT|end_of_turn|fim_\w+|file_sep)>)(?!['\"])"
    r"|</s>[ \t]*$|\[/INST\]",
    re.MULTILINE,
)
_START = re.compile(r"\s*(?:(?:<[|｜][\w▁]{1,40}[|｜]>|<s>)(?:assistant\b)?\n*)+")
_FENCE = re.compile(r"(?P<lead>.*?)(?P<mark>`{3,}|~{3,})[ \t]*(?P<info>[^`]*)$")
_ONE_LINE = re.compile(r"^[ \t]*```(python3?|py)?[ \t]*([^`\n]+)```[ \t]*$", re.MULTILINE)
_TAGS = re.compile(
    r"^[ \t]*(?:\[/?(?:PYTHON|CODE|BEGIN|DONE|END|ANSWER|SOLUTION)\]"
    r"|</?(?:code|python|answer|solution)>)[ \t]*$",
    re.MULTILINE,
)
_HEADER = re.compile(r"(?:def|class|async def|import|from [\w.]+ import)\b|@\w")
_HEAD = re.compile(r"\s*(?:class|def|async|if|elif|else|for|while|try|with)\b.*:\s*(?:#.*)?$")
_ANNOUNCED = re.compile(
    r"(?i:\b(?:correct(?:ed|ion)|fix(?:ed)?|revised|updated|final|complete|full|together|wait|oops"
    r"|sorry|apolog\w+|mistake)\b)"
)
_FILL = (
    r"(?i:[^\w?]|_|\b(?:is|was|be|should|would|must|will|the|option|choice|letter|correct|text)\b)*?"
)
_PICK = (  # "A" before a word is an article
    r"(?:(A(?![\w'’])(?![ \t]+(?!because|since|as|for|or|and|is\b)[a-z])|[B-Db-d](?![\w'’])"
    r"|a(?=[^\w\s'’]|[ \t]*$))(?:(?:\W+(?:or|and)\W+|[ ]*[/,&][ ]*)([A-D])(?![\w'’]))?)"
)
_LISTED = re.compile(r"^\W*A[.):].*\n+(?:\W*[B-D][.):].*(?:\n+|\Z))+", re.MULTILINE)
_CHOICES = [
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"(?i:\\boxed\{|\bfinal (?:answer|choice)\b)" + _FILL + _PICK,
        r"(?i:\b(?:answer|choice|solution)\b(?:[^.?\n]{0,60}?\b(?:is|be)\b)?)" + _FILL + _PICK,
        r"\b([A-D])\W{1,3}(?:is|seems|would be) (?:the |most )*(?:correct|right|best|true)\b",
        r"(?i:\b(?:option|choose|chose|pick|select|go with)\b)" + _FILL + _PICK,
        r"^[\W_]*([A-Da-d])[\W_]*$",
        r"\A\W*([A-D])(?:[.):,]|\s+(?:because|since)\b)",
        r"\(([A-D])\)|\[([A-D])\]|`([A-D])`|\*\*\(?([A-D])(?:[.):].*?)?\*\*",
        r"(?:\bis|\bbe|['’]s)\W+([A-D])\W*\Z",
    )
]
_VALUE_LEADS = (
    r"(?i:\b(?:output|answer|result|value|prints?|returns?)\b[*_`]*"
    r"(?: (?:is|are|was|will be|would be))?[*_`]*\s*[:=]?)",
    r"==|->|→|\b(?:is|equals|gives|to be)\b:?",
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
_DEFINITIONS = (*_FUNCTIONS, *_IMPORTS, ast.ClassDef, ast.Assign, ast.AnnAssign, ast.Try)
_BROKEN = (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError)


class _Block(NamedTuple):
    tag: str | None  # None: outside fences; "": no language named
    source: str
    before: str  # the words that lead to it

    @property
    def python(self) -> bool:
        return self.tag is not None and (not self.tag or self.tag.startswith(("py", "ipy", "code")))


class _Statement(NamedTuple):
    node: ast.stmt
    source: str
    binds: set[str]
    uses: set[str]


def program(text: str, entry_point: str, prompt: str = "") -> str:
    """The Python program in a model's answer, "" if it holds none; `prompt` is the code shown.

    Without an entry point (the program reads stdin) it is the longest Python block.
    """
    text, name = _answer(text), entry_point.partition(".")[0]
    shown = next((b.source + "\n" for b in _blocks(prompt) if b.tag), prompt)
    blocks, indented = _blocks(text), text.lstrip("\n")[:1] in (" ", "\t")
    if not text.strip():
        return ""
    if found := _continued(text, name, shown, least=1 if indented else 2):
        return found
    if found := name and _defined(blocks, name, shown):
        return found
    for source in [b.source for b in blocks if b.python]:
        if found := _continued(source, name, shown, least=1):
            return found
    if indented and shown.strip():
        return _continued(text, name, shown, least=0) or shown + text
    return _rest(blocks, name)


def cut(text: str, stops: Sequence[str]) -> str:
    """The completion up to the earliest stop string; give it generated text, never the prompt."""
    return text[: min((text.find(s) for s in stops if s and s in text), default=len(text))]


def value(text: str) -> str:
    """The Python value in an answer to an output-prediction question (CRUXEval-O, MuCoCo).

    A literal comes back as its repr, tuples whole and sets sorted; anything else as stripped text.
    Tried in this order: [ANSWER] tags, the whole, fences, the first paragraph and line, then what
    follows "output:", "answer is", "==" and the like (the last that is a literal), the last line.
    """
    text = _answer(text)
    if tagged := re.search(r"\[ANSWER\]\s*(\S.*)", text, re.DOTALL):
        text = tagged[1]
    text = re.split(r"\[/?ANSWER\]|\[DONE\]", text)[0].strip()
    return next((found for part in _attempts(text) if (found := _literal(part))), text)


def letter(text: str) -> str:
    r"""The option A-D chosen in an answer to a multiple-choice question, "" if none or ambiguous.

    The first kind of statement that names a letter decides: \boxed{} or "final answer", "answer
    is", "B is correct", "option B", a line of its own, the start, brackets or bold, the very end.
    A repeated list of the options counts for nothing.
    """
    text = _LISTED.sub("", _answer(text))
    named = ({g.upper() for m in p.finditer(text) for g in m.groups() if g} for p in _CHOICES)
    found = next(filter(None, named), set())
    return found.pop() if len(found) == 1 else ""


def _answer(text: str) -> str:
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    text = text.rpartition("</think>")[2].partition("<think>")[0]
    if start := _START.match(text):
        text = text[start.end() :]
    return _END.split(text, maxsplit=1)[0]


def _blocks(text: str) -> list[_Block]:
    """The answer in pieces, fenced or not; one that opens with code begins inside a fence."""
    text = _ONE_LINE.sub(r"```\1\n\2\n```", _TAGS.sub("```", text))
    blocks, lines, indent, mark = [], [], 0, "```"
    tag = "" if _HEADER.match(text.lstrip("\n")) or text.lstrip("\n")[:1] in (" ", "\t") else None

    def close() -> None:
        before = blocks[-1].source if blocks and blocks[-1].tag is None else ""
        flat = (x[indent:] if x[:indent].isspace() else x for x in lines)
        source = textwrap.dedent("\n".join(flat)) if tag is not None else "\n".join(lines)
        nested = tag in ("markdown", "md") or len(mark) > 3
        blocks.extend(_blocks(source) if nested else [_Block(tag, source, before[-200:])])

    for line in text.split("\n"):
        fence = _FENCE.match(line)
        lead, info = (fence["lead"], fence["info"].strip()) if fence else ("", "")
        if fence and tag is not None:  # a fence further in belongs to a docstring
            far = len(lead) > indent + 3 if not lead.strip() else bool(info)
            fence = None if far or not fence["mark"].startswith(mark) else fence
        elif lead.strip() and " " in info:
            fence = None
        if not fence:
            lines.append(line)
            continue
        if lead.strip():
            lines.append(lead)
        close()
        opens, mark, lines = tag is None or bool(info), fence["mark"], []
        indent = 0 if lead.strip() else len(lead)
        named = re.match(r"\{?\.?([\w.+#-]*)\}?\s*(.*)", info)
        tag = named[1].lower() if opens else None
        if opens and _HEADER.match(info):
            tag, lines = "", [info]
        elif opens and _HEADER.match(named[2]):
            lines = [named[2]]
    close()
    return [b for b in blocks if b.source.strip()]


def _parse(source: str) -> ast.Module | int:
    """The tree of a source that compiles, else the line where it breaks (0: not known)."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source, "<answer>")
            compile(tree, "<answer>", "exec", dont_inherit=True)  # finds a stray return
    except _BROKEN as error:
        known = isinstance(error, SyntaxError) and error.filename == "<answer>"
        return (error.lineno or 0) if known else 0
    return tree


def _prefix(source: str) -> str:
    """The longest run of leading lines that parses."""
    lines = source.split("\n")
    end, tries = len(lines), 0
    while end and isinstance(line := _parse("\n".join(lines[:end])), int):
        end, tries = min(end, line or end) - 1, tries + 1
        while tries > 40 and end and lines[end][:1] in ("", " ", "\t"):
            end -= 1  # slow: from here on by whole statements
    return "\n".join(lines[:end])


def _statements(source: str) -> list[_Statement]:
    """The top-level statements of a source that parses, with the names each binds and takes."""
    tree, lines, rows = _parse(source), source.split("\n"), []
    for node in [] if isinstance(tree, int) else tree.body:
        part = "\n".join(lines[_first(node) - 1 : node.end_lineno])
        part = part if isinstance(_parse(part), ast.Module) else ast.unparse(node)
        tables = [symtable.symtable(part, "<answer>", "exec")]
        top = tables[0].get_symbols()
        binds = {s.get_name() for s in top if s.is_assigned() or s.is_imported()}
        uses = set()
        for table in tables:
            tables.extend(table.get_children())
            uses |= {s.get_name() for s in table.get_symbols() if s.is_global()}
        rows.append(_Statement(node, part, binds, uses - binds - set(dir(builtins))))
    return rows


def _first(node: ast.stmt) -> int:
    return min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])


def _needed(statements: list[_Statement], name: str) -> set[str]:
    """The names that the entry point needs, directly or through others."""
    names, size = {name}, 0
    while len(names) > size:
        size = len(names)
        names |= {n for s in statements if s.binds & names for n in s.uses}
    return names


def _defines(statement: _Statement, name: str) -> bool:
    return name in statement.binds and not isinstance(statement.node, _IMPORTS)


def _whole(source: str, name: str) -> str:
    """The leading part that parses, less a definition that was cut; "" unless it defines `name`."""
    kept = _prefix(source)
    statements = _statements(kept)
    dropped = source[len(kept) :].strip("\n")
    if dropped[:1].isspace() and not dropped.lstrip().startswith(("```", "~~~")) and statements:
        last = statements[-1].node
        if not isinstance((getattr(last, "body", None) or [last])[-1], ast.Return | ast.Raise):
            kept = "\n".join(kept.split("\n")[: _first(last) - 1])
            lost = statements.pop().binds
            if lost & _needed(statements, name):
                return ""
    return kept if any(_defines(s, name) for s in statements) else ""
