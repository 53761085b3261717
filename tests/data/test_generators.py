"""The generators draw from the distributions they name."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chi2, kstest, norm

from maxmargin.data import (
    chess_board,
    random_stretch,
    sparse_coordinate,
    sparse_coordinate_bayes_error,
    stretched_chess_board,
    two_blobs,
)

GENERATORS = [chess_board, stretched_chess_board, sparse_coordinate, two_blobs]


def chi_square_p_value(counts, probabilities):
    expected = counts.sum() * probabilities
    return chi2.sf(((counts - expected) ** 2 / expected).sum(), counts.size - 1)


def binomial_z(successes, trials, probability):
    return (successes - trials * probability) / np.sqrt(trials * probability * (1 - probability))


@pytest.mark.parametrize("generator", GENERATORS)
def test_same_seed_gives_the_same_sample(generator):
    for first, second in zip(generator(50, random_state=3), generator(50, random_state=3)):
        assert np.array_equal(first, second)


@pytest.mark.parametrize("generator", GENERATORS)
def test_another_seed_gives_another_sample(generator):
    assert not np.array_equal(generator(50, random_state=3)[0], generator(50, random_state=4)[0])


@pytest.mark.parametrize("generator", GENERATORS)
def test_labels_are_minus_one_and_plus_one(generator):
    X, y = generator(200, random_state=0)
    assert X.dtype == np.float64
    assert len(X) == len(y) == 200
    assert set(y) == {-1, 1}


def test_a_chess_board_of_one_dimension_or_one_field_is_one():
    X, y = chess_board(100, dimension=1, random_state=0)
    assert X.shape == (100, 1)
    np.testing.assert_array_equal(y, np.where(X[:, 0].astype(int) % 2, -1, 1))
    assert (chess_board(20, fields=1, random_state=0)[1] == 1).all()
    assert len(chess_board(1, random_state=0)[0]) == 1
    assert 0.3 < np.mean(chess_board(400, fields=1, noise=1, random_state=0)[1] == 1) < 0.7


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dimension": 0}, "dimension"),
        ({"fields": 0}, "fields"),
        ({"noise": -0.1}, "noise"),
        ({"noise": 1.1}, "noise"),
    ],
)
def test_boards_that_are_none_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        chess_board(10, **options)


def test_chess_board_corner_is_positive_and_neighbours_differ():
    X, y = chess_board(2000, random_state=0)
    column, row = X.astype(int).T
    board = np.array([[y[(column == i) & (row == j)] for i in range(4)] for j in range(4)], object)
    assert all(len(set(field)) == 1 for field in board.flat)
    assert [[field[0] for field in line] for line in board] == [
        [1, -1, 1, -1],
        [-1, 1, -1, 1],
        [1, -1, 1, -1],
        [-1, 1, -1, 1],
    ]


def test_chess_board_inputs_are_uniform_in_three_dimensions():
    X, _ = chess_board(20_000, fields=5, dimension=3, random_state=1)
    assert X.min() >= 0
    assert X.max() < 5
    counts = np.histogramdd(X, bins=3 * (np.arange(6),))[0].ravel()
    assert chi_square_p_value(counts, np.full(125, 1 / 125)) > 1e-3


def test_chess_board_noise_flips_half_of_its_share():
    X, y = chess_board(40_000, noise=0.2, random_state=2)
    clean = 1 - 2 * (X.astype(int).sum(axis=1) % 2)
    assert abs(binomial_z((y != clean).sum(), y.size, 0.1)) < 3.5


def test_stretch_is_symmetric_with_the_given_factors():
    B = random_stretch((5, 2, 0.1), random_state=0)
    assert np.allclose(B, B.T, rtol=0, atol=1e-14)
    assert np.allclose(np.linalg.eigvalsh(B), [0.1, 2, 5], rtol=1e-13)


def test_axes_of_the_stretch_are_uniform_over_all_directions():
    random = np.random.RandomState(0)
    angles = []
    for _ in range(2000):
        _, vectors = np.linalg.eigh(random_stretch(random_state=random))
        angles.append(np.arctan2(*vectors[:, 1]) % np.pi / np.pi)
    assert kstest(angles, "uniform").pvalue > 1e-3


def test_stretched_board_is_a_chess_board_after_the_inverse_map():
    B = random_stretch(random_state=5)
    X, y = stretched_chess_board(1000, stretch=B, random_state=0)
    U = np.linalg.solve(B, X.T).T
    assert np.array_equal(y, 1 - 2 * (np.floor(U).astype(int).sum(axis=1) % 2))
    assert U.min() > 0
    assert U.max() < 4


def test_stretched_board_keeps_its_area():
    X, _ = stretched_chess_board(20_000, random_state=0)
    area = np.sqrt(np.linalg.det(np.cov(X.T))) * 12
    assert abs(area - 16) < 0.3


def test_sparse_inputs_have_k_ones_and_one_that_speaks_for_their_class():
    X, y = sparse_coordinate(3000, informative=4, uninformative=6, ones=4, random_state=0)
    assert set(np.unique(X)) == {0, 1}
    assert (X.sum(axis=1) == 4).all()
    assert (X[y > 0, :4].sum(axis=1) >= 1).all()
    assert (X[y < 0, 4:8].sum(axis=1) >= 1).all()


def test_sparse_coordinate_frequencies_are_those_of_the_definition():
    n, m, k, size = 2, 2, 2, 60_000
    X, y = sparse_coordinate(size, informative=n, uninformative=m, ones=k, random_state=1)
    observed, probabilities = [], []
    for ones in combinations(range(2 * n + m), k):
        same = X[:, ones].all(axis=1)
        for label, speaking in ((1, range(n)), (-1, range(n, 2 * n))):
            share = sum(i in speaking for i in ones)
            # label ½, first coordinate 1/n, the other of the remaining 2n+m−1
            probability = 0.5 * share / n / (2 * n + m - 1)
            if probability > 0:
                observed.append((same & (y == label)).sum())
                probabilities.append(probability)
    assert sum(probabilities) == pytest.approx(1, rel=1e-12)
    assert chi_square_p_value(np.array(observed), np.array(probabilities)) > 1e-3


@pytest.mark.parametrize(
    ("ones", "printed"), [(3, Fraction(144, 1026)), (5, Fraction(5262, 23256))]
)
def test_sparse_bayes_errors_are_the_printed_ones(ones, printed):
    assert sparse_coordinate_bayes_error(informative=3, uninformative=14, ones=ones) == printed


def test_sparse_bayes_error_is_that_of_an_enumeration():
    n, m, k = 2, 3, 4
    error = Fraction(0)
    for first in combinations(range(2 * n + m), k):
        positive = sum(i < n for i in first)
        negative = sum(n <= i < 2 * n for i in first)
        # 20 = C(6, 3) ways to choose the other three ones
        error += Fraction(min(positive, negative), 2 * n * 20)
    assert sparse_coordinate_bayes_error(informative=n, uninformative=m, ones=k) == error


def test_optimal_rule_errs_as_often_as_the_bayes_error_says():
    X, y = sparse_coordinate(50_000, ones=5, random_state=3)
    evidence = X[:, :3].sum(axis=1) - X[:, 3:6].sum(axis=1)
    error = sparse_coordinate_bayes_error(ones=5)
    wrong = (np.sign(evidence) == -y).sum() + (evidence == 0).sum() / 2
    assert abs(binomial_z(wrong, y.size, float(error))) < 3.5


def test_blobs_are_gaussian_along_the_line_of_their_centres():
    X, y = two_blobs(20_000, distance=4.0, dimension=3, random_state=0)
    along = X.sum(axis=1) / np.sqrt(3)
    assert kstest(along[y > 0] - 2, norm.cdf).pvalue > 1e-3
    assert kstest(along[y < 0] + 2, norm.cdf).pvalue > 1e-3


def test_separating_line_of_the_blobs_has_the_bayes_error():
    X, y = two_blobs(50_000, random_state=1)
    wrong = (np.sign(X.sum(axis=1)) != y).sum()
    assert abs(binomial_z(wrong, y.size, norm.cdf(-1.5))) < 3.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: chess_board(0), "n_samples must be at least 1, got 0"),
        (lambda: chess_board(5, noise=1.5), r"noise must be in \[0, 1\], got 1.5"),
        (lambda: chess_board(5, fields=0), "fields must be at least 1, got 0"),
        (lambda: random_stretch((1.0, 0.0)), "factors must be a list of positive numbers"),
        (lambda: stretched_chess_board(5, stretch=np.ones((2, 3))), "stretch must be a square"),
        (lambda: sparse_coordinate(5, ones=21), r"ones must be in \[1, 20\], got 21"),
        (lambda: two_blobs(5, distance=-1), "distance must be at least 0, got -1"),
    ],
)
def test_impossible_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
