"""A transformers model in this process: batches by length, exact and reproducible sampling."""

import math
from collections.abc import Iterator
from pathlib import Path

import torch
import transformers
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    LogitsProcessorList,
    StoppingCriteria,
    StoppingCriteriaList,
    TemperatureLogitsWarper,
    TopPLogitsWarper,
)

from byrote.engines import prompts, weights


class Local:
    """One model with its tokenizer."""

    def __init__(self, repo: str, revision: str, dtype: str, batch: int):
        source: str | Path = repo
        where = {}
        if weights.in_package(revision):
            source = weights.converted(weights.packaged(repo, revision), revision)
        elif not Path(repo).is_dir():
            where = {"revision": revision}
        self.batch = batch
        self.tokenizer = AutoTokenizer.from_pretrained(source, padding_side="left", **where)
        if self.tokenizer.pad_token_id is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token
        self.model = AutoModelForCausalLM.from_pretrained(
            source, dtype=getattr(torch, dtype), **where
        )
        self.model = self.model.to("cuda" if torch.cuda.is_available() else "cpu").eval()
        self.ends = {self.tokenizer.eos_token_id, self.tokenizer.pad_token_id}
        self.ends |= set(_list(self.model.generation_config.eos_token_id))
        self.model.generation_config.update(
            do_sample=False, temperature=None, top_p=None, top_k=None
        )

    def described(self) -> dict:
        """What the parent prints as provenance."""
        device = self.model.device.type
        if device == "cuda":
            device = torch.cuda.get_device_name()
        return {
            "transformers": transformers.__version__,
            "torch": torch.__version__,
            "device": device,
            "threads": str(torch.get_num_threads()),
            "commit": getattr(self.model.config, "_commit_hash", None) or "",
        }

    def generate(self, requests: list[dict]) -> Iterator[list[dict]]:
        """Answers in batches of like length; `requests` hold prompt, sampling and seed.

        `messages` is set for chat models and goes through the model's own chat template;
        `prompt` is continued as it stands.
        """
        encoded = [self._ids(r) for r in requests]
        order = sorted(
            range(len(requests)), key=lambda i: (_settings(requests[i]), len(encoded[i]))
        )
        start = 0
        while start < len(order):
            first = _settings(requests[order[start]])
            part = [i for i in order[start : start + self.batch] if _settings(requests[i]) == first]
            start += len(part)
            yield self._batch([requests[i] for i in part], [encoded[i] for i in part])

    def _ids(self, request: dict) -> list[int]:
        if request["messages"]:
            return self.tokenizer.apply_chat_template(
                request["messages"], add_generation_prompt=True, return_dict=False
            )
        return self.tokenizer(request["prompt"])["input_ids"]

    def _batch(self, requests: list[dict], ids: list[list[int]]) -> list[dict]:
        longest = getattr(self.model.config, "max_position_embeddings", 1 << 30)
        fits = [len(i) + requests[0]["max_tokens"] <= longest for i in ids]
        pairs = list(zip(requests, ids, fits, strict=True))
        answers = [_answer(r, "", "error", len(i), 0, math.nan) for r, i, fit in pairs if not fit]
        kept = [(r, i) for r, i, fit in pairs if fit]
        return answers + (self._answers(*map(list, zip(*kept, strict=True))) if kept else [])

    def _answers(self, requests: list[dict], ids: list[list[int]]) -> list[dict]:
        most = requests[0]["max_tokens"]
        inputs = self.tokenizer.pad({"input_ids": ids}, return_tensors="pt").to(self.model.device)
        width = inputs["input_ids"].shape[1]
        last = _Last()
        done = _Done(self.tokenizer, requests, width, last)
        with torch.inference_mode():
            out = self.model.generate(
                **inputs,
                max_new_tokens=most,
                logits_processor=LogitsProcessorList([last, *_sampling(requests)]),
                stopping_criteria=StoppingCriteriaList([done]),
                pad_token_id=self.tokenizer.pad_token_id,
            )
        new = out[:, width:]
        counts = [
            min(self._own(row), done.lengths.get(n, most)) for n, row in enumerate(new.tolist())
        ]
        answers = []
        for n, (request, prompt, row) in enumerate(zip(requests, ids, new, strict=True)):
            row = row[: counts[n]]
            cut = len(row) == most and n not in done.lengths and int(row[-1]) not in self.ends
            # only the new tokens are decoded, so that no character is lost or cleaned
            text = self.tokenizer.decode(
                row, skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
            finish = "length" if cut else "stop"
            mean = sum(done.logprobs[n][: len(row)]) / len(row)
            answers.append(_answer(request, text, finish, len(prompt), len(row), mean))
        return answers

    def _own(self, row: list[int]) -> int:
        """How many tokens of a padded row are its own, its end token included."""
        return next((n for n, token in enumerate(row, 1) if token in self.ends), len(row))


def _answer(request: dict, text: str, finish: str, prompt: int, tokens: int, mean: float) -> dict:
    return {
        "index": request["index"],
        "text": text,
        "finish": finish,
        "prompt_tokens": prompt,
        "tokens": tokens,
        "logprob": mean,
    }


def _settings(request: dict) -> tuple:
    return request["temperature"], request["top_p"], request["max_tokens"]


def _list(value: int | list[int] | None) -> list[int]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _sampling(requests: list[dict]) -> list:
    """Logit processors; none for greedy decoding."""
    first = requests[0]
    if first["temperature"] == 0:
        return []
    warpers = [TemperatureLogitsWarper(first["temperature"])]
    if first["top_p"] < 1:
        warpers.append(TopPLogitsWarper(first["top_p"]))
    return [*warpers, _Gumbel([r["seed"] for r in requests])]


class _Gumbel:
    """Gumbel noise from one generator a row: the largest noisy logit is an exact sample.

    So a request's answer depends on its own seed and not on what shares its batch.
    """

    def __init__(self, seeds: list[int]):
        self.generators = [torch.Generator().manual_seed(seed) for seed in seeds]

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        uniform = torch.stack([torch.rand(scores.shape[1], generator=g) for g in self.generators])
        noise = -torch.log(-torch.log(uniform.clamp(1e-20, 1 - 1e-7)))
        return scores + noise.to(scores.device)


def _done(text: str, request: dict) -> bool:
    """Whether an answer holds all that it can: its solution, or a stop string of a base model."""
    if request["messages"]:
        return prompts.finished(text, request["entry_point"])
    return any(stop in text for stop in prompts.BASE_STOPS)


class _Last:
    """Keeps the logits of the newest step only, as the model gave them, before any warping."""

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        self.logits = scores.float()
        return scores


class _Done(StoppingCriteria):
    """Stops each row when its answer is done, and notes lengths and log-likelihoods.

    Log-likelihoods are nats under the model's distribution at temperature 1, whatever the
    answers are drawn at; no array of vocabulary times length is ever held.
    """

    def __init__(self, tokenizer: object, requests: list[dict], width: int, last: _Last):
        self.tokenizer, self.requests, self.width, self.last = tokenizer, requests, width, last
        self.lengths: dict[int, int] = {}
        self.logprobs: list[list[float]] = [[] for _ in requests]

    def __call__(self, input_ids: torch.Tensor, scores: object, **_: object) -> torch.Tensor:
        chosen = self.last.logits.gather(1, input_ids[:, -1:])[:, 0]
        for row, value in enumerate((chosen - self.last.logits.logsumexp(1)).tolist()):
            self.logprobs[row].append(value)
        texts = self.tokenizer.batch_decode(
            input_ids[:, self.width :], clean_up_tokenization_spaces=False
        )
        for row, text in enumerate(texts):
            if row not in self.lengths and _done(text, self.requests[row]):
                self.lengths[row] = input_ids.shape[1] - self.width
        done = [row in self.lengths for row in range(len(texts))]
        return torch.tensor(done, device=input_ids.device)
