"""Reads a model's answer: its program, value or letter. No text makes these functions raise.

The stored text stays as it is; faults guarded against are public reports (`tests/test_extract.py`).
 1. Thinking (`</think>`), a byte-order mark and all from an unquoted special token on go.
 2. An answer that goes on with the function the prompt left open: prompt + answer, indent mended.
 3. Else the first Python block that defines the entry point; a later one if announced as corrected
    or complete, or if the first is a stub; else text outside fences; else another language's block.
 4. Added: what it needs of other Python blocks, and the prompt's imports, helpers and constants.
 5. Dropped: lines around it that do not parse, a later definition that was cut off, and all from
    the first demonstration after the last definition on (assert, print, input, a call of it).
 6. A cut entry point is returned as it stands: it does not parse, and the judge says so.
 7. Nothing defines the entry point, or none is asked for: the longest Python. A method stays one.
"""

import ast
import builtins
import re
import symtable
import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

_END = re.compile(r"(?m)(<[|｜][\w▁ /]{1,40}[|｜]>|<(eos|EOT|end_of_turn)>)(?!['\"])|</s>[ \t]*$")
_START = re.compile(r"\s*(?:(?:<[|｜][\w▁]{1,40}[|｜]>|<s>)(?:assistant\b)?\n*)+")
_FENCE = re.compile(r"(.*?)(`{3,}|~{3,})\s*([^`]*?)\s*$")
_TAGS = re.compile(r"(?m)^[ \t]*(?:\[/?(?:PYTHON|CODE|BEGIN|DONE)\]|</?(?:code|python)>)[ \t]*$")
_HEADER = re.compile(r"(?:def|class|async def|import|from [\w.]+ import)\b|@\w")
_GIVES = re.compile(_HEADER.pattern + r"|[A-Za-z_][\w, ]*(?::.*)?=(?!=)|try:|#")
_INDENTED = re.compile(r"(?:[ \t]*\n)*[ \t]+(?!```|~~~)\S")
_NESTS = re.compile(r"\s*(?:class|def|async|if|elif|else|for|while|try|with)\b.*:\s*(?:#.*)?$")
_BETTER = re.compile(r"(?i)\b(correct(ed|ion)|fixed|revised|updated|optimi[sz]ed|final|complete)\b")
_PICK = (  # "A" before a word is an article
    r"(?:(?i:is|be|the|option|choice|letter|correct|text)\b|[^\w?]){0,30}?(?<!\w)"
    r"(?:(A(?!\w|[ \t]+(?!because|since|as|for|or|and|is\b)[a-z])|[B-Db-d](?!\w)"
    r"|a(?=[^\w\s]|[ \t]*$))(?:(?:\W{1,3}(?:or|and)\W{1,3}|[ ]?[/,&][ ]?)([A-D])(?!\w))?)"
)
_LISTED = re.compile(r"(?m)^[^\w\n]*A[.):].*\n+(?:[^\w\n]*[B-D][.):].*(?:\n+|\Z))+")
_CHOICES = (  # the first of these that names a letter decides
    r"(?i:\bboxed\b|\bfinal (?:answer|choice)\b)" + _PICK,
    r"(?i:\b(?:answer|choice)\b(?:[^.?\n]{0,60}?\b(?:is|be)\b)?)" + _PICK,
    r"\b([A-D])\W{1,3}(?:is|seems|would be) (?:the |most ){0,2}(?:correct|right|best|true)\b",
    r"(?i:\b(?:option|choose|pick|select|go with)\b)" + _PICK,
    r"^[^\w\n]*([A-Da-d])[^\w\n]*$|\A\W*([A-D])(?:[.):,]|\s+(?:because|since)\b)",
    r"[(\[*`]([A-D])[)\]*`.:]|\b(?:is|be|s)\W{1,5}([A-D])\W{0,5}\Z",
)
_SHOWN = r"(?i:\b(?:output|answer|result|value|prints?|returns?)\b[*_`]*(?: is| are| will be)?:?)"
_EQUAL = r"==|->|→|\b(?:is|equals|gives|to be)\b:?"
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Raise)
_ACTS = (ast.Assign, ast.AugAssign, ast.Delete, ast.Call)
_BROKEN = (SyntaxError, ValueError, TypeError, OverflowError, RecursionError, MemoryError)


class _Block(NamedTuple):
    tag: str  # of the fence; "prose" outside fences
    source: str
    before: str  # the words that lead to it


class _Statement(NamedTuple):
    line: int
    source: str
    binds: set[str]
    uses: set[str]  # from outside


def program(text: str, entry_point: str, prompt: str = "") -> str:
    """The Python program in a model's answer, "" if it holds none; `prompt` is the code shown."""
    text, name = _answer(text), entry_point.partition(".")[0]
    shown = next((b.source + "\n" for b in _blocks(prompt) if b.tag not in ("", "prose")), prompt)
    blocks, indented = _blocks(text), _INDENTED.match(text)
    if found := _continued(text, name, shown, least=1 if indented else 2):
        return found
    python = [b for b in blocks if re.match(r"py|ipy|code|$", b.tag)]
    prose = [b for b in blocks if b.tag == "prose"]
    for group in (python, prose, blocks):
        if main := name and _chosen(group, name):
            return _assembled(_tidy(main, name), name, python, shown)
    if indented and "def " in shown:
        return _continued(text, name, shown, least=0) or shown + text
    bodies = (_continued(b.source, name, shown, least=1) for b in python)
    return next(filter(None, bodies), "") or _rest(python or prose)


def cut(text: str, stops: Sequence[str]) -> str:
    """The completion up to the earliest stop string; give it generated text, never the prompt."""
    return text[: min((text.find(s) for s in stops if s and s in text), default=len(text))]


def value(text: str) -> str:
    """The value in an output-prediction answer (CRUXEval-O): a literal's repr, else the text."""
    text = re.split(r"\[ANSWER\]\s*(?=\S)", _answer(text), maxsplit=1)[-1]
    text = re.split(r"\[/?ANSWER\]|\[DONE\]", text)[0].strip()
    fenced = [b.source for b in _blocks(text) if b.tag != "prose"]
    # The whole, a fence, the start; what follows a lead, from the last on; the last line.
    parts = [text, *reversed(fenced), text.split("\n\n")[0], text.split("\n")[0]]
    for match in (m for lead in (_SHOWN, _EQUAL) for m in [*re.finditer(lead, text)][:-20:-1]):
        rest = text[match.end() :].lstrip(" \n*_:=`")
        line = rest.split("\n")[0]
        ends = [m.start() for m in re.finditer(r"[.,;`]*(?:\s|$)", line)][:40]
        parts += [rest, rest.split("\n\n")[0], *(line[:end] for end in reversed(ends))]
    parts += [text.split("\n")[-1]]
    return next(filter(None, map(_literal, parts)), text)


def letter(text: str) -> str:
    """The option A-D chosen in a multiple-choice answer (CodeMMLU), "" if none or ambiguous."""
    text = _LISTED.sub("", _answer(text).replace("_", " "))  # a repeated list counts for nothing
    named = ([g for m in re.finditer(p, text, re.M) for g in m.groups() if g] for p in _CHOICES)
    found = set("".join(next(filter(None, named), [])).upper())
    return found.pop() if len(found) == 1 else ""


def _answer(text: str) -> str:
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    text = text.rpartition("</think>")[2].partition("<think>")[0]
    return _END.split(text[start.end() :] if (start := _START.match(text)) else text, maxsplit=1)[0]


def _blocks(text: str) -> list[_Block]:
    """The answer in pieces, fenced or not; one that opens with code begins inside a fence."""
    text = re.sub(r"(?m)^[ \t]*```(\w*)[ \t]*([^`\n]+)```[ \t]*$", r"```\1\n\2\n```", text)
    tag = "" if _HEADER.match(text.lstrip()) or _INDENTED.match(text) else "prose"
    mark, indent, blocks, lines = "```", 0, [], []
    for line in [*_TAGS.sub("```", text).split("\n"), None]:
        lead, marks, info = fence.groups() if (fence := _FENCE.match(line or "")) else ("", "", "")
        inner = lead.strip() and " " in info
        if tag != "prose":  # further in, or with words around it, it is code
            inner = not marks.startswith(mark) or (info if lead.strip() else len(lead) > indent + 3)
        if line is not None and (inner or not marks):
            lines.append(line)
            continue
        source = "\n".join([*lines, lead] if lead.strip() else lines)
        if tag != "prose":  # unlike textwrap.dedent this leaves blank lines alone
            source = re.sub(rf"(?m)^[ \t]{{0,{indent}}}", "", source)
            shared = min((len(x[1]) for x in re.finditer(r"(?m)^([ \t]*)\S", source)), default=0)
            source = re.sub(rf"(?m)^[ \t]{{{shared}}}", "", source)
        before = blocks[-1].source[-200:] if blocks and blocks[-1].tag == "prose" else ""
        blocks.extend(_blocks(source) if len(mark) > 3 else [_Block(tag, source, before)])
        named = re.match(r"\{?\.?([\w.+#-]*)\}?\s*(.*)", info)
        lines = [x for x in (info, named[2]) if _HEADER.match(x)][:1]
        opens = "" if lines == [info] else named[1].lower()
        tag = "prose" if tag != "prose" and not info else opens
        mark, indent = marks, 0 if lead.strip() else len(lead)
    return [b for b in blocks if b.source.strip()]


def _parse(source: str) -> ast.Module | int:
    """The tree of a source that compiles, else the line where it breaks (0: not known)."""
    try:
        with warnings.catch_warnings(action="ignore"):
            compile(tree := ast.parse(source, "<answer>"), "<answer>", "exec", dont_inherit=True)
    except _BROKEN as error:
        return (getattr(error, "filename", "") == "<answer>" and error.lineno) or 0
    return tree


def _prefix(source: str) -> str:
    """The longest run of leading lines that parses, less a last statement that was cut off."""
    end = len(lines := source.split("\n"))
    while end and isinstance(tree := _parse("\n".join(lines[:end])), int):
        end = min(end, tree or end) - 1
    if end and tree.body and _INDENTED.match("\n".join(lines[end:])):
        if not isinstance(getattr(tree.body[-1], "body", [0])[-1], ast.Return | ast.Raise):
            end = _statements("\n".join(lines[:end]))[-1].line - 1
    return "\n".join(lines[:end])


def _statements(source: str) -> list[_Statement]:
    """The top-level statements of a source that parses, with the names they bind and use."""
    rows, lines, builtin = [], source.split("\n"), set(dir(builtins))
    for node in (n for n in _parse(source).body if not n.col_offset):  # else behind a semicolon
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        part = "\n".join(lines[first - 1 : node.end_lineno])
        tables, uses = [table := symtable.symtable(part, "<answer>", "exec")], set()
        binds = {s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported()}
        for table in tables:
            tables.extend(table.get_children())
            uses |= {s.get_name() for s in table.get_symbols() if s.is_global()}
        rows.append(_Statement(first, part, binds, uses - binds - builtin))
    return rows


def _run(source: str, name: str) -> str:
    """The longest run of lines that parses and defines the entry point whole, "" if none does."""
    lines = source.split("\n")
    for at, line in enumerate(lines):
        named = re.match(rf"\s*(async )?(def |class )?{re.escape(name)}\b", line)
        indent = len(line) - len(line.lstrip())
        above = next((x for x in lines[at::-1] if x[:indent].strip()), "") if indent else ""
        if _NESTS.match(above) or not (named or at == 0 and _GIVES.match(line)):
            continue  # also a method: it is not a function
        flat = [x if x[:indent].strip() else x[indent:] for x in lines]
        found = _prefix("\n".join(flat[at:]))
        owners = [s.source for s in _statements(found) if name in s.binds]
        if all(re.match("import|from", s) for s in owners):
            continue
        for top in range(at - 1, -1, -1):  # take in the code above, leave the prose
            more = "\n".join([*flat[top:at], found])
            if _GIVES.match(flat[top]) and isinstance(_parse(more), ast.Module):
                found, at = more, top
        return found
    return ""


def _weight(source: str, name: str, start: int = 0) -> int:
    """How real the function `name`, or that open at line `start`, is: 2 returns, 1 acts, 0 stub."""
    nodes, own = [n for n in ast.walk(_parse(source)) if isinstance(n, _SCOPES[:2])], []
    stack = [n for n in nodes if n.lineno < start <= n.end_lineno or (not start and n.name == name)]
    if not (stack := stack[:1]):
        return -1 if start else 1
    while stack:
        children = list(ast.iter_child_nodes(stack.pop()))
        own += [c for c in children if getattr(c, "lineno", 0) >= start]
        stack += [c for c in children if not isinstance(c, _SCOPES)]
    if any(isinstance(n, ast.Return | ast.Yield | ast.YieldFrom) for n in own):
        return 2
    again = any(getattr(n, "name", None) == name for n in own)
    return int(any(isinstance(n, _ACTS) for n in own) and not again)


def _chosen(blocks: list[_Block], name: str) -> str:
    """The best definition of the entry point: the first, or the last announced as better."""
    typed = r"(?m)^(?!\s*(?:>>>|\.\.\.)).*\n?|^\s*(?:>>>|\.\.\.) ?"  # all but a session's input
    found = [_run(b.source, name) or _run(re.sub(typed, "", b.source), name) for b in blocks]
    ranks = [at + 1 if _BETTER.search(block.before) else -at for at, block in enumerate(blocks)]
    runs = [(_weight(run, name), rank, run) for run, rank in zip(found, ranks, strict=True) if run]
    return max(runs, default=(0, 0, ""))[2]


def _tidy(source: str, name: str) -> str:
    """The program without what follows its last definition, from the first demonstration on."""
    calls = rf"(?!if __name__)(?s:.*?)\b(?:print|input|main|testmod|{re.escape(name)})\("
    shows = re.compile(rf"assert\b|[\w.]+(?::[^=]*)?\Z|{calls}")
    rows = _statements(source)
    last = max((r.line for r in rows if _HEADER.match(r.source) or name in r.binds), default=0)
    ends = [r.line - 1 for r in rows if r.line > last and shows.match(r.source)]
    return "\n".join(source.split("\n")[: min(ends, default=None)])


def _assembled(main: str, name: str, python: list[_Block], shown: str) -> str:
    """The program with what it needs of the other blocks and what it lacks of the prompt."""
    own = _statements(main)
    bound, names = (set().union(*x) for x in ((r.binds for r in own), (r.uses for r in own)))
    given = [r for b in python for r in _statements(_prefix(b.source)) if _GIVES.match(r.source)]
    for _ in given:
        names = names.union(*(r.uses for r in given if r.binds & names - bound))
    added = [r for r in given if r.binds & names - bound]
    bound = bound.union(*(r.binds for r in added))
    context = [r for r in _statements(_prefix(shown)) if _GIVES.match(r.source)]
    context = [r for r in context if name not in r.binds and (r.binds - bound or not r.binds)]
    lines = "\n".join([*(r.source for r in context + added), main]).split("\n")
    return "\n".join(sorted(lines, key=lambda x: bool(context + added) and "__future__" not in x))


def _continued(text: str, name: str, shown: str, least: int) -> str:
    """Prompt + answer where the answer goes on with the prompt's function, else ""."""
    best, joints = "", [(shown, text)] if shown[-1:] != "\n" != text[:1] else []
    head = shown if shown.endswith("\n") else shown + "\n"
    signature = r"(?m)^([ \t]*)(?:async )?def [^#]*?:[ \t]*(?:#.*)?(?:\n+([ \t]+)\S|\s*\Z)"
    pads = [inner or outer + "    " for outer, inner in re.findall(signature, head)]
    first = len(re.match(r"(?:[ \t]*\n)*([ \t]*)", text)[1])
    for pad in pads[-1:]:  # as it is, all lines moved, the first line's indent mended
        moved = re.sub(rf"(?m)^[ \t]{{{first}}}(?=.*\S)", pad, text)
        joints += [(head, text), (head, moved), (head, pad + text.lstrip())]
    joints += [[re.sub(r"(?m)^[ \t]+", lambda m: m[0].expandtabs(4), x) for x in j] for j in joints]
    for head, body in joints if pads else []:
        found, start = _prefix(head + body), head.count("\n") + 1
        if (weight := _weight(found, name, start)) >= least:
            rivals = [r.line - 1 for r in _statements(found) if r.line >= start and name in r.binds]
            best = _tidy("\n".join(found.split("\n")[: min(rivals, default=None)]), name)
            least = weight + 1
    return best


def _rest(blocks: list[_Block]) -> str:
    """What there is where nothing defines the entry point: a cut definition, or other Python."""
    found = [""]
    for block in blocks:
        first = re.search(rf"(?m)^(?:{_HEADER.pattern})", block.source)
        start = 0 if block.tag != "prose" else first.start() if first else len(block.source)
        kept = _prefix(source := block.source[start:])
        if re.match(rf"\n*(?:[ \t]|for|while|if|print|{_GIVES.pattern})", source[len(kept) :]):
            found.append(source)  # cut in the code
        elif any(isinstance(n, (*_ACTS, *_SCOPES)) for n in ast.walk(_parse(kept))):
            found.append(kept)
    return max(found, key=len)


def _literal(text: str) -> str:
    """The repr of a literal, also of `assert f(x) == literal` or `y = literal`, else ""."""
    tree = _parse(text.strip().strip("`*").rstrip(".,;").strip())
    node = tree.body[0] if isinstance(tree, ast.Module) and len(tree.body) == 1 else None
    node = getattr(node, "test", None) or getattr(node, "value", None)
    for side in [node.comparators[-1], node.left] if isinstance(node, ast.Compare) else [node]:
        with suppress(*_BROKEN):
            item = ast.literal_eval(side)
            ordered = isinstance(item, set) and item and ", ".join(sorted(map(repr, item)))
            return f"{{{ordered}}}" if ordered else repr(item)
    return ""
