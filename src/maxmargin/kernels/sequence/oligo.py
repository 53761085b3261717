"""Oligo kernels: position-dependent similarity of strings (thesis, chapter 13).

A sequence x has the K-mer ω at the positions S_ω^x (0-based, from its left end). Smoothed by a
Gaussian this is the oligo function μ_ω^x(t) = Σ_{p ∈ S_ω^x} exp(−(t − p)²/2σ²), and

    ∫ μ_ω^x(t) μ_ω^x'(t) dt = √π σ Σ_p Σ_q exp(−(p − q)²/4σ²).

The kernels leave out √π σ. This makes σ → 0 the count of K-mers at equal positions and σ → ∞ the
K-mer spectrum kernel, and changes nothing after normalisation.

Sequences are lists or 1-D arrays of `str` or `bytes`, of equal or different lengths. Upper and
lower case are equal. A K-mer with a letter outside the alphabet (N, gaps) matches nothing, not even
itself. A sequence without any K-mer, such as one shorter than K, is the zero of feature space: all
its kernel values are 0, also normalised, also with itself.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ..base import Array, Float, Gram, Inputs, Kernel, checked_weights, finite_number
from .encoding import EncodedSequences, encoded
from .terms import Block, Term, TermGradient

ONE_WEIGHT = np.ones(1)


class SequenceKernel(Kernel):
    """A sum of oligo kernels over one alphabet."""

    alphabet: str

    @abstractmethod
    def _terms(self) -> list[Term]:
        """The kernels that are added up."""

    @abstractmethod
    def _coordinates(self, terms: list[TermGradient]) -> Float:
        """The derivative in `theta`, given those of the terms."""

    def __call__(self, A: Inputs, B: Inputs | None = None) -> Array:
        left, right = self._encoded(A, B)
        if right is left:
            return self.bind(left).matrix()
        block = np.zeros((len(left), len(right)))
        for term in self._terms():
            term.between(left, right).add_rows(np.arange(len(left)), block)
        return block

    def diagonal(self, A: Inputs) -> Float:
        X = encoded(A, self.alphabet, "A")
        values = np.zeros(len(X))
        for term in self._terms():
            values += term.diagonal(X)
        return values

    def gradient(self, A: Inputs, B: Inputs | None, W: Array) -> Float:
        left, right = self._encoded(A, B)
        W = checked_weights(W, len(left), len(right))
        return self._coordinates([term.gradient(left, right, W) for term in self._terms()])

    def diagonal_gradient(self, A: Inputs, w: Array) -> Float:
        X, w = encoded(A, self.alphabet, "A"), np.asarray(w, dtype=np.float64)
        return self._coordinates([term.diagonal_gradient(X, w) for term in self._terms()])

    def bind(self, X: Inputs, dtype: Any = None) -> Gram:
        return SequenceGram(self, encoded(X, self.alphabet, "X"), dtype)

    def _encoded(self, A: Inputs, B: Inputs | None) -> tuple[EncodedSequences, EncodedSequences]:
        left = encoded(A, self.alphabet, "A")
        right = left if B is None or B is A else encoded(B, self.alphabet, "B")
        return left, right


class Selection(NamedTuple):
    """Some of the sequences of a Gram matrix: as rows their numbers, as columns their blocks."""

    rows: Array
    columns: Callable[[], list[Block]]


class SequenceGram(Gram):
    """Gram matrix of sequences that were encoded and indexed once."""

    points: Selection

    def __init__(self, kernel: SequenceKernel, X: EncodedSequences, dtype: Any = None) -> None:
        super().__init__(kernel, X, dtype)
        blocks = [term.between(X, X) for term in kernel._terms()]
        self.points = Selection(np.arange(self.n), lambda: blocks)

    def _select(self, points: Selection, indices: Array | slice) -> Selection:
        places = np.arange(points.rows.size)[indices]
        return Selection(
            points.rows[places],
            cache(lambda: [block.restricted(places) for block in points.columns()]),
        )

    def _block(self, left: Selection, right: Selection, out: Array) -> None:
        out[...] = 0.0
        for block in right.columns():
            block.add_rows(left.rows, out)


@dataclass(frozen=True)
class Oligo(SequenceKernel):
    """K-mer oligo kernel::

        k(x, x') = Σ_ω Σ_{p ∈ S_ω^x} Σ_{q ∈ S_ω^x'} exp(−(p − q)²/4σ²)
        k̄(x, x') = k(x, x') / √(k(x, x) k(x', x'))

    Parameters
    ----------
    k : int
        Length K of the substrings that are compared.
    sigma : float
        Smoothing σ: how far apart, in letters, equal K-mers still count.
    normalised : bool
        k̄ if true, else k.
    alphabet : str
        K-mers with other letters match nothing.

    Examples
    --------
    >>> from maxmargin.kernels import Oligo
    >>> kernel = Oligo(k=3, sigma=1.0)
    >>> kernel(["TAGGAGGTA", "TAAGGAGGT"], ["taggaggta"]).round(4)
    array([[1.    ],
           [0.5936]])
    """

    k: int = 3
    sigma: float = 1.0
    normalised: bool = True
    alphabet: str = "ACGT"

    def __post_init__(self) -> None:
        _check_alphabet(self.alphabet, self.k)
        _set(self, k=int(self.k), sigma=_positive("sigma", self.sigma))

    def _terms(self) -> list[Term]:
        return [Term(self.k, self.sigma, ONE_WEIGHT, 1.0, self.normalised)]

    @property
    def parameter_names(self) -> tuple[str, ...]:
        return ("log_sigma",)

    @property
    def theta(self) -> Float:
        return np.log([self.sigma])

    def moved(self, delta: Any) -> Oligo:
        (sigma,) = _scaled([self.sigma], self._checked_delta(delta))
        return Oligo(self.k, sigma, self.normalised, self.alphabet)

    def _coordinates(self, terms: list[TermGradient]) -> Float:
        return np.array([term.sigma for term in terms])


@dataclass(frozen=True)
class CombinedOligo(SequenceKernel):
    """Combined oligo kernel, the sum of normalised ones::

        k(x, x') = Σ_{K=1}^{len(sigmas)} k̄_K(x, x'),   k̄_K = Oligo(K, σ_K)

    Parameters
    ----------
    sigmas : sequence of float
        Smoothing σ_1, σ_2, …
    alphabet : str
        K-mers with other letters match nothing.

    Examples
    --------
    >>> from maxmargin.kernels import CombinedOligo
    >>> kernel = CombinedOligo(sigmas=(0.5, 1.0, 2.0))
    >>> kernel(["TAGGAGGTA", "TAAGGAGGT"]).round(4)
    array([[3.    , 2.1304],
           [2.1304, 3.    ]])
    """

    sigmas: tuple[float, ...] = (1.0,) * 6
    alphabet: str = "ACGT"

    def __post_init__(self) -> None:
        sigmas = tuple(_positive("sigmas", sigma) for sigma in self.sigmas)
        _check_alphabet(self.alphabet, max(len(sigmas), 1))
        if not sigmas:
            raise ValueError("sigmas must have at least one entry, got none")
        _set(self, sigmas=sigmas)

    def _terms(self) -> list[Term]:
        return [
            Term(k, sigma, ONE_WEIGHT, 1.0, True) for k, sigma in enumerate(self.sigmas, start=1)
        ]

    @property
    def parameter_names(self) -> tuple[str, ...]:
        return tuple(f"log_sigma[{k + 1}]" for k in range(len(self.sigmas)))

    @property
    def theta(self) -> Float:
        return np.log(self.sigmas)

    def moved(self, delta: Any) -> CombinedOligo:
        return CombinedOligo(_scaled(self.sigmas, self._checked_delta(delta)), self.alphabet)

    def _coordinates(self, terms: list[TermGradient]) -> Float:
        return np.array([term.sigma for term in terms])


@dataclass(frozen=True)
class WeightedOligo(SequenceKernel):
    """Weighted oligo kernel::

        k(x, x') = Σ_{K=1}^{len(sigmas)} λ_K k̄_K(x, x'),   k̄_K = Oligo(K, σ_K)

    Its coordinates are log σ_1, …, log λ_1, …

    Parameters
    ----------
    sigmas : sequence of float
        Smoothing σ_1, σ_2, …
    weights : sequence of float, optional
        Non-negative λ_1, λ_2, …; all 1 by default. A weight of 0 stays 0 when the kernel is moved.
    alphabet : str
        K-mers with other letters match nothing.

    Examples
    --------
    >>> from maxmargin.kernels import WeightedOligo
    >>> kernel = WeightedOligo(sigmas=(0.5, 1.0, 2.0), weights=(1.0, 0.0, 2.0))
    >>> kernel(["TAGGAGGTA", "TAAGGAGGT"]).round(4)
    array([[3.    , 2.0831],
           [2.0831, 3.    ]])
    """

    sigmas: tuple[float, ...] = (1.0,) * 6
    weights: tuple[float, ...] | None = None
    alphabet: str = "ACGT"

    def __post_init__(self) -> None:
        sigmas = CombinedOligo(self.sigmas, self.alphabet).sigmas
        weights = _weights(self.weights, len(sigmas))
        _set(self, sigmas=sigmas, weights=weights)

    def _terms(self) -> list[Term]:
        combined = CombinedOligo(self.sigmas, self.alphabet)._terms()
        return [
            term._replace(amplitude=weight) for term, weight in zip(combined, self.weights or ())
        ]

    @property
    def parameter_names(self) -> tuple[str, ...]:
        lengths = range(1, len(self.sigmas) + 1)
        return tuple(f"log_{name}[{k}]" for name in ("sigma", "weight") for k in lengths)

    @property
    def theta(self) -> Float:
        return np.concatenate([np.log(self.sigmas), _log_weights(self.weights)])

    def moved(self, delta: Any) -> WeightedOligo:
        steps = self._checked_delta(delta)
        return WeightedOligo(
            _scaled(self.sigmas, steps[: len(self.sigmas)]),
            _scaled(self.weights, steps[len(self.sigmas) :]),
            self.alphabet,
        )

    def _coordinates(self, terms: list[TermGradient]) -> Float:
        return np.array([term.sigma for term in terms] + [term.amplitude for term in terms])


@dataclass(frozen=True)
class TripletOligo(SequenceKernel):
    """Triplet-weighting oligo kernel, or its normalisation k̄ = k/√(k(x, x) k(x', x'))::

        k(x, x') = Σ_{ω ∈ alphabet³} λ_ω Σ_{p ∈ S_ω^x} Σ_{q ∈ S_ω^x'} exp(−(p − q)²/4σ²)

    Its coordinates are log σ and log λ_ω in the order of `triplets`. Normalised, a common factor
    of all weights cancels.

    Parameters
    ----------
    sigma : float
        Smoothing σ.
    weights : sequence of float or mapping from triplet to float, optional
        Non-negative λ_ω in the order of `triplets`, or by name with 1 for the others; all 1 by
        default. A weight of 0 stays 0 when the kernel is moved.
    normalised : bool
        k̄ if true, else k.
    alphabet : str
        Triplets with other letters match nothing.

    Examples
    --------
    >>> from maxmargin.kernels import TripletOligo
    >>> kernel = TripletOligo(sigma=1.0, weights={"AGG": 2.0, "GGA": 2.0, "GAG": 2.0})
    >>> kernel(["TAGGAGGTA", "TAAGGAGGT"]).round(4)
    array([[1.    , 0.6813],
           [0.6813, 1.    ]])
    >>> len(kernel.weights), kernel.triplets[:5]
    (64, ('AAA', 'AAC', 'AAG', 'AAT', 'ACA'))
    """

    sigma: float = 1.0
    weights: tuple[float, ...] | Mapping[str, float] | None = None
    normalised: bool = True
    alphabet: str = "ACGT"

    def __post_init__(self) -> None:
        _check_alphabet(self.alphabet, 3)
        given = self.weights
        named = _by_name(given, self.triplets) if isinstance(given, Mapping) else given
        weights = _weights(named, len(self.alphabet) ** 3)
        _set(self, sigma=_positive("sigma", self.sigma), weights=weights)

    @property
    def triplets(self) -> tuple[str, ...]:
        """All triplets over the alphabet, in the order of `weights`."""
        return tuple("".join(letters) for letters in product(self.alphabet, repeat=3))

    def _terms(self) -> list[Term]:
        return [Term(3, self.sigma, np.array(self.weights), 1.0, self.normalised)]

    @property
    def parameter_names(self) -> tuple[str, ...]:
        return ("log_sigma", *(f"log_weight[{triplet}]" for triplet in self.triplets))

    @property
    def theta(self) -> Float:
        return np.concatenate([np.log([self.sigma]), _log_weights(self.weights)])

    def moved(self, delta: Any) -> TripletOligo:
        steps = self._checked_delta(delta)
        return TripletOligo(
            self.sigma * float(np.exp(steps[0])),
            _scaled(self.weights, steps[1:]),
            self.normalised,
            self.alphabet,
        )

    def _coordinates(self, terms: list[TermGradient]) -> Float:
        (term,) = terms
        return np.concatenate([[term.sigma], term.weights])


def _set(kernel: SequenceKernel, **fields: Any) -> None:
    for name, value in fields.items():
        object.__setattr__(kernel, name, value)


def _check_alphabet(alphabet: Any, k: Any) -> None:
    if not isinstance(alphabet, str) or len(set(alphabet.upper())) < max(len(alphabet), 1):
        raise ValueError(
            f"alphabet must be a string of letters that differ in more than case, got {alphabet!r}"
        )
    if not isinstance(k, (int, np.integer)) or isinstance(k, bool) or k < 1:
        raise ValueError(f"k must be an integer of at least 1, got {k!r}")
    if len(alphabet) ** int(k) >= 2**62:
        raise ValueError(
            f"k must satisfy len(alphabet)**k < 2**62, got k = {k} with {len(alphabet)} letters"
        )


def _positive(name: str, value: Any) -> float:
    number = finite_number(name, value)
    if number <= 0.0:
        raise ValueError(f"{name} must be positive, got {number}")
    return number


def _weights(given: Any, size: int) -> tuple[float, ...]:
    if given is None:
        return (1.0,) * size
    weights = tuple(finite_number("weights", weight) for weight in given)
    if len(weights) != size:
        raise ValueError(f"weights must have {size} entries, got {len(weights)}")
    if min(weights) < 0.0:
        raise ValueError(f"weights must not be negative, got {min(weights)}")
    return weights


def _by_name(given: Mapping[str, float], names: tuple[str, ...]) -> list[float]:
    by_name = dict.fromkeys(names, 1.0)
    for name, weight in given.items():
        if name not in by_name:
            raise ValueError(f"weights must be keyed by triplets of the alphabet, got {name!r}")
        by_name[name] = weight
    return list(by_name.values())


def _log_weights(weights: Any) -> Float:
    with np.errstate(divide="ignore"):
        logarithms: Float = np.log(weights)
    return logarithms


def _scaled(values: Any, steps: Iterable[float]) -> tuple[float, ...]:
    return tuple(float(value * np.exp(step)) for value, step in zip(values, steps))
