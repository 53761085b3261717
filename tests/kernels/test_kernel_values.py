"""Kernels are values: comparable, printable, movable, never changed; bad ones are refused."""

import pickle
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernels import naive_kernels
from kernels.naive_kernels import PAIRS
from scipy import sparse

from maxmargin import kernels
from maxmargin.kernels import (
    FromFunction,
    Gaussian,
    Linear,
    Normalised,
    Polynomial,
    Precomputed,
    Product,
    Scaled,
    Sigmoid,
    Sum,
)

EACH = [kernel for kernel, _ in PAIRS.values()] + [Precomputed(), 2.0 * Precomputed()]
each_kernel = pytest.mark.parametrize("kernel", EACH, ids=repr)


@each_kernel
def test_kernel_survives_printing(kernel):
    scope = vars(kernels) | vars(naive_kernels)
    assert eval(repr(kernel), scope) == kernel


@each_kernel
def test_kernel_survives_pickling(kernel):
    twin = pickle.loads(pickle.dumps(kernel))
    assert twin == kernel
    assert hash(twin) == hash(kernel)


@each_kernel
def test_kernel_cannot_be_changed(kernel):
    for field in fields(kernel):
        with pytest.raises(FrozenInstanceError):
            setattr(kernel, field.name, 1.0)


def test_kernels_are_equal_when_kind_and_parameters_are():
    assert len(set(EACH)) == len(EACH)
    assert Gaussian(0.5) == Gaussian(np.float32(0.5))
    assert Gaussian([0.5, 1]) == Gaussian(np.array([0.5, 1.0]))
    assert Gaussian(0.5) != Gaussian([0.5])
    assert Polynomial(2, 0.5, 0.0) != Polynomial(3, 0.5, 0.0)


@each_kernel
def test_theta_has_a_name_and_a_number_for_each_parameter(kernel):
    names, theta = kernel.parameter_names, kernel.theta
    assert theta.dtype == np.float64
    assert theta.shape == (len(names),)
    assert len(set(names)) == len(names)


@each_kernel
def test_moving_adds_to_theta(kernel):
    delta = np.linspace(-0.5, 0.7, kernel.theta.size)
    moved = kernel.moved(delta)
    assert type(moved) is type(kernel)
    assert moved.parameter_names == kernel.parameter_names
    np.testing.assert_allclose(moved.theta, kernel.theta + delta, rtol=1e-14, atol=1e-14)
    assert kernel.moved(0 * delta) == kernel


@given(st.floats(1e-8, 1e8), st.floats(-5.0, 5.0))
def test_moving_there_and_back_comes_home(gamma, delta):
    home = Gaussian(gamma).moved([delta]).moved([-delta])
    assert home.gamma == pytest.approx(gamma, rel=1e-14)


@each_kernel
def test_a_move_of_the_wrong_length_is_refused(kernel):
    with pytest.raises(ValueError, match="delta must have one entry for each of"):
        kernel.moved(np.zeros(kernel.theta.size + 1))


def test_logarithms_of_positive_parameters_are_the_coordinates():
    np.testing.assert_allclose(Gaussian([1.0, np.e]).theta, [0.0, 1.0])
    np.testing.assert_allclose(Polynomial(3, np.e, -2.0).theta, [1.0, -2.0])
    np.testing.assert_allclose((np.e * Gaussian(1.0)).theta, [1.0, 0.0])


def test_names_say_whose_parameter_it_is():
    kernel = Gaussian([0.1, 0.2]) + 3.0 * Polynomial()
    assert kernel.parameter_names == (
        "0.log_gamma[0]",
        "0.log_gamma[1]",
        "1.log_scale",
        "1.log_gamma",
        "1.coef0",
    )


def test_operators_make_compositions():
    a, b, c = Gaussian(0.5), Linear(), Sigmoid(0.1)
    assert a + b + c == Sum(a, b, c)
    assert a * b * c == Product(a, b, c)
    assert a * (b + c) == Product(a, Sum(b, c))
    assert 2 * a == a * 2.0 == np.float64(2.0) * a == Scaled(a, 2.0)
    assert 2.0 * (3.0 * a) == Scaled(a, 6.0)


def test_scale_below_a_normalisation_is_dropped():
    assert Normalised(2.0 * Linear()) == Normalised(Normalised(Linear())) == Normalised(Linear())


@pytest.mark.parametrize("other", ["2", None, [1.0], 1j])
def test_operators_refuse_what_is_neither_kernel_nor_number(other):
    with pytest.raises(TypeError):
        Linear() * other
    with pytest.raises(TypeError):
        Linear() + other


def test_normalised_of_the_zero_vector_is_zero():
    X = np.array([[0.0, 0.0], [3.0, 4.0]])
    kernel = Normalised(Linear())
    expected = [[0.0, 0.0], [0.0, 1.0]]
    np.testing.assert_array_equal(kernel(X), expected)
    np.testing.assert_array_equal(kernel.bind(X).matrix(), expected)
    np.testing.assert_array_equal(kernel.diagonal(X), [0.0, 1.0])


def test_precomputed_takes_blocks_and_columns():
    block = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(Precomputed()(block), block)
    np.testing.assert_array_equal(Precomputed()(block, np.array([2, 0])), block[:, [2, 0]])
    np.testing.assert_array_equal(Precomputed()(sparse.csr_array(block)), block)
    np.testing.assert_array_equal(Precomputed().diagonal(np.diag([1.0, 2.0])), [1.0, 2.0])


@pytest.mark.parametrize("kind", [Gaussian, Sigmoid, lambda gamma: Polynomial(gamma=gamma)])
@pytest.mark.parametrize(
    ("gamma", "error", "message"),
    [
        (-1.0, ValueError, r"gamma must not be negative, got -1.0"),
        (np.nan, ValueError, r"gamma must be finite, got nan"),
        (np.inf, ValueError, r"gamma must be finite, got inf"),
        ("scale", TypeError, r"gamma must be a number, got 'scale'"),
        (True, TypeError, r"gamma must be a number, got True"),
        (None, TypeError, r"gamma must be a number, got None"),
    ],
)
def test_bad_gamma_is_refused(kind, gamma, error, message):
    with pytest.raises(error, match=message):
        kind(gamma)


def test_bad_metrics_are_refused():
    with pytest.raises(ValueError, match=r"gamma must not be negative, got -0\.1"):
        Gaussian([0.5, -0.1])
    with pytest.raises(ValueError, match="gamma must be a number or a 1-D array, got 2 dimensions"):
        Gaussian(np.eye(2))
    with pytest.raises(ValueError, match="gamma must have at least one entry"):
        Gaussian([])
    with pytest.raises(ValueError, match="gamma has 2 entries, the inputs 3 features"):
        Gaussian([0.5, 0.1])(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="gamma has 2 entries, the inputs 3 features"):
        Gaussian([0.5, 0.1]).bind(np.zeros((2, 3)))


@pytest.mark.parametrize("degree", [-1, 2.5, True, "3", np.inf])
def test_bad_degree_is_refused(degree):
    with pytest.raises(ValueError, match="degree must be a whole number, not negative"):
        Polynomial(degree)


@pytest.mark.parametrize("coef0", [np.inf, np.nan])
def test_coef0_must_be_finite(coef0):
    with pytest.raises(ValueError, match="coef0 must be finite"):
        Polynomial(coef0=coef0)
    with pytest.raises(ValueError, match="coef0 must be finite"):
        Sigmoid(coef0=coef0)


def test_gamma_zero_has_no_coordinates():
    for kernel in (Gaussian(0.0), Gaussian([1.0, 0.0]), Polynomial(gamma=0.0), Sigmoid(0.0)):
        with pytest.raises(ValueError, match="gamma contains 0: give it a small positive value"):
            _ = kernel.theta


def test_bad_compositions_are_refused():
    with pytest.raises(ValueError, match=r"scale must be positive, got -2\.0"):
        -2.0 * Linear()
    with pytest.raises(ValueError, match="scale must be finite"):
        Scaled(Linear(), np.inf)
    with pytest.raises(TypeError, match="Sum takes kernels, got 'rbf'"):
        Sum(Linear(), "rbf")
    with pytest.raises(ValueError, match="Product needs at least one kernel"):
        Product()
    with pytest.raises(TypeError, match="Normalised takes kernels, got 3"):
        Normalised(3)
    with pytest.raises(TypeError, match="function must be callable, got 'rbf'"):
        FromFunction("rbf")


def test_a_negative_diagonal_cannot_be_normalised():
    with pytest.raises(ValueError, match=r"Sigmoid\(.*\) cannot be normalised.*negative value"):
        Normalised(Sigmoid(0.1, -5.0))(np.ones((2, 2)))


def test_bad_inputs_are_refused_by_name():
    good = np.zeros((2, 3))
    for kernel in (Linear(), Gaussian(0.5), Polynomial()):
        with pytest.raises(ValueError, match=r"A must be 2-D.* got 1 dimension"):
            kernel(np.zeros(3), good)
        with pytest.raises(ValueError, match=r"B must be 2-D.* got 3 dimension"):
            kernel(good, np.zeros((1, 1, 3)))
        with pytest.raises(ValueError, match="same number of features, got 3 and 4"):
            kernel(good, np.zeros((2, 4)))
        with pytest.raises(ValueError, match="X must hold real numbers, got dtype complex128"):
            kernel.bind(good * 1j)


def test_bad_precomputed_matrices_are_refused():
    with pytest.raises(ValueError, match=r"X must be the square Gram matrix.* shape \(2, 3\)"):
        Precomputed().bind(np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"A must be the square Gram matrix"):
        Precomputed().diagonal(np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"symmetric.* X\[0, 1\] = 0\.5 and X\[1, 0\] = 0$"):
        Precomputed().bind(np.array([[1.0, 0.5], [0.0, 1.0]]))
    with pytest.raises(ValueError, match="A must be 2-D"):
        Precomputed()(np.zeros(3))


def test_a_function_that_is_not_symmetric_is_refused():
    with pytest.raises(ValueError, match=r"function must be symmetric, got K\[0, 1\] = 2 and K"):
        FromFunction(lambda A, B: A @ [[1.0, 2.0], [0.0, 1.0]] @ B.T)(np.eye(2))


def test_a_function_that_returns_the_wrong_shape_is_refused():
    with pytest.raises(ValueError, match=r"block of shape \(2, 3\), got \(3, 2\)"):
        FromFunction(lambda A, B: B @ A.T)(np.zeros((2, 1)), np.zeros((3, 1)))


@each_kernel
def test_limits_have_an_entry_for_each_coordinate(kernel):
    low, high = kernel.theta_limits
    assert low.shape == high.shape == (len(kernel.parameter_names),)


def test_coef0_of_polynomials_must_not_be_negative_wherever_they_stand():
    polynomial = Polynomial(2, 0.5, 1.0)
    kernel = 2.0 * (Gaussian(1.0) + Normalised(polynomial) * polynomial)
    limited = np.flatnonzero(np.isfinite(kernel.theta_limits[0]))
    assert kernel.theta_limits[0][limited].tolist() == [0.0, 0.0]
    assert all("coef0" in kernel.parameter_names[place] for place in limited)
    assert np.isinf(kernel.theta_limits[1]).all()
    assert np.isinf(Sigmoid().theta_limits).all()
