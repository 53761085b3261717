"""Files of models: their container, and how a file is replaced as a whole."""

from .container import (
    KINDS,
    MODEL,
    ONLINE,
    Contents,
    ModelFileError,
    read_archive,
    write_archive,
)
from .matrices import CSR, csr_from
from .replacing import check_writable, replacing

__all__ = [
    "CSR",
    "KINDS",
    "MODEL",
    "ONLINE",
    "Contents",
    "ModelFileError",
    "check_writable",
    "csr_from",
    "read_archive",
    "replacing",
    "write_archive",
]
