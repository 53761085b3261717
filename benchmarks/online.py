"""Online and active learning on digits: `python -m benchmarks.online mnist`, and so on.

mnist     one pass over MNIST against the batch machine; --peer times scikit-learn's as well
stream    examples a second and milliseconds an example, at 1,000, 10,000 and 60,000 seen
labels    accuracy against labels, chosen and random; --plot writes the figure
gamma     the rule by which γ of USPS is chosen, on its training part
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import sklearn.svm

from maxmargin import SVC, OnlineSVC
from reproduction.chapter08 import Task

from .online_gamma import choose_gamma
from .online_labels import label_curves
from .problems import MNIST, realdata

SEEN = (1_000, 10_000, 60_000)
SINGLE, BATCH = 300, 500


def mnist_task() -> Task:
    """Small against large digits."""
    parts = []
    for part in ("train", "test"):
        X, y = realdata.load("mnist", part, np.float32)
        parts += [X / np.float32(255), np.where(y < 5, -1, 1)]
    return Task(*parts, dict(MNIST))


def mnist(given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    task = mnist_task()
    X, y = task.X[: given.samples], task.y[: given.samples]
    OnlineSVC(**task.parameters).fit(X[:2_000], y[:2_000])
    machines: dict[str, Any] = {
        "OnlineSVC, one pass": OnlineSVC(**task.parameters),
        "SVC": SVC(**task.parameters),
    }
    if given.peer:
        machines["sklearn.svm.SVC"] = sklearn.svm.SVC(**task.parameters)
    for name, machine in machines.items():
        began, spent = time.perf_counter(), time.process_time()
        machine.fit(X, y)
        seconds, cpu = time.perf_counter() - began, time.process_time() - spent
        yield {
            "machine": name,
            "seconds": round(seconds, 2),
            "CPU seconds": round(cpu, 2),
            "SV": machine.support_.size,
            "test %": round(100.0 * machine.score(task.X_test, task.y_test), 2),
        }


def stream(given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    task = mnist_task()
    X, y = task.X[: given.samples], task.y[: given.samples]
    OnlineSVC(**task.parameters).fit(X[:BATCH], y[:BATCH])
    model = OnlineSVC(**task.parameters)
    rates: list[float] = []
    while True:
        start = getattr(model, "n_seen_", 0)
        if rates and any(start - BATCH < seen <= start for seen in SEEN):
            yield {
                "seen": start,
                "SV": model.support_.size,
                "examples/s": round(BATCH / np.mean(rates[-2:])),
                **single_examples(model, X, y),
            }
        if start >= y.size:
            return
        began = time.perf_counter()
        part = slice(start, start + BATCH)
        model.partial_fit(X[part], y[part], classes=[-1, 1])
        rates.append(time.perf_counter() - began)


def single_examples(model: OnlineSVC, X: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Milliseconds of `partial_fit` of one example: the middle, and what one in a hundred takes."""
    seconds = []
    for k in (model.n_seen_ + np.arange(SINGLE)) % y.size:
        began = time.perf_counter()
        model.partial_fit(X[k : k + 1], y[k : k + 1])
        seconds.append(time.perf_counter() - began)
    model.n_seen_ -= SINGLE
    p50, p99 = 1e3 * np.percentile(seconds, [50, 99])
    return {"p50 ms": round(p50, 2), "p99 ms": round(p99, 2)}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("mnist", "stream"):
        commands.add_parser(name).add_argument("--samples", type=int, default=60_000)
    commands.choices["mnist"].add_argument("--peer", action="store_true")
    curves = commands.add_parser("labels")
    curves.add_argument("--sets", nargs="*", choices=("usps", "mnist"))
    curves.add_argument("--samples", type=int, default=None, help="of the pool")
    curves.add_argument("--plot", default=None, help="file of the figure")
    rule = commands.add_parser("gamma")
    rule.add_argument("--samples", type=int, default=None)
    rule.add_argument("--repeats", type=int, default=5, help="divisions into folds")
    rule.add_argument("--max-seconds", type=float, default=300.0, help="of each other method")
    given = parser.parse_args(arguments)
    programs = {
        "mnist": mnist,
        "stream": stream,
        "labels": label_curves,
        "gamma": choose_gamma,
    }
    for row in programs[given.command](given):
        print(" | ".join(f"{name} {value}" for name, value in row.items()), flush=True)


if __name__ == "__main__":
    main()
