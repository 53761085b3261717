"""Processes that start quickly, because they are forked from one that has imported what they need.

There is one such server for each process of pytest. It has no threads: those of this process, such
as those of Polars, would not survive a fork.
"""

import os
from multiprocessing import get_context

PRELOADED = [
    "maxmargin.cli.app",
    "maxmargin.cli.commands.train",
    "maxmargin.cli.commands.tune",
    "maxmargin.distributed",
    "distributed.nanny",
    "distributed.worker",
]


def fork_server():
    """A context of multiprocessing, or None on systems without fork."""
    if not hasattr(os, "fork"):
        return None
    context = get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    return context
