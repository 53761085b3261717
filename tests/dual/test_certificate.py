"""The certificate: the primal of every machine, weak duality, and a gap that closes."""

import naive
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_matrix
from strategies import BOUNDED, KINDS, Indexed, cases, gram_of

from maxmargin.dual import Certificate, certify, hard_margin, hinge, kernel_expansion
from maxmargin.dual import kernel_sums as expansion
from maxmargin.dual.certificate import gap_resolution, rounding_is_small
from maxmargin.dual.problem import ROUNDING
from maxmargin.kernels import Gaussian, Gram, Linear

every_kind = pytest.mark.parametrize("kind", KINDS)
examples = settings(max_examples=25)


@st.composite
def feasible_points(draw, kind):
    """A case, a feasible α and a bias."""
    case = draw(cases(kind))
    guess = draw(hnp.arrays(np.float64, case.problem.size, elements=st.floats(-2.0, 2.0)))
    bias = draw(hnp.arrays(np.float64, case.problem.totals.size, elements=st.floats(-3.0, 3.0)))
    if kind == "hard_margin":  # most others separate nothing
        guess = case.problem.linear * (1.0 + np.abs(guess))
    if kind == "nu_svr":  # the tube has a width ε ≥ 0
        bias = np.sort(bias)[::-1]
    return case, case.problem.feasible(guess), bias


@every_kind
@given(data=st.data())
@examples
def test_primal_is_the_textbook_objective(kind, data):
    case, alpha, bias = data.draw(feasible_points(kind))
    textbook = case.primal(case.problem.per_sample(alpha), bias)
    found = certify(case.problem, alpha, gram_of(case.K), bias)
    assume(found.primal < 1e9 or textbook == np.inf)
    assert found.primal == pytest.approx(textbook, rel=1e-9, abs=1e-14 * case.magnitude(alpha))


@pytest.mark.parametrize("kind", BOUNDED)
@given(data=st.data())
@examples
def test_primal_is_the_textbook_objective_where_sums_are_not_met(kind, data):
    case, _, bias = data.draw(feasible_points(kind))
    problem = case.problem
    guess = data.draw(hnp.arrays(np.float64, problem.size, elements=st.floats(-2.0, 2.0)))
    alpha = np.clip(guess, problem.lower, problem.upper)
    textbook = case.primal(problem.per_sample(alpha), bias)
    found = certify(problem, alpha, gram_of(case.K), bias)
    terms = case.magnitude(alpha) + np.abs(bias).max() * (1.0 + np.abs(alpha).sum())
    assert found.primal == pytest.approx(textbook, rel=1e-9, abs=1e-14 * terms)


@every_kind
@given(data=st.data())
@examples
def test_optimum_lies_between_dual_and_primal(kind, data):
    case, alpha, bias = data.draw(feasible_points(kind))
    found = certify(case.problem, alpha, gram_of(case.K), bias)
    try:
        optimum = naive.solve_dual(case.problem, case.K)
    except ArithmeticError:
        assert kind == "hard_margin"
        assert found.primal == np.inf
        return
    slack = optimum.gap + 1e-14 * (case.magnitude(alpha) + case.magnitude(optimum.alpha))
    assert found.dual <= optimum.value + slack
    assert found.primal >= optimum.value - slack


@pytest.mark.parametrize("kind", BOUNDED)
@given(data=st.data())
@examples
def test_gap_is_closed_at_the_optimum(kind, data):
    case = data.draw(cases(kind))
    optimum = naive.solve_dual(case.problem, case.K)
    found = certify(case.problem, optimum.alpha, gram_of(case.K))
    rounding = 1e-14 * case.magnitude(optimum.alpha)
    assert found.gap <= 1e-9 * abs(found.dual) + rounding
    assert found.dual == pytest.approx(optimum.value, rel=1e-12, abs=rounding)


def test_gap_is_closed_at_the_hard_margin():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [3.0, 3.0], [4.0, 2.0]])
    machine = hard_margin(np.array([-1, -1, -1, 1, 1]))
    optimum = naive.solve_dual(machine.problem, X @ X.T)
    found = certify(machine.problem, optimum.alpha, gram_of(X @ X.T))
    assert found.relative_gap <= 1e-14
    assert found.violation <= 1e-14


def test_a_function_that_separates_nothing_has_an_infinite_primal():
    x, machine = np.array([-1.0, 0.0, 1.0]), hard_margin(np.array([1, -1, 1]))
    found = certify(machine.problem, np.array([0.5, -1.0, 0.5]), gram_of(np.outer(x, x)))
    assert (found.primal, found.gap, found.relative_gap) == (np.inf, np.inf, np.inf)


def test_some_penalties_may_be_infinite_and_others_not():
    X = np.array([[-1.0], [1.0], [0.5], [-3.0]])
    labels, penalty = np.array([-1.0, 1.0, -1.0, -1.0]), np.array([np.inf, np.inf, 0.5, 0.0])
    machine = hinge(labels, penalty)
    optimum = naive.solve_dual(machine.problem, X @ X.T)
    found = certify(machine.problem, optimum.alpha, gram_of(X @ X.T))
    # f(x) = x meets both constraints with equality; the point at ½ costs ½·1.5.
    assert found.primal == pytest.approx(0.5 + 0.75, rel=1e-12)
    assert found.relative_gap <= 1e-14


X = np.array([[-1.0], [1.0], [3.0]])
K = X @ X.T
PROBLEM = hinge(np.array([-1, 1, 1]), C=1.0).problem


def test_violation_is_the_largest_of_a_pair():
    # f = x/2, so G = y − f is −½, ½, −½: the second may rise at ½, the first may fall at −½.
    assert certify(PROBLEM, np.array([-0.25, 0.25, 0.0]), gram_of(K)).violation == 1.0


def test_given_bias_is_that_of_the_function_certified():
    # f = x + ½ has a loss of ½ at the first point and none elsewhere.
    found = certify(PROBLEM, np.array([-0.5, 0.5, 0.0]), gram_of(K), bias=np.array([0.5]))
    assert (found.primal, found.dual, found.gap) == (1.0, 0.5, 0.5)
    assert found.relative_gap == 0.5


def test_gap_counts_the_bias_of_sums_that_are_not_met():
    # Σα = −½, f = 3x/2 + ¼ meets all margins: the primal is ½·(3/2)², the dual 3/2 − ½·(3/2)².
    found = certify(PROBLEM, np.array([-1.0, 0.5, 0.0]), gram_of(K), bias=np.array([0.25]))
    assert (found.primal, found.dual, found.gap) == (1.125, 0.375, 0.75)


def test_gap_of_an_almost_optimal_point_is_not_lost_to_cancellation():
    # f = 2tx with t = ½ − δ: losses of 2δ at two points, and a gap of 4δ(1 − t).
    delta = 2.0**-50
    t = 0.5 - delta
    found = certify(PROBLEM, np.array([-t, t, 0.0]), gram_of(K))
    assert found.gap == pytest.approx(4 * delta * (1 - t), rel=1e-12)


@pytest.mark.parametrize(
    ("alpha", "infeasibility"),
    [
        ([-0.5, 0.5, 0.0], 0.0),
        ([0.0, 0.0, 0.0], 0.0),
        ([-1.5, 1.0, 0.5], 0.5 / 3.0),
        ([-1.0, 0.5, 0.0], 0.5 / 1.5),
        ([0.5, 0.0, 0.0], 1.0),
    ],
)
def test_infeasibility_is_the_worst_excess_as_a_fraction_of_alpha(alpha, infeasibility):
    found = certify(PROBLEM, np.array(alpha), gram_of(K))
    assert found.infeasibility == pytest.approx(infeasibility, rel=1e-15)


def test_infeasibility_is_shown_where_there_is_some():
    found = certify(PROBLEM, np.array([-1.0, 0.5, 0.0]), gram_of(K))
    assert repr(found).endswith(", infeasibility 3.3e-01)")


def test_certificate_reads_as_a_sentence():
    shown = repr(Certificate(1234.5678, 1234.5, 0.0678, 2e-4, 1e-17))
    assert shown == (
        "Certificate(primal=1234.5678, dual=1234.5, relative gap 5.5e-05, violation 2.0e-04)"
    )


def test_relative_gap_of_nothing_is_nothing():
    assert Certificate(0.0, 0.0, 0.0, 0.0, 0.0).relative_gap == 0.0


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (2, 3), (3, 7), (100, 100)])
def test_expansion_does_not_depend_on_the_size_of_blocks(monkeypatch, rows, columns):
    monkeypatch.setattr(expansion, "_block", lambda _: (rows, columns))
    rng = np.random.default_rng(0)
    matrix, coef = rng.normal(size=(7, 7)), np.array([0.0, 1.0, 0.0, -2.0, 3.0, 0.0, 0.5])
    matrix += matrix.T
    expected = np.array([sum(matrix[i, j] * coef[j] for j in range(7)) for i in range(7)])
    np.testing.assert_allclose(kernel_expansion(coef, gram_of(matrix)), expected, rtol=1e-13)
    at_support = expansion._expansion_at_support(coef, gram_of(matrix), None)
    np.testing.assert_allclose(at_support, expected[coef != 0], rtol=1e-13)


@pytest.mark.parametrize(
    ("kernel", "formula"),
    [(Linear(), naive.linear), (Gaussian(0.3), naive.gaussian(0.3))],
    ids=["linear", "gaussian"],
)
@pytest.mark.parametrize("form", [np.asarray, csr_matrix], ids=["dense", "sparse"])
def test_expansion_is_that_of_the_kernel(kernel, formula, form):
    rng = np.random.default_rng(0)
    points, coef = rng.normal(size=(9, 3)), rng.normal(size=9)
    expected = naive.gram(formula, points) @ coef
    found = kernel_expansion(coef, kernel.bind(form(points), np.float64))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14 * np.abs(expected).max())


def test_only_rows_of_samples_with_a_coefficient_are_computed():
    class Counting(Gram):
        asked = ()

        def rows(self, indices, columns=None, out=None):
            self.asked = (*self.asked, *indices)
            return super().rows(indices, columns, out)

    gram = Counting(Indexed(K), np.arange(3), np.float64)
    kernel_expansion(np.array([0.0, 2.0, 0.0]), gram)
    assert gram.asked == (1,)


def test_expansion_pauses_after_each_block(monkeypatch):
    monkeypatch.setattr(expansion, "_block", lambda _: (1, 2))
    pauses = []
    kernel_expansion(np.array([1.0, 0.0, 2.0]), gram_of(K), pause=lambda: pauses.append(None))
    assert len(pauses) == 2 * 2


def test_float32_gram_is_refused():
    with pytest.raises(ValueError, match="gram must be bound in float64, got float32"):
        certify(PROBLEM, np.zeros(3), gram_of(K, np.float32))


def test_gram_of_other_samples_is_refused():
    with pytest.raises(ValueError, match="one entry for each of the 2 samples"):
        certify(PROBLEM, np.zeros(3), gram_of(K[:2, :2]))


def test_bias_of_other_groups_is_refused():
    with pytest.raises(ValueError, match="bias must have one entry for each of the 1 groups"):
        certify(PROBLEM, np.zeros(3), gram_of(K), bias=np.zeros(2))


def test_no_gap_is_known_beside_a_value_that_overflows():
    certificate = Certificate(np.nan, 1.0, gap=0.5, violation=0.0, infeasibility=0.0)
    assert certificate.gap == certificate.relative_gap == np.inf


def test_what_is_not_a_number_proves_nothing():
    nan = float("nan")
    certificate = Certificate(primal=nan, dual=nan, gap=nan, violation=nan, infeasibility=0.0)
    assert (certificate.primal, certificate.dual) == (np.inf, -np.inf)
    assert certificate.gap == certificate.relative_gap == certificate.violation == np.inf


def test_resolution_of_the_gap_is_the_rounding_of_its_terms():
    y = np.array([1.0, -1.0, 1.0, -1.0])
    problem, alpha, bias = hinge(y, 50.0).problem, np.array([3.0, -4.0, 12.0, -11.0]), [0.5]
    size = 0.0
    for a in range(4):
        # |α_a| times |linear| + 2|b| and the norm of α times the largest entry of K, 7.
        size += abs(alpha[a]) * (1.0 + 2 * 0.5 + 7.0 * np.sqrt(9.0 + 16.0 + 144.0 + 121.0))
    found = gap_resolution(problem, alpha, np.array(bias), 7.0)
    assert found == pytest.approx(ROUNDING * size, rel=1e-14, abs=0.0)


@given(data=st.data())
@examples
def test_rounding_that_is_small_adds_no_more_than_allowed(data):
    case, alpha, bias = data.draw(feasible_points("hinge"))
    problem = case.problem
    gradient = problem.linear - case.K @ problem.per_sample(alpha)
    slack = gradient - bias[problem.group]
    # Half of the samples end at a bound, where a loss begins within reach of the rounding.
    near = data.draw(hnp.arrays(bool, problem.size))
    slack[near] = data.draw(st.floats(-1e-3, 1e-3))
    alpha = np.where(near, np.where(slack > 0.0, problem.upper, problem.lower), alpha)

    def losses(slack):
        return np.maximum(slack * problem.upper, slack * problem.lower) - slack * alpha

    rounding = 1e-3
    added = losses(slack + rounding), losses(slack - rounding)
    kept = (np.abs(slack) > rounding) & ~problem.free(alpha)  # at the bound, or a price either way
    most = float((np.maximum(*added) - losses(slack))[~kept].sum())
    if most > 0.0:
        assert not rounding_is_small(problem, alpha, slack, rounding, most * (1.0 - 1e-12))


def test_a_sample_at_its_bound_and_on_the_margin_counts_as_rounding():
    problem = hinge(np.array([1.0, -1.0]), 5.0).problem
    alpha = np.array([5.0, -5.0])
    inside, beyond = np.array([1e-9, -1e-9]), np.array([1.0, -1.0])
    assert not rounding_is_small(problem, alpha, inside, 1e-8, 9e-8)
    assert rounding_is_small(problem, alpha, inside, 1e-8, 1e-7)
    assert rounding_is_small(problem, alpha, beyond, 1e-8, 9e-8)
