"""Rewording: a task said in other words, by a person or by a model (SPEC 1, control paraphrase).

The operator `reword` shows a rewording that the task brings along. The rest of this module is what
a stage needs to have a model write one: which text is prose, how new prose is put in its place,
and which answers are refused. What passes is still unchecked: a model may change the meaning and
keep every name and number.
"""

import ast
import json
import re
import textwrap
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from byrote.operators.suite import Inapplicable
from byrote.operators.synonyms import FUNCTION_WORDS, docstring
from byrote.operators.wording import original
from byrote.records import Task, Variant
from byrote.registry import operator

LEVELS = (1.0, 2.0, 3.0, 4.0, 5.0)
WIDTH = 79  # of a docstring's lines, where its own are not longer
LENGTHS = (0.5, 2.0)  # words of a rewording, as a share of the words of its source
# A line with which the running prose ends: an example, a note, a list, a doctest.
LABEL = re.compile(
    r"""\s*(?: (?:for\s+)?exam[pb]le | e\.\s?g\. | >>> | \.\.\. | ``` | [-*•@]\s? | \d+[.)]\s | \[
    | (?:task|notes?|inputs?|outputs?|variables|constraints?|explanation)\s*(?::|$) )""",
    re.VERBOSE | re.IGNORECASE,
)
RESULT = re.compile(r"=>|==|->|➞|→|\s\|\s|\)\s*(?:=|returns?\b|should\b)")
PLAIN = re.compile(r"[(\"'“‘]*(?:[A-Za-z]+(?:['’-][A-Za-z]+)*|-?\d+)[)\"'”’.,;:!?]*")
NUMBERS = dict(
    zip("zero one two three four five six seven eight nine ten".split(), range(11), strict=True)
)
QUOTED = re.compile(r"`[^`\n]+`|(?<!\w)\"[^\"\n]+\"(?!\w)|(?<!\w)'[^'\n]+'(?!\w)")
# Words that turn a task into another; those of one line may stand for one another.
TURNS = {
    word: line.split()[0]
    for line in """
        not no never neither nor without except cannot unless doesn don isn aren didn hasn
        smallest minimum min least lowest shortest
        largest maximum max greatest highest longest biggest
        ascending increasing
        descending decreasing
        smaller less below under fewer shorter lower
        larger greater above over more longer higher
        even
        odd
        positive
        negative
        uppercase upper capital capitalised capitalized
        lowercase
        first
        last
        prime
        distinct unique
        sorted sort sorts order
        average mean
        if whether when otherwise true
    """.strip().splitlines()
    for word in line.split()
}
CODE = re.compile(r"```|~~~|^\s*(?:def|import|return|class|assert)\b.*[(:=]|>>>|\\", re.MULTILINE)


@operator("reword", family="wording", levels=LEVELS)
def reword(task: Task, level: float, seed: int, mode: str, wording: str) -> Variant:
    """The task's rewording number `level`: 1 is the nearest, 5 the farthest, 0 the task itself.

    `changed` is the share of the new prompt's words that the old one does not hold, each as often
    as it stands there; order is not looked at. Raises ValueError for a level that cannot be.
    """
    if level not in (0, *LEVELS):
        raise ValueError(f"level {level!r} of reword: 0 (the task itself) or 1, 2, 3, 4, 5")
    known = rewordings(task)
    if level and not known:
        raise Inapplicable(
            f"the rewording by {task.reworded_by} was refused"
            if task.reworded_by
            else "no rewording; have a model write one: rewording.reworded(tasks, model)"
        )
    if level > len(known):
        raise Inapplicable(f"no rewording {level:g}: the task has {len(known)}")
    prompt = known[int(level) - 1] if level else task.prompt
    parameters = {"by": task.reworded_by or "hand", "checked": not task.reworded_by}
    return replace(
        original(task, 0.0, 0, "", ""),
        operator="reword",
        mode=mode,
        wording=wording,
        level=level,
        seed=seed,
        family="wording",
        prompt=prompt,
        parameters=json.dumps(parameters),
        changed=_changed(task.prompt, prompt),
    )


def rewordings(task: Task) -> list[str]:
    """The prompts that say the same; raises ValueError where the column holds anything else."""
    try:
        found = ast.literal_eval(task.rewordings or "[]")
    except (ValueError, SyntaxError):
        found = None
    if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
        raise ValueError(
            f"{task.task_id}: rewordings {task.rewordings[:80]!r}, not the repr of a list of texts"
        )
    return found


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _changed(old: str, new: str) -> float:
    words = Counter(_words(new))
    return (words - Counter(_words(old))).total() / max(words.total(), 1)


def prose(task: Task) -> tuple[int, int]:
    """Where the prose of a task's prompt stands: all of it, or the start of the docstring.

    A docstring's prose ends before its first example, note, list or definition. Raises
    Inapplicable where there is none.
    """
    if task.kind == "write":
        start, end = 0, len(task.prompt)
    elif task.kind == "complete":
        start, end = docstring(task.prompt, task.entry_point)
        start, end = _running(task.prompt, start, end, f"{task.entry_point}(")
    else:
        raise Inapplicable(f"no prose in tasks of kind {task.kind}")
    while start < end and task.prompt[start].isspace():
        start += 1
    while start < end and task.prompt[end - 1].isspace():
        end -= 1
    if not re.search(r"[A-Za-z]{2}.*\s.*[A-Za-z]{2}", task.prompt[start:end], re.DOTALL):
        raise Inapplicable("no prose to reword")
    return start, end


def _running(prompt: str, start: int, end: int, call: str) -> tuple[int, int]:
    """The first run of prose lines between two offsets."""
    first, last, finished = end, start, False
    for line in prompt[start:end].splitlines(keepends=True):
        stop = start + len(line)
        text = line.strip()
        ends = LABEL.match(text) or text.startswith(call) or (finished and not _plain(text))
        if text and not ends:
            first, last = min(first, start), stop
        elif text and last > first:
            break
        # the first sentence, and one that goes on, may well hold a formula
        finished = bool(ends) or not text or text[-1] in ".:!?"
        start = stop
    return first, max(first, last)


def _plain(text: str) -> bool:
    """Whether most of a line is words, and it tells no result of a call."""
    tokens = text.split()
    plain = sum(PLAIN.fullmatch(token) is not None for token in tokens)
    return plain >= 0.7 * len(tokens) and not RESULT.search(text)


def asked(task: Task) -> str:
    """The prose of a task as one line, as a model gets it; raises Inapplicable without prose."""
    start, end = prose(task)
    return " ".join(task.prompt[start:end].split())


def placed(task: Task, text: str) -> str:
    """The task's prompt with `text` in place of its prose; "" where that would break it.

    In a docstring the lines are filled anew at its indentation; every other byte stays.
    """
    start, end = prose(task)
    before, after = task.prompt[:start], task.prompt[end:]
    if task.kind == "complete":
        text = _filled(before, task.prompt[start:end], text)
    made = before + text + after
    if task.kind == "complete":
        first, last = docstring(task.prompt, task.entry_point)
        grown = last + len(made) - len(task.prompt)
        if docstring(made, task.entry_point) != (first, grown) or not _parses(made):
            return ""
    return made


def _filled(before: str, old: str, new: str) -> str:
    """New prose on lines as long as the old ones, in the newlines of the old."""
    line = before.rpartition("\n")[2]
    indent = line[: len(line) - len(line.lstrip())]
    if "\n" not in old and len(line) + len(new) <= WIDTH:
        return new
    width = max(WIDTH, *(len(row.rstrip()) for row in old.splitlines()))
    rows = textwrap.wrap(
        new,
        width,
        initial_indent=" " * len(line.expandtabs()),
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return ("\r\n" if "\r\n" in before else "\n").join([rows[0].lstrip(), *rows[1:]])


def _parses(source: str) -> bool:
    try:
        ast.parse(f"{source.rstrip()}\n    pass\n")
    except (SyntaxError, ValueError):
        return False
    return True


def refusal(old: str, new: str, names: Iterable[str]) -> str:
    """Why `new` is no rewording of the prose `old`, in one phrase; "" where nothing speaks so.

    The same numbers must stand in both, equally often; quoted text and `names` must stay; words
    of `TURNS`, such as odd, smallest or not, must neither come nor go.
    """
    before, after = _words(old), _words(new)
    if not after:
        return "empty"
    if CODE.search(new):
        return "holds code"
    if "\n\n" in new:
        return "several paragraphs"
    if before == after:
        return "repeats the text"
    if not LENGTHS[0] <= len(after) / len(before) <= LENGTHS[1]:
        return "longer" if len(after) > len(before) else "shorter"
    if len(after) > 5 and 10 * sum(w in FUNCTION_WORDS for w in after) < len(after):
        return "not English"
    if _numbers(before) != _numbers(after):
        return "other numbers"
    if set(QUOTED.findall(old)) - set(QUOTED.findall(new)):
        return "loses quoted text"
    if (set(names) & set(before)) - set(after):
        return "loses a name"
    if _turns(before) != _turns(after):
        return "turns the meaning"
    if _sentences(old) > 1 == _sentences(new):
        return "drops a sentence"
    if _repeated(after) - _repeated(before):
        return "repeats itself"
    return ""


def _sentences(text: str) -> int:
    return len(re.findall(r"[.:;!?](?=\s|$)|[^.:;!?\s]\s*$", text))


def _repeated(words: list[str]) -> set[tuple[str, ...]]:
    """The runs of three words that stand twice."""
    counts = Counter(zip(words, words[1:], words[2:], strict=False))
    return {run for run, count in counts.items() if count > 1}


def _turns(words: list[str]) -> set[str]:
    return {TURNS[w] for w in words if w in TURNS}


def parameters(source: str, name: str) -> set[str]:
    """The parameters of function `name` that a text must tell apart: none where it has one."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            found = {argument.arg.lower() for argument in node.args.args}
            return found if len(found) > 1 else set()
    return set()


def _numbers(words: list[str]) -> Counter:
    return Counter(str(NUMBERS.get(w, w)) for w in words if w in NUMBERS or w[0].isdigit())
