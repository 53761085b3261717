"""The dual problem as arrays: value, gradient, violation, bias, and how any α is made feasible."""

from dataclasses import replace

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from strategies import KINDS, cases

from maxmargin.dual import DualProblem, hard_margin, hinge, nu_svc, squared_hinge


def problem_of(**changes):
    """Two copies of two samples, a group each."""
    fields = {
        "linear": np.array([1.0, 2.0, 3.0, 4.0]),
        "lower": np.array([0.0, 0.0, -1.0, -1.0]),
        "upper": np.array([1.0, 1.0, 0.0, 0.0]),
        "ridge": np.array([0.0, 0.5, 0.0, 0.5]),
        "group": np.array([0, 0, 1, 1]),
        "totals": np.array([0.5, -0.5]),
        "samples": 2,
    }
    return DualProblem(**fields | changes)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=20)
def test_value_is_the_quadratic_form_written_out(kind, data):
    case = data.draw(cases(kind))
    alpha = data.draw(hnp.arrays(np.float64, case.problem.size, elements=st.floats(-9, 9)))
    gradient = case.problem.gradient(alpha, case.K @ case.problem.per_sample(alpha))
    expected = naive.dual_value(case.problem, case.K, alpha)
    assert case.problem.value(alpha, gradient) == pytest.approx(expected, rel=1e-12, abs=1e-9)


def test_gradient_is_the_derivative_of_the_value():
    problem, K = problem_of(), np.array([[2.0, 0.5], [0.5, 1.0]])
    alpha, step = np.array([0.2, 0.3, -0.4, -0.1]), 1e-4 * np.eye(4)
    gradient = problem.gradient(alpha, K @ problem.per_sample(alpha))
    numeric = [
        (naive.dual_value(problem, K, alpha + h) - naive.dual_value(problem, K, alpha - h)) / 2e-4
        for h in step
    ]
    np.testing.assert_allclose(gradient, numeric, rtol=1e-9)


def test_variables_belong_to_their_sample_in_every_copy():
    problem = problem_of()
    np.testing.assert_array_equal(problem.index, [0, 1, 0, 1])
    np.testing.assert_array_equal(problem.of_samples([7.0, 8.0]), [7.0, 8.0, 7.0, 8.0])
    np.testing.assert_array_equal(problem.per_sample(np.array([1.0, 2.0, 30.0, 40.0])), [31, 42])


def test_sums_are_taken_inside_each_group():
    np.testing.assert_array_equal(problem_of().sums(np.array([1.0, 2.0, 3.0, 5.0])), [3.0, 8.0])


def test_violation_is_that_of_the_worst_group():
    alpha, gradient = np.array([0.5, 0.0, -0.5, 0.0]), np.array([1.0, 3.0, 5.0, 9.0])
    # Group 0: the second may rise at 3, the first may fall at 1. Group 1: the third both at 5.
    assert problem_of().violation(alpha, gradient) == 2.0


def test_violation_is_zero_where_nothing_that_may_rise_exceeds_what_may_fall():
    alpha, gradient = np.array([1.0, 0.0, 0.0, -1.0]), np.array([3.0, 1.0, 4.0, 2.0])
    assert problem_of().violation(alpha, gradient) == 0.0


def test_bias_is_the_mean_gradient_of_free_variables():
    alpha, gradient = np.array([0.5, 0.5, -0.5, 0.0]), np.array([1.0, 3.0, 5.0, 9.0])
    np.testing.assert_array_equal(problem_of().bias(alpha, gradient), [2.0, 5.0])


def test_bias_is_the_middle_of_what_optimality_allows_when_no_variable_is_free():
    alpha, gradient = np.array([1.0, 0.0, 0.0, -1.0]), np.array([3.0, 1.0, 4.0, 2.0])
    np.testing.assert_array_equal(problem_of().bias(alpha, gradient), [2.0, 3.0])


def test_bias_is_the_nearest_bound_when_all_variables_are_at_the_same_one():
    problem = problem_of(totals=np.array([2.0, -2.0]))
    gradient = np.array([3.0, 1.0, 4.0, 2.0])
    bias = problem.bias(np.array([1.0, 1.0, -1.0, -1.0]), gradient)
    np.testing.assert_array_equal(bias, [1.0, 4.0])


slack = st.one_of(st.floats(0.0, 1e6), st.sampled_from([0.0, 1.0, np.inf]))


@st.composite
def boxes(draw):
    """A problem with random, some infinite, boxes, whose sums are those of some point inside."""
    samples, copies = draw(st.integers(1, 10)), draw(st.integers(1, 2))
    size = samples * copies
    below, above = (draw(hnp.arrays(np.float64, size, elements=slack)) for _ in range(2))
    centre = draw(hnp.arrays(np.float64, size, elements=st.floats(-1e3, 1e3)))
    group = draw(hnp.arrays(np.int64, size, elements=st.integers(0, 1)))
    return DualProblem(
        linear=np.zeros(size),
        lower=centre - below,
        upper=centre + above,
        ridge=np.zeros(size),
        group=group,
        totals=np.array([centre[group == g].sum() for g in range(2)]),
        samples=samples,
    )


@st.composite
def repairs(draw):
    """A problem, any α, and the feasible point made from it."""
    problem = draw(boxes())
    alpha = draw(hnp.arrays(np.float64, problem.size, elements=st.floats(-1e9, 1e9)))
    return problem, alpha, problem.feasible(alpha)


@given(repairs())
def test_feasible_is_inside_the_box(repair):
    problem, _, alpha = repair
    assert (problem.lower <= alpha).all()
    assert (alpha <= problem.upper).all()


@given(repairs())
def test_feasible_has_the_sums_demanded(repair):
    problem, _, alpha = repair
    for g, total in enumerate(problem.totals):
        members = alpha[problem.group == g]
        assert abs(members.sum() - total) <= 1e-13 * max(abs(total), np.abs(members).sum())


@given(repairs())
def test_feasible_leaves_a_feasible_point_alone(repair):
    problem, _, alpha = repair
    np.testing.assert_array_equal(problem.feasible(alpha), alpha)


@given(repairs())
def test_repair_frees_at_most_one_variable_a_group(repair):
    problem, given_alpha, alpha = repair
    clipped = np.clip(given_alpha, problem.lower, problem.upper)
    freed = problem.free(alpha) & ~problem.free(clipped)
    assert all(freed[problem.group == g].sum() <= 1 for g in range(2))


def test_feasible_starts_from_zero_and_leaves_its_argument_alone():
    problem = problem_of()
    alpha = np.zeros(4)
    np.testing.assert_array_equal(problem.feasible(), problem.feasible(alpha))
    np.testing.assert_array_equal(problem.feasible(alpha), [0.5, 0.0, -0.5, 0.0])
    np.testing.assert_array_equal(alpha, np.zeros(4))


def test_tiny_boxes_are_repaired_to_the_same_relative_precision():
    tiny = 1e-30
    problem = problem_of(lower=np.zeros(4), upper=np.full(4, tiny), totals=np.full(2, 1.5 * tiny))
    np.testing.assert_allclose(problem.feasible(), tiny * np.array([1.0, 0.5, 1.0, 0.5]))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lower": np.zeros(3)}, r"lower must have shape \(4,\), got \(3,\)"),
        ({"linear": np.array([np.nan, 0.0, 0.0, 0.0])}, "linear contains NaN"),
        ({"linear": np.array([np.inf, 0.0, 0.0, 0.0])}, "linear must be finite"),
        ({"ridge": np.array([-1.0, 0.0, 0.0, 0.0])}, "ridge must not be negative"),
        ({"samples": 3}, "4 variables are not whole copies of samples=3"),
        ({"samples": 0}, "4 variables are not whole copies of samples=0"),
        ({"lower": np.full(4, 2.0)}, "lower must not exceed upper"),
        ({"upper": np.full(4, np.inf), "lower": np.full(4, np.inf)}, r"lower must be below \+inf"),
        ({"group": np.array([0, 0, 1, 2])}, "group must be between 0 and 1"),
        ({"totals": np.array([3.0, 0.0])}, "infeasible: the variables of group 0 sum to between"),
        ({"totals": np.array([np.nan, 0.0])}, "totals must be finite"),
    ],
)
def test_arrays_that_make_no_problem_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        problem_of(**changes)


@pytest.mark.parametrize(
    ("alpha", "message"),
    [
        (np.zeros(3), r"alpha must have shape \(4,\), got \(3,\)"),
        (np.array([np.nan, 0.0, 0.0, 0.0]), "alpha contains NaN or infinity"),
        (np.array([np.inf, 0.0, 0.0, 0.0]), "alpha contains NaN or infinity"),
    ],
)
def test_no_feasible_point_is_made_of_what_is_no_alpha(alpha, message):
    with pytest.raises(ValueError, match=message):
        problem_of().feasible(alpha)


def test_sums_at_the_very_edge_of_the_box_are_feasible():
    thirds = np.full(4, 1.0 / 3.0)
    problem = problem_of(lower=np.zeros(4), upper=thirds, totals=np.full(2, 2.0 / 3.0))
    np.testing.assert_array_equal(problem.feasible(), thirds)
    shifted = replace(problem, totals=np.full(2, np.nextafter(2.0 / 3.0, 1.0)))
    np.testing.assert_array_equal(shifted.feasible(), thirds)


def test_what_is_true_of_a_problem_is_known_at_once():
    y = np.array([1.0, -1.0])
    soft, hard = hinge(y, 2.0).problem, hard_margin(y).problem
    squared, nu = squared_hinge(y, 2.0).problem, nu_svc(y, 0.5).problem
    assert [p.constrained for p in (soft, hard, squared, nu)] == [False, True, False, False]
    assert [p.balanced for p in (soft, hard, squared, nu)] == [True, True, True, False]
    assert not soft.feasible().any()
    assert nu.feasible().any()


def test_integer_arrays_make_the_same_problem():
    y = np.array([1, -1])
    problem = hinge(y.astype(float), 1.0).problem
    whole = replace(problem, linear=y, lower=np.array([0, -1]), upper=np.array([1, 0]))
    assert whole.traits == problem.traits
