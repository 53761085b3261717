"""The pair step of the lectures, against the conditions and the problem that it solves."""

import numpy as np
import pytest

from maxmargin.solvers.smo.state import STEP_KINDS
from maxmargin.solvers.textbook.pairs.classic import Classic

y = np.array([1.0, -1.0, 1.0, -1.0])


def state(K=None, C=1.0, alpha=None):
    """At some α, with the gradient that belongs to it."""
    K = np.eye(4) if K is None else K
    made = Classic(y, K, C, trace=True)
    if alpha is not None:
        made.run.alpha = y * np.asarray(alpha, dtype=float)
        made.run.gradient = y - K @ made.run.alpha
    return made


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize(
    ("alpha", "below", "above"), [(0.0, True, False), (0.5, True, True), (1.0, False, True)]
)
def test_a_sample_violates_where_its_alpha_may_still_follow(label, alpha, below, above):
    """y·f < 1 asks for more α, y·f > 1 for less."""
    at = state(C=[1.0, 1.0, 3.0, 3.0])
    at.run.alpha[label] = y[label] * alpha
    for margin, expected in ((0.8, below), (0.95, False), (1.05, False), (1.2, above)):
        # E = b − G is f − y.
        at.b, at.run.gradient[label] = 0.3, 0.3 - y[label] * (margin - 1.0)
        assert at.error(label) == pytest.approx(y[label] * (margin - 1.0))
        assert at.violates(label, 0.1) == expected
    assert at.is_free(label) == (alpha == 0.5)
    np.testing.assert_allclose(at.errors(), [at.error(k) for k in range(4)])


def test_alpha_is_that_of_the_lectures():
    at = state(alpha=[0.1, 0.2, 0.3, 0.4])
    np.testing.assert_allclose(at.alpha, [0.1, 0.2, 0.3, 0.4])
    np.testing.assert_array_equal(state(C=[1.0, 2.0, 3.0, 4.0]).C, [1, 2, 3, 4])


def best_along(K, C, alpha, first, second):
    """The best α₂ on a fine grid of the segment that the constraints allow."""
    sign, low, high = y[first] * y[second], 0.0, C[second]
    if sign < 0:
        low, high = (
            max(low, alpha[second] - alpha[first]),
            min(high, C[first] + alpha[second] - alpha[first]),
        )
    else:
        low, high = (
            max(low, alpha[first] + alpha[second] - C[first]),
            min(high, alpha[first] + alpha[second]),
        )
    grid = np.linspace(low, high, 20_001)
    points = np.tile(alpha, (grid.size, 1))
    points[:, second] = grid
    points[:, first] = alpha[first] + sign * (alpha[second] - grid)
    signed = points * y
    value = points.sum(axis=1) - 0.5 * ((signed @ K) * signed).sum(axis=1)
    return points[np.argmax(value)], (low, high)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("first", "second"), [(0, 1), (1, 0), (0, 2), (3, 1)])
def test_a_pair_moves_to_the_best_point_of_its_segment(seed, first, second):
    random = np.random.default_rng(seed)
    X = random.normal(size=(4, 2))
    K, C = X @ X.T + 0.2 * np.eye(4), np.array([1.0, 0.6, 0.8, 1.5])
    alpha = C * random.choice([0.0, 0.2, 0.7, 1.0], 4)
    at = state(K, C, alpha)
    best, (low, high) = best_along(K, C, alpha, first, second)
    moved = at.optimise(first, second)
    np.testing.assert_allclose(at.alpha, best, atol=2e-4)
    np.testing.assert_allclose(at.run.gradient, y - K @ at.run.alpha, atol=1e-12)
    assert moved == (np.abs(at.alpha - alpha).max() > 0)
    assert at.run.steps == moved
    if not moved:
        return
    kind, ratio = at.run.entries[0][2:4]
    new, newton = at.alpha[second], (at.alpha[second] - alpha[second]) / ratio
    assert (STEP_KINDS[kind] == "clipped") == (min(new - low, high - new) < 1e-12)
    assert 0 < ratio <= 1 + 1e-12
    assert (ratio < 1 - 1e-9) == (not low - 1e-9 <= alpha[second] + newton <= high + 1e-9)
    # The bias makes the error of free samples 0, or lies between those of both.
    errors = [at.error(k) for k in (first, second) if at.is_free(k)]
    both = [at.error(first), at.error(second)]
    assert np.mean(errors or both) == pytest.approx(0.0, abs=1e-12)
    assert len(errors) < 2 or errors == pytest.approx([0.0, 0.0], abs=1e-9)


def test_pairs_without_a_direction_do_not_move():
    assert not state().optimise(2, 2)
    assert not state(np.ones((4, 4))).optimise(0, 1)  # no curvature
    assert not state(alpha=[0, 0, 0, 0]).optimise(0, 2)  # no segment
    optimal = state(alpha=[1.0, 1.0, 0.0, 0.0], C=5.0)
    assert not optimal.optimise(0, 1)
    assert optimal.run.steps == 0


def test_labels_of_any_number_type_give_the_same_step():
    K = np.array(
        [[2.0, 0.3, 0.1, 0.0], [0.3, 1.7, 0.0, 0.2], [0.1, 0.0, 1.1, 0.0], [0.0, 0.2, 0.0, 0.9]]
    )
    steps = []
    for kind in (np.float64, np.float32, np.int8):
        at = Classic(y.astype(kind), K, 3.0, trace=False)
        assert at.optimise(0, 1)
        steps.append(at.alpha)
    assert steps[0][0] == pytest.approx(2.0 / (2.0 + 1.7 - 0.6), rel=1e-15)
    np.testing.assert_array_equal(steps[1:], [steps[0], steps[0]])
