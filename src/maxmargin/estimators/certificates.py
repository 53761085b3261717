"""The certificates of several problems that make up one model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..dual import Certificate


@dataclass(frozen=True)
class Certificates:
    """One `Certificate` for each pair of classes (or each class against the rest).

    A sequence; `worst` is the one with the largest violation.

    Attributes
    ----------
    names : tuple of str
    certificates : tuple of Certificate

    Examples
    --------
    >>> from maxmargin.dual import Certificate
    >>> from maxmargin.estimators.certificates import Certificates
    >>> good = Certificate(primal=1.0, dual=1.0, gap=0.0, violation=0.0, infeasibility=0.0)
    >>> poor = Certificate(primal=10.5, dual=10.0, gap=0.5, violation=0.25, infeasibility=0.0)
    >>> Certificates(("a vs b", "a vs c"), (good, poor))
    Certificates of 2 problems, worst of a vs c:
    Certificate(primal=10.5, dual=10, relative gap 4.8e-02, violation 2.5e-01)
    """

    names: tuple[str, ...]
    certificates: tuple[Certificate, ...]

    def __len__(self) -> int:
        return len(self.certificates)

    def __getitem__(self, place: int) -> Certificate:
        return self.certificates[place]

    def __iter__(self) -> Iterator[Certificate]:
        return iter(self.certificates)

    @property
    def worst(self) -> Certificate:
        return self.certificates[self._worst_place()]

    @property
    def gap(self) -> float:
        """The sum of the gaps."""
        return sum(certificate.gap for certificate in self)

    @property
    def relative_gap(self) -> float:
        """The largest of all."""
        return max(certificate.relative_gap for certificate in self)

    @property
    def violation(self) -> float:
        """The largest of all."""
        return self.worst.violation

    def _worst_place(self) -> int:
        return max(range(len(self)), key=lambda place: self[place].violation)

    def __repr__(self) -> str:
        place = self._worst_place()
        return f"Certificates of {len(self)} problems, worst of {self.names[place]}:\n{self[place]}"
