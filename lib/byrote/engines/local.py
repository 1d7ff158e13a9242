"""A transformers model in this process: batches by length, exact and reproducible sampling.

`Local` answers; `Encoder` tells how far two texts are apart.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import torch
import transformers
from transformers import (
    AutoModel,
    AutoModelForCausalLM,
    AutoTokenizer,
    TemperatureLogitsWarper,
    TopPLogitsWarper,
)

from byrote.engines import prompts, weights


@dataclass
class Row:
    """One answer in the making."""

    request: dict
    prompt: list[int]
    tokens: list[int] = field(default_factory=list)
    logprob: float = 0.0  # of its tokens together, nats, under the model at temperature 1
    finish: str = ""

    def __post_init__(self):
        self.generator = torch.Generator().manual_seed(self.request["seed"])


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
        rows = [Row(r, i) for r, i in zip(requests, ids, strict=True)]
        for row in rows:
            if len(row.prompt) + row.request["max_tokens"] > longest:
                row.finish = "error"
        with torch.inference_mode():
            self._fill([row for row in rows if not row.finish])
        return [self._answer(row) for row in rows]

    def _fill(self, rows: list[Row]) -> None:
        """Write the answers of `rows` together; a row that is done leaves the batch.

        transformers' own generate carries finished rows along to the end of the slowest, which
        costs a third of the time where answers differ in length.
        """
        if not rows:
            return
        padded = self.tokenizer.pad({"input_ids": [r.prompt for r in rows]}, return_tensors="pt")
        ids, mask = (padded[k].to(self.model.device) for k in ("input_ids", "attention_mask"))
        cache = None
        while True:
            positions = (mask.cumsum(1) - 1).clamp(min=0)[:, -ids.shape[1] :]
            out = self.model(
                input_ids=ids,
                attention_mask=mask,
                position_ids=positions,
                cache=cache,
                use_cache=True,
                logits_to_keep=1,
            )
            cache = out.past_key_values
            self._extend(rows, out.logits[:, -1].float())
            going = [n for n, row in enumerate(rows) if not row.finish]
            if not going:
                return
            if len(going) < len(rows):
                kept = torch.tensor(going, device=mask.device)
                cache.batch_select_indices(kept)
                mask, rows = mask[kept], [rows[n] for n in going]
            ids = torch.tensor([row.tokens[-1:] for row in rows], device=mask.device)
            mask = torch.cat([mask, mask.new_ones(len(rows), 1)], dim=1)

    def _extend(self, rows: list[Row], logits: torch.Tensor) -> None:
        """Give each row its next token, its log-likelihood, and its end where it has come."""
        chosen = choose(rows, logits)
        values = logits.gather(1, chosen[:, None])[:, 0] - logits.logsumexp(1)
        for row, token, value in zip(rows, chosen.tolist(), values.tolist(), strict=True):
            row.tokens.append(token)
            row.logprob += value
            if token in self.ends or _done(self._text(row), row.request):
                row.finish = "stop"
            elif len(row.tokens) == row.request["max_tokens"]:
                row.finish = "length"

    def _text(self, row: Row) -> str:
        """Only the new tokens are decoded, so that no character is lost or cleaned."""
        return self.tokenizer.decode(
            row.tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )

    def _answer(self, row: Row) -> dict:
        count = len(row.tokens)
        return {
            "index": row.request["index"],
            "text": self._text(row),
            "finish": row.finish,
            "prompt_tokens": len(row.prompt),
            "tokens": count,
            "logprob": row.logprob / count if count else math.nan,
        }


def _settings(request: dict) -> tuple:
    return request["temperature"], request["top_p"], request["max_tokens"]


def _list(value: int | list[int] | None) -> list[int]:
    return value if isinstance(value, list) else [] if value is None else [value]


def choose(rows: list[Row], logits: torch.Tensor) -> torch.Tensor:
    """The next token of each row: the likeliest at temperature 0, else a sample.

    A sample is the largest logit after Gumbel noise from the row's own generator, so that an
    answer depends on its own seed and not on what shares its batch.
    """
    temperature, top_p, _ = _settings(rows[0].request)
    if temperature == 0:
        return logits.argmax(1)
    scores = TemperatureLogitsWarper(temperature)(None, logits)
    if top_p < 1:
        scores = TopPLogitsWarper(top_p)(None, scores)
    uniform = torch.stack([torch.rand(scores.shape[1], generator=r.generator) for r in rows])
    noise = -torch.log(-torch.log(uniform.clamp(1e-20, 1 - 1e-7)))
    return (scores + noise.to(scores.device)).argmax(1)


def _done(text: str, request: dict) -> bool:
    """Whether an answer holds all that it can: its solution, or the text before a stop."""
    if request["messages"]:
        return prompts.finished(text, request["entry_point"])
    return any(stop in text for stop in request["stops"])


class Encoder:
    """A sentence encoder of a package: the mean of the last states over the attention mask."""

    def __init__(self, repo: str, revision: str, install: str, longest: int):
        folder = weights.packaged(repo, revision, install).parent
        self.longest = longest
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModel.from_pretrained(folder, dtype=torch.float32).eval()

    def described(self) -> dict:
        """What the parent stores as provenance."""
        return {"transformers": transformers.__version__, "torch": torch.__version__}

    def generate(self, requests: list[dict]) -> Iterator[list[dict]]:
        """The cosine distance of each request's two texts, from 0 to 2, in batches."""
        for start in range(0, len(requests), 32):
            part = requests[start : start + 32]
            vectors = self._vectors([text for r in part for text in r["texts"]])
            distances = 1 - (vectors[::2] * vectors[1::2]).sum(1)
            yield [
                {"index": r["index"], "distance": max(0.0, float(d))}
                for r, d in zip(part, distances, strict=True)
            ]

    def _vectors(self, texts: list[str]) -> torch.Tensor:
        """Unit vectors, one a text."""
        encoded = self.tokenizer(
            texts, padding=True, truncation=True, max_length=self.longest, return_tensors="pt"
        )
        with torch.inference_mode():
            states = self.model(**encoded).last_hidden_state.double()
        mask = encoded["attention_mask"][:, :, None]
        mean = (states * mask).sum(1) / mask.sum(1)
        return torch.nn.functional.normalize(mean, dim=1)
