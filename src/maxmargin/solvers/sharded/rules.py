"""How rounds over shards choose members and candidates, and when they end."""

from __future__ import annotations

from typing import NamedTuple


class Limit(NamedTuple):
    """A number of samples of `nbytes` each (images of 28 × 28 pixels in float32), and more of
    smaller ones, up to a factor, as other costs of a sample do not depend on its size."""

    samples: int
    nbytes: int = 784 * 4
    most_small: int = 8

    def of_size(self, nbytes: float) -> int:
        """The number for inputs of so many bytes a sample."""
        return int(self.samples * min(self.most_small, max(1.0, self.nbytes / max(1.0, nbytes))))


class Rules(NamedTuple):
    """Sizes, shares and limits of a run."""

    # Number of first members: at least `first`, or this share of all samples up to a limit.
    first: int = 2000
    first_share: float = 0.25
    most_first: int = 20_000
    # Candidates per round: this share of the members, between a smallest and a largest number.
    candidate_share: float = 1.0
    fewest_candidates: int = 500
    most_candidates: Limit = Limit(8000)
    # With more members only some are optimised at a time.
    most_members: Limit = Limit(60_000)
    # Each shard proposes this multiple of its share of the candidates, as violators are not evenly
    # distributed.
    asked: float = 2.0
    # The members are solved to this fraction of the violation of all samples; at first to this
    # fraction of the largest |linear|.
    inner_share: float = 0.1
    first_share_of_linear: float = 0.05
    # Rounds aim at this fraction of the tolerances, because the final certificate is more precise.
    aim: float = 0.9
    # Rounds without progress after which states are rebuilt in float64, and after which the run
    # ends.
    patience: int = 3
    # A member may be dropped after this many rounds at 0.
    settled: int = 2
    # Samples that satisfy their condition by more than this multiple of the largest violation, and
    # of this share of the largest change in the last round, are not updated until the next
    # certificate, which checks them; if one violates then, the multiple grows.
    leash: float = 2.0
    drift: float = 0.5
    longer: float = 4.0
    # Rounding in float32 takes violation and gap to no more than this multiple of the tolerances.
    stray: float = 2.0
    # Members whose violation is more than this share of the largest, or of twice the violation that
    # the solver left, violate for rounding in float32.
    rounding: float = 0.7
    # Largest number of certificates, each of which costs a pass over all samples.
    most_proofs: int = 6


RULES = Rules()

# A relative gain of the dual value above this is progress, by bytes of kernel values.
GAIN = {4: 1e-7, 8: 1e-11}
