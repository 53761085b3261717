"""Who takes part: maxmargin, scikit-learn and scikit-learn-intelex, in float64 and float32."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib.util import find_spec
from itertools import product
from typing import Any

from .problems import Problem

OURS = "maxmargin"
SKLEARN = "scikit-learn"
INTELEX = "intelex"
# Megabytes for Gram rows, the same for all.
CACHE_SIZE = 4000


class Unavailable(Exception):
    """A library, or what is asked of it, is not there; the text says what."""


@dataclass(frozen=True)
class Contender:
    """A library, given inputs in one kind of float."""

    library: str
    module: str
    dtype: str
    package: str

    @property
    def name(self) -> str:
        return self.library if self.library == SKLEARN else f"{self.library}-{self.dtype}"

    def estimator(self, problem: Problem, **more: Any) -> Any:
        """A fresh estimator, or `Unavailable`."""
        try:
            module = importlib.import_module(self.module)
        except ImportError as error:
            raise Unavailable(f"{self.package} cannot be imported: {error}") from error
        maker = getattr(module, problem.estimator, None)
        if maker is None:
            raise Unavailable(f"{self.package} has no {problem.estimator}")
        return maker(**problem.parameters, cache_size=CACHE_SIZE, **more)

    def warm_ups(self) -> Iterator[dict[str, str]]:
        """Settings whose fits together touch all code that a fit may run."""
        yield {}
        if self.library == OURS:
            for solver, precision in product(("full", "blocks"), ("single", "double")):
                yield {"solver": solver, "precision": precision}

    def missing(self) -> str | None:
        """Why it cannot take part, if it cannot."""
        if find_spec(self.module.partition(".")[0]) is None:
            return f"{self.package} is not installed: pip install '.[bench]'"
        return None


# scikit-learn turns float32 into float64 before it begins.
OWN = tuple(Contender(OURS, "maxmargin", dtype, "maxmargin") for dtype in ("float64", "float32"))
PEERS = (
    Contender(SKLEARN, "sklearn.svm", "float64", "scikit-learn"),
    Contender(INTELEX, "sklearnex.svm", "float64", "scikit-learn-intelex"),
    Contender(INTELEX, "sklearnex.svm", "float32", "scikit-learn-intelex"),
)


def selected(patterns: Iterable[str] | None) -> list[Contender]:
    """Ourselves and the peers whose names match one of the patterns; "none" stands for no peer."""
    if patterns is None:
        return [*OWN, *PEERS]
    patterns = [pattern for pattern in patterns if pattern != "none"]
    names = [peer.name for peer in PEERS]
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise ValueError(
                f"--peers: no peer is called {pattern!r}; there are {', '.join(names)} and none"
            )
    return [*OWN, *(p for p in PEERS if any(fnmatchcase(p.name, q) for q in patterns))]
