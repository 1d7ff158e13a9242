"""Padding: as long as the contract, without effect, and the same in any order and any thread."""

import ast
import builtins
import contextlib
import io
import json
import os
import re
import tokenize
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from byrote import benchmarks, operators, paths
from byrote.engines import MODELS, prompts
from byrote.operators import blocks, padding
from byrote.operators.contracts import SIDES, Identity, contract
from byrote.operators.padding import CODE, PROSE, TOLERANCE, lines, tokens, words
from byrote.records import Task, Variant
from byrote.sandbox import Program, run

NAMES = ("dead_code", "filler")
CONTROL = contract(Identity(), SIDES["contract_only"], "1")
SHARED = paths.ROOT.parent / "shared" / "data"
STARTS = [start for block in blocks.CODE for start in lines(block)]

each = pytest.mark.parametrize("name", NAMES)


def task(tests: str = "assert f(10) == 20", **more) -> Task:
    reference = "def f(x):\n    return 2 * x\n"
    return replace(Task("toy/1", "toy", "write", "Double it.", "f", reference, tests), **more)


def facts(variant: Variant) -> dict:
    return json.loads(variant.parameters)


@pytest.fixture(scope="module")
def known() -> list[Task]:
    """Every task of HumanEval and ladder."""
    return benchmarks.load("humaneval") + benchmarks.load("ladder")


@pytest.fixture(scope="module")
def made(known) -> dict[str, list[Variant]]:
    """Their variants, and those that they are matched to, in the order of the tasks."""
    variants = {name: [operators.apply(name, t) for t in known] for name in NAMES}
    return variants | {"affine": [operators.apply("affine", t, mode="full") for t in known]}


# Length


@each
def test_an_addition_is_as_long_as_the_contract_of_its_task(name, known, made):
    matched = {"full": 0, "contract_only": 0}
    for variant, affine in zip(made[name], made["affine"], strict=True):
        counted = facts(variant)
        assert counted["tokens"] == tokens(variant.contract)
        assert counted["wanted"] == tokens(affine.contract or CONTROL)
        assert abs(counted["tokens"] - counted["wanted"]) <= TOLERANCE, variant.task_id
        assert (counted["matched"] == "full") == (not affine.reason)
        matched[counted["matched"]] += 1
    assert matched == {"full": 195, "contract_only": 53}


def test_both_additions_are_equally_long(made):
    code, prose = ([facts(v)["tokens"] for v in made[name]] for name in NAMES)
    apart = [abs(a - b) for a, b in zip(code, prose, strict=True)]
    assert max(apart) <= TOLERANCE and sum(apart) < len(apart)


@each
def test_the_contract_is_that_of_the_same_seed(name):
    found = []
    for seed in range(40):
        affine = operators.apply("affine", task(), seed=seed, mode="full")
        found.append(facts(operators.apply(name, task(), seed=seed))["wanted"])
        assert found[-1] == tokens(affine.contract)
    assert len(set(found)) > 3


@each
def test_the_embedded_model_s_tokenizer_finds_the_same_lengths(name, made):
    revision = MODELS["smollm2-135m-instruct"].revision.removeprefix("sha256:")
    folders = list(paths.cache().glob(f"*-{revision[:16]}/tokenizer.json"))
    if not folders:
        pytest.skip("the embedded model's weights are not converted yet")
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer.from_file(str(folders[0]))

    def real(text: str) -> int:
        return len(tokenizer.encode(text, add_special_tokens=False).ids)

    for variant, affine in zip(made[name], made["affine"], strict=True):
        wanted = affine.contract or CONTROL
        assert abs(real(variant.contract) - real(wanted)) <= TOLERANCE, variant.task_id
        for text in (variant.contract, wanted):
            assert abs(real(text) - tokens(text)) <= 3, text


@pytest.mark.parametrize(
    "text, count",
    [
        ("", 0),
        ("the river bank", 3),
        ("x = 142", 6),  # the blank before a number is a token, and so is each digit
        ("_mail_coin", 4),
        ("if a:\n        return ()", 6),  # a line's end goes with the blanks after it but the last
        ("\n\n\n_a", 4),
        ("Integers are Integers", 4),
        (" naïve", 1),
    ],
)
def test_tokens_are_counted_as_code_tokenizers_cut(text, count):
    assert tokens(text) == count


# What a variant holds


@each
def test_only_the_contract_and_dead_code_s_reference_change(name, known, made):
    differ = {"operator", "level", "family", "contract", "parameters", "changed"}
    differ |= {"reference"} if name == "dead_code" else set()
    for plain, variant in zip(known, made[name], strict=True):
        original = operators.apply("original", plain, 0.0)
        fields = vars(variant).keys()
        found = {f for f in fields if getattr(variant, f) != getattr(original, f)}
        assert found == differ and 0 < variant.changed < 1
        assert variant.contract in prompts.question(variant)


def test_dead_code_stands_before_the_reference_as_it_is_shown(known, made):
    for plain, variant in zip(known, made["dead_code"], strict=True):
        shown = re.fullmatch(r"### .*\n```python\n(.*)\n```", variant.contract, re.DOTALL)[1]
        assert variant.reference == f"{shown}\n\n\n{plain.reference}"
        pieces = shown.split("\n\n\n")
        assert all(p in blocks.CODE for p in pieces[:-1]) and pieces[-1] in STARTS
        assert len(set(pieces)) == len(pieces) == facts(variant)["blocks"] >= 3


def test_filler_is_whole_sentences_and_ends_with_a_full_stop(made):
    for variant in made["filler"]:
        head, text = variant.contract.split("\n")
        sentences = re.findall(r"[^.]+\.(?= |$)", text)
        assert head.startswith("### ") and text == "".join(sentences)
        sentences = [s.strip() for s in sentences]
        assert all(s in blocks.PROSE for s in sentences[:-1]) and len(sentences) >= 8
        assert any(sentences[-1] in words(s) for s in blocks.PROSE)


def test_references_behind_dead_code_are_sound(made):
    variants = made["dead_code"][::16]
    found = run([Program(v.reference, v.tests, v.setup, v.entry_point) for v in variants])
    wrong = [v.task_id for v, o in zip(variants, found, strict=True) if o.outcome != "passed"]
    assert wrong == [] and len(variants) == 16


@pytest.mark.parametrize("plain", ["write", "complete"])
def test_a_base_model_s_prompt_still_parses(plain):
    prompt = "Double it." if plain == "write" else "def f("
    for seed in range(30):
        variant = operators.apply("dead_code", task(kind=plain, prompt=prompt), seed=seed)
        ast.parse(f"{prompts.completion(variant)}x):\n    return 2 * x\n")


# Seeds


@each
def test_the_order_depends_on_seed_and_task_and_on_nothing_else(name):
    first = operators.apply(name, task()).contract
    for more in ({"prompt": "Say it."}, {"benchmark": "other"}):
        assert operators.apply(name, task(**more)).contract == first
    assert operators.apply(name, task(), level=0.5).contract == first
    others = [operators.apply(name, task(), seed=n).contract for n in range(30)]
    others += [operators.apply(name, task(task_id=f"toy/{n}")).contract for n in range(2, 32)]
    assert others[0] == first and len(set(others)) == 60


def test_every_block_and_sentence_is_used(made):
    for name, library in (("dead_code", CODE), ("filler", PROSE)):
        shown = "\n".join(v.contract for v in made[name])
        assert [p for p in library.pieces if p not in shown] == []


def test_eight_threads_give_the_variants_of_one(known, made):
    padding._ends.cache_clear()
    for name in NAMES:
        with ThreadPoolExecutor(8) as pool:
            again = pool.map(lambda plain, name=name: operators.apply(name, plain), known[::4])
            assert list(again) == made[name][::4]


# Bad input


@each
@pytest.mark.parametrize("tests", ["assert f(1) == g(", "", "assert f('a') == 'b'", "f = 2"])
def test_where_affine_does_not_apply_the_control_s_contract_is_matched(name, tests):
    variant = operators.apply(name, task(tests))
    assert (variant.reason, variant.tests) == ("", tests)
    assert facts(variant)["matched"] == "contract_only"
    assert facts(variant)["wanted"] == tokens(CONTROL)


@each
@pytest.mark.parametrize("prompt", ["", "\t\r\n", "def f(x):\r\n", "“é” " * 5000])
def test_any_prompt_stays_as_it_is(name, prompt):
    variant = operators.apply(name, task(prompt=prompt))
    assert (variant.prompt, variant.reason) == (prompt, "") and 0 < variant.changed <= 1


@each
def test_there_is_no_mode(name):
    with pytest.raises(ValueError, match=f"unknown mode 'full' of {name}"):
        operators.apply(name, task(), mode="full")


# The blocks


def bound(source: str) -> set[str]:
    """The names that a source binds: variables, parameters, functions, classes."""
    nodes = list(ast.walk(ast.parse(source)))
    stored = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    named = {getattr(n, "name", None) for n in nodes} | {getattr(n, "arg", None) for n in nodes}
    return stored | named - {None, "self"}


def test_there_are_twenty_blocks_and_thirty_sentences_none_twice():
    assert len(set(blocks.CODE)) == len(blocks.CODE) >= 20
    assert len(set(blocks.PROSE)) == len(blocks.PROSE) >= 30


@pytest.mark.parametrize("start", STARTS, ids=lambda s: s.split("\n")[0])
def test_a_block_cut_anywhere_is_inert(start):
    before = {"print": print, "f": len, "x": [1, 2]}
    space = dict(before) | {"__builtins__": builtins, "__name__": "program"}
    own, printed = dict(space), io.StringIO()
    world = dict(vars(builtins))
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        exec(compile(start, "<block>", "exec"), space)
    assert printed.getvalue() == "" and dict(vars(builtins)) == world
    assert {name: space[name] for name in own} == own and space["x"] == [1, 2]
    added = space.keys() - own.keys()
    assert added <= bound(start) and all(re.match("_[A-Za-z]", name) for name in added)


@pytest.mark.parametrize("block", blocks.CODE, ids=lambda s: s.split("\n")[0])
def test_a_block_asks_for_nothing_and_reaches_for_nothing(block):
    nodes = list(ast.walk(ast.parse(block)))
    reaching = (ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal, ast.Delete)
    assert not any(isinstance(n, reaching) for n in nodes)
    used = {n.id for n in nodes if isinstance(n, ast.Name)} - bound(block)
    assert used <= {"len", "range", "str", "self", "IndexError", "ValueError"}
    kinds = {t.type for t in tokenize.generate_tokens(io.StringIO(block).readline)}
    assert tokenize.COMMENT not in kinds
    assert "\\" not in block and '"""' not in block and "'" not in block


def test_no_two_blocks_bind_the_same_module_level_name():
    spaces = [{n for n in bound(block) if n[0] == "_"} for block in blocks.CODE]
    assert len(set().union(*spaces)) == sum(map(len, spaces))


@pytest.mark.parametrize("benchmark", ["ladder", "humaneval", "mbpp"])
def test_no_task_uses_a_name_that_a_block_binds(benchmark, monkeypatch):
    if benchmark == "mbpp" and not os.environ.get("BYROTE_DATA"):
        if not (SHARED / "mbpp").is_dir():
            pytest.skip("MBPP is not here; set BYROTE_DATA=/folder/with/mbpp.jsonl")
        monkeypatch.setenv("BYROTE_DATA", str(SHARED))
    names = bound("\n".join(blocks.CODE))
    for plain in benchmarks.load(benchmark):
        source = f"{plain.reference}\n{plain.tests}\n{plain.setup}"
        assert not names & set(re.findall(r"[^\W\d]\w*", source)), plain.task_id
        assert "from __future__" not in source  # it would have to come first


def test_the_prose_has_no_number_and_speaks_of_no_program():
    numbers = "zero one two three four five six seven eight nine ten dozen hundred first second"
    programs = "code function return returns list string value input output test python write you"
    used = set(re.findall(r"[a-z]+", " ".join(blocks.PROSE).lower()))
    assert used & set(f"{numbers} {programs}".split()) == set()
    assert all(re.fullmatch(r"[A-Z][a-z]*(,? [a-z]+)*\.", s) for s in blocks.PROSE)
