"""The contract shown to a model: what is encoded, how to decode, how to encode, two examples.

Three wordings of the same facts, so that the wording can be a random effect instead of a fixed
choice (SPEC 3.6 A7). Wording 2 says, as the paper's own does, nothing about what is NOT encoded
(A6). The control `contract_only` declares the identity map in the same words.
"""

from typing import NamedTuple, Protocol

PLAIN_NOTE = "Any examples in the description above show plain values, before encoding."


class Map(Protocol):
    """What a contract needs of a value map."""

    helper: str  # the function that formula or recipe calls, "" for none

    def formula(self, name: str) -> str: ...
    def recipe(self, name: str) -> str: ...
    def encode_number(self, x: int) -> int: ...


class Identity:
    """The map of the control `contract_only`: nothing changes."""

    helper = ""

    def formula(self, name: str) -> str:
        return name

    recipe = formula

    def encode_number(self, x: int) -> int:
        return x


class Sides(NamedTuple):
    """Which sides of a call are encoded."""

    inputs: bool
    outputs: bool


SIDES = {
    "full": Sides(True, True),
    "full_with_examples": Sides(True, True),
    "contract_only": Sides(True, True),
    "inputs": Sides(True, False),
    "outputs": Sides(False, True),
}


def contract(transform: Map, sides: Sides, wording: str) -> str:
    """The contract text for one map; `wording` is "1", "2" or "3"."""
    lines = {"1": _sentences, "2": _silent, "3": _as_code}[wording](transform, sides)
    called = transform.helper.partition("def ")[2].partition("(")[0]
    if called and any(f"{called}(" in line for line in lines):
        lines += [
            f"Here {called} is this function, which your answer defines too if it calls it:",
            transform.helper,
        ]
    return "\n".join(lines)


def _sentences(t: Map, sides: Sides) -> list[str]:
    lines = ["### Encoding contract (follow it exactly)"]
    if sides.inputs:
        exact = "The division" if "//" in t.recipe("e") else "This"
        lines += [
            f"Integers in the arguments are encoded: the integer x is passed as {t.formula('x')}.",
            f"Decode every integer e in the arguments first: x = {t.recipe('e')}."
            f" {exact} is always exact. Then solve the task with the decoded values.",
        ]
    else:
        lines.append("The arguments are not encoded: read them as they are.")
    if sides.outputs:
        lines.append(f"Encode the result: instead of the integer y return {t.formula('y')}.")
    else:
        lines.append("The result is not encoded: return it as it is.")
    lines += [
        "Integers inside lists, tuples, sets and dictionaries are encoded too."
        " True, False, None, floats and text are never encoded.",
        *_examples(t, sides),
        PLAIN_NOTE,
    ]
    return lines


def _silent(t: Map, sides: Sides) -> list[str]:
    lines = ["### Encoding contract (must be followed exactly)"]
    if sides.inputs:
        lines += [
            f"All integers in the input have been encoded with x' = {t.formula('x')}.",
            f"Decode them with x = {t.recipe('e')}, where e is the encoded integer.",
        ]
    else:
        lines.append("The inputs are in their original form, read them as they are.")
    if sides.outputs:
        lines.append(f"The integers that you return must be encoded with y' = {t.formula('y')}.")
    else:
        lines.append("The output stays in its original form.")
    return [*lines, *_examples(t, sides)]


def _as_code(t: Map, sides: Sides) -> list[str]:
    lines = ["### Encoding contract, as code"]
    if sides.inputs:
        lines.append(
            "Every integer in the arguments has gone through `encode`; undo it with `decode`."
        )
    else:
        lines.append("The arguments are plain.")
    if sides.outputs:
        lines.append("Every integer in the returned value must go through `encode`.")
    else:
        lines.append("The returned value is plain.")
    lines += [
        "def encode(n):",
        f"    return {t.formula('n')}",
        "def decode(n):",
        f"    return {t.recipe('n')}",
        "Containers are mapped element by element. bool, None, float and str are left alone.",
        *_examples(t, sides),
        PLAIN_NOTE,
    ]
    return lines


def _examples(t: Map, sides: Sides) -> list[str]:
    """Two examples, one of them for the answer 0."""
    ten, zero = t.encode_number(10), t.encode_number(0)
    argument = f"For example, the argument {ten} stands for 10"
    if sides.inputs and sides.outputs:
        return [f"{argument}, and the answer 0 is returned as {zero}."]
    if sides.inputs:
        return [f"{argument}, and the argument {zero} stands for 0."]
    return [f"For example, the answer 10 is returned as {ten}, and the answer 0 as {zero}."]
