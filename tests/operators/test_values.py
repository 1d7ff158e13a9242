"""The affine map on numbers and on nested values: the worked values of SPEC 3.7, and properties."""

import decimal
import fractions
import math
from collections import Counter, OrderedDict, deque, namedtuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from byrote.operators.codecs import codec
from byrote.operators.isomorphism import PAPER, SLOPES
from byrote.operators.values import Affine, BaseRead, BaseWrite, Cubic, cube_root, integers

patient = settings(deadline=None)  # the cores are shared, so one slow example is no failure

slopes = st.one_of(st.sampled_from(SLOPES), st.integers().filter(bool))
affine = (
    st.tuples(slopes, st.integers())
    .filter(lambda pair: pair != (1, 0))
    .map(lambda pair: Affine(*pair))
)
maps = st.one_of(
    affine,
    st.integers(11, 36).map(BaseRead),
    st.integers(2, 9).map(BaseWrite),
    st.integers().map(Cubic),
)
leaves = st.one_of(
    st.integers(), st.booleans(), st.floats(allow_nan=False), st.text(max_size=4), st.none()
)
keys = st.one_of(st.integers(), st.text(max_size=3), st.tuples(st.integers(), st.integers()))
values = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.sets(st.integers(), max_size=4),
        st.frozensets(st.integers(), max_size=4),
        st.dictionaries(keys, inner, max_size=4),
    ),
    max_leaves=12,
)


def sourced(transform: Affine) -> dict:
    """The functions that the map's Python source defines."""
    scope: dict = {}
    exec(codec(transform), scope)
    return scope


def shape(value: object) -> object:
    """The value without its integers; sets, whose elements have no order, by their size."""
    if isinstance(value, dict):
        return [(shape(k), shape(v)) for k, v in value.items()]
    if isinstance(value, set | frozenset):
        return type(value), len(value)
    if isinstance(value, list | tuple):
        return type(value), [shape(v) for v in value]
    return int if type(value) is int else repr(value)


# SPEC 3.7


def test_only_integers_are_mapped_inside_every_container():
    value = [True, 1, 1.0, "1", None, (2, {3: 4}), {5, 6}, -5, 0]
    right = [True, -92, 1.0, "1", None, (-90, {-88: -86}), {-84, -82}, -104, -94]
    assert repr(PAPER.encode(value)) == repr(right)
    assert repr(PAPER.decode(right)) == repr(value)


@pytest.mark.parametrize(
    "x, image", [(383, 672), (254, 414), (200, 306), (10, -74), (0, -94), (94, 94), (-5, -104)]
)
def test_numbers_have_the_published_images(x, image):
    assert PAPER.encode(x) == image
    assert PAPER.decode(image) == x


@pytest.mark.parametrize("transform, x", [(PAPER, 671), (Affine(-3, 1), 2), (Affine(7, 0), 1)])
def test_what_is_no_image_of_an_integer_has_no_inverse(transform, x):
    with pytest.raises(ValueError, match=f"^{x} is not an encoded integer$"):
        transform.decode(x)
    with pytest.raises(ValueError, match=f"^{x} is not an encoded integer$"):
        sourced(transform)["_decode"]([x])


@pytest.mark.parametrize(
    "value", [{True: "a", 47: "b"}, {1.0, 47}, frozenset({1.0, 47}), [({True, 47},)]]
)
def test_elements_that_would_become_one_are_refused(value):
    with pytest.raises(ValueError, match="would become one$"):
        Affine(2, -93).encode(value)
    Affine(2, -94).encode(value)


def test_a_negative_slope_reverses_order_within_the_same_container():
    transform = Affine(-3, 1)
    assert transform.encode([1, 2, 3]) == [-2, -5, -8]
    assert sorted(transform.encode([1, 2, 3])) == [-8, -5, -2]
    assert sorted(transform.decode(transform.encode([3, 1, 2]))) == [1, 2, 3]


def test_digits_in_text_are_text():
    assert PAPER.encode("a1b22") == "a1b22"
    assert PAPER.encode(["10", 10]) == ["10", -74]
    assert PAPER.encode(b"10") == b"10"


@pytest.mark.parametrize("empty", [[], (), set(), frozenset(), {}, "", [[]], ((),), {"": {}}])
def test_empty_containers_stay_and_hold_no_integer(empty):
    assert repr(PAPER.encode(empty)) == repr(empty)
    assert integers(empty) == 0


def test_large_integers_are_exact():
    for x in (10**18 + 31, 2**53 + 1, 10**5000, -(10**5000)):
        assert PAPER.decode(PAPER.encode(x)) == x


@pytest.mark.parametrize(
    "value",
    [
        decimal.Decimal(3),
        fractions.Fraction(1, 2),
        np.int64(3),
        np.array([1, 2]),
        Counter([1]),
        OrderedDict({1: 2}),
        deque([1]),
        namedtuple("P", "x")(1),
        range(3),
        bytearray(b"1"),
        object(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_type_without_a_rule_is_refused_by_name(value):
    for place in (value, [value], ({"a": value},)):
        with pytest.raises(TypeError, match=f"^no rule for a value of type {type(value).__name__}"):
            PAPER.encode(place)


@pytest.mark.parametrize("a, b", [(1, 0), (0, 0), (0, 5)])
def test_the_identity_and_constants_are_no_maps(a, b):
    with pytest.raises(ValueError, match=rf"\({a}, {b}\)"):
        Affine(a, b)


@pytest.mark.parametrize(
    "transform, images",
    [
        (BaseWrite(7), {0: 0, 6: 6, 7: 10, 19: 25, 25: 34, 48: 66, 49: 100, -19: -25}),
        (BaseRead(16), {9: 9, 10: 16, 19: 25, 25: 37, 42: 66, 100: 256, -42: -66}),
        (Cubic(31), {0: 31, 1: 32, -1: 30, 5: 156, -3: 4, 10**6: 10**18 + 31}),
        (Cubic(0), {2: 8, -2: -8, 0: 0}),
    ],
    ids=str,
)
def test_the_other_families_have_the_images_of_the_specification(transform, images):
    """SPEC 3.7 rows 3, 4, 6, and 5: write_7(19) is 25, the digits of the paper's example."""
    assert {x: transform.encode(x) for x in images} == images
    assert {transform.decode(image): image for image in images.values()} == images


@pytest.mark.parametrize(
    "transform, x",
    [(BaseRead(16), 26), (BaseRead(16), -26), (Cubic(31), 33), (BaseWrite(7), 19), (Cubic(0), 2)],
)
def test_what_the_other_families_never_give_has_no_inverse(transform, x):
    with pytest.raises(ValueError, match=f"^{x} is not an encoded integer$"):
        transform.decode(x)
    with pytest.raises(ValueError):
        sourced(transform)["_decode"](x)


def test_cubes_are_inverted_where_floats_go_wrong_or_overflow():
    for x in (259806530064083, 10**40 + 3, -(10**40) - 3, 10**5000):
        assert Cubic(31).decode(Cubic(31).encode(x)) == x
    assert round(float(10**15) ** (1 / 3)) == 10**5 and int(64 ** (1 / 3)) == 3


@patient
@given(st.integers())
def test_a_cube_root_is_rounded_towards_zero(n):
    root = abs(cube_root(n))
    assert root**3 <= abs(n) < (root + 1) ** 3


@patient
@given(st.integers(), st.integers(2, 9), st.integers(11, 36))
def test_writing_and_reading_in_a_base_agree_with_pythons_own(x, small, large):
    assert BaseWrite(small).decode(BaseWrite(small).encode(x)) == x
    assert int(str(BaseWrite(small).encode(x)), small) == x
    assert BaseRead(large).encode(x) == int(str(x), large)
    assert BaseRead(16).encode(x) == int(str(x), 16) and format(BaseRead(16).encode(x), "x") == str(
        x
    )


@patient
@given(st.integers(), st.integers())
def test_the_base_families_and_the_cubic_keep_order(x, y):
    for transform in (BaseRead(11), BaseRead(16), BaseWrite(2), BaseWrite(7), Cubic(-50)):
        assert (transform.encode(x) < transform.encode(y)) == (x < y)


@pytest.mark.parametrize("family, base", [(BaseRead, 10), (BaseRead, 7), (BaseRead, 37)])
def test_no_base_is_read_in_which_two_numbers_would_be_one(family, base):
    """SPEC 3.7 rows 5 and 15: read_7(19) would be 16, which is read_7(22) as well."""
    with pytest.raises(ValueError, match=f"^base {base}: 11 to 36"):
        family(base)


@pytest.mark.parametrize("base", [1, 10, 0, -7])
def test_no_base_is_written_whose_digits_are_not_decimal_or_that_changes_nothing(base):
    with pytest.raises(ValueError, match=f"^base {base}: 2 to 9"):
        BaseWrite(base)


# Public reports


def test_a_shift_leaves_truth_text_and_floats_alone():
    """I01, qlustered/deepdiff#200."""
    value = [True, 3, [False, 2], {"k": 1}, "4", None, 2.5]
    right = [True, 10, [False, 9], {"k": 8}, "4", None, 2.5]
    assert repr(Affine(1, 7).encode(value)) == repr(right)


def test_float_arguments_are_not_mapped():
    """I04, evalplus/evalplus#289: abs(a - b) < t means another thing in exact arithmetic."""
    value = {"a": 0.06, "b": 0.05, "t": 0.01}
    assert repr(PAPER.encode(value)) == repr(value)
    assert integers(value) == 0
    odd = [1e5, 240.0, -0.0, math.inf, 1 + 2j]
    assert repr(PAPER.encode(odd)) == repr(odd)


# Properties


@patient
@given(maps, values)
def test_decoding_undoes_encoding(transform, value):
    try:
        image = transform.encode(value)
    except ValueError as error:
        assert "would become one" in str(error)
        return
    back = transform.decode(image)
    assert back == value and type(back) is type(value)


@patient
@given(maps, values)
def test_encoding_keeps_shape_and_the_number_of_integers(transform, value):
    try:
        image = transform.encode(value)
    except ValueError:
        return
    assert integers(image) == integers(value)
    assert shape(image) == shape(value)


@patient
@given(maps, values)
def test_the_source_shown_and_executed_is_the_map_tested_here(transform, value):
    try:
        image = transform.encode(value)
    except ValueError:
        return
    scope = sourced(transform)
    assert repr(scope["_encode"](value)) == repr(image)
    assert scope["_decode"](image) == value


@patient
@given(affine, st.integers(), st.integers())
def test_order_is_kept_by_a_positive_slope_and_reversed_by_a_negative_one(transform, x, y):
    if x == y:
        return
    images = transform.encode(x), transform.encode(y)
    assert images[0] != images[1]
    assert (images[0] < images[1]) == ((x < y) == (transform.a > 0))


@patient
@given(maps, st.integers())
def test_formula_and_recipe_are_the_map_as_arithmetic(transform, x):
    scope: dict = {}
    exec(transform.helper, scope)
    image = eval(transform.formula("x"), scope, {"x": x})
    assert image == transform.encode(x)
    assert eval(transform.recipe("e"), scope, {"e": image}) == x


@pytest.mark.parametrize(
    "a, b, formula, recipe",
    [
        (2, -94, "2*x - 94", "(x + 94) // 2"),
        (-3, 7, "-3*x + 7", "(x - 7) // -3"),
        (5, 0, "5*x", "(x) // 5"),
    ],
)
def test_formulas_read_as_one_would_write_them(a, b, formula, recipe):
    assert Affine(a, b).formula("x") == formula
    assert Affine(a, b).recipe("x") == recipe
