"""Checkpoints of a fit over shards: the values of α after the last round."""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np

from ..estimators.kernel.training.sharded import Checkpoints

# Parameters that do not change the problem.
OTHER = {"client", "checkpoint", "verbose", "callback", "max_seconds", "max_iter", "n_jobs"}


def checkpoints_in(path: Any, parameters: dict[str, Any]) -> Checkpoints:
    """Checkpoints in the file at a path, one for each problem of a fit.

    A file that belongs to another problem is an error: its α would be meaningless here.
    """
    path, lock = Path(os.fspath(path)), threading.Lock()
    known = {name: value for name, value in parameters.items() if name not in OTHER}
    mark = hashlib.sha256(repr(sorted(known.items())).encode()).hexdigest()
    kept: dict[str, Any] = {}
    if path.exists():
        with np.load(path, allow_pickle=False) as file:
            kept.update(file)
        if str(kept.pop("mark", "")) != mark:
            raise ValueError(
                f"checkpoint {path} belongs to a fit with other parameters: remove it, or give "
                "another path"
            )

    def load(number: int) -> Any:
        if f"{number}.shards" not in kept:
            return None
        shards = int(kept[f"{number}.shards"])
        rows = [kept[f"{number}.{k}.rows"] for k in range(shards)]
        return rows, [kept[f"{number}.{k}.alpha"] for k in range(shards)]

    def save(number: int, rows: Any, alpha: Any) -> None:
        with lock:
            kept[f"{number}.shards"] = np.array(len(rows))
            for k, (own, values) in enumerate(zip(rows, alpha)):
                kept[f"{number}.{k}.rows"], kept[f"{number}.{k}.alpha"] = own, values
            beside = path.with_name(f"{path.name}.new")
            with beside.open("wb") as file:
                np.savez(file, mark=np.array(mark), **kept)
            os.replace(beside, path)

    return Checkpoints(load, save)
