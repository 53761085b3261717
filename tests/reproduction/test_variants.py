"""The thesis's variants of SMO, against the library's solver and an independent certificate."""

import numpy as np
import pytest

from maxmargin import solve
from maxmargin.dual import certify, hinge
from maxmargin.kernels import Gaussian
from reproduction.variants import SELECTIONS, run_variant


@pytest.fixture(scope="module")
def machine():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=120) > 0, 1, -1)
    return Gaussian(0.5)(X), y, 5.0, Gaussian(0.5).bind(X)


@pytest.mark.parametrize("selection", SELECTIONS)
def test_every_variant_reaches_the_optimum(machine, selection):
    K, y, C, gram = machine
    ending = run_variant(K, y, C, selection, tol=1e-8, cache_rows=10)
    certificate = certify(hinge(y, C).problem, ending.alpha, gram)
    assert ending.dual == pytest.approx(certificate.dual, rel=1e-12)
    assert certificate.relative_gap < 1e-8
    assert certificate.violation <= 1.01e-8
    assert ending.violation <= 1e-8


def test_plain_selection_takes_the_steps_of_the_library(machine):
    K, y, C, _ = machine
    own = run_variant(K, y, C, "second order")
    library = solve(hinge(y, C).problem, K, driver="full", face=False, shrinking=False)
    assert own.steps == library.steps
    assert own.dual == pytest.approx(library.dual, rel=1e-12)


def test_stopping_by_the_newton_step_ends_earlier_and_less_exact(machine):
    K, y, C, _ = machine
    exact = run_variant(K, y, C, "two rows", tol=1e-3)
    early = run_variant(K, y, C, "two rows", stop="newton", tol=1e-3)
    assert early.steps <= exact.steps
    assert early.dual <= exact.dual
    assert early.dual == pytest.approx(exact.dual, rel=1e-3)


def test_a_cache_of_all_rows_misses_each_row_once(machine):
    K, y, C, _ = machine
    whole = run_variant(K, y, C, "two rows")
    small = run_variant(K, y, C, "two rows", cache_rows=2)
    assert whole.steps == small.steps
    assert whole.row_misses <= y.size < small.row_misses <= 2 * small.steps


def test_unknown_names_are_refused(machine):
    K, y, C, _ = machine
    with pytest.raises(ValueError, match="selection must be one of"):
        run_variant(K, y, C, "best")
    with pytest.raises(ValueError, match="stop must be one of"):
        run_variant(K, y, C, "one row", stop="gap")
