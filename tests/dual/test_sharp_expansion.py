"""An expansion that is exact where a certificate depends on it, and cheap elsewhere."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import BOUNDED, cases, gram_of

from maxmargin import solve
from maxmargin.data import chess_board
from maxmargin.dual import (
    certify_expansion,
    hard_margin,
    hinge,
    kernel_expansion,
    sharp_expansion,
)
from maxmargin.dual.kernel_sums import _expansion_at_support
from maxmargin.kernels import Gaussian, Gram
from maxmargin.kernels.row_sums import KnownSums, StoredRows


class Counting(Gram):
    """A Gram matrix that counts the columns it is asked for."""

    asked = 0

    def rows(self, indices, columns=None, out=None):
        self.asked += self.n if columns is None else columns.size
        return super().rows(indices, columns, out)

    def among(self, samples):
        self.asked += samples.size
        return super().among(samples)


def board(n=600, C=10.0):
    X, y = chess_board(n, random_state=0)
    problem = hinge(y, C).problem
    gram = Gaussian(2.0).bind(X, np.float32)
    return problem, solve(problem, gram).alpha, gram, X


@pytest.mark.parametrize("kind", BOUNDED)
@given(data=st.data())
@settings(max_examples=30)
def test_the_certificate_is_that_of_the_exact_expansion(kind, data):
    case = data.draw(cases(kind))
    tol = data.draw(st.sampled_from([1e-3, 1e-1, 10.0]))
    alpha = solve(case.problem, gram_of(case.K), tol=tol).alpha
    approximate, exact = gram_of(case.K, np.float32), gram_of(case.K)
    sharp = sharp_expansion(case.problem, alpha, approximate, exact)
    expected = kernel_expansion(case.problem.per_sample(alpha), exact)
    found = certify_expansion(case.problem, alpha, sharp)
    expected = certify_expansion(case.problem, alpha, expected)
    pull = np.abs(case.K) @ np.abs(case.problem.per_sample(alpha))
    prices = np.nan_to_num(case.problem.upper - case.problem.lower, posinf=0.0)
    # The loss is the price of an error of the outputs.
    rounding = 1e-14 * case.magnitude(alpha) + 1e-15 * prices.sum() * pull.max()
    for name in ("primal", "dual", "gap", "violation"):
        value = getattr(expected, name)
        assert getattr(found, name) == pytest.approx(value, rel=1e-12, abs=rounding), name


def test_samples_clearly_outside_the_margin_are_not_computed_again():
    problem, alpha, gram, X = board()
    exact = Counting(Gaussian(2.0), X, np.float64)
    sharp_expansion(problem, alpha, gram, exact)
    assert np.count_nonzero(alpha) <= exact.asked < 0.7 * problem.samples


def test_only_samples_that_belong_at_their_bounds_are_left_inexact():
    problem, alpha, gram, X = board()
    exact = Gaussian(2.0).bind(X)
    support = np.flatnonzero(alpha)
    alpha[support[::3]] = 0.0
    alpha = problem.feasible(alpha)
    sharp, expected = sharp_expansion(problem, alpha, gram, exact), kernel_expansion(alpha, exact)
    slope = problem.gradient(alpha, expected)
    margin = (slope - problem.bias(alpha, slope)) * problem.linear
    inexact = np.abs(sharp - expected) > 1e-12 * np.abs(alpha).sum()
    assert inexact[problem.linear > 0].any()
    assert inexact[problem.linear < 0].any()
    assert (alpha[inexact] == 0.0).all()
    assert (margin[inexact] < 0.0).all()
    assert ((alpha == 0.0) & (margin > 0.0)).any()


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_rows_in_memory_are_not_computed_again(share):
    problem, alpha, _, X = board()
    approximate, exact = Counting(Gaussian(2.0), X, np.float32), Gaussian(2.0).bind(X)
    support = np.flatnonzero(alpha)
    kept = support[: int(share * support.size)]
    slot = np.full(approximate.n, -1)
    slot[kept] = np.arange(kept.size)[::-1]
    approximate.stored_rows = StoredRows(approximate.rows(kept[::-1]), slot)
    approximate.asked = 0
    sharp = sharp_expansion(problem, alpha, approximate, exact)
    assert (approximate.asked == 0) == (share == 1.0)
    found, expected = (
        certify_expansion(problem, alpha, values)
        for values in (sharp, kernel_expansion(alpha, exact))
    )
    assert found.gap == pytest.approx(expected.gap, rel=1e-9)
    assert found.primal == pytest.approx(expected.primal, rel=1e-12)


@pytest.mark.parametrize("moved", [0, 1, 40])
def test_of_sums_that_are_known_only_what_changed_is_computed(moved):
    problem, alpha, _, X = board()
    approximate, exact = Counting(Gaussian(2.0), X, np.float32), Gaussian(2.0).bind(X)
    before = alpha.copy()
    before[np.flatnonzero(alpha)[:moved]] *= 0.5
    approximate.summed = KnownSums(before, kernel_expansion(before, exact))
    sharp = sharp_expansion(problem, alpha, approximate, exact)
    assert (approximate.asked == 0) == (moved == 0)
    assert sharp == pytest.approx(kernel_expansion(alpha, exact), abs=1e-4)
    found = certify_expansion(problem, alpha, sharp)
    expected = certify_expansion(problem, alpha, kernel_expansion(alpha, exact))
    assert found.gap == pytest.approx(expected.gap, rel=1e-9)


def test_a_rough_gram_that_errs_a_lot_decides_nothing():
    problem, alpha, _, X = board()
    rng = np.random.default_rng(0)
    K = Gaussian(2.0)(X, X)
    noisy = (K + 0.1 * rng.normal(size=K.shape)).astype(np.float32)
    exact = Gaussian(2.0).bind(X)
    sharp = sharp_expansion(problem, alpha, gram_of(noisy, np.float32), exact)
    np.testing.assert_allclose(sharp, K @ alpha, rtol=0, atol=1e-9)


def test_constraints_are_computed_exactly_as_a_whole():
    X, y = chess_board(60, random_state=0)
    problem = hard_margin(y).problem
    alpha = solve(problem, Gaussian(2.0).bind(X)).alpha
    approximate = Counting(Gaussian(2.0), X, np.float32)
    exact = Gaussian(2.0).bind(X)
    sharp = sharp_expansion(problem, alpha, approximate, exact)
    assert approximate.asked == 0
    assert (sharp == kernel_expansion(alpha, exact)).all()


def test_pauses_may_end_it():
    problem, alpha, gram, X = board(100)

    def pause():
        raise TimeoutError

    with pytest.raises(TimeoutError):
        sharp_expansion(problem, alpha, gram, Gaussian(2.0).bind(X), pause)


@pytest.mark.parametrize("support", [900, 1100])
def test_an_expansion_at_its_support_can_be_stopped_within(support):
    X, _ = chess_board(1200, random_state=0)
    gram, coef = Gaussian(2.0).bind(X, np.float64), np.zeros(1200)
    coef[:support] = 1.0

    def stop():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _expansion_at_support(coef, gram, stop)
    expected = kernel_expansion(coef, gram)[:support]
    np.testing.assert_allclose(_expansion_at_support(coef, gram, None), expected, rtol=1e-12)
