"""Public data sets by name: sources, conversion and checksums."""

from .catalogue import CATALOGUE, UNAVAILABLE, PublicSet
from .checking import Digest, digest
from .fetching import data_folder, fetch, present
from .web import Web

__all__ = [
    "CATALOGUE",
    "UNAVAILABLE",
    "Digest",
    "PublicSet",
    "Web",
    "data_folder",
    "digest",
    "fetch",
    "present",
]
