"""Numbers of samples at which searches, and the machines inside them, change what they do.

Each was found by running the command beside its group with smaller and larger numbers: errors and
CPU time of whole searches, or the time of one evaluation.
"""

from __future__ import annotations

# --- searches: python -m benchmarks.tuning_grid

# Most samples of the coarse grid, of the walk that follows, and of the whole search. The walk
# repeats its folds while that takes no more samples, up to REPEATS times.
SCAN_SAMPLES, WALK_SAMPLES, SEARCH_SAMPLES = 300, 1000, 2000
REPEATS = 3
# Most pairs of classes whose likelihoods are summed; with more, votes are counted.
MOST_PAIRS = 6
# Samples up to which probabilities take less than a tenth of the time of the search.
PROBABILITY_SAMPLES = 2000

# --- machines: python -m benchmarks.tuning_speed

# Variables beyond which shrinking pays and machines are left to `solve`.
LARGEST_MACHINE = 3000
# Samples up to which a Gram matrix is kept in float64: 128 MB.
LARGEST_MATRIX = 4096

# --- paths of C: python -m benchmarks.tuning_path

# Samples up to which a path is walked in one compiled call.
SMALL_PATH = 300
# Violating variables of a block at least, and free variables of a block above which its Newton step
# stops all variables that would leave the box at once.
BLOCK, MANY_FREE = 512, 300
