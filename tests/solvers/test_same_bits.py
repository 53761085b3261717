"""Sums do not depend on where small arrays happen to be in memory."""

import numpy as np
import pytest

from maxmargin.kernels.vector.embedding import embed
from maxmargin.solvers.linear import REGRESSION
from maxmargin.solvers.linear.primal.response import respond
from maxmargin.tuning.objectives.likelihood import log_likelihood


def placements(count, size):
    """Arrays of one block of memory in many orders, some side by side, some apart."""
    memory, rng = np.empty(64 * (size + 3)), np.random.default_rng(0)
    for _ in range(200):
        gap = rng.integers(0, 3)
        starts = (size + gap) * rng.permutation(60)[:count]
        yield [memory[start : start + size] for start in starts]


@pytest.mark.parametrize("size", [5, 8, 16, 33])
def test_the_total_response_of_a_linear_machine(size):
    rng = np.random.default_rng(size)
    loss = REGRESSION["epsilon_insensitive"](rng.normal(size=size), np.full(size, 1e3), 0.0)
    values = loss.target + 1e-12 * rng.normal(size=size), 5.0 * rng.normal(size=size)
    found = set()
    for z, centre, beta, h in placements(4, size):
        z[:], centre[:] = values
        found.add(respond(loss, z, centre, 1e-6, beta, h))
    assert len(found) == 1


@pytest.mark.parametrize("size", [5, 8, 16, 33])
def test_the_squared_norm_of_an_embedded_input(size):
    rng = np.random.default_rng(size)
    values, found = rng.normal(size=(3, size)), set()
    for x, centre, scale, table in placements(4, size):
        x[:], centre[:], scale[:] = values
        norm = np.empty(1)
        embed(x[None], centre, scale, table[None], norm)
        found.add(norm[0])
    assert len(found) == 1


@pytest.mark.parametrize("size", [5, 8, 16, 33])
def test_the_likelihood_of_held_out_samples(size):
    values, found = np.random.default_rng(size).normal(size=size) + 0.3, set()
    for margins, slope in placements(2, size):
        margins[:] = values
        found.add((log_likelihood(margins, slope), slope.tobytes()))
    assert len(found) == 1
