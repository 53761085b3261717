"""Linear machines beside LIBLINEAR and skglm: `python -m benchmarks.linear`.

See docs/guide/linear.md.

Every gap is computed here, in float64, from the data and the numbers that a fit leaves behind:

    primal  ½‖w‖² + ½b² + C Σ max(0, 1 − y(w·x + b))^p
    dual    Σ yβ − ½‖Σβx‖² − ½(Σβ)² − (p − 1) Σβ²/4C

with p = 1 for the hinge and 2 for its square; the intercept has LIBLINEAR's penalty. A peer has no
dual point, so its distance is measured from our dual value: it is what its objective lies above a
proven lower bound of the optimum.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from math import inf, nan
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import sklearn.svm

from maxmargin import LinearSVC

from .linear_data import MORE, SETS, load
from .machine import busy, description
from .report import Table, rendered

COSTS = (0.01, 1.0, 100.0)
LOSSES = ("hinge", "squared_hinge")
# LIBLINEAR as the targets have it.
LIBLINEAR = {"tol": 1e-4, "max_iter": 1000}
GAP = 1e-6
# A run repeats a short fit until this many seconds are filled; longer fits are run once.
FILL, LONG = 0.3, 1.0
# What becomes of C when the samples become ten times as many.
GROWTHS = (("C ∝ 1/n", 1.0, 0.1), ("same C", 1.0, 1.0), ("C ∝ n", 0.1, 1.0))
RESULTS = Path(__file__).resolve().parent / "results" / "linear.jsonl"


class Case(NamedTuple):
    """A data set, a loss and a C."""

    data: str
    loss: str
    C: float


class Run(NamedTuple):
    """Seconds of a fit (the median) and the relative distance of its objective from the optimum:
    for ours the duality gap, for peers the distance from our dual value."""

    seconds: float
    distance: float


class Outcome(NamedTuple):
    """One case: ours with LIBLINEAR's intercept, ours with a free one, and the peers."""

    case: Case
    ours: Run
    free: Run
    peers: dict[str, Run]

    @property
    def ratio(self) -> float:
        """LIBLINEAR's seconds, by its faster solver, over ours."""
        return min(run.seconds for name, run in self.peers.items() if "LIBLINEAR" in name) / (
            self.ours.seconds
        )


def main(arguments: Sequence[str] | None = None) -> list[Outcome]:
    given = parsed(arguments)
    machine = description()
    print(f"{machine['processor']}, {machine['cores']} cores, Python {machine['python']}")
    if warning := busy(machine["load"]):
        print(warning)
    outcomes = []
    for name in given.data:
        X, y = load(name)
        warm_up(X, y)
        for loss in LOSSES:
            for C in COSTS:
                outcomes.append(compare(Case(name, loss, C), X, y, given))
                print(line(outcomes[-1]), flush=True)
    print(f"\n{rendered(table(outcomes))}\n{verdict(outcomes)}")
    if given.output:
        write(outcomes, given.output)
    if given.growth:
        print(f"\n{rendered(growth())}")
    return outcomes


def compare(case: Case, X: Any, y: np.ndarray, given: argparse.Namespace) -> Outcome:
    """All contenders in turn, round by round."""
    _, loss, C = case
    fits: dict[str, Callable[[], Any]] = {
        "ours": lambda: LinearSVC(loss=loss, C=C, intercept_scaling=1.0).fit(X, y),
        "free": lambda: LinearSVC(loss=loss, C=C).fit(X, y),
        **{
            name: lambda dual=dual: sklearn.svm.LinearSVC(
                loss=loss, C=C, dual=dual, random_state=0, **LIBLINEAR
            ).fit(X, y)
            for name, dual in liblinears(loss)
        },
    }
    seconds: dict[str, list[float]] = {name: [] for name in fits}
    models: dict[str, Any] = {}
    for _ in range(given.repeats):
        for name, fit in fits.items():
            if not seconds[name] or max(seconds[name]) < LONG:
                took, models[name] = timed(fit)
                seconds[name].append(took)
    primal, dual = values(case, X, y, models["ours"], penalty=1.0)
    free_primal, free_dual = values(case, X, y, models["free"], penalty=0.0)
    peers = {
        name: Run(
            median(seconds[name]), (primal_value(case, X, y, models[name], 1.0) - dual) / abs(dual)
        )
        for name, _ in liblinears(loss)
    }
    if loss == "hinge" and given.skglm:
        peers["skglm"] = skglm_run(case, given.skglm)
    return Outcome(
        case,
        Run(median(seconds["ours"]), (primal - dual) / abs(primal)),
        Run(median(seconds["free"]), (free_primal - free_dual) / abs(free_primal)),
        peers,
    )


def liblinears(loss: str) -> tuple[tuple[str, bool], ...]:
    """Its solvers for a loss: coordinate descent in the dual, and Newton in the primal."""
    both = (("LIBLINEAR", True), ("LIBLINEAR primal", False))
    return both[:1] if loss == "hinge" else both


def timed(fit: Callable[[], Any]) -> tuple[float, Any]:
    """The median over repetitions that fill a while."""
    seconds: list[float] = []
    gc.collect()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while sum(seconds) < FILL and len(seconds) < 20:
            began = time.perf_counter()
            model = fit()
            seconds.append(time.perf_counter() - began)
    return median(seconds), model


def warm_up(X: Any, y: np.ndarray) -> None:
    """Compile what is to be timed."""
    rows = np.arange(0, X.shape[0], max(1, X.shape[0] // 1000))
    for loss in LOSSES:
        for C in COSTS:
            for scaling in (1.0, None):
                LinearSVC(loss=loss, C=C, intercept_scaling=scaling).fit(X, y)
        sklearn.svm.LinearSVC(loss=loss).fit(X[rows], y[rows])


def primal_value(case: Case, X: Any, y: np.ndarray, model: Any, penalty: float) -> float:
    w, b = model.coef_.ravel().astype(np.float64), float(np.ravel(model.intercept_)[0])
    short = np.maximum(0.0, 1.0 - y * (X @ w + b))
    power = 1 if case.loss == "hinge" else 2
    return 0.5 * float(w @ w) + 0.5 * penalty * b * b + case.C * float((short**power).sum())


def values(case: Case, X: Any, y: np.ndarray, model: Any, penalty: float) -> tuple[float, float]:
    """Primal and dual value; β is made feasible here, whatever the model says of it."""
    beta = y * np.clip(y * model.solution_.beta, 0.0, case.C if case.loss == "hinge" else inf)
    if penalty == 0.0:
        beta = balanced(beta, y, case.C if case.loss == "hinge" else inf)
    w, total = X.T @ beta, float(beta.sum())
    dual = float(y @ beta) - 0.5 * float(w @ w)
    if case.loss == "squared_hinge":
        dual -= 0.25 * float(beta @ beta) / case.C
    if penalty > 0.0:
        dual -= 0.5 * total * total / penalty
    return primal_value(case, X, y, model, penalty), dual


def balanced(beta: np.ndarray, y: np.ndarray, most: float) -> np.ndarray:
    """Σβ = 0 to the last digit, by the coefficients of one side, which shrink in proportion."""
    total = float(beta.sum())
    heavy = beta > 0 if total > 0 else beta < 0
    mass = float(np.abs(beta[heavy]).sum())
    result = beta.copy()
    if mass > 0.0:
        result[heavy] *= 1.0 - abs(total) / mass
    return y * np.clip(y * result, 0.0, most)


def skglm_run(case: Case, budget: float) -> Run:
    """skglm's seconds over ours without an intercept, times ours: in a process that is ended when
    the budget is used up."""
    if find_spec("skglm") is None:
        return Run(nan, nan)
    context = get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_skglm, args=(there, case), daemon=True)
    process.start()
    there.close()
    try:
        while here.poll(budget + 60.0):
            kind, answer = here.recv()
            if kind == "begin" and not here.poll(budget):
                return Run(inf, nan)
            if kind == "end":
                return Run(*answer)
        return Run(inf, nan)
    except EOFError:
        return Run(nan, nan)
    finally:
        process.kill()
        process.join()
        here.close()


def _skglm(connection: Any, case: Case) -> None:
    warnings.simplefilter("ignore")
    from skglm import LinearSVC as Peer

    X, y = load(case.data)
    ours = LinearSVC(loss="hinge", C=case.C, fit_intercept=False)
    peer = Peer(C=case.C, fit_intercept=False, **LIBLINEAR)
    rows = np.arange(0, X.shape[0], max(1, X.shape[0] // 300))
    for model in (ours, peer):
        model.fit(X[rows], y[rows])
    _, ours = timed(lambda: ours.fit(X, y))
    connection.send(("begin", None))
    began = time.perf_counter()
    peer.fit(X, y)
    took = time.perf_counter() - began
    peer.intercept_ = 0.0
    _, dual = values(case, X, y, ours, penalty=1e300)
    connection.send(("end", (took, primal_value(case, X, y, peer, 0.0) / dual - 1.0)))


def growth() -> Table:
    """Seconds for a tenth of the samples and for all, with the same C, one that grows as the number
    of samples, and one that falls as it grows."""
    rows = []
    for name in ("a9a", "w8a", "normal"):
        X, y = load(name)
        tenth = np.random.default_rng(0).permutation(X.shape[0])[: X.shape[0] // 10]
        tenth.sort()
        for loss in LOSSES:
            for what, small, large in GROWTHS:
                few = median(timed(_fit(X[tenth], y[tenth], loss, small))[0] for _ in range(3))
                many = median(timed(_fit(X, y, loss, large))[0] for _ in range(3))
                size = f"{X.shape[0]:,} × {X.shape[1]}"
                rows.append([name, size, loss, what, f"{few:.4f}", f"{many:.4f}"])
                rows[-1].append(f"{many / few:.1f}")
    header = ("data", "size", "loss", "what", "a tenth s", "all s", "ratio")
    return Table("Ten times the data (target: at most 12 times the time)", header, rows)


def _fit(X: Any, y: np.ndarray, loss: str, C: float) -> Callable[[], Any]:
    return lambda: LinearSVC(loss=loss, C=C).fit(X, y)


def line(outcome: Outcome) -> str:
    case, ours, free, peers = outcome
    others = "  ".join(
        f"{name} {run.seconds:.4f} s {run.distance:.1e}" for name, run in peers.items()
    )
    return (
        f"{case.data:9} {case.loss:13} {case.C:6g}  ours {ours.seconds:.4f} s {ours.distance:.1e}"
        f"  free {free.seconds:.4f} s {free.distance:.1e}  {others}"
    )


def table(outcomes: Iterable[Outcome]) -> Table:
    header = (
        *("data", "loss", "C", "ours s", "gap", "free s", "gap free"),
        *("LIBLINEAR s", "off by", "primal s", "off by", "skglm s", "off by", "÷ ours"),
    )
    rows = []
    for outcome in outcomes:
        case, ours, free, peers = outcome
        cells = [case.data, case.loss, f"{case.C:g}"]
        for run in (
            ours,
            free,
            *(peers.get(n) for n in ("LIBLINEAR", "LIBLINEAR primal", "skglm")),
        ):
            cells += _cells(run)
        rows.append([*cells, f"{outcome.ratio:.2f}"])
    return Table("Seconds, and relative distance from the optimum", header, rows)


def _cells(run: Run | None) -> tuple[str, str]:
    if run is None or np.isnan(run.seconds):
        return "–", "–"
    if run.seconds == inf:
        return "over budget", "–"
    return f"{run.seconds:.4f}", f"{run.distance:.1e}"


def verdict(outcomes: Sequence[Outcome]) -> str:
    exact = sum(max(o.ours.distance, o.free.distance) <= GAP for o in outcomes)
    first = [o.peers["LIBLINEAR"].seconds / o.ours.seconds for o in outcomes]
    count = len(outcomes)
    return (
        f"gap ≤ {GAP:g}: {exact} of {count}; not slower than LIBLINEAR's coordinate descent: "
        f"{sum(r >= 1 for r in first)}; twice as fast: {sum(r >= 2 for r in first)}; not slower "
        f"than the faster of its solvers: {sum(o.ratio >= 1 for o in outcomes)}; twice as fast: "
        f"{sum(o.ratio >= 2 for o in outcomes)}"
    )


def write(outcomes: Iterable[Outcome], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (
        json.dumps(
            {
                **outcome.case._asdict(),
                "ours": outcome.ours,
                "free": outcome.free,
                "peers": outcome.peers,
            }
        )
        for outcome in outcomes
    )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.linear", description=__doc__)
    option = parser.add_argument
    choices = SETS + MORE
    option("--data", nargs="+", choices=choices, default=list(SETS), help="the targets' five")
    option("--repeats", type=int, default=3, help="rounds of which the median counts (3)")
    option(
        "--skglm", type=float, default=0.0, metavar="SECONDS", help="also skglm, at most so long"
    )
    option("--growth", action="store_true", help="also ten times the data")
    option("--output", type=Path, help="file for the figures, a line of JSON a case")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
