"""Crossovers: problem sizes at which one method becomes cheaper than another.

`plan` decides with them what runs, and drivers and the loop when they change over from one method
to another. Each was found by timing both methods on either side of it, with the command of its
group; one that is off by a factor of two costs some percent of speed, and no accuracy.
`python -m benchmarks.ablation` switches whole methods off.
"""

from __future__ import annotations

# --- the whole matrix or blocks of it (4,900 to 7,400 samples)
# python -m benchmarks.speed --problems banana,waveform,ringnorm

# Samples up to which the whole matrix is faster than blocks; and up to which it is if it is already
# in memory.
LARGEST_FULL, LARGEST_IN_MEMORY = 3500, 5000
# Samples up to which rows on demand are tried before blocks, if the kernel has few features.
LARGEST_TENTATIVE, TENTATIVE_FEATURES = 8000, 12

# --- many small problems in one compiled call
# python -m benchmarks.speed --problems heart,thyroid; with --others: iris,digits

# Most variables of a problem in a batch of several, and most samples of a batch of one.
LARGEST_IN_BATCH, LARGEST_ALONE_IN_BATCH = 1000, 1000
# Gram entries of all its problems from which a second thread pays off.
THREADED_BATCH = 1 << 16

# --- rows on demand instead of the whole matrix
# python -m benchmarks.speed --problems chess-board-1000,titanic,image

# Samples below which the cost of the whole matrix is negligible; with at most CHEAPEST_FEATURES
# features, the second number.
ON_DEMAND_SAMPLES, ON_DEMAND_SAMPLES_IF_CHEAP, CHEAPEST_FEATURES = 700, 150, 4
# Number of rows before the first decision whether to continue.
FIRST_ON_DEMAND = 16
# A single row costs as much as in the whole matrix, plus once more for each FEATURES_PER_COST
# features. The remaining rows, extrapolated from those so far (often to a third of what is needed),
# may cost at most the fraction AFFORDABLE of the whole matrix.
FEATURES_PER_COST, AFFORDABLE = 25, 0.15

# --- blocks
# python -m benchmarks.speed --problems a9a,w8a,mnist-10000; with --others: covtype

# Samples of a block: by default; with at least MANY_SAMPLES samples; with at least MANY_FEATURES.
SMALL_BLOCK, BLOCK, LARGE_BLOCK = 512, 1024, 2048
MANY_SAMPLES, MANY_FEATURES = 20_000, 256
# Number of features below which recomputing kernel values is faster than reading them from cached
# rows; and bytes above which such rows are not cached, as the first touch of memory costs more.
CHEAP_FEATURES, ENOUGH_FOR_CHEAP_ROWS = 64, 3 << 27
# Samples of a block of all free ones, at most; and free variables of a block from which it uses the
# projected Newton step instead of the exact active-set one.
WIDEST_FACE, FEW_FREE = 6000, 400
# Columns are dropped when at least this fraction of them has settled.
LEAST_SETTLED = 0.2

# --- face steps and polishing
# python -m benchmarks.ablation --paths compiled-newton --problems german,image,splice

# Costs in seconds: a pair step, each variable in it; a face step in compiled code, one from Python,
# a multiplication in the factorisation; a gathered entry, an entry of the factor in a round. Only
# the ratios matter.
STEP_COST, VARIABLE_COST = 3e-7, 1.3e-9
SMALL_FACE_COST, FACE_COST, FLOP_COST = 2e-6, 1e-4, 5e-11
GATHER_COST, ROUND_COST = 2e-9, 1e-9
# Largest number of free variables of a face step in compiled code: larger steps benefit from
# threads. With more than the second number the factorisation costs more than it saves.
LARGEST_SMALL, LARGEST_FACE = 500, 3000
# Before a face step on more free variables than this, pair steps may cost MANY_PATIENCE times as
# much, so that the set of free variables has settled by then.
SMALL_FACE, MANY_PATIENCE = 40, 8.0
# Cost limits of polishing, as a fraction of the cost of the solution or in seconds: of one face
# step, and of everything if one is not enough. With more free variables than LARGEST_POLISHED there
# is none: it would cost more than the solution.
POLISH_SHARE, CHEAP_FACE, CHEAP_POLISH, LARGEST_POLISHED = 0.25, 4e-4, 5e-3, 1000

# --- boxes that grow to the one of the problem
# python -m timeit -s "import maxmargin as m; from sklearn.datasets import load_breast_cancer as d"
#   "m.SVC(kernel='linear', C=1000.0).fit(*d(return_X_y=True))", likewise larger sets

# Continuation in the box size: samples per kernel dimension from which it is used, ratio of
# successive boxes, largest number of boxes, and number of pair steps from 0 to the bounds of all
# variables below which it does not pay off.
SAMPLES_PER_DIMENSION, BOX_RATIO, MOST_BOXES, WORTH_STEPS = 4, 10.0, 16, 3e4

# --- float32 rows
# python -m benchmarks.speed --problems usps,mnist-10000,a9a

# Number of samples from which float32 rows are considered (and checked for precision): for float32
# inputs; for float64 inputs; or number of entries of float64 inputs.
SINGLE_OF_SINGLE, SINGLE_OF_DOUBLE, SINGLE_ENTRIES = 2000, 4000, 1_000_000
# Samples, and rows of their Gram matrix, used to estimate the rounding of float32.
PROBED, PROBED_ROWS = 300, 30

# --- memory

# cache_size="auto": this many bytes, limited to half of the free memory, and at least the second
# number; free memory is not queried for matrices of up to a quarter of that.
GENEROUS, MODEST = 3 << 29, 1 << 27
# A limit above the free memory is replaced by this fraction of the free memory.
MOST_OF_FREE = 0.8
# Shares of the memory of a fit: for rows (a solver takes FACE_SHARE of that besides, for blocks and
# their factors), and for a matrix shared by several problems.
ROWS_SHARE, SHARED_MATRIX_SHARE, FACE_SHARE = 0.7, 0.5, 0.4
# Block matrices in memory at a time: the current and the last one, the new entries, the factor.
BLOCK_MATRICES = 4
