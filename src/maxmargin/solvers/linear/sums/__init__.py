"""Linear machines from sums over shards: nothing but O(d²) numbers leaves a shard."""

from .newton import SumsSettings, fit_sums
from .session import LocalSums, SumsSession
from .shard import LinearTask

__all__ = ["LinearTask", "LocalSums", "SumsSession", "SumsSettings", "fit_sums"]
