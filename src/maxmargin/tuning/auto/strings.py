"""Strings as inputs of `AutoSVC`: what they are, and over which alphabet."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.sequence.encoding import EncodedSequences, as_strings

DNA, RNA, PROTEIN = "ACGT", "ACGU", "ACDEFGHIKLMNPQRSTVWY"
# Ambiguous letters and gaps of these alphabets; they match nothing.
NUCLEOTIDE_CODES, PROTEIN_CODES = set("NRYSWKMBDHV-.*"), set("BJOUXZ-.*")
TEXT_REMEDY = (
    "turn text into vectors, as make_pipeline(TfidfVectorizer(), AutoSVC()) does, or compare it "
    "letter by letter with SVCSearch(SVC(kernel=Oligo(alphabet=...)))"
)


def are_strings(X: Any) -> bool:
    """Whether inputs are a list or 1-D array of str or bytes."""
    if isinstance(X, EncodedSequences):
        return True
    if not isinstance(X, list | tuple):
        if getattr(X, "ndim", 0) != 1 or not hasattr(X, "__array__"):
            return False
        X = np.asarray(X).tolist()
    return len(X) > 0 and all(isinstance(x, str | bytes) for x in X)


def alphabet_of(X: Any) -> str:
    """The alphabet of the strings: nucleotides, amino acids or the letters that occur.

    80 % of the letters must belong to an alphabet, the others be codes of it. Raises ValueError if
    the strings are text (with spaces, or more than 30 letters) or numbers rather than sequences.
    """
    if isinstance(X, EncodedSequences):
        return X.alphabet
    strings = as_strings(X, "X")
    joined = "".join(strings).upper()
    letters = set(joined)
    if not letters:
        raise ValueError("X must hold strings with letters, got only empty ones")
    spaces = any(letter.isspace() for letter in letters)
    if spaces or len(letters) > 30:
        spaced = ", including spaces" if spaces else ""
        raise ValueError(
            f"X holds text rather than sequences ({len(letters)} different letters{spaced}): "
            f"{TEXT_REMEDY}"
        )
    if "." in letters and all(is_number(string) for string in strings):
        raise ValueError(
            "X holds numbers as strings: give np.asarray(X, dtype=float).reshape(-1, 1)"
        )
    for alphabet, codes in (
        (DNA, NUCLEOTIDE_CODES),
        (RNA, NUCLEOTIDE_CODES),
        (PROTEIN, PROTEIN_CODES),
    ):
        own = sum(joined.count(letter) for letter in alphabet)
        if letters <= set(alphabet) | codes and own >= 0.8 * len(joined):
            return alphabet
    return "".join(sorted(letters))


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
