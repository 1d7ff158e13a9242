"""How a variant is put to a model: one text for chat models, one for base models."""

import ast
import builtins
import symtable

from byrote.records import Variant

FENCE = "```"
# No stop string can cut a solution short: all stand at the left margin, outside any function.
BASE_STOPS = ("\n```", "\nprint(", "\nif __name__", "\nassert ", "\n# Test", "<|endoftext|>")
REWORDING_STOPS = ("\n", "<|endoftext|>")
# Written here; no two begin alike, so that no opening is copied.
REWORDINGS = (
    (
        "Write a function that takes a sentence and returns how many of its words begin with a "
        "capital letter.",
        "Count the capitalised words of a given sentence.",
    ),
    (
        "You are given two dates d1 and d2. Return True if d1 comes before d2, and False "
        "otherwise. Assume that both dates are valid.",
        "Of two dates, tell whether d1 is the earlier one: the answer is True if it comes before "
        "d2, otherwise it is False. Both dates can be taken to be valid.",
    ),
    (
        "Given a list of guests with their ages, find the age of the oldest guest. If nobody "
        "came, return 0.",
        "Among all guests in the list, pick the oldest and return how old that guest is. When "
        "nobody came the result is 0.",
    ),
    (
        "Remove the seats that are already taken from a list of seats, and keep the order of "
        "the others",
        "Drop every seat that is no longer free; those that are left stay in the order they had",
    ),
    (
        "This function takes a text and a letter. It removes the letter wherever it occurs in "
        "the text. The text is returned in lowercase. If the text is empty, None is returned.",
        "Delete a letter from a text, at every place where it stands, and turn what is left into "
        "lowercase. When the text is empty, the result is None.",
    ),
)


def question(variant: Variant) -> str:
    """The user message for a chat model.

    The entry point and one example test are shown in every condition, so that a wrong name never
    looks like a wrong algorithm; in transformed conditions the example is transformed (SPEC 0).
    """
    if variant.kind == "complete":
        head = f"Complete this Python function.\n\n{FENCE}python\n{variant.prompt.strip()}\n{FENCE}"
    elif variant.kind == "write":
        head = f"Write a Python function named `{variant.entry_point}`.\n\n{variant.prompt}"
    else:
        raise ValueError(f"no prompt for tasks of kind {variant.kind!r}; known: complete, write")
    example = f"It must pass this test:\n{variant.example}" if variant.example else ""
    tail = "Answer with the whole function in one Python code block and nothing else."
    return "\n\n".join(part for part in (head, variant.contract, example, tail) if part)


def completion(variant: Variant) -> str:
    """The text that a base model continues."""
    notes = "\n".join(part for part in (variant.contract, variant.example) if part)
    if variant.kind == "complete":
        comment = "".join(f"# {line}\n" for line in notes.splitlines())
        return f"{comment}{variant.prompt}"
    if variant.kind == "write":
        return f'"""\n{variant.prompt}\n{notes}\n"""\ndef {variant.entry_point}('
    raise ValueError(f"no prompt for tasks of kind {variant.kind!r}; known: complete, write")


def rewording(variant: Variant) -> str:
    """The text that a model continues with a text in other words: on one line, after examples.

    Also for chat models: asked in turns, the embedded one answers the task instead.
    """
    shown = "".join(f"Text: {old}\nIn other words: {new}\n\n" for old, new in REWORDINGS)
    return f"{shown}Text: {variant.prompt}\nIn other words:"


def finished(text: str, entry_point: str) -> bool:
    """Whether a chat answer already holds its solution, so that generating may stop.

    True once a closed block defines the entry point and every global name that it uses; what
    could follow is explanation.
    """
    pieces = f"\n{text}".split(f"\n{FENCE}")  # prose, block, prose, block, …
    closed = (block.partition("\n")[2] for block in pieces[1:-1:2])
    return any(self_contained(source, entry_point) for source in closed)


def self_contained(source: str, entry_point: str) -> bool:
    """Whether `source` parses, defines `entry_point`, no stub, and uses no undefined name."""
    try:
        tree = ast.parse(source)
        top = symtable.symtable(source, "<answer>", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    functions = {n.name for n in tree.body if isinstance(n, ast.FunctionDef) and not _stub(n)}
    known = {s.get_name() for s in top.get_symbols() if s.is_assigned() or s.is_imported()}
    used = {s.get_name() for t in _tables(top) for s in t.get_symbols() if s.is_global()}
    used |= {s.get_name() for s in top.get_symbols() if s.is_referenced()}
    return entry_point in functions and used <= known | set(dir(builtins))


def _stub(function: ast.FunctionDef) -> bool:
    """Whether a function has no body yet: a docstring, `pass`, `…` or a raise at most."""
    empty = (ast.Pass, ast.Raise)
    return all(
        isinstance(n, empty) or (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))
        for n in function.body
    )


def _tables(top: symtable.SymbolTable) -> list[symtable.SymbolTable]:
    return [table for child in top.get_children() for table in (child, *_tables(child))]
