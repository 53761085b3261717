"""What will run is decided in one place, and said in a sentence."""

import numpy as np
import pytest

from maxmargin import SVC
from maxmargin.data import chess_board
from maxmargin.dual import hinge, nu_svc
from maxmargin.kernels import Gaussian, Linear
from maxmargin.models import load, save
from maxmargin.runtime.parallel import single_threaded_blas
from maxmargin.solvers import costs, solve
from maxmargin.solvers.plan import (
    DRIVERS,
    Plan,
    planned,
    row_budget,
    shared_by_pairs,
    side_by_side,
)
from maxmargin.solvers.settings import Settings

PLAIN = {
    "tol": 1e-3,
    "gap": np.inf,
    "selection": "second_order",
    "planning": 0,
    "overstep": 1.0,
    "shrinking": True,
    "face": True,
    "cache_bytes": 1 << 30,
    "max_steps": np.inf,
    "max_seconds": np.inf,
    "target": np.inf,
    "callback": None,
    "trace": False,
    "random_state": 0,
}


def plan_of(n, features=3, driver="auto", kernel=None, C=1.0, begun=False, **changes):
    X = np.random.default_rng(0).normal(size=(n, features))
    problem = hinge(np.where(np.arange(n) % 2, 1.0, -1.0), C).problem
    gram = (kernel or Gaussian(0.1)).bind(X)
    return planned(problem, gram, Settings(**{**PLAIN, **changes}), driver, begun)


@pytest.mark.parametrize(
    ("plan", "sentence"),
    [
        (Plan(300, "batch", "float64"), "solved together with others like it in one call"),
        (Plan(900, "full", "float64", polish=False), "900 samples: the whole matrix in float64"),
        (Plan(900, "full", "float32", on_demand=True), "900 samples: float32 rows on demand"),
        (Plan(900, "rows", "float64", row_bytes=2e8), "float64 rows in a cache of 200 MB"),
        (
            Plan(8000, "blocks", "float32", block=512, threads=2),
            "8,000 samples: blocks of 512, float32 rows, 2 threads, exact end",
        ),
        (
            Plan(7000, "blocks", "float64", block=512, tentative=True),
            "rows on demand while few are needed, then blocks of 512",
        ),
        (Plan(900, "full", "float64", boxes=(0.1, 1.0)), "C in 2 steps"),
    ],
)
def test_a_plan_prints_itself_in_a_sentence(plan, sentence):
    assert sentence in str(plan)


def test_size_decides_between_the_matrix_and_blocks():
    assert plan_of(costs.LARGEST_FULL, 60).driver == "full"
    assert plan_of(costs.LARGEST_FULL + 1, 60).driver == "blocks"
    assert plan_of(1000, cache_bytes=1e6).driver == "blocks"
    assert plan_of(1000, cache_bytes=1e6, driver="full").driver == "full"


def test_rows_on_demand_are_for_gaussians_of_few_features_and_the_usual_selection():
    assert plan_of(800).on_demand
    assert plan_of(200).on_demand
    assert not plan_of(200, 10).on_demand
    assert not plan_of(800, kernel=Linear()).on_demand
    assert not plan_of(800, selection="mvp").on_demand
    assert not plan_of(800, planning=1).on_demand
    assert plan_of(5000).tentative
    assert not plan_of(5000, 40).tentative
    assert not plan_of(costs.LARGEST_TENTATIVE + 1).tentative


def test_rows_on_demand_are_not_tried_where_most_samples_have_a_coefficient_from_the_start():
    X = np.random.default_rng(0).normal(size=(5000, 3))
    problem = nu_svc(np.where(np.arange(5000) % 2, 1.0, -1.0), 0.3).problem
    plan = planned(problem, Gaussian(0.1).bind(X), Settings(**PLAIN), "auto", False)
    assert plan.driver == "blocks"
    assert not plan.tentative


def test_blocks_are_larger_where_products_of_many_rows_pay():
    assert plan_of(9000, 3, "blocks").block == costs.SMALL_BLOCK
    assert plan_of(costs.MANY_SAMPLES, 2, "blocks").block == costs.BLOCK
    assert plan_of(4000, costs.MANY_FEATURES, "blocks").block == costs.LARGE_BLOCK
    assert plan_of(100, 3, "blocks").block == 100


def test_boxes_grow_where_a_kernel_of_low_rank_has_bounds_far_away():
    assert plan_of(1000, kernel=Linear(), C=1e6).boxes[-1] == 1.0
    assert len(plan_of(1000, kernel=Linear(), C=1e6).boxes) > 2
    assert plan_of(1000, kernel=Linear(), C=1e-3).boxes == (1.0,)
    assert plan_of(1000, C=1e6).boxes == (1.0,)
    assert plan_of(1000, kernel=Linear(), C=1e6, begun=True).boxes == (1.0,)


def test_an_unknown_driver_is_refused():
    with pytest.raises(ValueError, match='driver must be "auto", "full", "blocks" or "rows"'):
        plan_of(20, driver="fast")


@pytest.mark.parametrize(
    ("kernel", "features", "size", "budget", "kept"),
    [
        (Gaussian(1.0), 3, 1500, 1e9, "inputs"),
        (Gaussian(1.0), 3, 50, 1e9, "points"),
        (Gaussian(1.0), 70, 50, 1e9, "matrix"),
        (Gaussian(1.0), 70, 50, 8 * 40_000, "blocks"),
        (Gaussian(1.0), 70, 50, 1e3, "nothing"),
        (Gaussian(1.0) + Linear(), 70, 50, 1e9, "blocks"),
    ],
)
def test_pairs_of_classes_share_what_memory_allows(kernel, features, size, budget, kept):
    X = np.zeros((4 * size, features))
    assert shared_by_pairs(kernel, X, [size] * 4, 8, budget, 1) == kept


@pytest.mark.parametrize("driver", DRIVERS)
def test_the_solution_says_what_ran(driver):
    X, y = chess_board(200, random_state=0)
    found = solve(hinge(y, 1.0).problem, Gaussian(1.0).bind(X), driver=driver)
    assert found.plan.driver == driver
    assert "200 samples" in str(found.plan)


def test_the_plan_stays_on_the_model_but_not_in_its_file(tmp_path):
    X, y = chess_board(100, random_state=0)
    model = SVC().fit(X, y)
    assert model.solution_.plan.driver == "batch"
    assert SVC(solver="rows").fit(X, y).solution_.plan.driver == "rows"
    save(model, tmp_path / "m.mm")
    assert load(tmp_path / "m.mm").estimator.solution_.plan is None


@pytest.mark.parametrize(
    ("largest", "budget", "taken", "together"),
    [(1000, 64e6, 0, 4), (1000, 63e6, 0, 1), (1000, 100e6, 40e6, 1)],
)
def test_as_many_problems_as_threads_run_together_if_their_matrices_fit(
    largest, budget, taken, together
):
    with single_threaded_blas(own=4):
        assert side_by_side(largest, budget, taken) == together


def test_problems_run_one_by_one_in_a_single_thread():
    with single_threaded_blas(own=1):
        assert side_by_side(10, 1e9, 0) == 1


def test_rows_get_a_share_of_what_is_left_of_the_budget():
    assert row_budget(100.0, 40.0, 3) == pytest.approx(costs.ROWS_SHARE * 20.0)
    assert row_budget(100.0, 150.0, 1) == 0.0
