"""The driver `full`: what it keeps in memory."""

from types import SimpleNamespace

import numpy as np
import pytest

from maxmargin.solvers.drivers.full import PairRun


@pytest.mark.parametrize("whole", [None, "kept with the problem"])
def test_a_copy_of_the_active_samples_is_made_only_if_it_fits_beside_the_matrix(whole):
    n = 2000
    beside = n**2 if whole is None else 0
    gram = SimpleNamespace(whole=whole, n=n, dtype=np.dtype(np.float32))
    settings = SimpleNamespace(cache_bytes=4 * (beside + 1500**2))
    run = SimpleNamespace(gram=gram, settings=settings)
    assert PairRun._fits_beside(run, 1500)
    assert not PairRun._fits_beside(run, 1501)
