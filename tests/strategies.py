"""Hypothesis strategies: small Gram matrices, and machines of every kind on them.

Points lie on a coarse grid and weights come from a short list, so that duplicates, singular Gram
matrices and absent samples are common. `cases` draws a machine with the Gram matrix of its samples
and its textbook objective.
"""

from collections.abc import Callable
from typing import NamedTuple

import naive
import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from maxmargin import dual
from maxmargin.kernels.base import Gram, Kernel

WEIGHTED = ("hinge", "squared_hinge", "epsilon_svr", "nu_svc", "nu_svr", "one_class")
BOUNDED = (*WEIGHTED, "enclosing_ball")
KINDS = (*BOUNDED, "hard_margin")


class Indexed(Kernel):
    """The kernel of samples known by their index, given all its values."""

    def __init__(self, K):
        self.K = K

    def __call__(self, A, B=None):
        return self.K[np.ix_(A, A if B is None else B)]

    def diagonal(self, A):
        return self.K[A, A]


def gram_of(K, dtype=np.float64):
    """A matrix as the `Gram` that solvers and certificates ask for rows."""
    return Gram(Indexed(K), np.arange(len(K)), dtype)


class Sample(NamedTuple):
    """What the machines are made from; `weight` is absent where it is 0."""

    K: np.ndarray
    labels: np.ndarray
    targets: np.ndarray
    weight: np.ndarray
    C: float
    epsilon: float
    nu: float  # as a fraction of the largest feasible one

    def taking(self, rows, weight):
        """The sample made of the given rows, some of them repeated or left out."""
        return self._replace(
            K=self.K[np.ix_(rows, rows)],
            labels=self.labels[rows],
            targets=self.targets[rows],
            weight=weight,
        )


class Case(NamedTuple):
    """A machine, the Gram matrix of its samples, and its objective at (coef, bias)."""

    machine: dual.Machine
    K: np.ndarray
    primal: Callable

    @property
    def problem(self):
        return self.machine.problem

    def magnitude(self, alpha):
        """Size of the terms that cancel in values at alpha, and at steps of 1 in the box."""
        problem = self.problem
        size = np.maximum(np.abs(alpha), np.minimum(problem.upper - problem.lower, 1.0))
        of_samples = problem.per_sample(size)
        quadratic = of_samples @ np.abs(self.K) @ of_samples + problem.ridge @ size**2
        return np.abs(problem.linear) @ size + quadratic


def case_of(kind, sample):
    K, y, t, w, C, epsilon, share = sample
    P = C * w
    nu = share * 2.0 * min(w[y > 0].sum(), w[y < 0].sum()) / w.sum()
    machine, primal = {
        "hinge": lambda: (
            dual.hinge(y, P),
            lambda coef, bias: naive.hinge_primal(K, y, P, coef, bias[0]),
        ),
        "squared_hinge": lambda: (
            dual.squared_hinge(y, P),
            lambda coef, bias: naive.squared_hinge_primal(K, y, P, coef, bias[0]),
        ),
        "hard_margin": lambda: (
            dual.hard_margin(y),
            lambda coef, _: naive.hard_margin_primal(K, y, coef),
        ),
        "epsilon_svr": lambda: (
            dual.epsilon_svr(t, P, epsilon),
            lambda coef, bias: naive.epsilon_svr_primal(K, t, P, epsilon, coef, bias[0]),
        ),
        "nu_svc": lambda: (
            dual.nu_svc(y, nu, w),
            lambda coef, bias: naive.nu_svc_primal(K, y, nu, w, coef, *middle_and_half(bias)),
        ),
        "nu_svr": lambda: (
            dual.nu_svr(t, share, P),
            lambda coef, bias: naive.nu_svr_primal(
                K, t, share, P, coef, *middle_and_half(bias[::-1])
            ),
        ),
        "one_class": lambda: (
            dual.one_class(w, share),
            lambda coef, bias: naive.one_class_primal(K, w, share, coef, -bias[0]),
        ),
        "enclosing_ball": lambda: (
            dual.enclosing_ball(np.diag(K)),
            lambda coef, bias: naive.enclosing_ball_primal(K, coef, bias[0]),
        ),
    }[kind]()
    return Case(machine, K, primal)


def middle_and_half(pair):
    return 0.5 * (pair[0] + pair[1]), 0.5 * (pair[1] - pair[0])


half_steps = st.integers(-4, 4).map(lambda step: 0.5 * step)
kernels = st.sampled_from(
    [naive.linear, naive.polynomial(0.5, 1.0, 3)]
    + [naive.gaussian(gamma) for gamma in (1e-3, 0.1, 1.0, 1e3)]
)


@st.composite
def samples(draw, weights=(0.0, 0.5, 1.0, 2.0, 3.0), largest=12):
    """A sample whose first two points have weight and are of different classes."""
    n, d = draw(st.integers(3, largest)), draw(st.integers(1, 3))
    X = draw(hnp.arrays(np.float64, (n, d), elements=half_steps))
    labels = draw(hnp.arrays(np.float64, n, elements=st.sampled_from([-1.0, 1.0])))
    weight = draw(hnp.arrays(np.float64, n, elements=st.sampled_from(weights)))
    labels[:2] = [-1.0, 1.0]
    weight[:2] = 1.0
    return Sample(
        naive.gram(draw(kernels), X),
        labels,
        targets=draw(hnp.arrays(np.float64, n, elements=half_steps)),
        weight=weight,
        C=draw(st.sampled_from([1e-3, 0.1, 1.0, 10.0, 1e3])),
        epsilon=draw(st.sampled_from([0.0, 0.1, 1.0])),
        nu=draw(st.sampled_from([0.05, 0.3, 0.5, 0.9, 1.0])),
    )


def cases(kind):
    return samples().map(lambda sample: case_of(kind, sample))
