"""Crossovers: at which size one way of solving becomes cheaper than another.

`plan` compares with them; nothing else decides what runs. Each was found by timing both ways on
either side of it with `python -m benchmarks.speed` (see the names of problems below); a crossover
that is wrong by a factor of two costs some percent, and no accuracy.
"""

from __future__ import annotations

# --- the whole matrix or blocks of it (banana, waveform, ringnorm: 4,900 to 7,400 samples)

# Samples up to which the whole matrix is faster than blocks of it; and up to which it is if it is
# in memory already.
LARGEST_FULL, LARGEST_IN_MEMORY = 3500, 5000
# Samples up to which rows on demand are tried before blocks, if the kernel has few features.
LARGEST_TENTATIVE, TENTATIVE_FEATURES = 8000, 12

# --- many small problems in one compiled call (iris, digits; heart, thyroid)

# Variables of a problem that may be part of a batch, and samples of which there may be one.
LARGEST_IN_BATCH, LARGEST_ALONE_IN_BATCH = 2000, 1000

# --- rows on demand instead of the whole matrix (chess-board-1000, titanic, image)

# Samples below which the whole matrix costs nothing worth saving; where rows are as cheap as those
# of CHEAPEST_FEATURES, below the latter.
ON_DEMAND_SAMPLES, ON_DEMAND_SAMPLES_IF_CHEAP, CHEAPEST_FEATURES = 700, 150, 4
# Rows before it is first asked whether to go on.
FIRST_ON_DEMAND = 16
# A single row costs this many times what it does in the whole matrix, and once more for each
# FEATURES_PER_COST features. The rows still to come, taken to be CAUTION times as many as at the
# pace so far, are to cost at most the part AFFORDABLE of the whole matrix.
SINGLE_ROW_COST, FEATURES_PER_COST, CAUTION, AFFORDABLE = 1.0, 25, 3.0, 0.45

# --- blocks (a9a, w8a, mnist-10000, covtype)

# Samples of a block; with at least MANY_SAMPLES of them; with at least MANY_FEATURES.
SMALL_BLOCK, BLOCK, LARGE_BLOCK = 512, 1024, 2048
MANY_SAMPLES, MANY_FEATURES = 20_000, 256
# Features below which kernel values are computed again sooner than they are found in long rows; and
# the bytes beyond which rows of so few features are not kept, as touching new memory costs more.
CHEAP_FEATURES, ENOUGH_FOR_CHEAP_ROWS = 64, 1 << 30
# Samples come in stages, the first not smaller than this, each so many times as large as the last.
SMALLEST_STAGE, STAGE_RATIO = 6000, 6

# --- boxes that grow to the one of the problem (splice with a linear kernel, ijcnn1)

# Samples per dimension of the kernel from which boxes grow, each so many times as large as the one
# before, at most so many; and the pair steps from 0 to the bounds of all variables below which it
# is not worth while.
SAMPLES_PER_DIMENSION, BOX_RATIO, MOST_BOXES, WORTH_STEPS = 4, 10.0, 16, 3e4

# --- float32 rows (usps, mnist-10000, a9a)

# Samples from which float32 rows are worth the check that they are precise enough: of float32
# inputs; of float64 inputs; or of float64 inputs with so many entries.
SINGLE_OF_SINGLE, SINGLE_OF_DOUBLE, SINGLE_ENTRIES = 2000, 4000, 1_000_000
# Samples and rows of their Gram matrix by which the rounding of float32 is estimated.
PROBED, PROBED_ROWS = 300, 30
# Samples from which certificates look at float32 values first and compute in float64 what matters.
SINGLE_IN_CERTIFICATE = 4000

# --- memory

# What cache_size="auto" stands for: so many bytes, if half of the free memory is that much, and at
# least the latter; matrices of a quarter as many bytes are not worth the question.
GENEROUS, MODEST = 3 << 29, 1 << 27
# A limit beyond what is free is of no use: this part of it is taken instead.
MOST_OF_FREE = 0.8
# Of the memory that a fit may take, the part for rows, beside which a solver takes FACE_SHARE of
# that for blocks and their factors; and the part for a matrix that several problems share.
ROWS_SHARE, SHARED_MATRIX_SHARE, FACE_SHARE = 0.7, 0.5, 0.4
# Rows of square matrices that are worked on: so many in any case, and never more than the latter.
SMALL_SIDE, LARGEST_SIDE = 1024, 1 << 20
# Matrices of a block in memory at a time: this one, the last one, what is new in it, the factor.
BLOCK_MATRICES = 4
