"""Reads a model's answer: its program, value or letter. No text makes these functions raise.

The stored text stays as it is; faults guarded against are public reports (`tests/test_extract.py`).
 1. Thinking (`</think>`), a byte-order mark and all from a special token on are no answer.
 2. An answer that goes on with the function the prompt left open: prompt + answer, indent mended.
 3. Else the first Python block that defines the entry point; a later one if the words before it
    announce a correction or the complete code, or if the first is a stub.
 4. No such block: the text outside fences, then blocks tagged as another language.
 5. Added: what it needs of other Python blocks, and the prompt's imports, helpers and constants.
 6. Dropped: lines around it that do not parse, a later definition that was cut off, and, from the
    first assert, bare name or call of print, input, main or the entry point on, what follows the
    last definition.
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
    r"(?m)(?:<[|｜][\w▁][\w▁ /]{0,40}[|｜]>|<(?:eos|EOT|end_of_turn|file_sep)>)(?!['\"])"
    r"|</s>[ \t]*$|\[/INST\]"
)
_START = re.compile(r"\s*(?:(?:<[|｜][\w▁]{1,40}[|｜]>|<s>)(?:assistant\b)?\n*)+")
_FENCE = re.compile(r"(?P<lead>.*?)(?P<mark>`{3,}|~{3,})[ \t]*(?P<info>[^`]*)$")
_TAGS = re.compile(
    r"(?im)^[ \t]*(?:\[/?(?:python|code|begin|done|answer)\]|</?(?:code|python)>)[ \t]*$"
)
_HEADER = re.compile(r"(?:def|class|async def|import|from [\w.]+ import)\b|@\w")
_GIVES = re.compile(_HEADER.pattern + r"|[A-Za-z_][\w, ]*(?::.*)?=(?!=)|try:|#")
_NESTS = re.compile(r"\s*(?:class|def|async|if|elif|else|for|while|try|with)\b.*:\s*(?:#.*)?$")
_BETTER = re.compile(
    r"(?i)\b(?:correct(?:ed|ion)|fix(?:ed)?|revised|updated|final|complete|full|together|wait|oops"
    r"|sorry|apolog\w+|mistake)\b"
)
_PICK = (  # "A" before a word is an article
    r"(?:(?i:is|be|the|option|choice|letter|correct)\b|[^\w?])*?"
    r"(?<!\w)(?:(A(?!\w|[ \t]+(?!because|since|as|for|or|and|is\b)[a-z])|[B-Db-d](?!\w)"
    r"|a(?=[^\w\s]|[ \t]*$))(?:(?:\W+(?:or|and)\W+|[ ]*[/,&][ ]*)([A-D])(?!\w))?)"
)
_LISTED = re.compile(r"(?m)^\W*A[.):].*\n+(?:\W*[B-D][.):].*(?:\n+|\Z))+")
_CHOICES = [
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"(?i:\bboxed\b|\bfinal (?:answer|choice)\b)" + _PICK,
        r"(?i:\b(?:answer|choice)\b(?:[^.?\n]{0,60}?\b(?:is|be)\b)?)" + _PICK,
        r"\b([A-D])\W{1,3}(?:is|seems|would be) (?:the |most )*(?:correct|right|best|true)\b",
        r"(?i:\b(?:option|choose|pick|select|go with)\b)" + _PICK,
        r"^\W*([A-Da-d])\W*$|\A\W*([A-D])(?:[.):,]|\s+(?:because|since)\b)",
        r"[(\[*`]([A-D])[)\]*`.:]|\b(?:is|be|s)\W+([A-D])\W*\Z",
    )
]
_LEADS = (
    r"(?i:\b(?:output|answer|result|value|prints?|returns?)\b\W*(?:is|are|will be|would be)?[*_`]*:?)",
    r"==|->|→|\b(?:is|equals|gives|to be)\b:?",
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_ACTS = (ast.Assign, ast.AugAssign, ast.Delete, ast.Call)
_RETURNS = (ast.Return, ast.Yield, ast.YieldFrom)
_BROKEN = (SyntaxError, ValueError, TypeError, OverflowError, RecursionError, MemoryError)


class _Block(NamedTuple):
    tag: str | None  # None: outside fences; "": no language named
    source: str
    before: str  # the words that lead to it


class _Scope(NamedTuple):
    binds: set[str]
    uses: set[str]


def program(text: str, entry_point: str, prompt: str = "") -> str:
    """The Python program in a model's answer, "" if it holds none; `prompt` is the code shown.

    Without an entry point (the program reads stdin) it is the longest Python block.
    """
    text, name = _answer(text), entry_point.partition(".")[0]
    shown = next((b.source + "\n" for b in _blocks(prompt) if b.tag), prompt)
    blocks, indented = _blocks(text), text.lstrip("\n")[:1] in (" ", "\t")
    if found := _continued(text, name, shown, least=1 if indented else 2):
        return found
    prose = [b for b in blocks if b.tag is None]
    python = [b for b in blocks if b.tag is not None and re.match(r"py|ipy|code|$", b.tag)]
    for group in (python, prose, [b for b in blocks if b not in python and b not in prose]):
        if main := name and _chosen(group, name):
            return _assembled(_tidy(main, name), name, python, shown)
    for block in python:
        if found := _continued(block.source, name, shown, least=1):
            return found
    if indented and "def " in shown:
        return _continued(text, name, shown, least=0) or shown + text
    return _rest(python or prose, name)


def cut(text: str, stops: Sequence[str]) -> str:
    """The completion up to the earliest stop string; give it generated text, never the prompt."""
    return text[: min((text.find(s) for s in stops if s and s in text), default=len(text))]


def value(text: str) -> str:
    """The Python value in an answer to an output-prediction question (CRUXEval-O, MuCoCo).

    A literal comes back as its repr, tuples whole and sets sorted; anything else as stripped text.
    Tried in this order: [ANSWER] tags, the whole, fences, the first paragraph and line, then what
    follows "output:", "answer is", "==" and the like (the last that is a literal), the last line.
    """
    text = re.split(r"\[ANSWER\]\s*(?=\S)", _answer(text), maxsplit=1)[-1]
    text = re.split(r"\[/?ANSWER\]|\[DONE\]", text)[0].strip()
    return next((found for part in _attempts(text) if (found := _literal(part))), text)


def letter(text: str) -> str:
    r"""The option A-D chosen in an answer to a multiple-choice question, "" if none or ambiguous.

    The first kind of statement that names a letter decides: \boxed{} or "final answer", "answer
    is", "B is correct", "option B", a line of its own or the start, then brackets, bold, the end.
    A repeated list of the options counts for nothing.
    """
    text = _LISTED.sub("", _answer(text).replace("_", " "))
    named = ({g.upper() for m in p.finditer(text) for g in m.groups() if g} for p in _CHOICES)
    found = next(filter(None, named), set())
    return found.pop() if len(found) == 1 else ""


def _answer(text: str) -> str:
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    text = text.rpartition("</think>")[2].partition("<think>")[0]
    text = text[start.end() :] if (start := _START.match(text)) else text
    return _END.split(text, maxsplit=1)[0]


def _blocks(text: str) -> list[_Block]:
    """The answer in pieces, fenced or not; one that opens with code begins inside a fence."""
    text = re.sub(r"(?m)^[ \t]*```(\w*)[ \t]*([^`\n]+)```[ \t]*$", r"```\1\n\2\n```", text)
    blocks, lines, mark, indent = [], [], "```", 0
    tag = "" if _HEADER.match(text.strip()) or text.lstrip("\n")[:1] in (" ", "\t") else None
    for line in [*_TAGS.sub("```", text).split("\n"), "```"]:
        fence = _FENCE.match(line)
        lead, info = (fence["lead"], fence["info"].strip()) if fence else ("", "")
        if fence and tag is None and lead.strip() and " " in info:
            fence = None
        elif fence and tag is not None:  # further in, or with words around it, it is code
            inner = info if lead.strip() else len(lead) > indent + 3
            fence = None if inner or not fence["mark"].startswith(mark) else fence
        if not fence:
            lines.append(line)
            continue
        source = "\n".join([*lines, lead] if lead.strip() else lines)
        before = blocks[-1].source[-200:] if blocks and blocks[-1].tag is None else ""
        if tag is not None:
            source = textwrap.dedent(re.sub(rf"(?m)^[ \t]{{0,{indent}}}", "", source))
        blocks.append(_Block(tag, source, before))
        named = re.match(r"\{?\.?([\w.+#-]*)\}?\s*(.*)", info)
        lines = [x for x in (info, named[2]) if _HEADER.match(x)][:1]
        tag = None if tag is not None and not info else "" if lines == [info] else named[1].lower()
        mark, indent = fence["mark"], 0 if lead.strip() else len(lead)
    unclosed = [] if tag is None else [_Block(tag, "\n".join(lines), "")]
    return [b for b in blocks if b.source.strip()]


def _parse(source: str) -> ast.Module | int:
    """The tree of a source that compiles, else the line where it breaks (0: not known)."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source, "<answer>")
            compile(tree, "<answer>", "exec", dont_inherit=True)  # finds a stray return
    except _BROKEN as error:
        return (getattr(error, "filename", "") == "<answer>" and error.lineno) or 0
    return tree


def _prefix(source: str) -> str:
    """The longest run of leading lines that parses, less a last statement that was cut off."""
    lines = source.split("\n")
    end, tries = len(lines), 0
    while end and isinstance(tree := _parse("\n".join(lines[:end])), int):
        end, tries = min(end, tree or end) - 1, tries + 1
        while tries > 40 and end and lines[end][:1] in ("", " ", "\t"):
            end -= 1  # slow: from here on by whole statements
    dropped = next((x for x in lines[end:] if x.strip()), "")
    if end and tree.body and dropped[:1].isspace() and dropped.lstrip()[:3] not in ("```", "~~~"):
        last = tree.body[-1]
        if not isinstance(getattr(last, "body", [last])[-1], ast.Return | ast.Raise):
            end = _first(last) - 1
    return "\n".join(lines[:end])


def _first(node: ast.stmt) -> int:
    return min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])


def _statements(source: str) -> list[str]:
    """The top-level statements of a source that parses."""
    tree, lines = _parse(source), source.split("\n")
    nodes = [] if isinstance(tree, int) else tree.body
    whole = ["\n".join(lines[_first(n) - 1 : n.end_lineno]) for n in nodes]
    return [s for s in whole if isinstance(_parse(s), ast.Module)]


def _scope(source: str) -> _Scope:
    """The names that a source which parses binds at its top, and those it takes from outside."""
    tables, uses = [symtable.symtable(source, "<answer>", "exec")], set()
    binds = {s.get_name() for s in tables[0].get_symbols() if s.is_assigned() or s.is_imported()}
    for table in tables:
        tables.extend(table.get_children())
        uses |= {s.get_name() for s in table.get_symbols() if s.is_global()}
    return _Scope(binds, uses - binds - set(dir(builtins)))


def _run(source: str, name: str) -> str:
    """The longest run of lines that parses and defines the entry point whole, "" if none does."""
    lines = source.split("\n")
    for at, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        above = next((x for x in lines[at::-1] if x[:indent].strip()), "")
        if at and not re.match(rf"\s*(async )?(def |class )?{re.escape(name)}\b", line):
            continue
        if _NESTS.match(above):
            continue  # a method is not a function
        flat = [x if x[:indent].strip() else x[indent:] for x in lines]
        found = _prefix("\n".join(flat[at:]))
        if _weight(found, name) < 0:
            continue
        for top in range(at - 1, -1, -1):  # take in the code above, leave the prose
            more = "\n".join([*flat[top:at], found])
            if _GIVES.match(flat[top]) and isinstance(_parse(more), ast.Module):
                found, at = more, top
        return found
    return ""


def _weight(source: str, name: str, start: int = 0) -> int:
    """How real the entry point is: 2 it returns, 1 it acts, 0 a stub, -1 not defined.

    With `start`, the first line of the answer after the prompt, the function that is open there.
    """
    tree = _parse(source)
    if start:
        open_at = (n for n in ast.walk(tree) if isinstance(n, _FUNCTIONS) and n.lineno < start)
        node = next((n for n in open_at if n.end_lineno >= start), None)
    else:
        owners = [s for s in _statements(source) if name in _scope(s).binds]
        if not owners or not _HEADER.match(owners[-1]):
            return 2 * bool(owners) or -1
        node = _parse(owners[-1]).body[0]
    own, stack = [], list(getattr(node, "body", ()))
    while stack:
        part = stack.pop()
        own += [part] if getattr(part, "lineno", 0) >= start else []
        if isinstance(part, (*_FUNCTIONS, ast.ClassDef)) and start and part.name == name:
            return 0
        if not isinstance(part, (*_FUNCTIONS, ast.ClassDef, ast.Lambda, ast.Raise)):
            stack.extend(ast.iter_child_nodes(part))
    acts = any(isinstance(n, _ACTS) for n in own)
    return -1 if node is None else 2 if any(isinstance(n, _RETURNS) for n in own) else int(acts)


def _chosen(blocks: list[_Block], name: str) -> str:
    """The best definition of the entry point: the first, or the last announced as better."""
    runs = [(_run(b.source, name) or _run(_undoctest(b.source), name), b.before) for b in blocks]
    best = max((_weight(run, name) for run, _ in runs if run), default=0)
    runs = [r for r in runs if r[0] and _weight(r[0], name) == best]
    better = [run for run, before in runs if _BETTER.search(before)]
    return better[-1] if better else runs[0][0] if runs else ""


def _undoctest(source: str) -> str:
    marked = [x.strip() for x in source.split("\n") if re.match(r"\s*(>>>|\.\.\.)", x)]
    return "\n".join(x[4:] for x in marked)


def _tidy(source: str, name: str) -> str:
    """The program without the demonstrations at its end."""
    calls = rf"(?!if __name__)(?s:.)*?(?:^|\W)(?:print|input|main|testmod|{re.escape(name)})\("
    idle = re.compile(rf"assert\b|[\w.]+(?::[^=]*)?\Z|{calls}")
    lines, tree = source.split("\n"), _parse(source)
    end, last = len(lines), 0
    for node in tree.body:
        part = "\n".join(lines[_first(node) - 1 : node.end_lineno])
        if _HEADER.match(part):
            end, last = len(lines), node.end_lineno
        elif last and end == len(lines) and idle.match(part) and node.lineno > last:
            end = _first(node) - 1
    return "\n".join(lines[:end])


def _assembled(main: str, name: str, python: list[_Block], shown: str) -> str:
    """The program with what it needs of the other blocks and what it lacks of the prompt."""
    scope = _scope(main)
    given = [s for b in python for s in _statements(_prefix(b.source)) if _GIVES.match(s)]
    given = [(s, _scope(s)) for s in given if _weight(s, name) < 0]
    names, size = scope.uses, -1
    while len(names) > size:
        size = len(names)
        names = names.union(*(s.uses for _, s in given if s.binds & names))
    parts = [s for s, own in given if own.binds & names - scope.binds]
    bound = scope.binds.union(*(_scope(s).binds for s in parts))
    context = [(s, _scope(s).binds) for s in _statements(_prefix(shown)) if _GIVES.match(s)]
    parts = [s for s, binds in context if name not in binds and not bound >= binds] + parts
    parts += [s for s in parts if False]
    lines = "\n".join([*parts, main]).split("\n") if parts else [main]
    return "\n".join(sorted(lines, key=lambda x: not x.startswith("from __future__")))


def _continued(text: str, name: str, shown: str, least: int) -> str:
    """Prompt + answer where the answer goes on with the prompt's function, else ""."""
    for head, body in _joints(text, shown) if "def " in shown else ():
        found, start = _prefix(head + body), head.count("\n") + 1
        if _weight(found, name, start) >= least:
            nodes = [n for n in _parse(found).body if n.lineno >= start]
            again = [_first(n) for n in nodes if getattr(n, "name", "") == name]
            return _tidy("\n".join(found.split("\n")[: min(again, default=0) - 1 or None]), name)
    return ""


def _joints(text: str, shown: str) -> Iterator[tuple[str, str]]:
    """Ways to join: as they are, the first line's indent mended, all lines moved, tabs spread."""
    if not shown.endswith("\n"):
        yield from [] if text.startswith("\n") else [(shown, text)]
        shown += "\n"
    signature = r"(?m)^([ \t]*)(?:async )?def [^#]*?:[ \t]*(?:#.*)?(?:\n+([ \t]+)\S|\s*\Z)"
    found = list(re.finditer(signature, shown))
    pad = (found[-1][2] or found[-1][1] + "    ") if found else "    "
    for spread in (str, lambda s: re.sub(r"(?m)^[ \t]+", lambda m: m[0].expandtabs(4), s)):
        head, body = spread(shown), spread(text)
        yield head, body
        yield head, spread(pad) + body.lstrip()
        first = len(body.lstrip("\n")) - len(body.lstrip())
        yield head, re.sub(rf"(?m)^[ \t]{{{first}}}(?=.*\S)", spread(pad), body)


def _rest(blocks: list[_Block], name: str) -> str:
    """What there is where nothing defines the entry point: a cut definition, or other Python."""
    found = [""]
    for block in blocks:
        first = re.search(rf"(?m)^(?:{_HEADER.pattern})", block.source)
        source = block.source[first.start() if first else len(block.source) :]
        source = block.source if block.tag is not None else source
        if name and re.search(rf"(?m)^(?:async )?def {re.escape(name)}\b", source):
            return source
        source = _prefix(source)
        acts = [n for n in ast.walk(_parse(source)) if isinstance(n, (*_ACTS, *_FUNCTIONS))]
        found += [source] if acts else []
    return max(found, key=len)


def _attempts(text: str) -> Iterator[str]:
    """The parts of an answer that may be its value, the most telling first."""
    yield text
    yield from reversed([b.source for b in _blocks(text) if b.tag is not None])
    yield from (text.split("\n\n")[0], text.split("\n")[0])
    for lead in _LEADS:
        for match in reversed(list(re.finditer(lead, text))):
            rest = text[match.end() :].lstrip()
            line = rest.split("\n")[0]
            yield from (rest, rest.split("\n\n")[0], line)
            yield from re.findall(r"\A[`*]+([^`\n]+?)[`*]+", rest)
            yield from (line[: m.start()] for m in re.finditer(r"[.,;]?\s|[.,;]$|\s#", line))
    yield text.split("\n")[-1]


def _literal(text: str) -> str:
    """The repr of a literal, also of `assert f(x) == literal` or `y = literal`, else ""."""
    tree = _parse(text.strip().strip("`*").rstrip(".,;").strip())
    if isinstance(tree, int) or len(tree.body) != 1:
        return ""
    node = getattr(tree.body[0], "test", None) or getattr(tree.body[0], "value", None)
    for side in [node.comparators[-1], node.left] if isinstance(node, ast.Compare) else [node]:
        try:
            return _repr(ast.literal_eval(side))
        except _BROKEN:
            continue
    return ""


def _repr(item: object) -> str:
    """repr, but sets in an order that is the same in every run."""
    if isinstance(item, set) and item:
        return "{" + ", ".join(sorted(map(_repr, item))) + "}"
    if isinstance(item, dict):
        return "{" + ", ".join(f"{_repr(k)}: {_repr(v)}" for k, v in item.items()) + "}"
    if isinstance(item, list | tuple):
        opening, closing = repr(type(item)())
        comma = "," if isinstance(item, tuple) and len(item) == 1 else ""
        return opening + ", ".join(map(_repr, item)) + comma + closing
    return repr(item)
