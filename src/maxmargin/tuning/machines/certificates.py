"""Certificates of the machines along paths: one product with the Gram matrix for all of them.

K is computed again, in float64 and block by block, and each block is multiplied with the α of all
machines at once. Nothing comes from the solver but α and the bias.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...dual import Certificate, certify_expansion, hinge
from ...kernels import Kernel
from ...kernels.base import Inputs
from ...runtime.parallel import in_parts
from ..base import Float
from .optimum import Int


class Delivered(NamedTuple):
    """A machine of a path, as its outputs were computed.

    Attributes
    ----------
    train : int array
        The samples it was trained on.
    labels : float array
        −1 or +1, of these.
    bound : float array
        C of each of these.
    alpha : float array
    bias : float
    """

    train: Int
    labels: Float
    bound: Float
    alpha: Float
    bias: float


def certified(kernel: Kernel, X: Inputs, machines: Sequence[Delivered]) -> list[Certificate]:
    """The certificate of each machine on some of the samples X.

    The α of machines are in memory in groups of at most 256 MB.
    """
    gram = kernel.bind(X, np.float64)
    most, height = max(1, (1 << 25) // gram.n), 256  # machines, and rows of K, at a time
    certificates: list[Certificate] = []
    for first in range(0, len(machines), most):
        some = machines[first : first + most]
        alpha = np.zeros((gram.n, len(some)))
        for column, machine in enumerate(some):
            alpha[machine.train, column] = machine.alpha
        sums = np.empty((len(some), gram.n))

        def part(start: int, stop: int, alpha: Float = alpha, sums: Float = sums) -> None:
            for top in range(start * height, min(stop * height, gram.n), height):
                rows = np.arange(top, min(top + height, gram.n))
                sums[:, rows] = (gram.rows(rows) @ alpha).T

        blocks = -(-gram.n // height)
        in_parts(part, blocks, gram.n * gram.n, grain=1)
        for machine, f in zip(some, sums):
            problem = hinge(machine.labels, machine.bound).problem
            bias = np.array([machine.bias])
            certificates.append(certify_expansion(problem, machine.alpha, f[machine.train], bias))
    return certificates
