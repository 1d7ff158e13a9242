"""The transformers engine on a tiny random Llama that is built here: nothing is downloaded."""

import hashlib
import importlib
import os
import signal

import huggingface_hub
import pytest

from byrote import benchmarks, engines, operators
from byrote.engines import Request, Sampling, weights
from byrote.engines.child import EngineError
from byrote.engines.prompts import BASE_STOPS, REWORDING_STOPS
from byrote.records import Variant

torch = pytest.importorskip("torch", reason="needs the cpu extra")
transformers = pytest.importorskip("transformers", reason="needs the cpu extra")

WINDOW = 512
CHAT = (
    "{% for m in messages %}<|im_start|>{{ m['content'] }}<|im_end|>{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>{% endif %}"
)
CORPUS = ["def f(x):\n    return x * x\n", "Write a Python function named `f`.", "print('a , b')"]
TEXTS = ["def f(", "Write", "a b c d e f g h i j k", "é 1 + 1", "x = [1 , 2]", "def", "?", "return"]
BLOCK = "```python\ndef f(x):\n    return x\n```"


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A model of two layers with a byte-level tokenizer, both as a hub would give them."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    folder = tmp_path_factory.mktemp("tiny")
    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    raw.train_from_iterator(CORPUS, trainer)
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=raw,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        chat_template=CHAT,
        clean_up_tokenization_spaces=True,  # B07: a tokenizer that would eat blanks
    )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(1)
    settings = transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=WINDOW,
        initializer_range=0.4,  # spread logits, so that no two tokens nearly tie
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        tie_word_embeddings=False,
    )
    transformers.LlamaForCausalLM(settings).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """A model this small loses more by waiting for threads than it gains."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")
        yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def model(folder):
    """The model in this process; tests set its batch."""
    from byrote.engines.local import Local

    return Local(str(folder), weights.pinned(str(folder), ""), "float32", 4)


def request(index: int, prompt: str, chat: bool = False, **values) -> dict:
    """What the parent sends for one question."""
    plain = {"temperature": 0.0, "top_p": 1.0, "max_tokens": 12, "seed": 7 * index + 1}
    messages = [{"role": "user", "content": prompt}] if chat else []
    return {
        **{"index": index, "messages": messages, "prompt": "" if chat else prompt},
        **{"entry_point": "f", "stops": [] if chat else list(BASE_STOPS)},
        **plain,
        **values,
    }


def answered(model, requests: list[dict], batch: int = 4) -> dict[int, dict]:
    model.batch = batch
    return {a["index"]: a for part in model.generate(requests) for a in part}


def same(first: dict, second: dict) -> bool:
    """Equal answers; log-likelihoods to the rounding of another batch's shape."""
    exact = ("index", "text", "finish", "prompt_tokens", "tokens")
    return all(first[k] == second[k] for k in exact) and first["logprob"] == pytest.approx(
        second["logprob"], abs=1e-4, nan_ok=True
    )


@pytest.fixture
def says(model, monkeypatch):
    """Have the model say given texts and then, if asked, its end; answers in their order."""

    def say(texts: list[str], end: bool = True, prompts: list[str] | None = None, **values):
        from byrote.engines import local

        said = [model.tokenizer(t, add_special_tokens=False)["input_ids"] for t in texts]
        said = [tokens + [model.tokenizer.eos_token_id] * end for tokens in said]

        def choose(rows, logits):
            due = [(said[r.request["index"]], len(r.tokens)) for r in rows]
            return torch.tensor([tokens[min(n, len(tokens) - 1)] for tokens, n in due])

        monkeypatch.setattr(local, "choose", choose)
        prompts = prompts or ["x"] * len(texts)
        made = [request(n, p, max_tokens=80, **values) for n, p in enumerate(prompts)]
        found = answered(model, made, batch=len(texts))
        return [found[n] for n in range(len(texts))]

    return say


# Answers depend on the request alone


@pytest.mark.parametrize("temperature, top_p", [(0.0, 1.0), (0.8, 1.0), (0.8, 0.5)])
def test_answers_do_not_depend_on_batch_mates_or_order(model, temperature, top_p):
    made = [request(n, t, temperature=temperature, top_p=top_p) for n, t in enumerate(TEXTS)]
    alone = answered(model, made, batch=1)
    assert len({a["text"] for a in alone.values()}) > 5
    for requests, batch in ((made, 4), (made[::-1], 4), (made[::2], 3), (made, 8)):
        found = answered(model, requests, batch)
        assert len(found) == len(requests)
        assert all(same(found[n], alone[n]) for n in found)


def test_a_batch_holds_one_kind_of_sampling_and_every_request_is_answered(model):
    made = [
        request(n, t, temperature=0.8 * (n % 2), max_tokens=4 + 4 * (n % 3))
        for n, t in enumerate(TEXTS)
    ]
    found = answered(model, made, batch=8)
    assert sorted(found) == list(range(len(made)))
    assert all(same(found[n], answered(model, [made[n]])[n]) for n in (1, 4))
    assert all(found[n]["tokens"] <= made[n]["max_tokens"] for n in found)


def test_the_seed_decides_a_sampled_answer_and_no_greedy_one(model):
    def text(seed: int, temperature: float) -> str:
        return answered(model, [request(0, "def f(", temperature=temperature, seed=seed)])[0][
            "text"
        ]

    assert text(1, 0.8) == text(1, 0.8) != text(2, 0.8)
    assert text(1, 0.0) == text(2, 0.0)


def test_sampling_draws_each_token_with_its_probability():
    from byrote.engines.local import Row, choose

    chances = torch.tensor([0.6, 0.3, 0.1, 0.0])
    rows = [Row(request(0, "", temperature=1.0, seed=n), []) for n in range(4000)]
    drawn = choose(rows, torch.log(chances).repeat(len(rows), 1))
    shares = torch.bincount(drawn, minlength=4) / len(rows)
    assert torch.allclose(shares, chances, atol=0.03) and shares[3] == 0


# What an answer is


def test_the_mean_log_likelihood_is_that_of_a_direct_pass_at_temperature_one(model, monkeypatch):
    from byrote.engines import local

    rows, real = [], local.Row
    monkeypatch.setattr(local, "Row", lambda *given: rows.append(real(*given)) or rows[-1])
    for temperature in (0.0, 0.8):
        rows.clear()
        made = [request(n, t, temperature=temperature) for n, t in enumerate(TEXTS)]
        found = answered(model, made, batch=4)
        for row in rows:
            answer = found[row.request["index"]]
            assert len(row.prompt) == answer["prompt_tokens"]
            ids = torch.tensor(row.prompt + row.tokens)
            with torch.inference_mode():
                scores = model.model(ids[None]).logits[0].log_softmax(1)
            chosen = scores[len(row.prompt) - 1 : -1].gather(1, ids[len(row.prompt) :, None])
            assert answer["logprob"] == pytest.approx(float(chosen.mean()), abs=1e-4)
        assert len(rows) == len(TEXTS)


@pytest.mark.parametrize(
    "text",
    [
        "print('a , b')",
        "parts = s.split(' . ')",
        " == 3",
        "  leading, two  blanks and a tab\t",
        "don 't n't ? ! , .",
        "é — 漢字 🎉",
        "\n\n    return x\n",
        "<b> & </b>",
    ],
)
def test_every_character_of_the_new_tokens_is_kept_and_nothing_else(text, says):
    """B07 huggingface/transformers#44914, B08 huggingface/transformers#45860."""
    [answer] = says([text], prompts=["sum([1 , 2])"])
    assert (answer["text"], answer["finish"]) == (text, "stop")


def test_an_answer_is_as_long_as_its_own_tokens_whoever_shares_its_batch(says):
    """After its end a row is filled up while the others go on."""
    short, long = "a b", "a b c d e f g h i j k l m"
    together = says([short, long, short])
    alone = says([short])[0]
    assert together[0]["text"] == together[2]["text"] == short
    assert together[0]["tokens"] == together[2]["tokens"] == alone["tokens"]
    assert together[0]["logprob"] == pytest.approx(alone["logprob"], abs=1e-4)
    assert together[1]["tokens"] > alone["tokens"]


def test_a_chat_answer_stops_where_its_program_is_whole_and_not_before(says):
    later = (
        "```python\ndef f(x):\n    return g(x)\n```\nand\n```python\ndef g(x):\n    return x\n```"
    )
    [first, second] = says(
        [BLOCK + "\nSome talk that follows.", later], chat=True, prompts=["x", "x"]
    )
    assert first["text"].startswith(BLOCK) and "talk" not in first["text"]
    assert (second["text"], first["finish"], second["finish"]) == (later, "stop", "stop")
    assert first["tokens"] < second["tokens"]


def test_a_base_answer_stops_at_a_stop_string_and_stays_raw(says):
    body = "x):\n    print(x)\n    return x\n"
    [answer] = says([body + "\nprint(f(1))\nmore and more and more"])
    assert answer["text"].startswith(body + "\nprint(") and "more" not in answer["text"]
    assert answer["finish"] == "stop"


def test_a_rewording_ends_with_its_line(says):
    [answer] = says(["Add them.\n\nText: more of it"], stops=list(REWORDING_STOPS))
    assert (answer["text"], answer["finish"]) == ("Add them.\n", "stop")


def test_an_answer_that_never_ends_is_cut_and_says_so(says, model):
    [answer] = says(["a"], end=False)
    assert (answer["finish"], answer["tokens"]) == ("length", 80)
    found = answered(model, [request(0, "x", max_tokens=1)])[0]
    assert found["tokens"] == 1


def test_a_prompt_longer_than_the_window_is_an_error_and_hurts_no_other(model):
    made = [request(0, "x " * WINDOW), request(1, "def f("), request(2, "y" * (WINDOW - 5))]
    found = answered(model, made)
    for n in (0, 2):  # the answer would not fit either
        assert (found[n]["text"], found[n]["finish"], found[n]["tokens"]) == ("", "error", 0)
        assert found[n]["prompt_tokens"] + 12 > WINDOW
    assert same(found[1], answered(model, [made[1]])[1])


# The process of its own


def test_a_chat_model_is_asked_for_a_rewording_in_running_text():
    engine = engines.open("smollm2-135m-instruct")
    asked = Request(Variant("t/1", "rewording", kind="reword", prompt="Add it."), Sampling())
    plain = Request(Variant("t/1", "original", prompt="Add it.", entry_point="f"), Sampling())
    message, other = engine._message(0, asked), engine._message(0, plain)
    assert message["prompt"].endswith("\n\nText: Add it.\nIn other words:")
    assert (message["messages"], message["stops"]) == ([], list(REWORDING_STOPS))
    assert other["messages"] and (other["prompt"], other["stops"]) == ("", [])


def questions(count: int, **sampling) -> list[Request]:
    variants = [
        Variant(f"t/{n}", "original", prompt=f"Add {n}.", entry_point="f") for n in range(count)
    ]
    return [Request(v, Sampling(**sampling)) for v in variants]


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_the_engine_answers_as_the_model_does_and_its_process_ends_with_it(folder, model):
    engine = engines.open(f"transformers:{folder}")
    assert engine.live and engine.line.chat
    wanted = questions(5, temperature=0.8, max_tokens=8)
    try:
        found = {id(r): a for r, a in engine.generate(wanted)}
        pid = engine._child._process.pid
        told = engine.provenance()
        assert told["torch"] == torch.__version__ and told["engine"] == "transformers"
        here = answered(model, [engine._message(n, r) for n, r in enumerate(wanted)])
        for n, r in enumerate(wanted):
            assert same({"index": n} | found[id(r)]._asdict(), here[n])
            assert found[id(r)].returned_model == str(folder)
        with pytest.raises(EngineError, match="KeyError"):
            list(engine._child.ask({"requests": [{"index": 0}]}))
        assert not gone(pid)
    finally:
        engine.close()
    assert gone(pid)
    engine.close()


def test_breaking_off_and_being_killed_lose_only_what_was_not_answered(folder, monkeypatch):
    monkeypatch.setenv("BYROTE_BATCH", "1")
    engine = engines.open(f"transformers:{folder}")
    few, many = questions(2, max_tokens=4), questions(60, max_tokens=40)
    try:
        answers = engine.generate(many)
        next(answers)
        answers.close()  # broken off: the rest must not answer the next question
        assert [r for r, _ in engine.generate(few)] == few
        kept = []
        with pytest.raises(EngineError) as error:
            for _, answer in engine.generate(many):
                kept.append(answer)
                os.kill(engine._child._process.pid, signal.SIGKILL)
        assert 0 < len(kept) < len(many)
        for part in ("out of memory", "a smaller BYROTE_BATCH (now 1)", "finished is stored"):
            assert part in str(error.value)
    finally:
        engine.close()


@pytest.mark.parametrize(
    "name, value", [("BYROTE_DTYPE", "int8"), ("BYROTE_BATCH", "0"), ("BYROTE_BATCH", "many")]
)
def test_a_setting_that_means_nothing_is_refused_before_anything_starts(name, value, monkeypatch):
    monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match=f"^{name}={value}: "):
        engines.open("smollm2-135m-instruct")


# The request key


def test_the_keys_of_the_published_run_are_these():
    """A changed key would orphan every stored answer."""
    engine = engines.open("smollm2-135m-instruct")
    [task] = benchmarks.load("ladder", 1)
    plain = operators.apply("original", task, 0.0)
    coded = operators.apply("affine", task, 1.0, 0, "full", "1")
    greedy, drawn = Sampling(max_tokens=128), Sampling(temperature=0.2, max_tokens=128)
    keys = [
        engines.request_key(engine, Request(v, s)) for v in (plain, coded) for s in (greedy, drawn)
    ]
    assert [key[:16] for key in keys] == [
        *("28e26f7f37258e77", "a0fd1cdf3c583e03", "90cbac0163451c6b", "3f18fcab901e24ca")
    ]


def test_everything_that_decides_an_answer_is_in_the_key_and_the_batch_is_not(monkeypatch):
    def key(variant=None, **sampling) -> str:
        engine = engines.open("smollm2-135m-instruct")
        sample = sampling.pop("sample", 0)
        variant = variant or Variant("t/1", "original", prompt="Add.", entry_point="f")
        return engines.request_key(engine, Request(variant, Sampling(**sampling), sample))

    changed = [
        key(),
        key(max_tokens=9),
        key(temperature=0.2),
        key(temperature=0.2, seed=1),
        key(temperature=0.2, top_p=0.5),
        key(sample=1),
        key(Variant("t/1", "original", prompt="Add!", entry_point="f")),
    ]
    assert len(set(changed)) == len(changed)
    assert key(seed=5) == key()  # greedy answers have no seed
    monkeypatch.setenv("BYROTE_BATCH", "2")
    assert key() == changed[0]
    monkeypatch.setenv("BYROTE_DTYPE", "bfloat16")
    assert key() not in changed


def test_the_key_of_a_folder_is_of_its_files_and_not_of_its_place(folder, tmp_path):
    first = weights.pinned(str(folder), "")
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    assert weights.pinned(str(tmp_path), "") == first
    with (tmp_path / "model.safetensors").open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\x01")
    assert weights.pinned(str(tmp_path), "") != first


# Weights


@pytest.fixture
def package(tmp_path, monkeypatch):
    """An installed package that holds weights and must never be imported."""
    folder = tmp_path / "tiny_weights"
    folder.mkdir()
    (folder / "__init__.py").write_text("raise ImportError('imported')")
    (folder / "model.gguf").write_bytes(b"weights")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    return folder


def test_packaged_weights_are_found_without_importing_and_checked(package):
    right = f"sha256:{hashlib.sha256(b'weights').hexdigest()}"
    assert weights.packaged("tiny_weights/model.gguf", right) == package / "model.gguf"
    with pytest.raises(ValueError) as error:
        weights.packaged("tiny_weights/model.gguf", "sha256:00")
    for part in (str(package / "model.gguf"), right, "not the pinned sha256:00", weights.INSTALL):
        assert part in str(error.value)


@pytest.mark.parametrize(
    "repo", ["no_such_package/x.gguf", "tiny_weights/other.gguf", "json/x", "abc/x"]
)
def test_missing_weights_give_the_command_that_installs_them(repo, package):
    with pytest.raises(FileNotFoundError) as error:
        weights.packaged(repo, "sha256:00")
    assert str(error.value) == f"the weights {repo} are not installed; run: {weights.INSTALL}"


def test_a_hub_model_needs_a_revision_where_the_hub_cannot_be_asked(monkeypatch):
    def unreachable():
        raise ConnectionError("no network")

    monkeypatch.setattr(huggingface_hub, "HfApi", unreachable)
    assert weights.pinned("org/model", "a" * 40) == "a" * 40
    with pytest.raises(ValueError, match="ConnectionError.*transformers:org/model@<40 hex digits>"):
        weights.pinned("org/model", "")
