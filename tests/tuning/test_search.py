"""What searches for a kernel accept."""

import numpy as np
import pytest

from maxmargin import SVC, SVCSearch


@pytest.mark.parametrize("limit", [1e-3, 1.0, np.inf, None])
def test_any_positive_time_limit_is_accepted(limit):
    SVCSearch(SVC(), max_seconds=limit)._check_common_parameters()


@pytest.mark.parametrize("limit", [0, -1.0, np.nan])
def test_time_limits_that_are_not_positive_are_refused(limit):
    with pytest.raises(ValueError, match="max_seconds of SVCSearch must be a number"):
        SVCSearch(SVC(), max_seconds=limit)._check_common_parameters()
