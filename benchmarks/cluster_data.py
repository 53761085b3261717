"""Samples for the benchmark of shards, made in parts and written to files.

| set | what it is |
|---|---|
| `board` | the chess board of the thesis |
| `mnist` | the 60,000 training images, digits 0 to 4 against 5 to 9, pixels in [0, 1] |
| `digits` | these images and copies of them, each shifted and rotated at random |
| `table` | normal features, labels of a noisy hyperplane, Parquet files of float32 |
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import ndimage

from maxmargin.data import chess_board

from .problems import realdata

# Largest shift in pixels and rotation in degrees of a deformed digit.
SHIFT, TURN = 2.0, 15.0
SIDE = 28
# Share of the labels of the table that the hyperplane predicts only by chance.
NOISE = 0.5


class Files(NamedTuple):
    """Parts of the samples: a file of inputs for each, and one of labels or their column."""

    X: list[Path]
    y: list[Path] | str
    samples: int
    features: int
    itemsize: int

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """All samples in memory."""
        assert not isinstance(self.y, str)
        return np.concatenate([np.load(path) for path in self.X]), np.concatenate(
            [np.load(path) for path in self.y]
        )

    def memory_map(self, path: Path) -> tuple[np.memmap, np.ndarray]:
        """All inputs in one file that is mapped, and the labels in memory."""
        assert not isinstance(self.y, str)
        shape, kind = (self.samples, self.features), np.dtype(f"f{self.itemsize}")
        whole, start = np.memmap(path, dtype=kind, mode="w+", shape=shape), 0
        for part in self.X:
            X = np.load(part)
            whole[start : start + len(X)] = X
            start += len(X)
        whole.flush()
        y = np.concatenate([np.load(part) for part in self.y])
        return np.memmap(path, dtype=kind, mode="r", shape=shape), y


def board(folder: Path, samples: int, parts: int) -> Files:
    X, y = chess_board(samples, random_state=0)
    return saved(folder, X, y, parts)


def mnist(folder: Path, samples: int, parts: int) -> Files:
    X, digit = realdata.load("mnist")
    X = (X[:samples] / 255.0).astype(np.float32)
    return saved(folder, X, (digit[:samples] > 4).astype(np.int8), parts)


def digits(folder: Path, samples: int, parts: int) -> Files:
    """Deformed images, part after part; the first 60,000 are the images as they are."""
    images, digit = realdata.load("mnist")
    images, random = images.astype(np.float32) / np.float32(255), np.random.default_rng(0)
    edges = np.linspace(0, samples, parts + 1).astype(np.int64)
    inputs, labels = [], []
    for k, (start, stop) in enumerate(pairwise(edges)):
        chosen = np.arange(start, stop)
        X = images[chosen % len(images)]
        for row in np.flatnonzero(chosen >= len(images)):
            X[row] = deformed(X[row].reshape(SIDE, SIDE), random).ravel()
        inputs.append(folder / f"X{k}.npy")
        labels.append(folder / f"y{k}.npy")
        np.save(inputs[-1], X)
        np.save(labels[-1], (digit[chosen % len(images)] > 4).astype(np.int8))
    return Files(inputs, labels, samples, images.shape[1], 4)


def deformed(image: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """An image turned about its centre and shifted, with linear interpolation."""
    angle = np.deg2rad(random.uniform(-TURN, TURN))
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    centre = np.full(2, (SIDE - 1) / 2)
    offset = centre - turn @ (centre + random.uniform(-SHIFT, SHIFT, 2))
    result: np.ndarray = ndimage.affine_transform(image, turn, offset, order=1)
    return result


def table(folder: Path, samples: int, parts: int, features: int = 100) -> Files:
    """Parquet files of float32 columns and a column "label"."""
    import pyarrow
    import pyarrow.parquet

    plane = np.random.default_rng(0).normal(size=features) / np.sqrt(features)
    edges, paths = np.linspace(0, samples, parts + 1).astype(np.int64), []
    for k, size in enumerate(np.diff(edges)):
        random = np.random.default_rng(k + 1)
        X = random.standard_normal((size, features), dtype=np.float32)
        label = (X @ plane + NOISE * random.normal(size=size) > 0).astype(np.int8)
        columns = {f"x{j}": X[:, j] for j in range(features)}
        paths.append(folder / f"{k}.parquet")
        content = pyarrow.table({**columns, "label": label})
        # Random bits do not compress.
        pyarrow.parquet.write_table(
            content, paths[-1], compression="none", use_dictionary=False, write_statistics=False
        )
    return Files(paths, "label", samples, features, 4)


def saved(folder: Path, X: np.ndarray, y: np.ndarray, parts: int) -> Files:
    inputs, labels = [], []
    for k, rows in enumerate(np.array_split(np.arange(len(X)), parts)):
        inputs.append(folder / f"X{k}.npy")
        labels.append(folder / f"y{k}.npy")
        np.save(inputs[-1], X[rows])
        np.save(labels[-1], y[rows])
    return Files(inputs, labels, len(X), X.shape[1], X.dtype.itemsize)
