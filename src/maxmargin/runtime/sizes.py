"""Sizes of the pieces in which large inputs are processed; they limit the memory of a pass."""

from __future__ import annotations

# Entries of a temporary array: 8 MB of float64.
BLOCK_ENTRIES = 1 << 20
# Bytes of a chunk of a file.
CHUNK_BYTES = 1 << 26
# Bytes of a file up to which all of it is read into memory, or chunks of it are kept there.
KEPT_BYTES = 1 << 29
