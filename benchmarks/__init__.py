"""Peers side by side: `python -m benchmarks.speed` from the root of the repository."""
