"""Gene starts of bacteria as a classification problem (thesis, section 13.1)."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

START_CODONS = frozenset({"ATG", "GTG", "TTG"})
STOP_CODONS = frozenset({"TAA", "TAG", "TGA"})
_COMPLEMENT = str.maketrans("ACGTacgt", "TGCAtgca")


class GeneStart(NamedTuple):
    """Where a gene starts: the first base of its start codon, counted from 1 on the + strand.

    Attributes
    ----------
    position : int
    strand : {"+", "-"}
    gene : str

    Examples
    --------
    >>> from maxmargin.data import GeneStart
    >>> GeneStart(190, "+", "thrL")
    GeneStart(position=190, strand='+', gene='thrL')
    """

    position: int
    strand: str
    gene: str = ""


class StartSites(NamedTuple):
    """Windows around true and false gene starts.

    `labels` are +1 and −1; `genes` holds the index of the true start that a window belongs to, so
    that a start and its false rivals can be kept together when samples are split.

    Attributes
    ----------
    sequences : array of str
    labels : int array
    genes : int array

    Examples
    --------
    >>> from maxmargin.data import GeneStart, start_sites
    >>> genome = "CCCCTAAATGAAAGTGTAAATGCC"
    >>> sites = start_sites(genome, [GeneStart(8, "+")], upstream=2, downstream=4)
    >>> sites.labels, sites.genes
    (array([ 1, -1]), array([0, 0]))
    """

    sequences: NDArray[np.str_]
    labels: NDArray[np.int64]
    genes: NDArray[np.int64]


def reverse_complement(sequence: str) -> str:
    """The other strand, read in its own direction; letters other than A, C, G, T stay.

    Parameters
    ----------
    sequence : str

    Returns
    -------
    str

    Examples
    --------
    >>> from maxmargin.data import reverse_complement
    >>> reverse_complement("ATGNcc")
    'ggNCAT'
    """
    return sequence.translate(_COMPLEMENT)[::-1]


def read_gene_starts(path: str | os.PathLike[str]) -> list[GeneStart]:
    """Read gene starts from a tab-separated table.

    Parameters
    ----------
    path : path
        Its header names the columns start_pos, strand and gene, perhaps among others.

    Returns
    -------
    list of GeneStart

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from maxmargin.data import read_gene_starts
    >>> path = pathlib.Path(tempfile.mkdtemp(), "starts.tsv")
    >>> _ = path.write_text("gene\\tstart_pos\\tstrand\\nthrL\\t190\\t+\\n")
    >>> read_gene_starts(path)
    [GeneStart(position=190, strand='+', gene='thrL')]
    """
    with open(path, encoding="utf-8", newline="") as file:
        header = file.readline().lstrip("#").strip().split("\t")
        missing = {"start_pos", "strand", "gene"} - set(header)
        if missing:
            raise ValueError(f"path must name a table with the columns {sorted(missing)} as well")
        table = csv.DictReader(file, header, delimiter="\t")
        return [GeneStart(int(row["start_pos"]), row["strand"], row["gene"]) for row in table]


def start_sites(
    genome: str,
    starts: Iterable[GeneStart],
    *,
    upstream: int = 32,
    downstream: int = 18,
    closer_than: int = 80,
) -> StartSites:
    """True gene starts and the false ones that are hard to tell from them.

    A false start is a codon ATG, GTG or TTG in frame with a true start, less than `closer_than`
    nucleotides away, with no stop codon in frame between the two. Genomes are taken as circular.

    Parameters
    ----------
    genome : str
        The + strand.
    starts : iterable of GeneStart
        The true starts.
    upstream, downstream : int
        Letters of a window before its start codon, and from its start codon on.
    closer_than : int

    Returns
    -------
    StartSites
        The true starts in their order, repeated ones once, then the false ones.

    Examples
    --------
    >>> from maxmargin.data import GeneStart, start_sites
    >>> genome = "CCCCTAAATGAAAGTGTAAATGCC"
    >>> sites = start_sites(genome, [GeneStart(8, "+")], upstream=2, downstream=4)
    >>> sites.sequences.tolist(), sites.labels.tolist()
    (['AAATGA', 'AAGTGT'], [1, -1])
    """
    if upstream < 0 or downstream < 1:
        raise ValueError(
            "upstream must be at least 0 and downstream at least 1, "
            f"got {upstream} and {downstream}"
        )
    strands = {"+": genome.upper(), "-": reverse_complement(genome.upper())}
    true: dict[tuple[str, int], int] = {}
    for gene, start in enumerate(starts):
        true.setdefault(_site(start, len(genome)), gene)
    sites = dict(true)
    for (strand, place), gene in true.items():
        for rival in _rivals(strands[strand], place, closer_than):
            sites.setdefault((strand, rival), gene)
    windows = [
        _circular(strands[strand], place - upstream, upstream + downstream)
        for strand, place in sites
    ]
    return StartSites(
        np.array(windows, dtype=np.str_),
        np.repeat([1, -1], [len(true), len(sites) - len(true)]),
        np.array(list(sites.values()), dtype=np.int64),
    )


def _site(start: GeneStart, length: int) -> tuple[str, int]:
    """Strand, and place of the start codon counted from 0 in the direction of the strand."""
    if start.strand not in ("+", "-"):
        raise ValueError(f"starts must have strand '+' or '-', got {start.strand!r} in {start}")
    if not 1 <= start.position <= length:
        raise ValueError(f"starts must lie in 1…{length}, the genome, got {start}")
    return start.strand, start.position - 1 if start.strand == "+" else length - start.position


def _rivals(strand: str, place: int, closer_than: int) -> Iterator[int]:
    for direction in (-1, 1):
        for distance in range(3, closer_than, 3):
            rival = place + direction * distance
            codon = _circular(strand, rival, 3)
            if codon in STOP_CODONS:
                break
            if codon in START_CODONS:
                yield rival % len(strand)


def _circular(strand: str, begin: int, size: int) -> str:
    return "".join(strand[place % len(strand)] for place in range(begin, begin + size))
