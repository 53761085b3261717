"""Samples from known distributions, for tests, benchmarks and teaching.

Each generator returns inputs of shape (n_samples, dimension) and labels −1 and +1, and states its
Bayes error. Section numbers are those of Glasmachers, *Gradient Based Optimization of Support
Vector Machines*.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

Float = NDArray[np.float64]
Int = NDArray[np.int64]


def chess_board(
    n_samples: int,
    *,
    fields: int = 4,
    dimension: int = 2,
    noise: float = 0.0,
    random_state: Any = None,
) -> tuple[Float, Int]:
    """The chess board of section 3.4: y = (−1)^Σ⌊xᵢ⌋ for x uniform on [0, fields)^dimension.

    A share `noise` of the labels is replaced by fair coin flips, so that the Bayes error is
    ``noise / 2``.

    Parameters
    ----------
    n_samples : int
    fields : int
        Fields along each axis.
    dimension : int
    noise : float in [0, 1]
    random_state : int, RandomState or None

    Returns
    -------
    X : array of shape (n_samples, dimension)
    y : array of −1 and +1

    Examples
    --------
    >>> from maxmargin.data import chess_board
    >>> X, y = chess_board(500, random_state=0)
    >>> X.shape
    (500, 2)
    >>> bool((y == (-1) ** (X.astype(int).sum(axis=1) % 2)).all())
    True
    """
    _require("n_samples", n_samples, at_least=1)
    _require("fields", fields, at_least=1)
    _require("dimension", dimension, at_least=1)
    _require("noise", noise, at_least=0, at_most=1)
    random = check_random_state(random_state)
    X = random.uniform(0, fields, size=(n_samples, dimension))
    y = 1 - 2 * (X.astype(np.int64).sum(axis=1) % 2)
    flipped = random.uniform(size=n_samples) < noise
    y[flipped] = random.choice([-1, 1], size=int(flipped.sum()))
    return X, y


def random_stretch(factors: ArrayLike = (3.0, 1.0 / 3.0), *, random_state: Any = None) -> Float:
    """A symmetric map B = Dᵀ diag(factors) D with D uniform on the orthogonal group.

    Parameters
    ----------
    factors : array of positive numbers
        The eigenvalues of B.
    random_state : int, RandomState or None

    Returns
    -------
    ndarray of shape (dimension, dimension)

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.data import random_stretch
    >>> B = random_stretch((3, 1 / 3), random_state=0)
    >>> np.linalg.eigvalsh(B).round(6)
    array([0.333333, 3.      ])
    """
    factors = np.asarray(factors, dtype=np.float64)
    if factors.ndim != 1 or not (factors > 0).all():
        raise ValueError(f"factors must be a list of positive numbers, got {factors!r}")
    random = check_random_state(random_state)
    D, R = np.linalg.qr(random.standard_normal((factors.size, factors.size)))
    # Without the signs of R the distribution of D depends on the convention of the QR routine.
    D = D * np.sign(np.diag(R))
    return np.asarray(D.T @ (factors[:, np.newaxis] * D))


def stretched_chess_board(
    n_samples: int,
    *,
    stretch: ArrayLike | None = None,
    fields: int = 4,
    noise: float = 0.0,
    random_state: Any = None,
) -> tuple[Float, Int]:
    """The rotated and stretched chess board of section 10.2: (B⁻¹x, y) is a chess board.

    A Gaussian kernel exp(−½‖Mx − Mx'‖²) sees an undistorted board when M is a multiple of B⁻¹.
    (The thesis says B; its map and its kernel cannot both be meant.)

    Parameters
    ----------
    n_samples : int
    stretch : square array, or None
        The map B. None draws ``random_stretch((3, 1/3))``.
    fields : int
    noise : float in [0, 1]
    random_state : int, RandomState or None

    Returns
    -------
    X : array of shape (n_samples, dimension of the map)
    y : array of −1 and +1

    Examples
    --------
    >>> from maxmargin.data import random_stretch, stretched_chess_board
    >>> B = random_stretch(random_state=7)
    >>> X, y = stretched_chess_board(500, stretch=B, random_state=0)
    >>> X.shape
    (500, 2)
    """
    random = check_random_state(random_state)
    B = np.asarray(random_stretch(random_state=random) if stretch is None else stretch)
    if B.ndim != 2 or B.shape[0] != B.shape[1]:
        raise ValueError(f"stretch must be a square matrix, got shape {B.shape}")
    U, y = chess_board(
        n_samples, fields=fields, dimension=B.shape[0], noise=noise, random_state=random
    )
    return U @ B.T, y


def sparse_coordinate(
    n_samples: int,
    *,
    informative: int = 3,
    uninformative: int = 14,
    ones: int = 3,
    random_state: Any = None,
) -> tuple[Float, Int]:
    """The sparse coordinate problem (n, m, k) of section 3.4, on {0, 1}^(2n+m).

    One of the first n coordinates is set where y = +1, one of the next n where y = −1, then k−1
    of all the others at random. Positive examples have more ones among the first n coordinates,
    negative ones among the next n, and the last m say nothing.

    Parameters
    ----------
    n_samples : int
    informative : int
        n, the number of coordinates that speak for each class.
    uninformative : int
        m, the number of coordinates without meaning.
    ones : int
        k, the number of ones in every input.
    random_state : int, RandomState or None

    Returns
    -------
    X : array of shape (n_samples, 2 * informative + uninformative)
    y : array of −1 and +1

    Examples
    --------
    >>> from maxmargin.data import sparse_coordinate
    >>> X, y = sparse_coordinate(200, ones=5, random_state=0)
    >>> X.shape, sorted(set(X.sum(axis=1)))
    ((200, 20), [np.float64(5.0)])
    """
    _require("n_samples", n_samples, at_least=1)
    dimension = _sparse_dimension(informative, uninformative, ones)
    random = check_random_state(random_state)
    y = random.choice([-1, 1], size=n_samples)
    first = random.randint(informative, size=n_samples) + np.where(y > 0, 0, informative)
    # The k coordinates of the largest keys, of which the first is certain: k−1 of the rest.
    keys = random.uniform(size=(n_samples, dimension))
    keys[np.arange(n_samples), first] = 2.0
    chosen = np.argsort(keys, axis=1)[:, dimension - ones :]
    X = np.zeros((n_samples, dimension))
    np.put_along_axis(X, chosen, 1.0, axis=1)
    return X, y


def sparse_coordinate_bayes_error(
    *, informative: int = 3, uninformative: int = 14, ones: int = 3
) -> Fraction:
    """The exact Bayes error of `sparse_coordinate`.

    An input with a ones among the first n coordinates and b among the next n has probability
    a/(n·N) given y = +1 and b/(n·N) given y = −1, where N = C(2n+m−1, k−1). Hence the error is
    Σ_ab C(n,a) C(n,b) C(m,k−a−b) min(a,b) / (2·n·N).

    Parameters
    ----------
    informative, uninformative, ones : int
        n, m and k, as for `sparse_coordinate`.

    Returns
    -------
    Fraction

    Examples
    --------
    >>> from maxmargin.data import sparse_coordinate_bayes_error
    >>> sparse_coordinate_bayes_error(informative=3, uninformative=14, ones=3)
    Fraction(8, 57)
    """
    dimension = _sparse_dimension(informative, uninformative, ones)
    mistakes = sum(
        comb(informative, a) * comb(informative, b) * comb(uninformative, ones - a - b) * min(a, b)
        for a in range(1, ones + 1)
        for b in range(1, ones - a + 1)
    )
    return Fraction(mistakes, 2 * informative * comb(dimension - 1, ones - 1))


def two_blobs(
    n_samples: int = 2000,
    *,
    distance: float = 3.0,
    dimension: int = 2,
    random_state: Any = None,
) -> tuple[Float, Int]:
    """Two overlapping round Gaussian blobs of unit variance, with centres `distance` apart.

    The Bayes error is Φ(−distance/2), and a linear machine reaches it. With the default of 6.7 %
    this is the toy set of the report on dual coordinate descent (Roethel and Brynda, 2021), whose
    machines classify about 93 % of it correctly.

    Parameters
    ----------
    n_samples : int
    distance : float
    dimension : int
    random_state : int, RandomState or None

    Returns
    -------
    X : array of shape (n_samples, dimension)
    y : array of −1 and +1

    Examples
    --------
    >>> from maxmargin.data import two_blobs
    >>> X, y = two_blobs(random_state=0)
    >>> X.shape
    (2000, 2)
    """
    _require("n_samples", n_samples, at_least=1)
    _require("distance", distance, at_least=0)
    _require("dimension", dimension, at_least=1)
    random = check_random_state(random_state)
    y = random.choice([-1, 1], size=n_samples)
    # Along the diagonal, so that no single coordinate tells the classes apart.
    centre = np.full(dimension, 0.5 * distance / np.sqrt(dimension))
    return random.standard_normal((n_samples, dimension)) + y[:, np.newaxis] * centre, y


def _sparse_dimension(informative: int, uninformative: int, ones: int) -> int:
    _require("informative", informative, at_least=1)
    _require("uninformative", uninformative, at_least=0)
    dimension = 2 * informative + uninformative
    _require("ones", ones, at_least=1, at_most=dimension)
    return dimension


def _require(name: str, value: float, *, at_least: float, at_most: float = np.inf) -> None:
    if not at_least <= value <= at_most:
        allowed = f"at least {at_least}" if at_most == np.inf else f"in [{at_least}, {at_most}]"
        raise ValueError(f"{name} must be {allowed}, got {value}")
