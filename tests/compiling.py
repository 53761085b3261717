"""Whether compiled code is compiled, and how much can be asked of it if not.

With NUMBA_DISABLE_JIT=1 it runs as plain Python, some hundred times slower: `make test-nojit`.
"""

import numba
from hypothesis import settings

COMPILED = not numba.config.DISABLE_JIT


def examples(count):
    """Settings of Hypothesis: so many examples, of interpreted code at most 25."""
    return settings(max_examples=count if COMPILED else min(count, 25))
