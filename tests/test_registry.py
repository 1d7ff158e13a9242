"""Benchmarks and operators by name; a wrong name lists the right ones."""

import pytest

from byrote import benchmarks, operators, registry


@pytest.fixture
def empty(monkeypatch):
    monkeypatch.setattr(registry, "BENCHMARKS", {})
    monkeypatch.setattr(registry, "OPERATORS", {})


def test_a_decorated_function_is_found_by_its_name_and_stays_as_it_was(empty):
    def toy():
        """Nothing."""

    assert registry.benchmark("toy")(toy) is toy
    assert registry.operator("turn", family="wording", levels=(0.2, 0.4), modes=("", "x"))(toy)
    assert registry.find("benchmark", registry.BENCHMARKS, "toy") is toy
    found = registry.find("operator", registry.OPERATORS, "turn")
    assert found == registry.Operator("turn", toy, "wording", (0.2, 0.4), ("", "x"))


def test_an_unknown_name_lists_what_exists_in_order_and_the_nearest():
    known = {"zeta": 1, "affine": 2, "original": 3}
    with pytest.raises(ValueError) as error:
        registry.find("operator", known, "afine")
    assert str(error.value) == (
        "unknown operator 'afine' (did you mean 'affine'?); known: affine, original, zeta"
    )


def test_a_name_that_is_near_to_none_gets_no_hint():
    with pytest.raises(ValueError, match=r"^unknown operator 'qqq'; known: affine$"):
        registry.find("operator", {"affine": 1}, "qqq")


def test_what_is_registered_is_what_the_packages_name():
    assert benchmarks.names() == sorted(registry.BENCHMARKS)
    assert operators.names() == sorted(registry.OPERATORS)
    assert {"ladder", "humaneval"} <= set(benchmarks.names())
    assert {"original", "affine"} <= set(operators.names())
    assert all(o.name == name for name, o in registry.OPERATORS.items())
