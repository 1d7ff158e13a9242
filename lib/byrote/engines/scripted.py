"""Models without weights whose nature is known: the controls of every notebook."""

import ast
from collections.abc import Iterator

from byrote.engines import Answer, Request
from byrote.records import Variant
from byrote.store import key


class Scripted:
    """One scripted model.

    `oracle` is always right, also through a contract. `parrot` is right only where the variant is
    the original wording. `contract_breaker` knows the algorithm and decodes, but forgets to
    encode. `coin` is right with probability `p`. `mute` says nothing.
    """

    live = False

    def __init__(self, nature: str, p: float):
        if not 0 <= p <= 1:
            raise ValueError(f"coin({p}): a probability between 0 and 1")
        self.nature = nature
        self.p = p
        self.name = f"coin({p:g})" if nature == "coin" else nature

    def canonical(self, request: Request) -> dict:
        v = request.variant
        names = ("task_id", "operator", "mode", "wording", "level", "seed", "reference")
        return {"engine": "scripted", "model": self.name, "sample": request.sample} | {
            name: getattr(v, name) for name in names
        }

    def generate(self, requests: list[Request]) -> Iterator[tuple[Request, Answer]]:
        for request in requests:
            text = getattr(self, f"_{self.nature}")(request.variant, request)
            block = f"```python\n{text}\n```" if text else ""
            yield request, Answer(block, "stop", returned_model=self.name)

    def provenance(self) -> dict[str, str]:
        return {"engine": "scripted"}

    def close(self) -> None:
        """Nothing is held."""

    def _oracle(self, variant: Variant, request: Request) -> str:
        return _right(variant)

    def _parrot(self, variant: Variant, request: Request) -> str:
        return _right(variant) if variant.operator == "original" else _wrong(variant)

    def _contract_breaker(self, variant: Variant, request: Request) -> str:
        if "_encode(value)" not in variant.reference:
            return _right(variant)
        return f"{variant.reference}\n\ndef _encode(value):\n    return value\n"

    def _coin(self, variant: Variant, request: Request) -> str:
        share = int(key(self.canonical(request))[:13], 16) / 16**13
        return _right(variant) if share < self.p else _wrong(variant)

    def _mute(self, variant: Variant, request: Request) -> str:
        return ""


def _right(variant: Variant) -> str:
    """The right answer: the reference, or the side of the test that a prediction is asked for."""
    if variant.kind not in ("output", "input"):
        return variant.reference
    test = ast.parse(variant.tests).body[0].test
    return ast.unparse(test.comparators[0] if variant.kind == "output" else test.left)


def _wrong(variant: Variant) -> str:
    """A program with the right name that answers nothing."""
    return f"def {variant.entry_point}(*args, **kwargs):\n    raise NotImplementedError\n"
