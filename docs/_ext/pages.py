"""Which parts the gallery has, in which order."""

import os

SUBSECTIONS = (
    "first_steps",
    "certificates",
    "kernels",
    "tuning",
    "linear_and_streams",
    "trees_and_ridge",
    "solver",
)


def subsection_rank(path):
    name = os.path.basename(os.path.normpath(path))
    return SUBSECTIONS.index(name) if name in SUBSECTIONS else -1
