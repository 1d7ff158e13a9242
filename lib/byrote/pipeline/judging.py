"""How one raw answer becomes a program to judge, by the kind of its task.

A program (kinds write, complete) is taken out of the answer and put before the variant's tests. A
prediction (kinds output, input) is judged by CRUXEval's own rule, run in the sandbox:

    <code>
    assert <output> == <answer>

where an output that contains the very call asked for, and an input without a call of `f`, is none.
So any expression counts that gives the right value, as it does in the published scores.
"""

import ast
import re
import warnings

from byrote import extract
from byrote.records import Variant
from byrote.sandbox import Program

_TAGGED = re.compile(r"\[ANSWER\](.*?)(?:\[/ANSWER\]|$)", re.DOTALL)


def program_of(variant: Variant, text: str) -> Program:
    """The program that judges `text`; its source is "" where the answer holds no program."""
    if variant.kind in ("write", "complete"):
        shown = variant.prompt if variant.kind == "complete" else ""
        source = extract.program(text, variant.entry_point, shown)
        return Program(source, variant.tests, variant.setup, variant.entry_point)
    if variant.kind in ("output", "input"):
        return _prediction(variant, text)
    raise ValueError(
        f"no way to judge tasks of kind {variant.kind!r}; known: write, complete, output, input"
    )


def _prediction(variant: Variant, text: str) -> Program:
    call, output = asked(variant)
    source = variant.code or variant.reference
    if variant.kind == "output":
        answer = predicted_output(text)
        counts = call not in answer
    else:
        answer = predicted_call(text, variant.entry_point)
        counts = f"{variant.entry_point}(" in answer
    if not counts:
        return Program("", variant.tests, variant.setup, variant.entry_point)
    tests = f"assert {output} == {answer}"
    return Program(source, tests, variant.setup, variant.entry_point)


def asked(variant: Variant) -> tuple[str, str]:
    """The call and the output, as written in the one test `assert f(…) == …`."""
    node = ast.parse(variant.tests).body[0]
    test = node.test if isinstance(node, ast.Assert) else None
    if not isinstance(test, ast.Compare) or len(test.comparators) != 1:
        raise ValueError(f"{variant.task_id}: the test {variant.tests[:80]!r} is no `f(…) == …`")
    call = ast.get_source_segment(variant.tests, test.left)
    return call, ast.get_source_segment(variant.tests, test.comparators[0])


def predicted_output(text: str) -> str:
    """The expression in an answer to "what does this return"; a bare one is left as it is."""
    return text.strip() if _bare(text) else extract.value(text)


def predicted_call(text: str, name: str) -> str:
    """The call in an answer to "for which input"; a bare expression is left as it is.

    Else it is the last call with values as arguments, in the tagged part if there is one; talk
    such as `f(x)` counts only when there is nothing better.
    """
    if _bare(text):
        return text.strip()
    tagged = _TAGGED.search(text)
    calls = _calls(tagged[1] if tagged else text, name)
    plain = [call for call in calls if not _names(call)]
    return (plain or calls or [text.strip()])[-1]


def _bare(text: str) -> bool:
    """Whether the answer is code that can stand after `==`, and no comparison of its own."""
    return "==" not in text and _tree(f"assert 0 == {text.strip()}") is not None


def _calls(text: str, name: str) -> list[str]:
    """Every call of `name` in the text that is whole."""
    found = []
    for start in re.finditer(rf"(?<![\w.]){re.escape(name)}\(", text):
        for end in re.finditer(r"\)", text[start.end() :]):
            call = text[start.start() : start.end() + end.end()]
            if _tree(call) is not None:
                found.append(call)
                break
    return found


def _names(call: str) -> set[str]:
    """The variables used in the arguments of a call."""
    arguments = [*(node := ast.parse(call).body[0].value).args, *(k.value for k in node.keywords)]
    return {n.id for a in arguments for n in ast.walk(a) if isinstance(n, ast.Name)}


def _tree(source: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings(action="ignore"):
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
