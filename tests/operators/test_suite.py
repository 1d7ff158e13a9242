"""Reading a task's tests as syntax, and writing them again with other values."""

import ast

import pytest

from byrote.operators.codecs import OUTSIDE
from byrote.operators.isomorphism import PAPER
from byrote.operators.suite import Inapplicable, literal, parse, rewrite, shown_test, viewed

DECODE = f"_decode{OUTSIDE}"


def only(statement: str):
    [test] = parse(statement, "f")
    return test


def encoded(statement: str, inputs: bool = True, outputs: bool = True) -> str:
    """The statement with T applied to the sides that are named."""
    test = only(statement)
    args = PAPER.encode(test.args) if inputs else test.args
    kwargs = PAPER.encode(test.kwargs) if inputs else test.kwargs
    expected = PAPER.encode(test.expected) if outputs else test.expected
    return rewrite(test, args, kwargs, expected, decoded=outputs)


# Literals


@pytest.mark.parametrize(
    "source, value",
    [
        ("-5", -5),
        ("+5", 5),
        ("1_000", 1000),
        ("0x1F", 31),
        ("0b11", 3),
        ("1e5", 100000.0),
        ("-1.5", -1.5),
        ("'a1b22'", "a1b22"),
        ("b'10'", b"10"),
        ("'a' '1'", "a1"),
        ("(1,)", (1,)),
        ("{1: [2, (3, {4})]}", {1: [2, (3, {4})]}),
        ("set()", set()),
        ("set([1, 2])", {1, 2}),
        ("frozenset({1})", frozenset({1})),
        ("tuple([1, -2])", (1, -2)),
        ("[0] * 4", [0, 0, 0, 0]),
        ("10**3", 1000),
        ("2**31 - 1", 2147483647),
        ("3 / 2", 1.5),
        ("7 // 2 % 2", 1),
        ("1 + 2j", 1 + 2j),
        ("not True", False),
    ],
)
def test_a_literal_is_read_with_its_type(source, value):
    found = literal(ast.parse(source, mode="eval").body)
    assert repr(found) == repr(value)


@pytest.mark.parametrize(
    "source",
    [
        "x1",
        "float('inf')",
        "range(3)",
        "Decimal(3)",
        "np.int64(3)",
        "f'{1}'",
        "[i for i in range(3)]",
        "sorted([2, 1])",
        "set(a=1)",
        "10**1000",
        "1 << 5000",
        "[0] * 10000000",
        "1 / 0",
        "'a' + 1",
        "tuple(5)",
        "{[1]: 2}",
        "set([[1]])",
    ],
)
def test_what_needs_another_name_or_cannot_be_computed_is_no_literal(source):
    with pytest.raises(ValueError):
        literal(ast.parse(source, mode="eval").body)


# Shapes


@pytest.mark.parametrize(
    "statement, shape",
    [
        ("assert f(1) == 2", "equal"),
        ("assert 2 == f(1)", "equal"),
        ("assert f(1) is None", "equal"),
        ("assert f() == []", "equal"),
        ("assert set(f(1)) == {2}", "equal"),
        ("assert tuple(f(1)) == (2,)", "equal"),
        ("assert list(f(1)) == [2]", "equal"),
        ("assert f(x=1) == set([2])", "equal"),
        ("assert sorted(f(1)) == [2]", "other"),
        ("assert len(f(1)) == 2", "other"),
        ("assert math.isclose(f(1), 2.5)", "other"),
        ("assert abs(f(1) - 2) < 1e-6", "other"),
        ("assert f(1)", "other"),
        ("assert not f(1)", "other"),
        ("assert f(1) != 2", "other"),
        ("assert f(1) < 2 <= 3", "other"),
        ("assert f(1) == 2 or True", "other"),
        ("assert f(1) == math.pi", "other"),
        ("assert f(1)[0] == 2", "other"),
        ("assert np.isclose(f(1), 2.5)", "other"),
        ("assert f(f(1)) == 2", "any"),
        ("assert f(1) == f(2)", "any"),
        ("assert f(range(3)) == 2", "any"),
        ("assert f(*[1, 2]) == 3", "any"),
        ("assert f(**{'x': 1}) == 3", "any"),
        ("for i in range(3):\n    assert f(i) == i", "any"),
        ("check(f)", "any"),
        ("assert f(1) == 2, f(1)", "any"),
    ],
)
def test_each_kind_of_test_is_known_by_its_shape(statement, shape):
    assert only(statement).shape == shape


# What becomes of them


@pytest.mark.parametrize(
    "statement, right",
    [
        ("assert f(10, [0]) == (10,)", "assert f(-74, [-94]) == (-74,)"),
        ("assert f(-5) == 0", "assert f(-104) == -94"),
        ("assert f(1_000, 0x1F) == 1e5", "assert f(1906, -32) == 100000.0"),
        ("assert f('a1b22', 10) == 'x10'", "assert f('a1b22', -74) == 'x10'"),
        ("assert f(10, key=10, s='10') == 10", "assert f(-74, key=-74, s='10') == -74"),
        ("assert f(10) == True", "assert f(-74) == True"),
        ("assert f({10: '10'}) == {0: 10}", "assert f({-74: '10'}) == {-94: -74}"),
        ("assert 10 == f(10)", "assert -74 == f(-74)"),
        ("assert set(f(10)) == set([10])", "assert set(f(-74)) == {-74}"),
        ("assert list(f(10)) == [10]", "assert list(f(-74)) == [-74]"),
        ("assert f(10**1) == [0] * 2", "assert f(-74) == [-94, -94]"),
        ("assert f(10) is None", "assert f(-74) is None"),
        ("assert f() == set()", "assert f() == set()"),
        ("assert f(10) == 10, 'of 10'", "assert f(-74) == -74, 'of 10'"),
    ],
)
def test_a_plain_test_gets_new_arguments_and_a_new_expected_value(statement, right):
    assert encoded(statement) == right


@pytest.mark.parametrize(
    "statement, right",
    [
        ("assert sorted(f(10)) == [10]", "assert sorted({0}(f(-74))) == [10]"),
        ("assert math.isclose(f(10), 2.5)", "assert math.isclose({0}(f(-74)), 2.5)"),
        (
            "assert abs(f(10) - 10) < 1e-06",
            "assert abs({0}(f(-74)) - 10) < 1e-06",
        ),
        ("assert f(10)", "assert {0}(f(-74))"),
        ("assert not f(10)", "assert not {0}(f(-74))"),
        ("assert f(10) != 10", "assert {0}(f(-74)) != 10"),
        ("assert len(f([10])) == 10", "assert len({0}(f([-74]))) == 10"),
    ],
)
def test_a_wrapped_test_compares_the_decoded_result_with_the_plain_value(statement, right):
    assert encoded(statement) == right.format(DECODE)
    without = encoded(statement, outputs=False)
    assert without == right.format(DECODE).replace(f"{DECODE}(f(-74))", "f(-74)").replace(
        f"{DECODE}(f([-74]))", "f([-74])"
    )


@pytest.mark.parametrize(
    "statement, right",
    [
        ("assert f(f(10)) == 10", "assert _view(_view(10)) == 10"),
        ("check(f)", "check(_view)"),
        ("for i in 'f':\n    assert f(i) == x.f", "for i in 'f':\n    assert _view(i) == x.f"),
    ],
)
def test_a_computed_test_gets_the_function_seen_from_the_plain_side(statement, right):
    assert viewed(only(statement), "f") == right


def test_rewriting_leaves_the_parsed_test_as_it_was():
    test = only("assert f([1]) == {2: 3}")
    before = ast.dump(test.statement)
    rewrite(test, [[5]], {}, {6: 7}, decoded=True)
    viewed(test, "f")
    assert ast.dump(test.statement) == before
    assert (test.args, test.expected) == ([[1]], {2: 3})


# Refusals


@pytest.mark.parametrize(
    "tests, reason",
    [
        ("assert f(1 == 2", "the tests do not parse"),
        ("assert f(1) == '\0'", "the tests do not parse"),
        ("", "the task has no tests"),
        ("# nothing", "the task has no tests"),
        ("assert f(1) == 2\nassert g(1) == 2", "a test never uses f: assert g(1) == 2"),
        ("x = 1", "a test never uses f: x = 1"),
        ("assert 'f'", "a test never uses f: assert 'f'"),
        (f"assert f({'1' * 5000}) == 2", "the tests do not parse"),
        (f"assert f(0x{'1' * 5000}) == 2", "a test holds an integer of more than 4300 digits"),
        ("assert f(Decimal(3)) == 2", "a test holds a value of Decimal"),
        ("assert f([Fraction(1, 2)]) == 2", "a test holds a value of Fraction"),
        ("assert f(1) == decimal.Decimal('2')", "a test holds a value of Decimal"),
        ("assert f(np.array([1])) == 2", "a test holds a value of np"),
        ("assert f(numpy.int64(1)) == 2", "a test holds a value of numpy"),
    ],
)
def test_tests_that_cannot_be_rewritten_are_refused_with_the_reason(tests, reason):
    with pytest.raises(Inapplicable) as error:
        parse(tests, "f")
    assert str(error.value).startswith(reason)


# The test that a prompt shows


@pytest.mark.parametrize(
    "tests, shown",
    [
        (["assert f(1) == 2", "assert f(3) == 4"], 0),
        (["assert f('a') == 2", "assert f(3) == 4"], 1),
        (["assert f([]) == []", "assert f([1]) == [1]"], 1),
        (["assert f(f(1)) == 2", "assert f('a') == 'b'"], 1),
        ([f"assert f({list(range(90))}) == 2", "assert f('a') == 'b'"], 1),
        (["assert f('a') == 'b'", "assert f('c') == 'd'"], 0),
    ],
)
def test_the_test_shown_is_short_plain_and_has_integers_on_both_sides(tests, shown):
    assert shown_test(parse("\n".join(tests), "f")) == shown
