"""Kernel machines whose samples are in shards: in files larger than memory, or on a cluster."""

from .backend import Backend, LocalBackend, Session
from .driver import solve_sharded
from .records import ShardedProgress, ShardedSettings, ShardedSolution
from .shard import Part, ShardTask

__all__ = [
    "Backend",
    "LocalBackend",
    "Part",
    "Session",
    "ShardTask",
    "ShardedProgress",
    "ShardedSettings",
    "ShardedSolution",
    "solve_sharded",
]
