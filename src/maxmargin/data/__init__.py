"""Data from files, public data sets, and samples from known distributions."""

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
from .readers import Table, read_data
from .sources import DataError
from .tables.columns import Column
from .tables.conversion import Schema, schema_of, standardised, targets_of
from .vectors import Vectors

__all__ = [
    "Column",
    "DataError",
    "FastaRecord",
    "GeneStart",
    "Schema",
    "StartSites",
    "Table",
    "Vectors",
    "chess_board",
    "random_stretch",
    "read_data",
    "read_fasta",
    "read_gene_starts",
    "reverse_complement",
    "schema_of",
    "sparse_coordinate",
    "sparse_coordinate_bayes_error",
    "standardised",
    "start_sites",
    "stretched_chess_board",
    "targets_of",
    "two_blobs",
]
