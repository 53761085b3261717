"""What `solve` promises about budgets, statuses, starts, repeatability, threads and traces."""

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from checks import assert_feasible
from clock import Overrun, Stopwatch
from sklearn.metrics.pairwise import rbf_kernel

from maxmargin import solve
from maxmargin.data import chess_board
from maxmargin.dual import epsilon_svr, hinge
from maxmargin.kernels import FromFunction, Gaussian
from maxmargin.solvers import SELECTIONS
from maxmargin.solvers.smo.state import CLIPPED, FREE, PLANNED


@pytest.fixture(scope="module")
def cloud():
    return two_classes(0)


def two_classes(seed):
    """Inputs and labels of two overlapping classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 3))
    return X, np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=300) > 0, 1.0, -1.0)


@pytest.fixture(scope="module")
def crawling():
    """A problem on which pair steps alone take millions of steps, and its Gram matrix."""
    X, y = chess_board(2000, random_state=0)
    return hinge(y, 1e6).problem, Gaussian(0.2).bind(X)


def slow_gaussian(seconds):
    """A Gaussian kernel that takes so many seconds for every block of some size."""

    def function(A, B):
        if len(A) * len(B) > 32**2:
            time.sleep(seconds)
        return rbf_kernel(A, B, gamma=0.5)

    return FromFunction(function)


@pytest.mark.parametrize("steps", [0, 1, 17, 2500])
@pytest.mark.parametrize("driver", ["full", "rows", "blocks"])
def test_max_steps_is_kept_exactly(crawling, steps, driver):
    solution = solve(*crawling, driver=driver, face=False, max_steps=steps)
    assert (solution.status, solution.steps) == ("step_limit", steps)
    assert_feasible(solution.alpha, crawling[0])


@pytest.mark.parametrize("driver", ["full", "rows", "blocks"])
@pytest.mark.parametrize("seconds", [0.2, 0.5])
def test_max_seconds_is_kept(crawling, driver, seconds):
    solve(*crawling, driver=driver, face=False, max_steps=10)
    for _ in range(2):  # the first compiles what has to be compiled
        watch = Stopwatch()
        with Overrun(seconds) as over:
            solution = solve(*crawling, driver=driver, face=False, max_seconds=seconds)
        took, wall = watch.seconds, watch.wall
    assert solution.status == "time_limit"
    assert seconds <= wall
    assert over.seconds <= 0.25
    assert took - 0.1 <= solution.seconds <= wall


@pytest.mark.parametrize("driver", ["full", "rows", "blocks"])
def test_max_seconds_is_kept_while_the_kernel_is_slow(driver):
    X, y = chess_board(1100, random_state=0)
    problem, gram = hinge(y, 1e6).problem, slow_gaussian(0.2).bind(X)
    solve(problem, Gaussian(0.5).bind(X), driver=driver, max_steps=10)
    for _ in range(2):  # the first compiles what has to be compiled
        with Overrun(0.3) as over:
            solution = solve(problem, gram, driver=driver, max_seconds=0.3)
    assert over.seconds < 0.5
    assert solution.status == "time_limit"
    assert_feasible(solution.alpha, problem)


def test_a_run_ends_at_the_target(cloud):
    X, y = cloud
    problem, gram = hinge(y, 10.0).problem, Gaussian(1.0).bind(X)
    whole = solve(problem, gram, face=False)
    part = solve(problem, gram, face=False, target=0.9 * whole.dual)
    assert part.status == "target"
    assert 0.9 * whole.dual <= part.dual < whole.dual
    assert part.steps < whole.steps


def test_a_target_beyond_the_optimum_is_never_reached(cloud):
    X, y = cloud
    problem, gram = hinge(y, 10.0).problem, Gaussian(1.0).bind(X)
    optimum = solve(problem, gram).dual
    assert solve(problem, gram, target=1.001 * optimum).status == "converged"


@pytest.mark.parametrize("driver", ["full", "rows", "blocks"])
def test_a_callback_sees_progress_and_can_stop(crawling, driver):
    seen = []

    def third_time(progress):
        seen.append(progress)
        return len(seen) == 3

    solution = solve(*crawling, driver=driver, face=False, callback=third_time)
    assert solution.status == "stopped"
    assert len(seen) == 3
    steps, duals = ([getattr(p, name) for p in seen] for name in ("steps", "dual"))
    assert steps == sorted(steps)
    assert duals == sorted(duals)
    assert 0 < seen[-1].steps <= solution.steps
    assert solution.dual == pytest.approx(seen[-1].dual, rel=1e-9)
    assert_feasible(solution.alpha, crawling[0])


def test_a_callback_is_called_also_while_rows_go_missing(crawling):
    seen = []
    solve(
        *crawling,
        driver="rows",
        cache_bytes=0,
        shrinking=False,
        face=False,
        max_steps=5000,
        callback=lambda progress: seen.append(progress.steps),
    )
    assert len(seen) >= 5


def test_the_gap_told_to_a_callback_bounds_the_distance_to_the_optimum(cloud):
    X, y = cloud
    problem, gram = hinge(y, 10.0).problem, Gaussian(1.0).bind(X)
    optimum, seen = solve(problem, gram).dual, []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("maxmargin.solvers.drivers.base.LONGEST_SLAB", 20)
        solve(problem, gram, shrinking=False, face=False, callback=seen.append)
    assert len(seen) > 10
    for progress in seen:
        assert progress.dual <= optimum * (1 + 1e-12)
        assert progress.gap >= optimum - progress.dual - 1e-9 * optimum


def test_an_error_in_a_callback_reaches_the_caller(crawling):
    def broken(_):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        solve(*crawling, callback=broken)


@pytest.mark.parametrize("driver", ["full", "rows", "blocks"])
def test_a_solution_as_start_is_already_the_end(cloud, driver):
    X, y = cloud
    problem, gram = hinge(y, 10.0).problem, Gaussian(1.0).bind(X)
    cold = solve(problem, gram, driver=driver)
    warm = solve(problem, gram, driver=driver, alpha=cold.alpha)
    assert cold.steps > 100
    assert warm.steps == 0
    assert warm.dual == pytest.approx(cold.dual, rel=1e-12)


@pytest.mark.parametrize("factor", [0.5, 1.25, 2.0])
def test_a_scaled_solution_is_a_good_start_for_a_scaled_C(factor):
    """On the whole: the steps of a single run depend on the rounding of its matrix."""
    from_scratch = from_there = 0
    for seed in range(10):
        X, y = two_classes(seed)
        gram, problem = Gaussian(1.0).bind(X), hinge(y, factor).problem
        before = solve(hinge(y, 1.0).problem, gram)
        cold = solve(problem, gram, face=False)
        warm = solve(problem, gram, face=False, alpha=factor * before.alpha)
        assert warm.status == "converged"
        assert warm.dual == pytest.approx(cold.dual, rel=1e-5)
        from_scratch, from_there = from_scratch + cold.steps, from_there + warm.steps
    assert from_there < 0.9 * from_scratch


def test_an_infeasible_start_is_made_feasible(cloud):
    X, y = cloud
    problem = hinge(y, 1.0).problem
    start = np.full(y.size, 7.0)
    solution = solve(problem, Gaussian(1.0).bind(X), alpha=start, max_steps=0)
    assert_feasible(solution.alpha, problem)
    assert (start == 7.0).all()


def test_a_run_goes_on_where_it_was_stopped(cloud):
    X, y = cloud
    problem, gram = hinge(y, 10.0).problem, Gaussian(1.0).bind(X)
    whole = solve(problem, gram, face=False)
    first = solve(problem, gram, face=False, max_steps=whole.steps // 2)
    second = solve(problem, gram, face=False, alpha=first.alpha)
    assert second.status == "converged"
    assert second.steps < 0.6 * whole.steps


@pytest.mark.parametrize(
    ("driver", "selection"),
    [("full", selection) for selection in sorted(SELECTIONS)]
    + [(driver, s) for driver in ("rows", "blocks") for s in sorted(set(SELECTIONS) - {"greedy"})],
)
def test_two_runs_are_exactly_alike(cloud, driver, selection):
    X, y = cloud
    ways = {"driver": driver, "selection": selection, "planning": 2, "trace": True}
    runs = [
        solve(hinge(y, 10.0).problem, Gaussian(1.0).bind(X), cache_bytes=1 << 17, **ways)
        for _ in range(2)
    ]
    for name in ("alpha", "gradient", "bias"):
        assert np.array_equal(*(getattr(run, name) for run in runs))
    for name in ("violation", "dual", "kind", "active", "free"):
        assert np.array_equal(*(getattr(run.trace, name) for run in runs))
    for name in ("status", "dual", "steps", "face_steps", "kernel_evaluations", "row_misses"):
        assert len({getattr(run, name) for run in runs}) == 1


def test_another_random_state_takes_another_way(cloud):
    X, y = cloud
    problem, gram = hinge(y, 10.0).problem, Gaussian(1.0).bind(X)
    runs = [
        solve(problem, gram, selection="random", max_steps=50, random_state=state)
        for state in (0, 1)
    ]
    assert not np.array_equal(runs[0].alpha, runs[1].alpha)


def test_no_trace_is_kept_unasked(cloud):
    X, y = cloud
    assert solve(hinge(y, 1.0).problem, Gaussian(1.0).bind(X)).trace is None


@pytest.mark.parametrize("driver", ["full", "rows", "blocks"])
@pytest.mark.parametrize("face", [True, False])
def test_a_trace_has_an_entry_for_every_step(cloud, driver, face):
    X, y = cloud
    solution = solve(
        hinge(y, 100.0).problem,
        Gaussian(1.0).bind(X),
        driver=driver,
        face=face,
        planning=1,
        trace=True,
        cache_bytes=1 << 18,
    )
    trace = solution.trace
    count = trace.kinds()
    assert sum(count.values()) == trace.kind.size
    assert trace.kind.size - count["face"] == solution.steps
    assert count["planned"] == solution.planned_steps > 0
    assert (count["face"] > 0) == (solution.face_steps > 0) == face
    lengths = {getattr(trace, name).size for name in ("violation", "dual", "ratio", "active")}
    assert lengths == {trace.free.size}


@pytest.mark.parametrize("face", [True, False])
def test_the_dual_values_of_a_trace_rise_to_that_of_the_solution(cloud, face):
    X, y = cloud
    problem, gram = hinge(y, 100.0).problem, Gaussian(1.0).bind(X)
    solution = solve(problem, gram, face=face, trace=True)
    dual = solution.trace.dual
    assert (np.diff(dual) >= -1e-12 * dual[-1]).all()
    assert dual[-1] == pytest.approx(solution.dual, rel=1e-10)


def test_a_trace_says_how_many_variables_were_active_and_free(crawling):
    trace = solve(*crawling, face=False, max_steps=5000, trace=True).trace
    assert trace.active[0] == 2000
    assert trace.active[-1] < 2000
    assert (trace.free <= trace.active).all()
    assert (trace.violation > 1e-3).all()


def test_ratios_of_a_trace_are_steps_in_units_of_the_newton_step(cloud):
    X, y = cloud
    problem, gram = hinge(y, 100.0).problem, Gaussian(1.0).bind(X)
    trace = solve(problem, gram, planning=1, face=False, trace=True).trace
    assert trace.ratio[trace.kind == FREE] == pytest.approx(1.0)
    assert (trace.ratio[trace.kind == CLIPPED] <= 1.0).all()
    assert (np.abs(trace.ratio[trace.kind == PLANNED] - 1.0) > 1e-9).any()
    over = solve(problem, gram, overstep=1.1, face=False, trace=True).trace
    assert over.ratio[over.kind == FREE] == pytest.approx(1.1)


@pytest.mark.parametrize("driver", ["full", "rows", "blocks"])
def test_threads_at_once_give_the_results_of_one_after_the_other(cloud, driver):
    X, y = cloud
    gram = Gaussian(1.0).bind(X)
    problems = [hinge(y, C).problem for C in (0.3, 3.0, 30.0)] + [
        epsilon_svr(X[:, 0] ** 2, 10.0, 0.1).problem
    ]

    def run(problem):
        return solve(problem, gram, driver=driver, cache_bytes=1 << 17)

    in_turn = [run(problem) for problem in problems]
    for _ in range(3):
        with ThreadPoolExecutor(4) as threads:
            at_once = list(threads.map(run, problems))
        for one, other in zip(in_turn, at_once):
            assert one.steps == other.steps
            assert np.array_equal(one.alpha, other.alpha)


# The same small problems in every way; run with and without compilation.
EVERY_WAY = """
import json
import numpy as np
from maxmargin import solve
from maxmargin.dual import epsilon_svr, hinge
from maxmargin.solvers import SELECTIONS

rng = np.random.default_rng(0)
X = rng.normal(size=(12, 2))
K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
problems = [hinge(np.sign(X[:, 0] + 0.5 * X[:, 1]), 2.0).problem]
problems.append(epsilon_svr(X[:, 1], 1.0, 0.1).problem)
selections = sorted(set(SELECTIONS) - {"max_gain"})
ways = [{"selection": s, "face": False, "planning": p} for s in selections for p in (0, 2)]
ways += [{"driver": driver, "cache_bytes": 400} for driver in ("full", "rows", "blocks")]
solutions = [solve(p, K, tol=1e-9, **way) for p in problems for way in ways]
print(json.dumps([(s.status, s.alpha.tolist()) for s in solutions]))
"""


def test_uncompiled_code_finds_the_same_optimum():
    outputs = []
    for disabled in ("0", "1"):
        environment = os.environ | {"NUMBA_DISABLE_JIT": disabled}
        command = [sys.executable, "-c", EVERY_WAY]
        run = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        outputs.append(json.loads(run.stdout))
    assert len(outputs[0]) == 30
    for (status, alpha), (plain_status, plain_alpha) in zip(*outputs):
        assert status == plain_status == "converged"
        assert alpha == pytest.approx(plain_alpha, abs=1e-7)
