"""The transformers engine: a local model in a child process."""

import os
from collections.abc import Iterator

from byrote.engines import Answer, Model, Request, prompts, request_key, weights
from byrote.engines.child import Child

STOP_RULES = {True: "closed block with the entry point", False: list(prompts.BASE_STOPS)}


class Transformers:
    """A model run by transformers on this machine, opened at the first question.

    `BYROTE_DTYPE` (float32, bfloat16, float16) and `BYROTE_BATCH` (16) change how it is run; the
    dtype is part of the request key, the batch is not, since it does not change an answer.
    """

    live = True

    def __init__(self, name: str, line: Model):
        self.name = name
        self.dtype = os.environ.get("BYROTE_DTYPE") or "float32"
        if self.dtype not in ("float32", "bfloat16", "float16"):
            raise ValueError(f"BYROTE_DTYPE={self.dtype}: float32, bfloat16 or float16")
        batch = os.environ.get("BYROTE_BATCH") or "16"
        if not batch.isdecimal() or int(batch) < 1:
            raise ValueError(f"BYROTE_BATCH={batch}: a whole number, 1 or more")
        self.batch = int(batch)
        if not weights.in_package(line.revision):
            revision = weights.pinned(line.repo, line.revision)
            chat = weights.has_chat_template(line.repo, revision)
            line = line._replace(revision=revision, chat=chat)
        self.line = line
        self._child: Child | None = None

    def canonical(self, request: Request) -> dict:
        """The whole request; a packaged file's hash stands for weights, tokenizer and template."""
        sampling = request.sampling
        return {
            "engine": "transformers",
            "repo": self.line.repo,
            "revision": self.line.revision,
            "adapter": "",
            "dtype": self.dtype,
            "quantisation": "",
            "longest_context": "",  # the model's own
            "prompt": self._prompt(request),
            "stop": self._stop(request),
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "max_tokens": sampling.max_tokens,
            # greedy answers do not depend on the seed
            "seed": sampling.seed if sampling.temperature else 0,
            "sample": request.sample,
        }

    def _prompt(self, request: Request) -> list[dict] | str:
        if request.variant.kind == "reword":
            return prompts.rewording(request.variant)
        if self.line.chat:
            return [{"role": "user", "content": prompts.question(request.variant)}]
        return prompts.completion(request.variant)

    def _stop(self, request: Request) -> list[str] | str:
        if request.variant.kind == "reword":
            return list(prompts.REWORDING_STOPS)
        return STOP_RULES[self.line.chat]

    def generate(self, requests: list[Request]) -> Iterator[tuple[Request, Answer]]:
        """Answers as they come; if this is broken off, the next question starts a new process."""
        messages = [self._message(n, r) for n, r in enumerate(requests)]
        done = False
        try:
            for reply in self._open().ask({"requests": messages}):
                for answer in reply["answers"]:
                    index = answer.pop("index")
                    yield requests[index], Answer(**answer, returned_model=self.line.repo)
            done = True
        finally:
            if not done:  # else the answers still to come would be taken for the next ones
                self.close()

    def _message(self, index: int, request: Request) -> dict:
        prompt = self._prompt(request)
        chat = isinstance(prompt, list)
        return {
            "index": index,
            "messages": prompt if chat else [],
            "prompt": "" if chat else prompt,
            "stops": [] if chat else self._stop(request),
            "entry_point": request.variant.entry_point,
            "temperature": request.sampling.temperature,
            "top_p": request.sampling.top_p,
            "max_tokens": request.sampling.max_tokens,
            "seed": int(request_key(self, request)[:15], 16),
        }

    def _open(self) -> Child:
        if self._child is None:
            self._child = Child(
                {
                    "repo": self.line.repo,
                    "revision": self.line.revision,
                    "dtype": self.dtype,
                    "batch": self.batch,
                }
            )
        return self._child

    def provenance(self) -> dict[str, str]:
        return {"engine": "transformers"} | self._open().opened

    def close(self) -> None:
        if self._child is not None:
            self._child.close()
            self._child = None
