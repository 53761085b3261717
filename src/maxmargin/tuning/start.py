"""Starting points: Jaakkola's heuristic for the width of a Gaussian kernel (12.1), and limits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.spatial.distance import cdist

from ..kernels import Gaussian, Kernel, MetricGaussian
from ..kernels.base import Inputs, count, take
from ..kernels.vector.base import as_vectors
from .base import Float

# Samples from which the median is taken.
SUBSAMPLE = 1000
# Number of samples from which the variance in feature space is estimated.
VARIANCE_SAMPLES = 500


def median_gamma(X: Inputs, y: ArrayLike, random_state: int = 0) -> float:
    """γ = 1/(2m²), m the median distance between samples of different classes.

    Parameters
    ----------
    X : array or sparse matrix of shape (samples, features)
    y : labels
        Of any number of classes.
    random_state : int
        Seed of the subsample that is drawn from large sets.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.tuning import median_gamma
    >>> median_gamma(np.array([[0.0], [1.0], [3.0]]), [1, 1, -1])
    0.08

    References
    ----------
    Jaakkola, Diekhans and Haussler, *Using the Fisher kernel method to detect remote protein
    homologies*, 1999.
    """
    X, labels = as_vectors("X", X), np.asarray(y)
    if labels.size > SUBSAMPLE:
        chosen = np.random.default_rng(random_state).choice(labels.size, SUBSAMPLE, replace=False)
        X, labels = X[chosen], labels[chosen]
    points: Any = X.toarray() if sparse.issparse(X) else X
    points = np.asarray(points, dtype=np.float64)
    squares = cdist(points, points, "sqeuclidean")
    apart = squares[labels[:, None] != labels]
    if not apart.size:
        apart = squares[np.triu_indices(len(points), 1)]
    distance = np.median(np.sqrt(apart)) if apart.size else 0.0
    if distance == 0.0:
        # Most samples coincide with one of another class: use the median of the others.
        positive = apart[apart > 0]
        distance = np.median(np.sqrt(positive)) if positive.size else 1.0
    return float(0.5 / distance**2)


def halves(y: ArrayLike) -> NDArray[np.bool_]:
    """Targets of a regression split into two classes of nearly equal size, for `median_gamma`."""
    targets = np.asarray(y, dtype=np.float64)
    return targets > np.median(targets)


def gaussian_start(X: Inputs, y: ArrayLike, metric: str) -> Kernel:
    """The Gaussian kernel with the width of `median_gamma` and the metric to be tuned.

    Parameters
    ----------
    X : array or sparse matrix of shape (samples, features)
    y : labels
    metric : {"radial", "diagonal", "full"}
        What is tuned: one γ, one for each feature, or a matrix.

    Returns
    -------
    Gaussian or MetricGaussian

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.tuning import gaussian_start
    >>> X, y = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0]]), [1, 1, -1]
    >>> gaussian_start(X, y, "radial"), gaussian_start(X, y, "diagonal")
    (Gaussian(gamma=0.08), Gaussian(gamma=(0.08, 0.08)))
    """
    gamma, features = median_gamma(X, y), as_vectors("X", X).shape[1]
    match metric:
        case "radial":
            return Gaussian(gamma)
        case "diagonal":
            return Gaussian((gamma,) * features)
        case "full":
            return MetricGaussian.isotropic(gamma, features)
    raise ValueError(f'metric must be "radial", "diagonal" or "full", got {metric!r}')


def widened(kernel: Kernel, factor: float) -> Kernel | None:
    """A Gaussian kernel with all γ multiplied by a factor; None for other kernels, and for kernels
    of fixed size."""
    if isinstance(kernel, Gaussian):
        return kernel.moved(np.full(kernel.theta.size, np.log(factor)))
    if isinstance(kernel, MetricGaussian) and "size" not in kernel.freeze:
        return MetricGaussian(np.sqrt(factor) * kernel.metric, kernel.freeze)
    return None


def subsample(codes: NDArray[Any], most: int, seed: int) -> NDArray[Any]:
    """Indices of at most `most` samples, stratified by class."""
    if codes.size <= most:
        return np.arange(codes.size)
    random = np.random.default_rng(seed)
    order = random.permutation(codes.size)
    chosen = []
    for code in range(codes.max() + 1):
        members = order[codes[order] == code]
        chosen.append(members[: max(2, round(most * members.size / codes.size))])
    return np.sort(np.concatenate(chosen))


def kernel_limits(start: Kernel, reach: float = 12.0) -> tuple[Float, Float]:
    """Limits of the coordinates of a kernel, usually logarithms of parameters: within `reach` of
    the start, and positive semi-definite."""
    low, high = start.theta_limits
    return np.maximum(start.theta - reach, low), np.minimum(start.theta + reach, high)


def semi_definite(kernel: Kernel) -> Kernel:
    """The kernel, made positive semi-definite if it is not."""
    theta, (low, high) = kernel.theta, kernel.theta_limits
    inside = np.clip(theta, low, high)
    return kernel if (inside == theta).all() else kernel.moved(inside - theta)


def feature_variance(kernel: Kernel, X: Inputs) -> float:
    """Mean squared distance of the samples from their centre in feature space."""
    K = kernel(take(X, slice(0, min(count(X), VARIANCE_SAMPLES))))
    variance = float(np.mean(np.diagonal(K)) - np.mean(K))
    return variance if np.isfinite(variance) and variance > 0 else 1.0
