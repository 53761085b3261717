"""Oligo kernels as terms: K, width and weights of the K-mers."""

import numpy as np
import pytest

from maxmargin.kernels import EncodedSequences
from maxmargin.kernels.sequence.terms import Term


@pytest.mark.parametrize("alphabet", ["A", "AB", "ABC"])
def test_every_letter_of_an_alphabet_of_any_size_has_its_weight(alphabet):
    weights = np.array([2.0, 3.0, 5.0])[: len(alphabet)]
    term = Term(1, 0.01, weights, 1.0, False)
    sequences = EncodedSequences([letter * 4 for letter in alphabet], alphabet=alphabet)
    np.testing.assert_allclose(term.squared_norms(sequences), 4.0 * weights)
    block = np.zeros((len(alphabet), len(alphabet)))
    term.between(sequences, sequences).add_rows(np.arange(len(alphabet)), block)
    np.testing.assert_allclose(block, np.diag(4.0 * weights))
