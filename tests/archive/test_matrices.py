"""Sparse matrices from files: what is whole is read as it is, and what is not is refused."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin.archive.container import ModelFileError
from maxmargin.archive.matrices import LONGEST, csr_from

WHOLE = sparse.csr_array(np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, -3.0]]))


def parts(**changed):
    arrays = {"data": WHOLE.data, "indices": WHOLE.indices, "indptr": WHOLE.indptr}
    return {name: np.asarray(changed.get(name, array)) for name, array in arrays.items()}


def whole_numbers(*values, dtype=None):
    return np.array(values, dtype or WHOLE.indices.dtype)


@pytest.mark.parametrize("matrix", [False, True])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_whole_matrices_are_read_in_their_types(matrix, index, real):
    arrays = parts(
        data=WHOLE.data.astype(real),
        indices=WHOLE.indices.astype(index),
        indptr=WHOLE.indptr.astype(index),
    )
    found = csr_from(arrays, [3, 3], matrix)
    assert isinstance(found, sparse.csr_matrix if matrix else sparse.csr_array)
    assert found.dtype == real
    np.testing.assert_array_equal(found.toarray(), WHOLE.toarray())


def test_matrices_may_be_empty_and_very_wide():
    nothing = parts(data=np.zeros(0), indices=whole_numbers(), indptr=whole_numbers(0))
    assert csr_from(nothing, (0, 5), False).shape == (0, 5)
    assert csr_from(nothing, [0, 0], False).shape == (0, 0)
    wide = {name: a if name == "data" else a.astype(np.int64) for name, a in parts().items()}
    assert csr_from(wide, [3, LONGEST], False).shape == (3, LONGEST)


@pytest.mark.parametrize(
    "shape", [[3], [3, 3, 3], [3, -1], [3.0, 3], [True, 3], "33", None, [3, LONGEST + 1], 3]
)
def test_what_is_no_shape_is_refused(shape):
    with pytest.raises(ModelFileError, match="is no shape of a matrix"):
        csr_from(parts(), shape, False)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"data": WHOLE.data.astype(int)}, "data of a sparse matrix is int64"),
        ({"data": WHOLE.data[None]}, "data of a sparse matrix is float64"),
        ({"indices": WHOLE.indices.astype(np.int16)}, "indices of a sparse matrix is int16"),
        ({"indptr": WHOLE.indptr.astype(float)}, "indptr of a sparse matrix is float64"),
        ({"indptr": WHOLE.indptr.astype(np.int64)}, "of different types"),
        ({"indptr": whole_numbers(0, 1, 3)}, "parts of the wrong length"),
        ({"data": WHOLE.data[:2]}, "parts of the wrong length"),
        ({"indptr": whole_numbers(1, 1, 1, 3)}, "does not rise from 0"),
        ({"indptr": whole_numbers(0, 1, 1, 2)}, "does not rise from 0"),
        ({"indptr": whole_numbers(0, 2, 1, 3)}, "does not rise from 0"),
        ({"indices": whole_numbers(1, 0, 3)}, "out of range"),
        ({"indices": whole_numbers(1, 0, -1)}, "out of range"),
        ({"data": np.array([1.0, np.nan, 2.0])}, "NaN or infinity"),
        ({"data": np.array([np.inf, 1.0, 2.0])}, "NaN or infinity"),
    ],
)
def test_what_is_not_whole_is_refused(changed, message):
    with pytest.raises(ModelFileError, match=message):
        csr_from(parts(**changed), [3, 3], False)
