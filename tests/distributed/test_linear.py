"""Linear machines on Dask: the optimum of one machine, with inputs that stay on the workers."""

import dask.array as da
import numpy as np
import pytest

import maxmargin
from maxmargin import distributed

RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(900, 6)) @ np.diag([3.0, 1.0, 1.0, 0.5, 0.2, 0.1]) + 1.0
TARGETS = X @ np.arange(6.0) + RANDOM.normal(size=900)
LABELS = (np.median(TARGETS) < TARGETS).astype(int)
WEIGHT = RANDOM.integers(0, 3, 900).astype(float)

pytestmark = pytest.mark.usefixtures("client")


def spread(values, rows=250):
    return da.from_array(values, chunks=(rows, *values.shape[1:]))


@pytest.mark.parametrize(
    ("name", "settings", "y"),
    [
        ("LinearSVC", {"loss": "hinge"}, LABELS),
        ("LinearSVC", {"loss": "squared_hinge"}, LABELS),
        ("LinearSVR", {"epsilon": 0.5}, TARGETS),
        ("LogisticRegression", {}, LABELS),
        ("RidgeRegression", {}, TARGETS),
    ],
)
def test_coefficients_and_certificate_are_those_of_one_machine(name, settings, y):
    model = getattr(distributed, name)(**settings).fit(spread(X), spread(y))
    single = getattr(maxmargin, name)(**settings).fit(X, y)
    assert model.status_ == "converged"
    assert model.certificate_.relative_gap <= model.tol
    assert model.certificate_.primal == pytest.approx(single.certificate_.primal, rel=2 * model.tol)
    assert np.allclose(model.coef_, single.coef_, rtol=0.02, atol=1e-3)
    lazy = model.predict(spread(X))
    assert isinstance(lazy, da.Array)
    assert np.array_equal(lazy.compute(), model.predict(X))


def test_weights_and_several_classes_are_those_of_one_machine():
    y = np.digitize(TARGETS, np.quantile(TARGETS, [0.3, 0.6]))
    model = distributed.LinearSVC().fit(spread(X), spread(y), sample_weight=spread(WEIGHT))
    single = maxmargin.LinearSVC().fit(X, y, sample_weight=WEIGHT)
    for own, other in zip(model.certificate_, single.certificate_):
        assert own.primal == pytest.approx(other.primal, rel=2 * model.tol)


def test_bad_samples_are_refused():
    holes = X.copy()
    holes[700, 2] = np.inf
    with pytest.raises(ValueError, match="NaN or infinity"):
        distributed.LinearSVC().fit(spread(holes), spread(LABELS))
