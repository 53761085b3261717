"""`demo`: a small file to start with, with column names and class names."""

from __future__ import annotations

from pathlib import Path


def write_demo_data(folder: Path) -> Path:
    """Write the breast cancer data of scikit-learn as a CSV file."""
    import polars
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    columns = {name: data.data[:, i] for i, name in enumerate(data.feature_names)}
    columns["diagnosis"] = [str(data.target_names[code]) for code in data.target]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "cells.csv"
    polars.DataFrame(columns).write_csv(path)
    return path
