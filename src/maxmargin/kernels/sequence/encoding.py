"""Sequences encoded as numbers: letters, K-mer occurrences by sequence and by K-mer."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base import Inputs
from .compiled import Index, Occurrences


class EncodedSequences:
    """Sequences over an alphabet as numbers.

    Oligo kernels accept it in place of a list of strings. Use it to encode sequences only once:
    ``encoded[indices]`` selects sequences, and the grouping by K-mers is cached.

    Parameters
    ----------
    sequences : list or 1-D array of str or bytes
    alphabet : str
        Upper and lower case are alike. Letters outside the alphabet match nothing.
    name : str
        Name of `sequences` in error messages.

    Examples
    --------
    >>> from maxmargin.kernels import EncodedSequences
    >>> encoded = EncodedSequences(["acgt", b"ACN", ""], alphabet="ACGT")
    >>> len(encoded), encoded.letters.tolist(), encoded.bounds.tolist()
    (3, [0, 1, 2, 3, 0, 1, -1], [0, 4, 7, 7])
    """

    letters: NDArray[np.int64]
    bounds: NDArray[np.int64]

    def __init__(
        self, sequences: Inputs, alphabet: str = "ACGT", *, name: str = "sequences"
    ) -> None:
        strings = as_strings(sequences, name)
        self.alphabet = alphabet
        self.bounds = _bounds([len(s) for s in strings])
        self.letters = _letters("".join(strings), alphabet)
        self._occurrences: dict[int, Occurrences] = {}
        self._index: dict[int, Index] = {}

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def __getitem__(self, indices: Any) -> EncodedSequences:
        chosen = np.arange(len(self))[indices]
        if chosen.ndim != 1:
            raise IndexError(f"indices must select a list of sequences, got {indices!r}")
        lengths = np.diff(self.bounds)[chosen]
        taken = object.__new__(EncodedSequences)
        taken.alphabet = self.alphabet
        taken.bounds = _bounds(lengths)
        shift = np.repeat(self.bounds[chosen] - taken.bounds[:-1], lengths)
        taken.letters = self.letters[np.arange(len(shift)) + shift]
        taken._occurrences, taken._index = {}, {}
        return taken

    @property
    def shape(self) -> tuple[int]:
        return (len(self),)

    @property
    def width(self) -> int:
        """Length of the longest sequence."""
        return int(np.diff(self.bounds).max(initial=0))

    def occurrences(self, k: int) -> Occurrences:
        """The K-mers of every sequence, grouped."""
        if k not in self._occurrences:
            self._occurrences[k] = self._grouped(k)
        return self._occurrences[k]

    def index(self, k: int) -> Index:
        """The sequences and positions of every K-mer."""
        if k not in self._index:
            self._index[k] = self._inverted(k)
        return self._index[k]

    def _kmers(self, k: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Sequence, position and code of every K-mer without unknown letters."""
        size = max(len(self.letters) - k + 1, 0)
        owner = np.repeat(np.arange(len(self)), np.diff(self.bounds))
        first, last = owner[:size], owner[k - 1 : k - 1 + size]
        code = np.zeros(size, dtype=np.int64)
        whole = first == last
        for offset in range(k):
            letter = self.letters[offset : offset + size]
            code *= len(self.alphabet)
            code += letter
            whole &= letter >= 0
        at = np.flatnonzero(whole)
        sequence = first[at]
        return sequence, at - self.bounds[sequence], code[at]

    # (sequence, K-mer, position) is unique, so sorting one mixed-radix number replaces a stable
    # sort by three keys.
    def _grouped(self, k: int) -> Occurrences:
        sequence, position, code = self._kmers(k)
        codes, kmer = np.unique(code, return_inverse=True)
        width = max(self.width, 1)
        key = np.sort((sequence * len(codes) + kmer) * width + position)
        rest, position = np.divmod(key, width)
        bounds = _bounds(np.bincount(sequence, minlength=len(self)))
        grouped = codes[rest % max(len(codes), 1)]
        return Occurrences(bounds, grouped, position.astype(np.int32))

    def _inverted(self, k: int) -> Index:
        sequence, position, code = self._kmers(k)
        codes, kmer = np.unique(code, return_inverse=True)
        width, n = max(self.width, 1), max(len(self), 1)
        key = np.sort((kmer * width + position) * n + sequence)
        place, column = np.divmod(key, n)
        new = np.diff(place, prepend=-1) > 0
        kmer, position = np.divmod(place[new], width)
        places = _bounds(np.bincount(kmer, minlength=len(codes)))
        number = np.cumsum(new) - 1
        entries = np.searchsorted(number, places)
        number -= np.repeat(places[:-1], np.diff(entries))
        return Index(
            codes,
            places,
            position.astype(np.int32),
            entries,
            number.astype(np.uint32),
            column.astype(np.uint32),
        )


def encoded(sequences: Inputs, alphabet: str, name: str) -> EncodedSequences:
    """`sequences` encoded over `alphabet`, unless they are already."""
    if not isinstance(sequences, EncodedSequences):
        return EncodedSequences(sequences, alphabet, name=name)
    if sequences.alphabet != alphabet:
        raise ValueError(
            f"{name} is encoded over the alphabet {sequences.alphabet!r}, but the kernel uses "
            f"{alphabet!r}; encode it over the kernel's alphabet"
        )
    return sequences


def restricted(index: Index, columns: NDArray[Any], n: int) -> Index:
    """The index of the sequences `columns` alone (no repetitions), numbered in that order."""
    place = np.full(n, -1)
    place[columns] = np.arange(len(columns))
    column = place[index.column]
    kept = column >= 0
    return index._replace(
        entries=_bounds(kept)[index.entries],
        place=index.place[kept],
        column=column[kept].astype(np.uint32),
    )


def _bounds(lengths: Any) -> NDArray[np.int64]:
    bounds = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=bounds[1:])
    return bounds


def as_strings(sequences: Inputs, name: str) -> list[str]:
    """Sequences as a list of `str`, or an error that calls them `name`."""
    if isinstance(sequences, (str, bytes)):
        raise TypeError(
            f"{name} must be a list or 1-D array of str or bytes, got a single "
            f"{type(sequences).__name__}; put it into a list"
        )
    if not isinstance(sequences, (list, tuple)):
        array = np.asarray(sequences)
        if array.ndim != 1:
            raise ValueError(
                f"{name} must be a list or 1-D array of str or bytes, got "
                f"{type(sequences).__name__} of shape {array.shape}"
            )
        sequences = array.tolist()
    strings = []
    for i, sequence in enumerate(sequences):
        if isinstance(sequence, bytes):
            sequence = sequence.decode("latin-1")
        elif not isinstance(sequence, str):
            raise TypeError(
                f"{name} must contain str or bytes, got {type(sequence).__name__} at position {i}"
            )
        strings.append(sequence)
    return strings


def _letters(text: str, alphabet: str) -> NDArray[np.int64]:
    """The place of every character in the alphabet, -1 where it has none."""
    places = {}
    for place, letter in enumerate(alphabet):
        for form in (letter, letter.lower(), letter.upper()):
            if len(form) == 1:
                places[ord(form)] = place
    known = sorted(places)
    place_of = np.array([places[point] for point in known] + [-1])
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.int64)
    at = np.searchsorted(known, points)
    at[np.array([*known, -1])[at] != points] = len(known)
    return np.asarray(place_of[at])
