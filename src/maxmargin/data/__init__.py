"""Data in: files and samples from known distributions."""

from .fasta import FastaRecord, read_fasta
from .generators import (
    chess_board,
    random_stretch,
    sparse_coordinate,
    sparse_coordinate_bayes_error,
    stretched_chess_board,
    two_blobs,
)
from .genes import GeneStart, StartSites, read_gene_starts, reverse_complement, start_sites

__all__ = [
    "FastaRecord",
    "GeneStart",
    "StartSites",
    "chess_board",
    "random_stretch",
    "read_fasta",
    "read_gene_starts",
    "reverse_complement",
    "sparse_coordinate",
    "sparse_coordinate_bayes_error",
    "start_sites",
    "stretched_chess_board",
    "two_blobs",
]
