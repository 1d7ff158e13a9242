"""Shared by all tests: a store of their own, a few tasks, and a live model without weights."""

import pandas as pd
import pytest

from byrote import engines, pipeline
from byrote.engines import Answer, Model
from byrote.engines.transformers import Transformers
from byrote.pipeline import ORIGINAL, Condition
from byrote.store import Store


@pytest.fixture(scope="session", autouse=True)
def no_test_touches_the_real_store(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BYROTE_STORE", str(tmp_path_factory.mktemp("store") / "store.sqlite"))
        for name in ("BYROTE_FRESH", "BYROTE_LIGHT"):
            patch.delenv(name, raising=False)
        yield


class Answering(Transformers):
    """The transformers engine's requests, answered with a number that counts the questions."""

    def __init__(self, name="fake", repo="org/fake", revision="sha256:1", chat=True):
        super().__init__(name, Model("transformers", repo, revision, chat=chat))
        self.asked = []

    def generate(self, requests):
        for request in requests:
            self.asked.append(request)
            yield request, Answer(f"answer {len(self.asked)}", "stop", 9, 2, -0.5, "fake")

    def provenance(self):
        return {"engine": "fake", "device": ""}


@pytest.fixture
def fake(monkeypatch) -> Answering:
    """A live model, which `engines.open("fake")` gives; it notes what it is asked."""
    engine, real = Answering(), engines.open
    monkeypatch.setattr(engines, "open", lambda name: engine if name == "fake" else real(name))
    return engine


@pytest.fixture
def store(tmp_path) -> Store:
    return Store(tmp_path / "store.sqlite", tmp_path / "published")


@pytest.fixture(scope="session")
def ladder() -> pd.DataFrame:
    """Three easy tasks with integers on both sides."""
    return pipeline.tasks(["ladder"], 3)


@pytest.fixture(scope="session")
def variants(ladder, tmp_path_factory) -> pd.DataFrame:
    """The three tasks as they are and behind an isomorphism."""
    folder = tmp_path_factory.mktemp("variants")
    conditions = [ORIGINAL, Condition("affine", "full", "1")]
    return pipeline.variants(ladder, conditions, store=Store(folder / "s.sqlite", folder))
