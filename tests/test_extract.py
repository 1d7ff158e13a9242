"""What extract finds in an answer, and what it must not. Run: pytest tests/test_extract.py

Ids in brackets are public reports on other harnesses (repository#number); inputs are our own.
"""

import ast
import gzip
import json
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from byrote import extract

SHARED = Path(__file__).parents[2] / "shared" / "data"
ADD = 'def f(a, b):\n    """add"""\n'


def called(program: str, call: str) -> object:
    scope: dict = {"__name__": "answer"}
    exec(program, scope)
    return eval(call, scope)


def parses(program: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(program, "answer", "exec")
        except (SyntaxError, ValueError):
            return False
    return True


# fmt: off
REPLIES = {  # name: reply, entry point, prompt, call, value
    "starts inside a fence [noonghunna/benchlocal-cli#120]": (
        "def inc(n):\n    return n + 1\n```", "inc", "", "inc(1)", 2),
    "starts inside a fence with an import [EleutherAI/lm-evaluation-harness#3769]": (
        "from math import gcd\ndef lcm(a, b):\n    return a * b // gcd(a, b)\n```", "lcm",
        "```python\n", "lcm(4, 6)", 12),
    "starts inside a fence, then shows its use": (
        "def f(x):\n    return x + 1\n```\nExample:\n```python\nprint(f(1))\n```\nOutput:\n"
        "```\n2\n```", "f", "", "f(1)", 2),
    "helper in an earlier block [Kaggle/kaggle-benchmarks#21, modelscope/evalscope#1170]": (
        "```python\ndef sq(x):\n    return x * x\n```\nthen\n```python\ndef solve(xs):\n"
        "    return sum(sq(x) for x in xs)\n```\n```bash\npip install nothing\n```", "solve", "",
        "solve([1, 2, 3])", 14),
    "helper in a later block": (
        "```python\ndef solve(xs):\n    return sum(sq(x) for x in xs)\n```\nwhere\n```python\n"
        "def sq(x):\n    return x * x\n```", "solve", "", "solve([1, 2])", 5),
    "imports in a block of their own": (
        "```python\nimport math\n```\n\n```python\ndef f(x):\n    return math.floor(x)\n```", "f",
        "", "f(1.5)", 1),
    "usage block whose names the program also uses": (
        "```python\ndef f(x):\n    result = x + 1\n    return result\n```\nUse:\n```python\n"
        "result = f(1, 2, 3)\n```", "f", "", "f(1)", 2),
    "a json and a text block around it": (
        '```json\n{"f": 1}\n```\n```python\ndef f():\n    return 1\n```\n```text\nf = 2\n```',
        "f", "", "f()", 1),
    "indented fence in a list [JuliusBrussee/caveman#820]": (
        "1. Answer:\n\n    ```python\n    def f(x):\n        return x * 2\n    ```", "f", "",
        "f(4)", 8),
    "fence on the list line": (
        "1. ```python\n   def f(x):\n       return x * 2\n   ```\n2. Done.", "f", "", "f(4)", 8),
    "tildes": (
        "~~~python\ndef f():\n    return 1\n~~~\nbye", "f", "", "f()", 1),
    "no language": (
        "Sure:\n```\ndef f():\n    return 1\n```\nbye", "f", "", "f()", 1),
    "Python 3 in capitals": (
        "```Python3\ndef f():\n    return 1\n```", "f", "", "f()", 1),
    "language with attributes": (
        '```python title="a.py"\ndef f():\n    return 1\n```', "f", "", "f()", 1),
    "language in braces": (
        "```{.python}\ndef f():\n    return 1\n```", "f", "", "f()", 1),
    "wrong language": (
        "```java\ndef f():\n    return 1\n```", "f", "", "f()", 1),
    "four backticks": (
        "````markdown\nHere:\n```python\ndef f():\n    return 1\n```\n````", "f", "", "f()", 1),
    "fence glued to words": (
        "Here it is: ```python\ndef f():\n    return 1```", "f", "", "f()", 1),
    "fence on one line": (
        "```python def f(): return 1```", "f", "", "f()", 1),
    "code on the fence line": (
        "```def f():\n    return 1\n```", "f", "", "f()", 1),
    "fence never closed": (
        "So:\n```python\ndef f():\n    return 1\n", "f", "", "f()", 1),
    "second fence opened before the first closed": (
        "```python\ndef f():\n    return 1\n\n```python\nprint(f())\n```", "f", "", "f()", 1),
    "fence inside a docstring": (
        '```python\ndef f():\n    """Say\n\n    ```\n    f()\n    ```\n    """\n    return 1\n'
        "```", "f", "", "f()", 1),
    "fence as a string": (
        '```python\ndef f(s):\n    return s.split("```")\n```', "f", "", "f('a```b')", ['a', 'b']),
    "bracket tags": (
        "[PYTHON]\ndef f():\n    return 1\n[/PYTHON]\n", "f", "", "f()", 1),
    "cut after the function": (
        "```python\ndef f():\n    return 1\n\ndef test():\n    assert f() ==", "f", "", "f()", 1),
    "unfinished call after the function": (
        "```python\ndef f():\n    return 1\n\nprint(f(\n", "f", "", "f()", 1),
    "prose after it in the fence": (
        "```python\ndef f():\n    return 1\n\nThis function returns one.\n```", "f", "", "f()", 1),
    "prose around, no fence": (
        "Here it is:\n\nimport math\n\ndef f(x):\n    return math.floor(x)\n\nIt's simple.", "f",
        "", "f(1.5)", 1),
    "one-word lines around, no fence": (
        "Solution\n\ndef f(x):\n    y = x\n\n    return y\n\nExplanation\n\nIt is f.", "f", "",
        "f(1)", 1),
    "decorated, no fence": (
        "I'd cache it.\nfrom functools import cache\n@cache\ndef f(x):\n    return x\nDone!", "f",
        "", "f(1)", 1),
    "indented, no fence": (
        "Use this:\n\n    def f(x):\n        return x\n\nThat's it.", "f", "", "f(1)", 1),
    "wholly indented": (
        "    def f(a, b):\n        return a + b\n", "f", ADD, "f(1, 2)", 3),
    "doctest marks": (
        ">>> def f(x):\n...     return x + 1\n...\n>>> f(1)\n2", "f", "", "f(1)", 2),
    "doctest marks in a fence": (
        "```pycon\n>>> import math\n>>> def f(x):\n...     return math.floor(x)\n>>> f(1.2)\n"
        "1\n```", "f", "", "f(1.5)", 1),
    "chat tokens": (
        "<|im_start|>assistant\n```python\ndef f():\n    return 1\n```<|im_end|>\n"
        "<|im_start|>user", "f", "", "f()", 1),
    "end token glued to the code": (
        "def f():\n    return 'a'<|endoftext|>import junk(", "f", "", "f()", "a"),
    "sentence end token": (
        "def f():\n    return 1</s>", "f", "", "f()", 1),
    "token inside a string": (
        'def f(s):\n    return s.split("<|endoftext|>")', "f", "", "f('a<|endoftext|>b')",
        ['a', 'b']),
    "thinking with a draft": (
        "<think>\n```python\ndef f():\n    return 0\n```\n</think>\n```python\ndef f():\n"
        "    return 1\n```", "f", "", "f()", 1),
    "carriage returns": (
        "```python\r\ndef f():\r\n    return 1\r\n```\r\n", "f", "", "f()", 1),
    "tabs": (
        "```python\ndef f():\n\tif 1:\n\t\treturn 1\n```", "f", "", "f()", 1),
    "byte-order mark": (
        "\ufeffdef f():\n    return 1", "f", "", "f()", 1),
    "quotes stay as they are": (
        "```python\ndef f():\n    return '“a”'\n```", "f", "", "f()", "“a”"),
    "nested function and demonstration [evalplus/evalplus#92]": (
        "def f(n):\n    def g(i):\n        return i * 2\n    return [g(i) for i in range(n)]\n"
        "\n# try it\nprint(f(3))\n", "f", "", "f(2)", [0, 2]),
    "demonstration that reads": (
        "def f(n):\n    return n\n\nn = int(input())\nm = n + 1\nprint(f(m))", "f", "", "f(2)", 2),
    "wrong self-made test": (
        "def f(n):\n    return n\n\nassert f(1) == 2", "f", "", "f(2)", 2),
    "table filled after the function": (
        "def f(n):\n    return T[n]\n\nT = []\nfor i in range(5):\n    T.append(i * i)\n"
        "print(f(2))", "f", "", "f(3)", 9),
    "usage first, solution second": (
        "You would call it so:\n```python\nprint(f(1))\n```\n```python\ndef f(x):\n"
        "    return x\n```", "f", "", "f(1)", 1),
    "skeleton first, solution second": (
        '```python\ndef f(x):\n    """Do."""\n    pass\n```\nNow:\n```python\ndef f(x):\n'
        "    return x\n```", "f", "", "f(1)", 1),
    "solution first, a piece of it again": (
        "```python\ndef f(x):\n    y = x\n    return y\n```\nStep 1:\n```python\ndef f(x):\n"
        "    y = x\n```", "f", "", "f(1)", 1),
    "draft, then corrected": (
        "```python\ndef f(x):\n    return 0\n```\nThat is wrong. Corrected version:\n"
        "```python\ndef f(x):\n    return x\n```", "f", "", "f(1)", 1),
    "solution, then a slower alternative": (
        "```python\ndef f(x):\n    return x\n```\nAlternatively, by a loop:\n```python\n"
        "def f(x):\n    return -x\n```", "f", "", "f(1)", 1),
    "lambda": (
        "```python\nf = lambda x: x + 1\n```", "f", "", "f(1)", 2),
    "imports of the prompt": (
        "```python\ndef f(xs: List[int]) -> int:\n    return math.floor(sum(xs))\n```", "f",
        "from typing import List\nimport math\n\n\ndef f(xs: List[int]) -> int:\n"
        '    """Sum."""\n', "f([1.5, 1])", 2),
    "helper of the prompt that only the tests use": (
        "```python\ndef f(x):\n    return x\n```", "f",
        'import math\n\ndef poly(x):\n    return math.floor(x)\n\ndef f(x):\n    """Do."""\n',
        "poly(f(1.5))", 1),
    "helper of the prompt written anew": (
        "```python\ndef g(x):\n    return x\n\ndef f(x):\n    return g(x)\n```", "f",
        'def g(x):\n    return -x\n\ndef f(x):\n    """Do."""\n', "f(1)", 1),
    "star import of the prompt": (
        "```python\ndef f(x):\n    return floor(x)\n```", "f",
        'from math import *\n\ndef f(x):\n    """Do."""\n', "f(1.5)", 1),
    "future import below the prompt's imports": (
        "```python\nfrom __future__ import annotations\n\ndef f(x: List) -> int:\n"
        "    return x\n```", "f", 'from typing import List\n\ndef f(x):\n    """Do."""\n', "f(1)",
        1),
    "completion [bigcode-project/bigcode-evaluation-harness#46]": (
        "    return a * b", "mul", "def mul(a, b):\n", "mul(3, 4)", 12),
    "completion, first indent kept [EleutherAI/lm-evaluation-harness#2371]": (
        "    c = a + b\n    return c\n", "f", ADD, "f(2, 3)", 5),
    "completion, first indent odd [paiml/aprender#1617]": (
        "     c = a + b\n    return c\n", "f", ADD, "f(2, 3)", 5),
    "completion, first indent odd, no docstring": (
        "     c = a + b\n    return c\n", "f", "def f(a, b):\n", "f(2, 3)", 5),
    "completion, first indent lost": (
        "c = a + b\n    return c", "f", ADD, "f(2, 3)", 5),
    "completion, first indent lost before a loop": (
        "for x in (a, b):\n        a = a + x\n    return a", "f", ADD, "f(1, 2)", 4),
    "completion, all indent lost": (
        "c = a + b\nreturn c", "f", ADD, "f(2, 3)", 5),
    "completion, one space too many": (
        "     c = a + b\n     return c\n\nThis adds.", "f", ADD, "f(2, 3)", 5),
    "completion, all indent lost, a block on one line": (
        "if a: return b\nfor x in (a, b):\n    b = b + x\nreturn b", "f", ADD, "f(0, 3)", 6),
    "completion, all indent lost, after a line of blanks": (
        "  \nc = a + b\nreturn c", "f", ADD, "f(2, 3)", 5),
    "completion by tabs": (
        "\tc = a + b\n\treturn c", "f", ADD, "f(2, 3)", 5),
    "completion, prompt by two spaces": (
        "c = a + b\nreturn c", "f", 'def f(a, b):\n  """add"""\n', "f(2, 3)", 5),
    "completion, prompt without its newline": (
        "    c = a + b\n    return c", "f", 'def f(a, b):\n    """add"""', "f(2, 3)", 5),
    "completion of a half line": (
        " a + b\n", "f", "def f(a, b):\n    return", "f(2, 3)", 5),
    "completion in the middle of a loop": (
        "        t += x\n    return t\n", "f", "def f(xs):\n    t = 0\n    for x in xs:\n",
        "f([1, 2])", 3),
    "completion with empty lines [alibaba/FederatedScope#667]": (
        "    total = 0\n\n    for x in xs:\n        total += x\n\n    return total\n", "f",
        "def f(xs):\n", "f([1, 2])", 3),
    "completion, then a rival definition": (
        "    return a + b\n\n\ndef f(a, b):\n    return 0\n", "f", ADD, "f(2, 3)", 5),
    "completion with a helper after it": (
        "    return g(a, b)\n\n\ndef g(a, b):\n    return a + b\n", "f", ADD, "f(2, 3)", 5),
    "completion, then the fence of the prompt and a talk": (
        "    return a + b\n```\n\nThis adds:\n```python\nprint(f(1, 2))\n```", "f", ADD,
        "f(2, 3)", 5),
    "completion, then half a function": (
        "    return a + b\n\ndef main():\n    print(f(", "f", ADD, "f(2, 3)", 5),
    "completion, then an open docstring": (
        '    return a + b\n    """\n    more', "f", ADD, "f(2, 3)", 5),
    "body only, in a fence": (
        "Sure:\n```python\nc = a + b\nreturn c\n```", "f", ADD, "f(2, 3)", 5),
    "constants before the function, with a prompt": (
        "M = 7\n\ndef f(a, b):\n    return M", "f", ADD, "f(2, 3)", 7),
    "whole function again, with a prompt": (
        'def f(a, b):\n    """add"""\n    return a + b\n', "f", ADD, "f(2, 3)", 5),
    "completion that ends in an inner function of the same name": (
        "    def f(a):\n        return a + 1\n\n    return f(a) + b\n", "f", ADD, "f(2, 3)", 6),
    "completion after an empty line of blanks": (
        "    \n    return a + b\n", "f", ADD, "f(2, 3)", 5),
    "blanks on empty lines stay": (
        "```python\ndef f():\n    return '''a\n  \nb'''\n```", "f", "", "f()", "a\n  \nb"),
    "optimized version announced": (
        "```python\ndef f(x):\n    return 0\n```\nStill slow. Here is the optimized version:\n"
        "```python\ndef f(x):\n    return x\n```", "f", "", "f(1)", 1),
    "several helpers that need each other": (
        "```python\nimport math\nB = 2\n```\n```python\ndef h(x):\n"
        "    return math.floor(x) * B\n```\n```python\ndef g(x):\n    return h(x)\n```\n"
        "```python\ndef f(x):\n    return g(x)\n```", "f", "", "f(1.5)", 2),
}
# fmt: on


@pytest.mark.parametrize("name", REPLIES)
def test_the_program_of_an_answer_runs(name):
    reply, entry_point, prompt, call, value = REPLIES[name]
    assert called(extract.program(reply, entry_point, prompt), call) == value


def test_code_that_starts_with_an_import_keeps_its_first_word():
    reply = "from math import gcd\ndef lcm(a, b):\n    return a * b // gcd(a, b)\n```"
    assert extract.program(reply, "lcm").startswith("from math import gcd")


def test_a_program_without_fences_or_prose_is_not_changed():
    reply = "# note\nimport math\n\n\ndef f(x):\n    # why\n    return math.floor(x)\n"
    assert extract.program(reply, "f") == reply


def test_blank_characters_inside_strings_stay():
    for line in ("print('a , b')", "parts = s.split(' . ')"):  # [huggingface/transformers#44914]
        reply = f"```python\ndef f(s):\n    {line}\n    return s\n```"
        assert line in extract.program(reply, "f")


def test_a_method_is_not_turned_into_a_function():
    for form in ("{}", "```python\n{}\n```", "Here:\n{}\nDone."):
        body = "class Solution:\n    def f(self, x):\n        return x\n"
        program = extract.program(form.format(body), "f", ADD)
        assert called(program, "Solution().f(1)") == 1
        assert "f" not in [n.name for n in ast.parse(program).body]


def test_a_main_guard_stays():
    reply = 'def f():\n    return 1\n\nif __name__ == "__main__":\n    print(f())\n'
    assert extract.program(reply, "f") == reply


def test_a_cut_program_does_not_parse_and_is_not_silently_shortened():
    for reply in (
        "```python\ndef f(xs):\n    total = 0\n    for x in xs:\n        total +=",
        "def f(xs):\n    total = 0\n    if xs:\n        return (total",
        'Here it is:\n\ndef f(xs):\n    """Sum of',
    ):
        program = extract.program(reply, "f")
        assert "def f(xs)" in program and not parses(program)
    program = extract.program(
        "    total = 0\n    for x in xs:\n        total +=", "f", "def f(xs):\n"
    )
    assert program.startswith("def f(xs):\n    total") and not parses(program)


def test_an_answer_without_a_program_gives_none():
    for reply in (
        "",
        " \n",
        "I cannot help with that.",
        "Sorry",
        "```bash\npip install x\n```",
        '```json\n{"a": 1}\n```',
        "<think>\ndef f():\n    return 1",
        "f returns 3.",
        "The output is:\n```\n[1, 2]\n```",
    ):
        assert extract.program(reply, "f", ADD) == "", reply


def test_a_program_that_reads_stdin_needs_no_entry_point():
    reply = (
        "```python\nimport sys\n\nn = int(input())\nprint(n)\n```\nRun:\n```bash\npython a.py\n```"
    )
    assert extract.program(reply, "") == "import sys\n\nn = int(input())\nprint(n)"


def test_cut_ends_at_the_earliest_stop_string():
    stops = ["\ndef", "\nclass", "\nif"]
    assert extract.cut("    return a * b", stops) == "    return a * b"
    assert extract.cut("    return 1\nif x:\n\ndef g", stops) == "    return 1"
    assert extract.cut("    return a | b\n<|endoftext|>junk", ["<|endoftext|>"]) == (
        "    return a | b\n"
    )  # [bigcode-project/bigcode-evaluation-harness#47]
    assert extract.cut("abc", ["", "b", "z"]) == "a"
    assert extract.cut("abc", []) == "abc"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("(1, 2)", "(1, 2)"),
        ("1, 2", "(1, 2)"),
        ("(1,)", "(1,)"),
        ("[ 'a',\"b\" ]", "['a', 'b']"),
        ("{'b': 1, 'a': (2, 3)}", "{'b': 1, 'a': (2, 3)}"),
        ("{3, 1, 2}", "{1, 2, 3}"),
        ("set()", "set()"),
        ("''", "''"),
        ("-1.5", "-1.5"),
        ("5.", "5"),
        ("None", "None"),
        ("hello world", "hello world"),
        ("", ""),
        ("assert f([1]) == (1, 'a')", "(1, 'a')"),
        ("assert f('a == b') == 'c == d', 'message'", "'c == d'"),
        ("f(x) == [1, 2]", "[1, 2]"),
        ("[ANSWER] assert f(1) == (1, 2) [/ANSWER] junk", "(1, 2)"),
        ("[THOUGHT]\nf(1) == 3\n[/THOUGHT]\n[ANSWER]\nassert f(1) == 4\n[/ANSWER]", "4"),
        ("(1, 2)\n[/ANSWER]\n\n[PYTHON]\ndef f(): pass", "(1, 2)"),
        ("```python\n[1, 2]\n```", "[1, 2]"),
        ("```\nassert f(2) == {'a': 1}\n```\nBecause.", "{'a': 1}"),
        ("Output: (1, 2)", "(1, 2)"),
        ("The output is `(1, 2)`.", "(1, 2)"),
        ("**Output:** 'abc'", "'abc'"),
        ("Answer: [1, 2], because the list is short.", "[1, 2]"),
        ("The function returns ('a', 1).", "('a', 1)"),
        ("[1,\n 2]\n\nThe list is sorted.", "[1, 2]"),
        ("7\nExplanation: it adds.", "7"),
        ("First x is 3. Then y is 4. So the final answer is 12.", "12"),
        ("Let's see.\nx = 1\n\n'ab'", "'ab'"),
        ("<think>it is 3</think>\n4<|im_end|>", "4"),
        ("[" * 3000, "[" * 3000),
    ],
)
def test_the_value_of_an_answer(text, value):
    assert extract.value(text) == value


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("B", "B"), ("b", "B"), ("B.", "B"), ("(C)", "C"), ("**D**", "D"), ("A", "A"),
        ("B) because it loops", "B"), ("A. It returns a list.", "A"), ("C: the third", "C"),
        ("Answer: B", "B"), ("answer: b", "B"), ("**Answer:** C", "C"), ("Answer:\nD", "D"),
        ("Answer: (a)", "A"), ("[ANSWER]B[/ANSWER]", "B"), ('{"answer": "D"}', "D"),
        ("The correct answer is option b.", "B"), ("The answer is A.", "A"),
        ("The answer is A because it loops.", "A"), ("The answer to the question is **C**.", "C"),
        ("The answer is not A, it is B.", "B"), ("Option A is wrong. Option B is correct.", "B"),
        ("I would choose D, as A fails.", "D"), (r"So $\boxed{C}$", "C"),
        (r"\boxed{\text{B}}", "B"), ("Answer: A\nFinal answer: C", "C"),
        ("A. one\nB. two\nC. three\nD. four\n\nAnswer: C", "C"),
        ("<think>Is it A? Answer: A</think>Answer: D", "D"),
        ("I think it is C.", "C"), ("The best choice is (B), since it is short.", "B"),
        ("", ""), ("A list is returned.", ""), ("The answer is a list of numbers.", ""),
        ("Answer: A list of numbers.", ""), ("A good solution uses a loop.", ""),
        ("Answer: A or B", ""), ("Answer: A. No wait. Answer: B.", ""),
        ("A. one\nB. two\nC. three\nD. four", ""), ("None of them.", ""), ("Answer: E", ""),
        ("a dog and a cat", ""),
    ],
)  # fmt: skip
def test_the_letter_of_an_answer(text, letter):
    assert extract.letter(text) == letter


PIECES = [
    "def f(x):\n", "    return x\n", "```", "```python\n", "\n", " ", "\t", "class A:\n", "'",
    '"""', "(", "]", "é", "\ufeff", "\x00", "\ud800", "\x0c", "<|im_end|>", "</think>", ">>> ",
    "import f\n", "f", "=", "==", "#", "\\", "Answer: ", "A", "@", ":", ";", "lambda", "[ANSWER]",
    "try:\n", "~~~", "async ", "{", "else:\n", "f'{", "0x", "1_", "await x\n",
    "from __future__ import annotations\n",
]  # fmt: skip
LONG = [
    "(", "x.", "-", "1+", "def f():\n", "'''", "```\n", "a\n", " ", "A,", "try:\n    f = 1\n",
    "Answer: ", "```python\nf(", "def f(): (",
]  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(
    st.one_of(st.text(), st.lists(st.sampled_from(PIECES)).map("".join)), st.sampled_from(PIECES)
)
def test_no_text_makes_it_raise(text, prompt):
    for shown in ("", prompt, ADD, text):
        extract.program(text, "f", shown)
    extract.program(text, "", text)
    extract.program(text, text, prompt)
    extract.value(text)
    extract.letter(text)
    extract.cut(text, [prompt])


@pytest.mark.parametrize("unit", LONG)
def test_long_text_ends_soon_and_does_not_raise(unit):
    text = unit * (5_000 // len(unit))
    extract.program(text, "f", ADD)
    extract.value(text)
    extract.letter(text)


def test_stored_completions_parse_where_prompt_and_cut_completion_parse():
    name = "HumanEval_codegen16B_temp0.8_topp0.95_num100_max300_code_solution.jsonl.gz"
    path = SHARED / "codet" / name
    if not path.exists():
        pytest.skip(f"no stored completions at {path}")
    with gzip.open(path, "rt") as lines:
        rows = [json.loads(line) for line in lines]
    stops = ["\nclass", "\ndef", "\n#", "\nif", "\nprint", "\nassert"]
    for row in rows[::4]:
        prompt = row["prompt"]
        entry_point = prompt.rpartition("def ")[2].partition("(")[0]
        for sample in row["samples"][:2]:
            short = extract.cut(sample, stops)
            if parses(prompt + short):
                assert parses(extract.program(short, entry_point, prompt)), sample
                assert parses(extract.program(sample, entry_point, prompt)), sample
