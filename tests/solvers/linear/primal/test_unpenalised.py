"""Linear machines without a penalty."""

import pytest

from maxmargin.solvers.linear.primal.unpenalised import is_separable


@pytest.mark.parametrize("shift", [0.0, 1.0, -3.0])
def test_separating_planes_need_not_contain_the_origin(shift):
    assert is_separable([[shift + 0.0], [shift + 1.0]], [-1, 1])
    assert not is_separable([[shift + 0.0], [shift + 1.0], [shift + 2.0]], [-1, 1, -1])
