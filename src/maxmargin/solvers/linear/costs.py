"""Crossovers of the linear machines: sizes at which one method becomes cheaper than another.

Each was found by timing both methods on either side of it with the command beside its group. A
crossover that is off by a factor of two costs some percent of speed, and no accuracy: every result
carries its own certificate. Tolerances stand beside their formulas, not here.
"""

from __future__ import annotations

from typing import NamedTuple


class LinearCosts(NamedTuple):
    """Crossovers of the linear machines, by the command that measures them."""

    # python -m benchmarks.linear --data breast normal --repeats 9

    # Up to this many entries, zeros included, the problem is shifted to the origin where that
    # helps; if its gap is not closed in float64, the certificate is computed in extended precision
    # and the dual point repaired.
    small_entries: int = 200_000
    # Up to this many entries a solution is polished to the last digit.
    polished_entries: int = 50_000
    # Up to this many dual variables are made to sum to zero to the last bit.
    exactly_summed: int = 20_000
    # Entries of the equations by which the dual variables of a small joint machine are repaired.
    repaired_equations: int = 1_000_000
    # Multiplications of a factorisation that is precise for stiff losses too.
    stiff_work: float = 2e7

    # python -m benchmarks.linear --data mnist-1-7 news20 w8a covtype

    # Epochs of coordinate descent before the first Newton step, and their limit. With fewer than
    # `wide` samples a feature they are repeated while that is predicted to be faster.
    epochs: int = 2
    most_epochs: int = 12
    wide: int = 20
    # Fraction of the cost of Newton's method that is spent on them before the prediction counts.
    tried: float = 0.1
    # Newton steps look at this multiple of the face, plus a constant, and set the other samples
    # aside if these are at least a share `rest_worth`.
    awake_factor: float = 3.0
    awake_least: int = 400
    rest_worth: float = 0.4
    # With more than `tall` samples a feature, losses with kinks begin with a weaker pull; with
    # fewer than `smoothed_below`, stiff smooth losses are smoothed further.
    tall: int = 100
    smoothed_below: int = 50

    # python -m benchmarks.linear --data wide wide-sparse correlated --growth

    # Largest Newton systems in features and in samples that are factored: the memory of a matrix.
    most_features: int = 3000
    most_samples: int = 3000
    # Columns of the preconditioner of conjugate gradients: at first, and at most. They are doubled
    # after a step of more iterations than `many_iterations`.
    first_columns: int = 96
    heavy_columns: int = 192
    many_iterations: int = 20
    # Nanoseconds for a multiplication in a Cholesky factorisation, and in a dense matrix product.
    cholesky: float = 0.05
    dense_product: float = 0.05
    # Inexact steps that count as much as an exact one, and what a run is assumed to take: the
    # iterations of the first inexact step; exact and inexact steps; inexact ones of smooth losses.
    inexactness: float = 3.0
    first_iterations: float = 15.0
    exact_steps: int = 12
    inexact_steps: int = 12
    smooth_steps: int = 6
    # A dense matrix with a smaller share of nonzeros than this is compressed.
    dense_above: float = 0.25
    # Entries below which a part of a pass is not worth a thread that may be busy.
    worth_a_part: int = 300_000

    # python -m timeit -s "from sklearn.datasets import load_digits as d; import maxmargin as m"
    #   "m.SoftmaxRegression().fit(*d(return_X_y=True))", likewise LinearSVC(multi_class=
    #   "crammer_singer") and Lasso

    # Unknowns up to which Newton systems of several classes are factored: softmax, joint machine.
    softmax_factored: int = 1200
    joint_factored: int = 800
    # Features in a working set of the lasso: at least, at most, and as a multiple of those in use.
    least_working: int = 64
    most_working: int = 3000
    working_factor: int = 2
    # Multiplications of the Newton steps of one round of its model.
    face_work: float = 4e6


COSTS = LinearCosts()
