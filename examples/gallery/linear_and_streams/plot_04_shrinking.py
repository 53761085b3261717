"""
Shrinking
=========

Coordinate descent sets samples aside that are far from the margin. Before it ends, it looks at
all of them again.
"""

from maxmargin.data import two_blobs
from maxmargin.report import ShrinkingDisplay

X, y = two_blobs(400, random_state=0)
ShrinkingDisplay.from_samples(X, y)
