"""Plain dual coordinate descent: its switches, its trace, and the optimum it shares with Newton."""

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin.solvers.linear import CLASSIFICATION, REGRESSION, Intercept, fit_linear
from maxmargin.solvers.linear.primal import systems


def blobs(n=300, seed=0):
    """Two blobs that overlap, as in the report's toy data."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], n)
    return rng.standard_normal((n, 2)) + 1.2 * y[:, None], y


def descend(X, loss, **switches):
    return fit_linear(X, loss, solver="coordinate", max_steps=5000, **switches)


@pytest.mark.parametrize("name", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("intercept", [Intercept(False), Intercept(True, 1.0), Intercept(True)])
@pytest.mark.parametrize("order", ["permutation", "blocks", "cyclic"])
@pytest.mark.parametrize("shrinking", [False, True])
def test_every_choice_reaches_the_optimum_of_newton(name, intercept, order, shrinking):
    X, y = blobs()
    loss = CLASSIFICATION[name](y, np.ones(300))
    best = fit_linear(X, loss, intercept=intercept)
    found = descend(X, loss, intercept=intercept, order=order, shrinking=shrinking, tol=1e-5)
    assert found.status == "converged"
    assert found.certificate.primal <= best.certificate.primal * (1 + 1e-5)


@pytest.mark.parametrize("name", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_regression_reaches_the_optimum_of_newton(name):
    X, _ = blobs()
    y = X @ [1.0, -2.0] + 0.3 * np.random.default_rng(1).standard_normal(300)
    loss = REGRESSION[name](y, np.ones(300), 0.2)
    best = fit_linear(X, loss, intercept=Intercept(True, 1.0))
    found = descend(sp.csr_array(X), loss, intercept=Intercept(True, 1.0), tol=1e-5)
    assert found.certificate.primal <= best.certificate.primal * (1 + 1e-5)


@pytest.mark.parametrize("stop", ["gap", "range", "step"])
def test_each_rule_stops_when_its_own_number_is_small(stop):
    X, y = blobs()
    loss = CLASSIFICATION["squared_hinge"](y, np.ones(300))
    found = descend(X, loss, intercept=Intercept(False), stop=stop, tol=1e-4, trace=True)
    trace = found.trace
    last = {
        "gap": (trace.primal[-1] - trace.dual[-1]) / trace.primal[-1],
        "range": trace.range[-1],
        "step": trace.change[-1],
    }
    assert found.status == "converged"
    assert last[stop] <= 1e-4


def test_trace_has_a_row_an_epoch_and_the_dual_never_falls():
    X, y = blobs()
    loss = CLASSIFICATION["hinge"](y, np.ones(300))
    found = descend(X, loss, intercept=Intercept(True, 1.0), trace=True)
    trace = found.trace
    assert len(trace.dual) == len(trace.primal) == len(trace.members) == found.steps
    assert (np.diff(trace.dual) >= -1e-9 * np.abs(trace.dual[1:])).all()
    assert (trace.primal >= trace.dual).all()
    assert [len(members) for members in trace.members] == list(trace.active)


def test_shrinking_keeps_points_near_the_other_class():
    X, y = blobs()
    loss = CLASSIFICATION["squared_hinge"](y, np.full(300, 10.0))
    found = descend(X, loss, intercept=Intercept(True, 1.0), trace=True)
    kept = found.trace.members[int(found.trace.active.argmin())]
    margin = y * (X @ found.w + found.b)
    assert len(kept) < 200
    assert np.median(margin[kept]) < np.median(np.delete(margin, kept))


def test_shrinking_saves_updates_without_changing_the_answer():
    X, y = blobs(2000)
    loss = CLASSIFICATION["squared_hinge"](y, np.full(2000, 10.0))
    options = {"intercept": Intercept(True, 1.0), "stop": "range", "tol": 1e-6, "trace": True}
    with_all = descend(X, loss, shrinking=False, **options)
    shrunk = descend(X, loss, shrinking=True, **options)
    assert shrunk.trace.active.sum() < with_all.trace.active.sum()
    np.testing.assert_allclose(shrunk.w, with_all.w, atol=1e-6)


def test_negative_gradients_are_let_through_unlike_in_the_printed_algorithm():
    """Algorithm 1 of the report prints max(G, 0): with that, no α could ever rise from zero."""
    X, y = np.array([[1.0], [-1.0]]), np.array([1.0, -1.0])
    found = descend(X, CLASSIFICATION["hinge"](y, np.full(2, 10.0)), intercept=Intercept(False))
    np.testing.assert_allclose(found.w, [1.0])


def test_permutations_follow_the_random_state():
    X, y = blobs()
    loss = CLASSIFICATION["hinge"](y, np.full(300, 50.0))
    runs = [
        fit_linear(X, loss, solver="coordinate", max_steps=3, random_state=state).w
        for state in (0, 0, 1)
    ]
    np.testing.assert_array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])


def test_logistic_loss_and_l1_penalty_are_refused():
    X, y = blobs()
    with pytest.raises(ValueError, match="no logistic loss"):
        descend(X, CLASSIFICATION["logistic"](y, np.ones(300)))


@pytest.mark.parametrize("stop", ["range", "step"])
@pytest.mark.parametrize("order", ["permutation", "cyclic"])
@pytest.mark.parametrize("seed", range(5))
def test_shrunk_variables_are_looked_at_again_before_the_end(stop, order, seed):
    """The last epoch is over all samples, whatever the rule: shrinking may have been wrong."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 2))
    loss = REGRESSION["epsilon_insensitive"](
        X @ [1.0, 2.0] + rng.standard_normal(40), np.full(40, 0.3), 0.2
    )
    found = descend(
        X, loss, intercept=Intercept(True, 1.0), stop=stop, order=order, tol=1e-3, trace=True
    )
    assert found.status == "converged"
    assert found.trace.active.min() < 40
    assert found.trace.active[-1] == 40
    if stop == "range":
        assert found.certificate.violation <= 3e-3


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_sweeps_in_pieces_are_one_sweep(make, monkeypatch):
    """The clock is looked at between pieces, and nothing else is different."""
    X, y = blobs()
    loss = CLASSIFICATION["hinge"](y, np.ones(300))
    whole = descend(make(X), loss, order="cyclic", tol=1e-4, shrinking=False)
    monkeypatch.setattr(systems, "PIECE", 1e-7)
    pieces = descend(make(X), loss, order="cyclic", tol=1e-4, shrinking=False)
    assert pieces.steps == whole.steps
    np.testing.assert_array_equal(pieces.beta, whole.beta)
    shrunk = descend(make(X), loss, tol=1e-4)
    assert shrunk.status == "converged"
    assert shrunk.certificate.relative_gap <= 1e-4
