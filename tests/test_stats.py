"""Statistics: worked values of SPEC 4-7, public bug reports (T01-T10), properties, self tests."""

from itertools import combinations, product
from math import isnan, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from byrote import stats

patient = settings(deadline=None)  # the cores are shared, so one slow example is no failure


@pytest.fixture
def rng():
    return np.random.default_rng(20260101)


def cube(rng, rate, icc, tasks=257, samples=5):
    """Pass/fail [tasks, samples] with a mean rate and an intra-task correlation."""
    if icc == 0:
        ability = np.full(tasks, rate)
    elif icc == 1:
        ability = (rng.random(tasks) < rate).astype(float)
    else:
        spread = 1 / icc - 1
        ability = rng.beta(rate * spread, (1 - rate) * spread, tasks)
    return rng.random((tasks, samples)) < ability[:, None]


# pass@k


@pytest.mark.parametrize(
    "n, c, k, right",
    [
        (5, 3, 1, 0.6),
        (5, 3, 2, 0.9),
        (5, 1, 5, 1),
        (10, 3, 5, 0.9167),
        (3, 0, 3, 0),
        (5, 2, 3, 0.9),
    ],
)
def test_pass_at_k_has_its_worked_values(n, c, k, right):
    assert stats.pass_at_k(n, c, k) == pytest.approx(right, abs=5e-5)


@pytest.mark.parametrize(
    "n, c, k", [(3, 0, 4), (3, 1, 4), (0, 0, 1), (3, 4, 1), (3, -1, 1), (3, 1, 0)]
)
def test_pass_at_k_refuses_what_is_undefined_and_names_the_values(n, c, k):
    with pytest.raises(ValueError, match=str(n)):
        stats.pass_at_k(n, c, k)


def test_pass_at_five_of_one_sample_a_task_is_undefined_not_pooled():
    counts, correct = [1] * 10, [1] * 3 + [0] * 7
    assert stats.mean_pass_at_k(counts, correct, 1) == pytest.approx(0.3)
    assert isnan(stats.mean_pass_at_k(counts, correct, 5))
    assert isnan(stats.mean_pass_at_k([5, 1], [2, 1], 2)), "one task of too few is enough"
    assert isnan(stats.mean_pass_at_k([], [], 1))


def test_tasks_with_unequal_samples_weigh_the_same():
    assert stats.mean_pass_at_k([10, 1], [10, 0], 1) == 0.5, "pooled would be 10/11"


@pytest.mark.parametrize("counts, correct", [([3], [4]), ([3, 3], [1]), ([3], [-1])])
def test_mean_pass_at_k_refuses_impossible_counts(counts, correct):
    with pytest.raises(ValueError):
        stats.mean_pass_at_k(counts, correct, 1)


@patient
@given(
    st.integers(1, 7).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n)))
)
def test_pass_at_k_is_the_share_of_k_subsets_with_a_pass(drawn):
    n, c, k = drawn
    subsets = list(combinations([1] * c + [0] * (n - c), k))
    assert stats.pass_at_k(n, c, k) == pytest.approx(np.mean([any(s) for s in subsets]))


# Intervals


def test_the_bootstrap_of_a_constant_column_is_that_constant(rng):
    assert stats.bootstrap([1] * 10, rng=rng) == (1, 1, 1)
    assert stats.bootstrap([0.25] * 10, np.median, rng=rng) == (0.25, 0.25, 0.25)
    assert stats.bootstrap([[1, 1], [1, 1]], clusters="ab", rng=rng) == (1, 1, 1)
    assert stats.paired_drop([1] * 10, [1] * 10, rng=rng) == (0, 0, 0, 1, 10)


def test_a_rate_without_any_failure_gets_the_exact_interval(rng):
    assert stats.rate_interval([0] * 100, rng=rng) == stats.proportion_interval(0, 100)
    assert stats.proportion_interval(0, 100) == pytest.approx((0, 0, 0.0362), abs=5e-5)
    assert stats.rate_interval(np.ones((100, 5)), rng=rng) == stats.proportion_interval(100, 100)


def test_the_exact_interval_of_a_rate_counts_clusters_not_rows(rng):
    clusters = np.repeat(np.arange(20), 5)
    assert stats.rate_interval([0] * 100, clusters, rng=rng) == stats.proportion_interval(0, 20)


def test_a_rate_with_both_outcomes_or_a_constant_share_is_bootstrapped(rng):
    again = np.random.default_rng(20260101)
    passes = [0, 1] * 20
    assert stats.rate_interval(passes, rng=rng) == stats.bootstrap(passes, rng=again)
    assert stats.rate_interval([0.5] * 9, rng=rng) == (0.5, 0.5, 0.5)


def test_no_data_is_undefined_not_zero(rng):
    undefined = pytest.approx((nan, nan, nan), nan_ok=True)
    assert stats.bootstrap([], rng=rng) == undefined
    assert stats.rate_interval([], rng=rng) == undefined
    assert stats.proportion_interval(0, 0) == undefined
    assert stats.paired_drop([], [], rng=rng)[:4] == pytest.approx((nan,) * 4, nan_ok=True)
    assert isnan(stats.sign_flip([], rng=rng))


@pytest.mark.parametrize(
    "call",
    [
        lambda rng: stats.bootstrap([1, nan], rng=rng),
        lambda rng: stats.bootstrap([1, 0], clusters=["a"], rng=rng),
        lambda rng: stats.bootstrap([1, 0], clusters=["a", None], rng=rng),
        lambda rng: stats.bootstrap([1, 0], clusters=[1.0, nan], rng=rng),
        lambda rng: stats.bootstrap([1, 0], resamples=0, rng=rng),
        lambda rng: stats.bootstrap([1, 0], confidence=95, rng=rng),
        lambda rng: stats.rate_interval([84.2, 80.1], rng=rng),
        lambda rng: stats.proportion_interval(3, 2),
        lambda rng: stats.paired_drop([1, nan], [1, 0], rng=rng),
        lambda rng: stats.paired_drop([1, 0], [1, nan], rng=rng),
        lambda rng: stats.paired_drop([1, 0], [1], rng=rng),
        lambda rng: stats.paired_drop([84.2], [80.1], rng=rng),
        lambda rng: stats.sign_flip([nan], rng=rng),
        lambda rng: stats.sign_flip([[1, 0]], rng=rng),
        lambda rng: stats.mcnemar(-1, 2),
        lambda rng: stats.mcnemar_power(257, 0.05, 6),
        lambda rng: stats.mcnemar_power(257, 10, 5),
        lambda rng: stats.detectable_drop(257, 0.1, power=80),
        lambda rng: stats.auc([nan], [1]),
        lambda rng: stats.mann_whitney([1, nan], [1]),
        lambda rng: stats.kruskal_wallis([1, 2]),
        lambda rng: stats.adjust([0.1, 1.2]),
        lambda rng: stats.entropy([1, -1]),
        lambda rng: stats.jsd([1, nan], [1, 1]),
        lambda rng: stats.jsd([1, 1], [1, 1, 1]),
        lambda rng: stats.jsd({"a": 1}, [1]),
    ],
)
def test_missing_impossible_or_mismatched_input_is_an_error(call, rng):
    with pytest.raises(ValueError):
        call(rng)


def test_clusters_are_resampled_with_all_their_rows(rng):
    values = rng.random(40)
    tenfold, clusters = np.repeat(values, 10), np.repeat(np.arange(40), 10)
    one_row = stats.bootstrap(values, rng=np.random.default_rng(1))
    whole = stats.bootstrap(tenfold, clusters=clusters, rng=np.random.default_rng(1))
    split = stats.bootstrap(tenfold, rng=np.random.default_rng(1))
    assert whole == pytest.approx(one_row)
    assert split.high - split.low < 0.5 * (whole.high - whole.low)


def test_the_quick_mean_and_a_called_statistic_agree(rng):
    values, clusters = rng.random((60, 3)), rng.integers(25, size=60)
    quick = stats.bootstrap(values, clusters=clusters, rng=rng)
    called = stats.bootstrap(values, lambda rows: rows.mean(), clusters, rng=rng)
    assert called == pytest.approx(quick, abs=0.004), "Monte Carlo error only"


def test_the_bootstrap_holds_little_memory_and_still_draws_all(rng, monkeypatch):
    monkeypatch.setattr("byrote.stats.arrays.CELLS", 500)
    small = stats.bootstrap(rng.random(100), rng=np.random.default_rng(1))
    assert small.low < small.value < small.high
    assert 0 < stats.sign_flip(rng.normal(size=100), resamples=101, rng=rng) <= 1


def test_the_interval_lies_between_independent_and_agreeing_samples(rng):
    """SPEC 7.2: 2.0 to 4.5 points at n = 257, p = .842, G = 5."""
    independent, agreeing = 1.96 * np.sqrt(0.842 * 0.158 / np.array([257 * 5, 257]))
    assert (independent, agreeing) == pytest.approx((0.020, 0.045), abs=5e-4)
    for icc in (0, 0.5, 1):
        width = np.mean(
            [np.diff(stats.rate_interval(cube(rng, 0.842, icc), rng=rng)[1:]) for _ in range(100)]
        )
        assert width / 2 == pytest.approx(independent * np.sqrt(1 + 4 * icc), rel=0.04)


@pytest.mark.parametrize("icc", [0, 0.5, 1])
def test_the_95_percent_interval_covers_the_rate(icc, rng):
    """4,000 cubes, not 400: the honest value is 94.2-94.7 % (percentiles are a little narrow), so
    with a Monte Carlo error of 0.36 points the band 93-97 % is 3 sigma away and still tells."""
    hits = 0
    for _ in range(4_000):
        interval = stats.rate_interval(cube(rng, 0.842, icc), resamples=1_000, rng=rng)
        hits += interval.low <= 0.842 <= interval.high
    assert 0.93 <= hits / 4_000 <= 0.97


def test_resampling_samples_as_if_independent_would_not_cover(rng):
    hits = 0
    for _ in range(400):
        samples = cube(rng, 0.842, 1).ravel()
        interval = stats.bootstrap(samples, resamples=1_000, rng=rng)
        hits += interval.low <= 0.842 <= interval.high
    assert hits / 400 < 0.80


# Paired drops


def test_a_drop_is_in_points_and_of_task_means(rng):
    drop = stats.paired_drop([[1, 1], [1, 0], [0, 0]], [0, 1, 0], rng=rng)
    assert (drop.points, drop.n) == (pytest.approx(100 / 6), 3)
    assert drop.low <= drop.points <= drop.high


def test_pairing_cancels_what_tasks_share(rng):
    original = cube(rng, 0.5, 1)[:, 0].astype(float)
    variant = np.where(rng.random(257) < 0.05, 0, original)
    drop = stats.paired_drop(original, variant, rng=rng)
    alone = stats.bootstrap(original, rng=rng)
    assert drop.high - drop.low < 100 * (alone.high - alone.low) / 2


def test_swapping_the_conditions_turns_the_drop_round(rng):
    original, variant = cube(rng, 0.8, 0.5), cube(rng, 0.7, 0.5)
    there = stats.paired_drop(original, variant, rng=rng)
    back = stats.paired_drop(variant, original, rng=rng)
    assert back.points == pytest.approx(-there.points)
    assert (back.low, back.high) == pytest.approx((-there.high, -there.low), abs=0.4)


def test_the_percentile_interval_agrees_with_bca(rng):
    original, variant = cube(rng, 0.842, 0.5), cube(rng, 0.75, 0.5)
    drop = stats.paired_drop(original, variant, rng=rng)
    differences = 100 * (original.mean(axis=1) - variant.mean(axis=1))
    bca = scipy_stats.bootstrap((differences,), np.mean, n_resamples=5_000, rng=rng)
    assert (drop.low, drop.high) == pytest.approx(bca.confidence_interval, abs=0.5)


def test_the_interval_of_a_drop_covers_it(rng):
    """1,000 cubes: an honest 94.8 % and a Monte Carlo error of 0.7 points: 2.6 sigma to 93 %."""
    hits = 0
    for _ in range(1_000):
        ability = rng.beta(0.842, 0.158, 257)[:, None]
        original = rng.random((257, 5)) < ability
        variant = rng.random((257, 5)) < 0.9 * ability
        drop = stats.paired_drop(original, variant, resamples=1_000, rng=rng)
        hits += drop.low <= 8.42 <= drop.high
    assert 0.93 <= hits / 1_000 <= 0.97


def null_differences(rng, rows=257, samples=(5, 4)):
    """Differences of task rates between two conditions that are one."""
    ability = rng.beta(0.842, 0.158, rows)[:, None]
    first, second = (rng.random((rows, n)) < ability for n in samples)
    return first.mean(axis=1) - second.mean(axis=1)


def test_the_sign_flip_errs_in_5_percent_of_true_nulls(rng):
    """4,000 sets, not 400: a Monte Carlo error of 0.34 points makes 4-6 % a band of 2.9 sigma."""
    p = [stats.sign_flip(null_differences(rng), None, 1_000, rng=rng) for _ in range(4_000)]
    assert 0.04 <= np.mean(np.array(p) <= 0.05) <= 0.06


@pytest.mark.parametrize("samples, honest", [(5, 0.0415), (1, 0.031)])
def test_equal_samples_make_the_sign_flip_coarse_and_so_careful(samples, honest, rng):
    """Sums then move in steps of 2 / samples; the error stays below 5 %, to about 4 and 3 %."""
    p = [
        stats.sign_flip(null_differences(rng, samples=(samples,) * 2), None, 1_000, rng=rng)
        for _ in range(2_000)
    ]
    assert np.mean(np.array(p) <= 0.05) == pytest.approx(honest, abs=0.012)


def test_flipping_rows_of_one_cluster_apart_would_err_far_more(rng):
    whole, apart = [], []
    for _ in range(1_000):
        differences, clusters = np.repeat(null_differences(rng, 60), 4), np.repeat(range(60), 4)
        whole.append(stats.sign_flip(differences, clusters, 1_000, rng=rng))
        apart.append(stats.sign_flip(differences, None, 1_000, rng=rng))
    assert 0.03 <= np.mean(np.array(whole) <= 0.05) <= 0.07
    assert np.mean(np.array(apart) <= 0.05) > 0.2


def test_the_sign_flip_of_no_change_is_one(rng):
    assert stats.sign_flip([0, 0, 0], rng=rng) == 1
    assert stats.sign_flip([0.3, -0.1, -0.2], ["a", "a", "a"], rng=rng) == 1, (
        "rounding is not a change"
    )


@patient
@given(st.lists(st.sampled_from([-1, -0.6, -0.2, 0, 0.2, 0.4, 1]), min_size=1, max_size=9))
def test_the_sign_flip_enumerates_all_signs(differences):
    flips = [abs(np.dot(signs, differences)) for signs in product([-1, 1], repeat=len(differences))]
    right = np.mean(np.array(flips) >= abs(sum(differences)) - 1e-9)
    assert stats.sign_flip(differences, rng=np.random.default_rng(0)) == pytest.approx(right)


def test_drawn_flips_agree_with_enumerated_ones(rng, monkeypatch):
    differences = rng.normal(0.4, 1, 15)
    exact = stats.sign_flip(differences, rng=rng)
    monkeypatch.setattr("byrote.stats.pairs.EXACT", 1)
    drawn = stats.sign_flip(differences, resamples=40_000, rng=rng)
    assert drawn == pytest.approx(exact, abs=0.01)
    assert stats.sign_flip([1] * 60, resamples=99, rng=rng) == 0.01, "never zero"


@patient
@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 5))
def test_the_sign_flip_of_single_samples_is_mcnemar(b, c, unchanged):
    differences = [1] * b + [-1] * c + [0] * unchanged or [0]
    p = stats.sign_flip(differences, rng=np.random.default_rng(0))
    assert p == pytest.approx(stats.mcnemar(b, c))


@patient
@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from("abcdefgh")), min_size=2
    ),
    st.randoms(),
)
def test_the_order_of_tasks_does_not_matter(rows, random):
    def drop(rows):
        original, variant, clusters = zip(*rows, strict=True)
        rng = np.random.default_rng(3)
        return stats.paired_drop(
            np.array(original) / 5, np.array(variant) / 5, clusters, resamples=200, rng=rng
        )

    shuffled = random.sample(rows, len(rows))
    first, second = drop(rows), drop(shuffled)
    assert second.points == pytest.approx(first.points)
    assert second.p == pytest.approx(first.p)
    assert 0 <= first.p <= 1 and first.low <= first.high


@patient
@given(st.lists(st.booleans(), min_size=1, max_size=60), st.randoms())
def test_the_interval_of_a_pass_rate_is_the_same_in_any_order(passes, random):
    shuffled = random.sample(passes, len(passes))
    intervals = [
        stats.rate_interval(rows, resamples=200, rng=np.random.default_rng(3))
        for rows in (passes, shuffled)
    ]
    assert intervals[0] == pytest.approx(intervals[1])
    assert 0 <= intervals[0].low <= intervals[0].high <= 1


def test_mcnemar_has_its_worked_values():
    assert stats.mcnemar(10, 2) == pytest.approx(0.0386, abs=5e-5)
    assert stats.mcnemar(2, 10) == stats.mcnemar(10, 2)
    assert stats.mcnemar(0, 0) == 1
    assert stats.mcnemar(7, 7) == pytest.approx(1)


def test_mcnemar_power_has_its_worked_value():
    assert stats.mcnemar_power(257, 0.10, 5) == pytest.approx(0.67, abs=0.005)


@pytest.mark.parametrize("discordant, drop", [(0.3, 20), (0.3, 0), (0.3, 30), (1, 100), (1, -40)])
def test_mcnemar_power_is_the_sum_over_all_tables(discordant, drop):
    n, lost = 24, (discordant + drop / 100) / 2
    right = sum(
        scipy_stats.multinomial.pmf([b, c, n - b - c], n, [lost, discordant - lost, 1 - discordant])
        for b in range(n + 1)
        for c in range(n + 1 - b)
        if stats.mcnemar(b, c) <= 0.05
    )
    assert stats.mcnemar_power(n, discordant, drop) == pytest.approx(right)


@pytest.mark.parametrize(
    "n, right", [(257, (5.7, 4.0, 8.0)), (640, (3.6, 2.6, 5.1)), (338, (5.0, 3.5, 7.0))]
)
def test_the_detectable_drop_has_its_worked_values(n, right):
    found = [stats.detectable_drop(n, discordant) for discordant in (0.10, 0.05, 0.20)]
    assert found == pytest.approx(right, abs=0.05)
    assert stats.mcnemar_power(n, 0.10, found[0]) == pytest.approx(0.8, abs=1e-4)


def test_too_few_tasks_detect_no_drop_at_all():
    assert isnan(stats.detectable_drop(40, 0.05))


# Ranks


@pytest.mark.parametrize("size, right", [(3, 0.1), (4, 0.0286), (6, 2 / 924)])
def test_mann_whitney_of_complete_separation_has_its_worked_values(size, right):
    low, high = range(size), range(size, 2 * size)
    assert stats.mann_whitney(low, high) == pytest.approx(right, abs=5e-5)
    assert stats.cliffs_delta(high, low) == 1


def test_six_against_six_is_the_least_that_survives_nineteen_tests():
    def corrected(size):
        p = stats.mann_whitney(range(size), range(size, 2 * size))
        return stats.adjust([p] * 19, "bonferroni")[0]

    assert corrected(4) == pytest.approx(0.54, abs=0.005)
    assert corrected(5) > 0.05 > corrected(6)


def test_mann_whitney_of_constant_data_is_one_and_still_counts():
    constant = stats.mann_whitney([1] * 5, [1] * 6)
    assert constant == stats.mann_whitney([1] * 50, [1] * 60) == 1
    assert list(stats.adjust([0.01, constant], "bonferroni")) == [0.02, 1]


@patient
@given(*[st.lists(st.sampled_from([0, 1 / 3, 2 / 3, 1]), min_size=1, max_size=6)] * 2)
def test_mann_whitney_of_ties_is_the_exact_permutation_p(x, y):
    ranks = scipy_stats.rankdata(x + y)
    centre = len(x) * (len(ranks) + 1) / 2
    sums = np.array([sum(chosen) for chosen in combinations(ranks, len(x))])
    right = np.mean(abs(sums - centre) >= abs(ranks[: len(x)].sum() - centre) - 1e-9)
    assert stats.mann_whitney(x, y) == pytest.approx(right)


@pytest.mark.parametrize("n, m", [(1, 1), (5, 12), (20, 20), (30, 30)])
def test_mann_whitney_without_ties_is_the_textbook_exact_p(n, m, rng):
    x, y = rng.normal(size=n), rng.normal(0.5, size=m)
    right = scipy_stats.mannwhitneyu(x, y, method="exact").pvalue
    assert stats.mann_whitney(x, y) == pytest.approx(right)


def test_mann_whitney_of_many_ties_joins_the_normal_formula(rng, monkeypatch):
    x, y = rng.integers(4, size=30) / 3, (rng.integers(4, size=30) + (rng.random(30) < 0.3)) / 3
    exact = stats.mann_whitney(x, y)
    monkeypatch.setattr("byrote.stats.ranks.EXACT", 0)
    assert stats.mann_whitney(x, y) == pytest.approx(exact, abs=0.02)


floats = st.lists(st.floats(-5, 5), min_size=1, max_size=40)


@patient
@given(floats, floats)
def test_rank_comparisons_are_bounded_and_symmetric(x, y):
    assert 0 <= stats.mann_whitney(x, y) <= 1
    assert stats.mann_whitney(x, y) == pytest.approx(stats.mann_whitney(y, x))
    assert stats.cliffs_delta(x, y) == pytest.approx(-stats.cliffs_delta(y, x))
    assert stats.auc(x, y) == pytest.approx(1 - stats.auc(y, x))
    assert stats.auc(x, y) == pytest.approx(np.mean([(a > b) + (a == b) / 2 for a in x for b in y]))


def test_identical_distributions_have_no_effect():
    assert stats.cliffs_delta([1, 2, 3], [1, 2, 3]) == 0
    assert stats.kruskal_wallis([1, 2, 3], [3, 2, 1], [1, 2, 3]) == pytest.approx((0, 1))
    assert stats.kruskal_wallis([1, 1], [1, 1, 1]) == (0, 1)


def test_an_empty_group_is_undefined():
    assert isnan(stats.mann_whitney([], [1]))
    assert isnan(stats.cliffs_delta([1], []))
    assert isnan(stats.auc([], []))
    assert isnan(stats.kruskal_wallis([], [1]).p)


def test_auc_has_its_worked_values_and_null():
    assert stats.auc([0.8, 0.6], [0.7, 0.1]) == 0.75
    assert stats.auc([0.5, 0.5], [0.5, 0.2]) == 0.75
    scores = {0, 1, 2, 3}
    null = sorted(stats.auc(list(s), list(scores - set(s))) for s in combinations(scores, 2))
    assert null == [0, 0.25, 0.5, 0.5, 0.75, 1]


# Families


def test_a_test_that_was_not_made_is_not_counted():
    assert stats.adjust([0.01, None, 0.04], "bonferroni") == pytest.approx(
        [0.02, nan, 0.08], nan_ok=True
    )
    assert stats.adjust([0.01, nan, 0.04], "holm") == pytest.approx([0.02, nan, 0.04], nan_ok=True)
    assert stats.adjust([0.01, nan, 0.04], "bh") == pytest.approx([0.02, nan, 0.04], nan_ok=True)
    assert list(stats.adjust([])) == []
    assert np.isnan(stats.adjust([nan, nan])).all()


def test_a_wrong_method_lists_the_right_ones():
    with pytest.raises(ValueError, match="holm, bonferroni, bh"):
        stats.adjust([0.1], "fdr")


@settings(deadline=None, max_examples=25)  # holm in statsmodels collects garbage: 50 ms
@given(
    st.lists(st.floats(0, 1) | st.just(nan), max_size=20),
    st.sampled_from(["holm", "bonferroni", "bh"]),
)
def test_adjusting_raises_p_but_not_above_one_and_keeps_their_order(p, method):
    p, adjusted = np.array(p), stats.adjust(p, method)
    made = ~np.isnan(p)
    assert (np.isnan(adjusted) == ~made).all()
    assert (adjusted[made] >= p[made] * (1 - 1e-12)).all() and (adjusted[made] <= 1).all()
    assert (np.diff(adjusted[made][np.argsort(p[made])]) >= 0).all()
    assert (stats.adjust(p, "holm")[made] <= stats.adjust(p, "bonferroni")[made] + 1e-12).all()


def test_adjusting_leaves_its_input_alone():
    p = np.array([0.01, 0.02])
    stats.adjust(p)
    assert list(p) == [0.01, 0.02]


# Distributions


def test_entropy_has_its_worked_values():
    assert stats.entropy({"x": 2, "y": 2}) == 1
    assert stats.entropy({"x": 3, "y": 1}) == pytest.approx(0.8113, abs=5e-5)
    assert stats.entropy([7]) == 0
    assert stats.entropy([1, 1, 1, 1]) == 2
    assert isnan(stats.entropy({})) and isnan(stats.entropy([0, 0]))


@pytest.mark.parametrize(
    "p, q, right",
    [
        ([1, 0], [0, 1], 1),
        ([0.3, 0.7], [0.3, 0.7], 0),
        ([0.5, 0.5], [1, 0], 0.311278),
        ([1, 0], [0.75, 0.25], 0.137925),
        ([np.nextafter(0.4, 0), 1 - np.nextafter(0.4, 0)], [0.4, 0.6], 0),
        ([0, 3], [2e-323, 3], 0),
        ({"LOAD": 2}, {"STORE": 5}, 1),
        ({"LOAD": 1}, {"STORE": 1, "LOAD": 1}, 0.311278),
    ],
)
def test_jsd_has_its_worked_values(p, q, right):
    assert stats.jsd(p, q) == pytest.approx(right, abs=5e-7)


def test_jsd_is_the_square_of_the_distance_in_bits():
    assert stats.jsd([1, 0], [0.5, 0.5]) ** 0.5 == pytest.approx(0.557923, abs=5e-7)


def test_jsd_of_an_empty_distribution_is_undefined():
    assert isnan(stats.jsd({}, {"LOAD": 1}))
    assert isnan(stats.jsd([1, 2], [0, 0]))


weights = st.floats(0, 1e300) | st.sampled_from([0.0, 5e-324, 1e-310, 1.0])
pairs = st.lists(st.tuples(weights, weights), min_size=1, max_size=12)


@patient
@given(pairs)
def test_jsd_is_symmetric_and_bounded_and_zero_with_itself(rows):
    p, q = np.array(rows).T
    divergence = stats.jsd(p, q)
    if not p.any() or not q.any():
        assert isnan(divergence)
    else:
        assert 0 <= divergence <= 1
        assert divergence == stats.jsd(q, p)
        assert stats.jsd(p, p) == 0


@patient
@given(pairs, st.randoms())
def test_jsd_and_entropy_do_not_depend_on_the_order_of_the_support(rows, random):
    first, second = np.array(rows).T, np.array(random.sample(rows, len(rows))).T
    assert stats.jsd(*first) == pytest.approx(stats.jsd(*second), nan_ok=True)
    assert stats.entropy(first[0]) == pytest.approx(stats.entropy(second[0]), nan_ok=True)


@patient
@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=1, max_size=10))
def test_jsd_is_entropy_of_the_mixture_less_mean_entropy(rows):
    p, q = np.array(rows, dtype=float).T
    if p.any() and q.any():
        p, q = p / p.sum(), q / q.sum()
        right = stats.entropy((p + q) / 2) - (stats.entropy(p) + stats.entropy(q)) / 2
        assert stats.jsd(p, q) == pytest.approx(right, abs=1e-12)
        assert stats.entropy(p) <= np.log2(len(rows)) + 1e-12


# Equivalence


def changed(n, lost=0, won=0):
    """Outcomes of n tasks before and after, of which some are lost and some won."""
    before, after = np.zeros(n), np.zeros(n)
    before[:lost], after[n - won :] = 1, 1
    return before, after


@pytest.mark.parametrize("n, right", [(84, 0.183227), (148, 0.050287), (149, 0.049282)])
def test_of_no_change_at_all_the_exact_p_depends_on_the_tasks_alone(n, right, rng):
    found = stats.equivalent(*changed(n), rng=rng)
    assert found.p == pytest.approx(right, abs=5e-7) and found.exact and found.points == 0
    assert found.p == pytest.approx(0.98**n)
    assert (found.p < 0.05) == (n >= stats.equivalence_tasks())


@pytest.mark.parametrize(
    "margin, alpha, right", [(2, 0.05, 149), (2, 0.05 / 11, 267), (5, 0.05, 59)]
)
def test_the_tasks_that_equivalence_needs_have_their_worked_values(margin, alpha, right):
    assert stats.equivalence_tasks(margin, alpha) == right
    assert (1 - margin / 100) ** right < alpha <= (1 - margin / 100) ** (right - 1)


@pytest.mark.parametrize("lost, won", [(1, 0), (0, 3), (2, 2), (9, 0)])
def test_few_changes_get_the_exact_binomial_p_of_the_side_that_changed_more(lost, won, rng):
    found = stats.equivalent(*changed(600, lost, won), rng=rng)
    assert found.exact and found.p == pytest.approx(
        scipy_stats.binom.cdf(max(lost, won), 600, 0.02)
    )
    assert found.points == pytest.approx(100 * (lost - won) / 600)
    assert found.low < found.points < found.high


def test_many_changes_get_the_two_one_sided_t_tests_of_a_textbook(rng):
    before, after = rng.random((2, 800, 40)).round()  # small differences, so that t is near exact
    found = stats.equivalent(before, after, rng=rng)
    losses = before.mean(axis=1) - after.mean(axis=1)
    above = scipy_stats.ttest_1samp(losses, 0.02, alternative="less").pvalue
    below = scipy_stats.ttest_1samp(losses, -0.02, alternative="greater").pvalue
    assert not found.exact and found.p == pytest.approx(max(above, below), rel=1e-6)
    assert -2 < found.low < found.points < found.high < 2 and found.p < 0.05


def test_equivalence_of_swapped_conditions_is_turned_round(rng):
    before, after = cube(rng, 0.5, 0.5), cube(rng, 0.5, 0.5)
    first, second = (stats.equivalent(*c, rng=rng) for c in ((before, after), (after, before)))
    assert first.points == pytest.approx(-second.points) and first.p == pytest.approx(second.p)


@pytest.mark.parametrize("points", [2, -2, 3, 40, 100])
def test_a_drop_of_the_margin_or_more_is_never_equivalent(points, rng):
    lost, won = max(10 * points, 0), max(-10 * points, 0)
    found = stats.equivalent(*changed(1000, lost, won), rng=rng)
    assert found.points == points and found.p >= 0.5


def test_a_large_constant_drop_is_no_equivalence_and_no_division_by_zero(rng):
    found = stats.equivalent(np.ones(50), np.zeros(50), rng=rng)
    assert (found.points, found.low, found.high) == (100, 100, 100) and found.p == 1


def test_a_lucky_sample_of_rare_losses_is_judged_by_the_spread_at_the_margin(rng):
    found = stats.equivalent(*changed(1000, lost=10), rng=rng)
    error = (0.02 * 0.98 / 1000) ** 0.5
    assert found.p == pytest.approx(scipy_stats.t.sf((0.02 - 0.01) / error, 999)) and found.p > 0.01


@pytest.mark.parametrize("margin, right", [(50, 1), (50.001, 0)])
def test_a_drop_that_is_the_same_for_all_tasks_is_only_compared_with_the_margin(margin, right, rng):
    assert stats.equivalent(np.ones(50), np.full(50, 0.5), margin, rng=rng).p == right


def test_equivalence_counts_clusters_not_rows(rng):
    before, after = changed(160)
    alone = stats.equivalent(before, after, rng=rng)
    by_problem = stats.equivalent(before, after, clusters=np.repeat(range(16), 10), rng=rng)
    assert alone.p == pytest.approx(0.98**160) and by_problem.p == pytest.approx(0.98**16)


def test_equivalence_of_no_tasks_is_undefined(rng):
    found = stats.equivalent([], [], rng=rng)
    assert found.n == 0 and isnan(found.p) and isnan(found.points)


@pytest.mark.parametrize(
    "call",
    [
        lambda rng: stats.equivalent([1], [1], 0, rng=rng),
        lambda rng: stats.equivalent([1], [1], 100, rng=rng),
        lambda rng: stats.equivalent([1, 0], [1], rng=rng),
        lambda rng: stats.equivalent([50], [1], rng=rng),
        lambda rng: stats.equivalent([nan], [1], rng=rng),
        lambda rng: stats.equivalence_tasks(0),
        lambda rng: stats.equivalence_tasks(2, 1),
    ],
)
def test_equivalence_refuses_impossible_margins_and_outcomes(call, rng):
    with pytest.raises(ValueError):
        call(rng)


@pytest.mark.parametrize("tasks, gains", [(164, 0), (640, 0), (640, 0.05), (640, 0.15)])
def test_equivalence_is_wrongly_shown_in_about_5_percent_of_drops_of_the_margin(tasks, gains, rng):
    """A true drop of exactly 2 points, with gains in some tasks; SPEC 7 self tests, 8.5."""
    errors = 0
    for _ in range(500):
        drawn = rng.random(tasks)
        lost, won = drawn < 0.02 + gains, drawn > 1 - gains
        errors += stats.equivalent(lost, won, resamples=1, rng=rng).p < 0.05
    assert errors / 500 <= 0.08, f"{errors} of 500"


# Dose response


@pytest.mark.parametrize(
    "values, right",
    [
        ([5, 4, 3], [5, 4, 3]),
        ([1, 2, 3], [2, 2, 2]),
        ([4, 1, 2, 0], [4, 1.5, 1.5, 0]),
        ([3, 3, 3], [3, 3, 3]),
        ([7], [7]),
        ([], []),
    ],
)
def test_the_isotonic_curve_has_its_worked_values(values, right):
    assert stats.isotonic(range(len(values)), values) == pytest.approx(right)


def test_the_isotonic_curve_weighs_and_keeps_the_order_given():
    assert stats.isotonic([0, 1], [1, 4], [3, 1]) == pytest.approx([1.75, 1.75])
    assert stats.isotonic([0.4, 0, 0.2], [1, 5, 3]) == pytest.approx([1, 5, 3])


@patient
@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=8))
def test_the_isotonic_curve_never_rises_keeps_the_mean_and_is_its_own_fit(values):
    curve = stats.isotonic(range(len(values)), values)
    assert (np.diff(curve) <= 1e-9).all()
    assert curve.mean() == pytest.approx(np.mean(values), abs=1e-6)
    assert stats.isotonic(range(len(values)), curve) == pytest.approx(curve)


@pytest.mark.parametrize(
    "arguments",
    [
        ([0, 1], [1]),
        ([0, 0], [1, 2]),
        ([0, 1], [1, nan]),
        ([0, 1], [1, 2], [1, 0]),
        ([0, 1], [1, 2], [1]),
        ([[0, 1]], [[1, 2]]),
    ],
)
def test_the_isotonic_curve_refuses_what_has_no_order_or_no_value(arguments):
    with pytest.raises(ValueError):
        stats.isotonic(*arguments)


def test_the_band_encloses_the_curve_and_covers_a_true_monotone_one(rng):
    levels, true = [0, 0.2, 0.4, 0.6], np.array([0.7, 0.6, 0.5, 0.4])
    inside = np.zeros(4)
    for _ in range(100):
        rates = rng.random((200, 1)) < true  # nested, as the draws of the levels are
        band = stats.isotonic_band(levels, rates, resamples=100, rng=rng)
        assert (band.low <= band.fit).all() and (band.fit <= band.high).all()
        inside += (band.low <= true) & (true <= band.high)
    assert (inside >= 87).all(), inside


def test_the_band_is_as_wide_as_asked_and_never_rises(rng):
    rates = rng.random((300, 1)) < [0.9, 0.2]
    band = stats.isotonic_band([0, 1], rates, 4_000, 0.5, rng=rng)
    for side in (band.low - band.fit, band.high - band.fit):
        error = (band.fit * (1 - band.fit) / 300) ** 0.5
        assert np.abs(side) == pytest.approx(0.6745 * error, abs=0.004)
    rising = stats.isotonic_band([0, 1], rates[:, ::-1], rng=rng)
    assert rising.low[0] >= rising.low[1] and rising.high[0] >= rising.high[1]


def test_a_band_of_outcomes_that_all_agree_has_no_width(rng):
    band = stats.isotonic_band([0, 1], np.ones((9, 2)), rng=rng)
    assert all((side == 1).all() for side in band)


def test_the_dose_response_of_no_tasks_is_undefined(rng):
    none = np.empty((0, 3))
    assert np.isnan(stats.isotonic_band([0, 1, 2], none, rng=rng)).all()
    found = stats.trend([0, 1, 2], none, rng=rng)
    assert found.n == 0 and isnan(found.slope) and isnan(found.p)


def test_the_slope_is_that_of_the_mean_rates_in_points(rng):
    levels, rates = np.array([0, 0.1, 0.4]), rng.random((60, 3)).round()
    found = stats.trend(levels, rates, rng=rng)
    assert found.slope == pytest.approx(100 * np.polyfit(levels, rates.mean(axis=0), 1)[0])
    assert found.low < found.slope < found.high and found.n == 60


def test_a_flat_response_has_slope_and_p_of_no_change(rng):
    found = stats.trend([0, 1], np.ones((5, 2)), rng=rng)
    assert (found.slope, found.low, found.high, found.p) == (0, 0, 0, 1)


def test_the_trend_errs_in_at_most_5_percent_of_true_nulls_though_levels_are_nested(rng):
    """At each level some more tasks are drawn anew; neighbouring levels agree in the rest."""
    levels, errors = np.arange(5) / 10, 0
    for _ in range(400):
        rates = rng.random((84, 5)) < 0.5
        for level in range(1, 5):
            kept = rng.random(84) < 0.8
            rates[kept, level] = rates[kept, level - 1]
        errors += stats.trend(levels, rates, resamples=300, rng=rng).p < 0.05
    assert 0.02 <= errors / 400 <= 0.08, f"{errors} of 400"


@pytest.mark.parametrize(
    "levels, rates", [([0, 1], [[1, 0, 1]]), ([0], [[1]]), ([0, 1], [[0, 50]])]
)
def test_the_trend_refuses_a_matrix_that_is_not_tasks_by_levels(levels, rates, rng):
    with pytest.raises(ValueError):
        stats.trend(levels, rates, rng=rng)
    with pytest.raises(ValueError):
        stats.isotonic_band(levels, rates, rng=rng)
