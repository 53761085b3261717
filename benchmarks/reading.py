"""Read a large svmlight file with maxmargin and with scikit-learn: seconds and memory.

python -m benchmarks.reading --megabytes 1000 --repeats 3

Each reading is a process of its own, the two in turn; the file is in the page cache.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

READERS = ("maxmargin", "scikit-learn")
FEATURES, BLOCK = 50_000, 4000


def write_file(path: Path, megabytes: int, entries: int, digits: int) -> None:
    """Lines with so many entries of so many digits; a block of them is written again and again."""
    random = np.random.default_rng(0)
    lines = []
    for label in random.choice([-1, 1], BLOCK):
        places = np.sort(random.choice(FEATURES, entries, replace=False)) + 1
        values = random.lognormal(-3.0, 1.0, entries)
        pairs = " ".join(f"{i}:{x:.{digits}g}" for i, x in zip(places, values))
        lines.append(f"{label:+d} {pairs}\n")
    block = "".join(lines).encode()
    with open(path, "wb") as stream:
        for _ in range(max(1, megabytes * 10**6 // len(block))):
            stream.write(block)


def peak() -> float:
    """Megabytes of memory that this process had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def read(reader: str, path: str) -> None:
    """Read the file and print what it took."""
    if reader == "maxmargin":
        from maxmargin.data import read_data

        with tempfile.NamedTemporaryFile(suffix=".svm") as small:
            small.write(b"1 1:0.5\n")
            small.flush()
            read_data(small.name)
    else:
        from sklearn.datasets import load_svmlight_file
    before, began = peak(), time.perf_counter()
    if reader == "maxmargin":
        X = read_data(path).X
    else:
        X = load_svmlight_file(path)[0]
    seconds = time.perf_counter() - began
    size = (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 1e6
    figures = {"seconds": seconds, "peak": peak() - before, "size": size}
    print(json.dumps({**figures, "sum": float(X.data.sum()), "last": int(X.indices.max())}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--entries", type=int, default=70, help="of a line")
    parser.add_argument("--digits", type=int, default=7, help="of a value")
    parser.add_argument("--folder", help="for the file")
    parser.add_argument("--read", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read:
        read(*options.read)
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = Path(folder, "large.svm")
        write_file(path, options.megabytes, options.entries, options.digits)
        with open(path, "rb") as stream, open(os.devnull, "wb") as nowhere:
            shutil.copyfileobj(stream, nowhere)
        seen: dict[str, list[dict[str, float]]] = {reader: [] for reader in READERS}
        for _ in range(options.repeats):
            for reader in READERS:
                command = [sys.executable, "-m", "benchmarks.reading", "--read", reader, str(path)]
                done = subprocess.run(command, check=True, capture_output=True)
                seen[reader].append(json.loads(done.stdout))
        size = path.stat().st_size / 1e6
    assert len({(run["sum"], run["last"]) for runs in seen.values() for run in runs}) == 1
    print(f"{size:.0f} MB, {options.entries} entries a line, {options.digits} digits a value")
    for reader, runs in seen.items():
        seconds = ", ".join(f"{run['seconds']:.2f}" for run in runs)
        most = max(run["peak"] for run in runs)
        print(f"{reader:>13}: {seconds} s; {most:.0f} MB for a matrix of {runs[0]['size']:.0f} MB")


if __name__ == "__main__":
    main()
