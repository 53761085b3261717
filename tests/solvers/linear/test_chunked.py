"""Data in chunks: every product, every loss, and the fit that equals the one in memory."""

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin.solvers.linear import (
    CLASSIFICATION,
    REGRESSION,
    ArrayChunks,
    ChunkedMatrix,
    Intercept,
    as_matrix,
    fit_linear,
)


def data(n=700, d=9, seed=0, density=1.0):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, d)) < density, rng.standard_normal((n, d)), 0.0)
    return X, np.where(X @ rng.standard_normal(d) + 0.5 + rng.standard_normal(n) > 0, 1.0, -1.0)


class SparseChunks(ArrayChunks):
    """The same, read as CSR matrices."""

    def read(self, k):
        return sp.csr_array(super().read(k))


@pytest.fixture(params=[ArrayChunks, SparseChunks])
def pair(request):
    """One matrix in memory and one in seven chunks of which two fit in memory."""
    X, _ = data(density=0.4)
    return as_matrix(X), ChunkedMatrix(request.param(X, rows=110), memory=20_000)


def test_products_are_those_in_memory(pair):
    whole, chunked = pair
    rng = np.random.default_rng(1)
    w, coef = rng.standard_normal(9), rng.standard_normal(700) * (rng.random(700) < 0.2)
    rows = np.flatnonzero(rng.random(700) < 0.3)
    np.testing.assert_allclose(chunked.margins(w), whole.margins(w), atol=1e-12)
    np.testing.assert_allclose(chunked.combine(coef), whole.combine(coef), atol=1e-12)
    np.testing.assert_allclose(chunked.margins_at(rows, w), whole.margins_at(rows, w), atol=1e-12)
    np.testing.assert_allclose(
        chunked.combine_at(rows, coef[rows]), whole.combine_at(rows, coef[rows]), atol=1e-12
    )
    np.testing.assert_allclose(chunked.squared_norms, whole.squared_norms)
    np.testing.assert_allclose(chunked.heavy_columns(3), whole.heavy_columns(3), rtol=1e-6)
    np.testing.assert_allclose(
        chunked.inner(rows[:5], rows[3:9]), whole.inner(rows[:5], rows[3:9]), atol=1e-12
    )


def test_outer_products_are_those_in_memory(pair):
    whole, chunked = pair
    rows = np.arange(3, 700, 5)
    sums = [(np.zeros((9, 9)), np.zeros(9)) for _ in pair]
    for matrix, (gram, border) in zip((whole, chunked), sums):
        matrix.add_outer(rows, np.linspace(-1, 1, rows.size), gram, border)
    np.testing.assert_allclose(np.tril(sums[0][0]), np.tril(sums[1][0]), atol=1e-12)
    np.testing.assert_allclose(sums[0][1], sums[1][1], atol=1e-12)


def test_parts_are_those_in_memory(pair):
    whole, chunked = pair
    w = np.random.default_rng(2).standard_normal(9)
    rows = np.flatnonzero(np.arange(700) % 7 < 2)
    rows = rows[(rows < 220) | (rows >= 330)]
    for part in (chunked.take(rows), chunked.select(rows)):
        np.testing.assert_allclose(part.margins(w), whole.margins_at(rows, w), atol=1e-12)
    some = np.array([0, 4, 8])
    np.testing.assert_allclose(
        chunked.columns(some).margins(w[some]), whole.columns(some).margins(w[some]), atol=1e-12
    )


LOSSES = [
    *((CLASSIFICATION[name], ()) for name in ("hinge", "squared_hinge", "logistic")),
    (REGRESSION["epsilon_insensitive"], (0.1,)),
    (REGRESSION["squared"], ()),
]


@pytest.mark.parametrize(("make", "more"), LOSSES)
@pytest.mark.parametrize("intercept", [Intercept(True), Intercept(True, 1.0), Intercept(False)])
def test_fit_equals_the_fit_in_memory(make, more, intercept):
    X, y = data()
    loss = make(y, np.full(700, 3.0), *more)
    whole = fit_linear(X, loss, intercept=intercept)
    chunked = fit_linear(ChunkedMatrix(ArrayChunks(X, rows=100), 0), loss, intercept=intercept)
    assert chunked.status == "converged"
    assert chunked.certificate.relative_gap <= 1e-6
    np.testing.assert_allclose(chunked.w, whole.w, rtol=1e-6, atol=1e-8)
    assert chunked.b == pytest.approx(whole.b, rel=1e-6, abs=1e-8)


def test_fit_with_l1_penalty_equals_the_fit_in_memory():
    X, y = data()
    loss = CLASSIFICATION["squared_hinge"](y, np.full(700, 0.05))
    whole = fit_linear(X, loss, penalty="l1", tol=1e-12)
    chunked = fit_linear(ChunkedMatrix(ArrayChunks(X, rows=100)), loss, penalty="l1", tol=1e-12)
    np.testing.assert_allclose(chunked.w, whole.w, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("shrinking", [True, False])
def test_block_minimisation_alone_reaches_the_optimum(shrinking):
    X, y = data()
    loss = CLASSIFICATION["squared_hinge"](y, np.full(700, 0.1))
    best = fit_linear(X, loss, intercept=Intercept(True, 1.0)).certificate
    found = fit_linear(
        ChunkedMatrix(ArrayChunks(X, rows=100)),
        loss,
        intercept=Intercept(True, 1.0),
        solver="coordinate",
        shrinking=shrinking,
        max_steps=500,
    )
    assert found.status == "converged"
    assert found.certificate.primal <= best.primal * (1 + 2e-6)


def test_chunks_are_kept_as_far_as_memory_goes():
    X, _ = data()
    source = ArrayChunks(X, rows=100)
    reads = []
    read = source.read
    source.read = lambda k: reads.append(k) or read(k)
    matrix = ChunkedMatrix(source, memory=3 * 100 * 9 * 8)
    for _ in range(2):
        matrix.margins(np.zeros(9))
    assert sorted(reads) == [0, 1, 2, 3, 3, 4, 4, 5, 5, 6, 6]


def test_chunks_without_a_needed_sample_are_not_read():
    X, _ = data()
    source = ArrayChunks(X, rows=100)
    reads = []
    read = source.read
    source.read = lambda k: reads.append(k) or read(k)
    coef = np.zeros(700)
    coef[[150, 199, 650]] = 1.0
    ChunkedMatrix(source, memory=0).combine(coef)
    assert reads == [1, 6]


@pytest.mark.parametrize(
    ("X", "rows", "message"),
    [(np.zeros(3), None, "two dimensions, got 1"), (np.zeros((3, 2)), 0, "rows must be")],
)
def test_bad_arrays_and_sizes_are_refused(X, rows, message):
    with pytest.raises(ValueError, match=message):
        ArrayChunks(X, rows)
