"""Data in: files and samples from known distributions."""

from .generators import (
    chess_board,
    random_stretch,
    sparse_coordinate,
    sparse_coordinate_bayes_error,
    stretched_chess_board,
    two_blobs,
)

__all__ = [
    "chess_board",
    "random_stretch",
    "sparse_coordinate",
    "sparse_coordinate_bayes_error",
    "stretched_chess_board",
    "two_blobs",
]
