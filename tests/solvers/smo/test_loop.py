"""Every selection, step, driver and shrinking reaches the optimum, feasibly and upwards."""

import naive
import numpy as np
import pytest
from checks import assert_feasible, assert_optimal
from compiling import COMPILED, examples
from hypothesis import given
from hypothesis import strategies as st
from strategies import KINDS, Sample, case_of, cases, gram_of, samples

from maxmargin import solve
from maxmargin.solvers import SELECTIONS, chunking, projected_gradient
from maxmargin.solvers.drivers import base as run
from maxmargin.solvers.smo.state import PLANNED

MAX_STEPS = 500_000 if COMPILED else 2_000
DEPENDABLE = sorted(set(SELECTIONS) - {"max_gain"})
UNDEPENDABLE = ["max_gain", "random"]


@st.composite
def ways(draw, selections=DEPENDABLE):
    """A way to solve: selection × step × driver × shrinking × face."""
    selection = draw(st.sampled_from(selections))
    drivers = ["full"] if selection == "greedy" else ["full", "rows", "blocks"]
    # Pairs drawn at random take more steps than there are, unless faces help them out, and any
    # pairs more than interpreted code has time for.
    face = draw(st.booleans()) or (selection == "random" and selections == DEPENDABLE)
    face = face or not COMPILED
    planning, overstep = draw(st.sampled_from([(0, 1.0), (1, 1.0), (2, 1.0), (3, 1.0), (0, 1.1)]))
    return {
        "selection": selection,
        "driver": draw(st.sampled_from(drivers)),
        "planning": planning,
        "overstep": overstep,
        "shrinking": draw(st.booleans()),
        "face": face,
        # With the fewest slots rows go missing all the time; pairs alone take too many steps then.
        "cache_bytes": draw(st.sampled_from([0, 1 << 20])) if face else 1 << 20,
        "random_state": draw(st.integers(0, 99)),
    }


@pytest.mark.parametrize("kind", KINDS)
@examples(60)
@given(data=st.data())
def test_every_way_reaches_the_optimum_of_an_independent_solver(kind, data):
    case, way = data.draw(cases(kind)), data.draw(ways())
    solution = solve(case.problem, gram_of(case.K), tol=1e-7, max_steps=MAX_STEPS, **way)
    assert_optimal(solution, case, way["face"])


@pytest.mark.parametrize("kind", KINDS)
@examples(25)
@given(data=st.data())
def test_a_poor_selection_reaches_the_optimum_or_says_that_it_has_not(kind, data):
    case, way = data.draw(cases(kind)), data.draw(ways(UNDEPENDABLE))
    solution = solve(case.problem, gram_of(case.K), tol=1e-7, max_steps=MAX_STEPS, **way)
    if solution.status in ("stuck", "step_limit", "precision"):
        assert solution.violation > 1e-7
    else:
        assert_optimal(solution, case)


@pytest.mark.parametrize("kind", KINDS)
@examples(25)
@given(data=st.data())
def test_the_point_is_feasible_after_every_slab(kind, data):
    case, way = data.draw(cases(kind)), data.draw(ways())
    points = []

    def watched(v, *rest):
        answer = run_to_end(v, *rest)
        alpha = v.alpha.copy()
        if case.problem.folds:
            alpha = np.append(np.maximum(alpha, 0.0), np.minimum(alpha, 0.0))
        points.append(alpha)
        return answer

    run_to_end = run.run_to_end
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "run_to_end", watched)
        patch.setattr(run, "LONGEST_SLAB", 7)
        driver = "full" if way["driver"] == "blocks" else way["driver"]
        way = way | {"shrinking": False, "driver": driver}
        solve(case.problem, gram_of(case.K), tol=1e-5, max_steps=2000, **way)
    for alpha in points:
        assert_feasible(alpha, case.problem)


@pytest.mark.parametrize("kind", KINDS)
@examples(40)
@given(data=st.data())
def test_the_dual_value_never_falls_except_before_a_planned_step_pays(kind, data):
    case, way = data.draw(cases(kind)), data.draw(ways())
    if way["driver"] == "blocks":
        way["planning"] = 0  # a block may end between a planned step and the one that pays
    solution = solve(case.problem, gram_of(case.K), tol=1e-5, max_steps=5000, trace=True, **way)
    dual, planned = solution.trace.dual, solution.trace.kind == PLANNED
    rounding = 1e-12 * max(1.0, np.abs(dual).max(initial=0.0))
    rounding += 1e-14 * case.magnitude(solution.alpha)
    before = np.concatenate([[solution.trace.dual[:1].sum()], dual])[: dual.size]
    falls = np.flatnonzero(dual < before - rounding)
    for k in falls:
        assert planned[k]
        assert k + 1 == dual.size or dual[k + 1] >= before[k] - rounding


@pytest.mark.parametrize("solver", [chunking, projected_gradient])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "hard_margin"])
@examples(15)
@given(data=st.data())
def test_the_solvers_of_the_lectures_reach_the_optimum(solver, kind, data):
    sample = data.draw(samples())
    case = case_of(kind, sample._replace(C=min(sample.C, 1.0)))
    few = {"chunk": 3} if solver is chunking else {}
    solution = solver(case.problem, gram_of(case.K), tol=1e-5, **few)
    optimum = naive.solve_dual(case.problem, case.K)
    slack = 1e-5 * (1.0 + np.abs(optimum.alpha).sum())
    rounding = 1e-7 * (1.0 + abs(optimum.value))
    assert optimum.value - slack <= solution.dual <= optimum.value + rounding


def test_a_direction_of_nothing_but_rounding_leaves_the_sums_alone():
    """Three equal points and three apart; found by the test above, in a face of 1e-109 entries."""
    e = float(np.exp(-250.0))
    K = np.eye(6) + e * (1.0 - np.eye(6))
    K[np.ix_([0, 2, 3], [0, 2, 3])] = 1.0
    K[4, [0, 2, 3, 5]] = K[[0, 2, 3, 5], 4] = K[1, [0, 2, 3]] = K[[0, 2, 3], 1] = 0.0
    labels, weight = np.array([-1.0, 1, -1, -1, -1, 1]), np.array([1, 1, 0.5, 0.5, 0.5, 0.5])
    case = case_of("nu_svc", Sample(K, labels, np.zeros(6), weight, 1e-3, 0.0, 0.05))
    solution = chunking(case.problem, gram_of(K), chunk=3, tol=1e-5)
    assert_feasible(solution.alpha, case.problem)
    assert_optimal(solution, case)


@examples(40)
@given(data=st.data())
def test_any_start_leads_to_the_same_optimum(data):
    case = data.draw(cases(data.draw(st.sampled_from(["hinge", "epsilon_svr", "nu_svc"]))))
    start = data.draw(
        st.lists(st.floats(-10, 10), min_size=case.problem.size, max_size=case.problem.size)
    )
    solution = solve(case.problem, gram_of(case.K), tol=1e-7, alpha=np.array(start))
    assert_optimal(solution, case)


def test_no_variable_is_paired_with_itself():
    """Compiled code may see a slope of some rounding between a variable and itself; found by the
    test of all ways, where greedy had nothing left to gain."""
    x, z = np.array([0.5, 0, 0, 0, 0, 0, 0.5, 0.5, 0.5, 1, 0, 0.5]), np.zeros(12)
    z[10] = 0.5
    targets, weight = np.zeros(12), np.full(12, 0.5)
    targets[[1, 5]] = 0.5
    weight[[0, 1, 2]] = [1.0, 1.0, 0.0]
    K = np.outer(x, x) + np.outer(z, z)
    case = case_of("epsilon_svr", Sample(K, -np.ones(12), targets, weight, 10.0, 0.1, 0.05))
    solution = solve(case.problem, gram_of(K), tol=1e-7, selection="greedy", shrinking=False)
    assert_optimal(solution, case)
    assert_feasible(solution.alpha, case.problem)
