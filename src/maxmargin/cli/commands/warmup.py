"""`warmup`: every compiled function called once, so that Numba keeps it on disk.

Subjects share little compiled code, so several processes can compile them at the same time.
"""

from __future__ import annotations

import io
import multiprocessing
import os
import queue
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from ... import estimators
from ...data.svmlight import read_svmlight_text
from ...kernels import Oligo, Polynomial, Sigmoid
from ...runtime.notice import notice
from ...tuning import AutoSVC

Work = tuple[str, Callable[[], Any]]
Tell = Callable[[float, str], None]


def compile_everything(tell: Tell, processes: int | None = None) -> float:
    """Fit one small machine of each kind; return the seconds it took.

    `tell` is called with the completed fraction and the name of the next piece of work. By default
    there are as many processes as cores, up to 4: more would only repeat each other's work.
    """
    began = time.perf_counter()
    subjects = works_of()
    processes = min(processes or os.cpu_count() or 1, 4, len(subjects))
    names = (
        compile_here(list(subjects)) if processes == 1 else compile_in(processes, list(subjects))
    )
    total = sum(len(works) for works in subjects.values())
    for done, name in enumerate(names):
        tell(done / total, name)
    return time.perf_counter() - began


def compile_here(subjects: list[str]) -> Iterator[str]:
    """Compile these subjects, and yield the name of each piece of work before it begins."""
    notice.quiet = True
    known = works_of()
    for subject in subjects:
        for name, work in known[subject]:
            yield name
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                work()


def compile_in(processes: int, subjects: list[str]) -> Iterator[str]:
    """`compile_everything` in several processes, each of which takes the next subject."""
    context = multiprocessing.get_context("spawn")
    todo, begun = context.Queue(), context.Queue()
    for subject in [*subjects, *[None] * processes]:
        todo.put(subject)
    workers = [context.Process(target=_work, args=(todo, begun)) for _ in range(processes)]
    for worker in workers:
        worker.start()
    try:
        left = processes
        while left:
            try:
                name = begun.get(timeout=1.0)
            except queue.Empty:
                if any(worker.exitcode for worker in workers):
                    raise RuntimeError("a compiling process of warmup died") from None
                continue
            if name is None:
                left -= 1
            else:
                yield name
    finally:
        for worker in workers:
            worker.join(1.0)
            worker.terminate()


def _work(todo: Any, begun: Any) -> None:
    """The work of a process: compile subjects until none is left."""
    while (subject := todo.get()) is not None:
        for name in compile_here([subject]):
            begun.put(name)
    begun.put(None)


def use(model: Any, inputs: Any) -> None:
    """What follows a fit."""
    model.predict(inputs)


def works_of() -> dict[str, list[Work]]:
    """The work of each subject, longest first."""
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 3))
    inputs = {"float64": X, "float32": X.astype(np.float32), "sparse": sparse.csr_array(X)}
    two, three = (X[:, 0] > 0).astype(int), (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
    subjects: dict[str, list[Work]] = {}

    def add(subject: str, name: str, model: Any, *data: Any) -> None:
        subjects.setdefault(subject, []).append((name, lambda: use(model.fit(*data), data[0])))

    for kind, A in inputs.items():
        for driver in ("full", "blocks", "rows"):
            for precision in ("single", "double"):
                machine = estimators.SVC(solver=driver, precision=precision)
                add("kernel", f"SVC, {kind}, {driver}", machine, A, two)
        for kernel in (Polynomial(2), Sigmoid(0.1)):
            name = f"{type(kernel).__name__} kernel, {kind}"
            add("kernel", name, estimators.SVC(kernel=kernel), A, two)
        for name in ("LinearSVC", "LogisticRegression"):
            add("linear", f"{name}, {kind}", getattr(estimators, name)(), A, three)
        for name in ("LinearSVR", "RidgeRegression"):
            add("linear", f"{name}, {kind}", getattr(estimators, name)(), A, X[:, 0])
        add("linear", f"l1, {kind}", estimators.LinearSVC(penalty="l1"), A, two)
        joint = estimators.LinearSVC(multi_class="crammer_singer")
        add("linear", f"Crammer–Singer, {kind}", joint, A, three)
        add("online", f"OnlineSVC, {kind}", estimators.OnlineSVC(), A, three)
        add("ridge", f"KernelRidge, {kind}", estimators.KernelRidge(), A, X[:, 0])
        for criterion in ("gini", "entropy"):
            tree = estimators.DecisionTreeClassifier(criterion=criterion)
            add("trees", f"DecisionTreeClassifier, {criterion}, {kind}", tree, A, three)
        tree = estimators.DecisionTreeRegressor()
        add("trees", f"DecisionTreeRegressor, {kind}", tree, A, X[:, 0])
    add("linear", "SoftmaxRegression", estimators.SoftmaxRegression(), X, three)
    add("linear", "Lasso", estimators.Lasso(0.1), X, X[:, 0])
    add("ridge", "LeastSquaresSVC", estimators.LeastSquaresSVC(), X, three)
    wide = random.normal(size=(60, 20))
    for loss, targets in (("hinge", two), ("squared_hinge", three)):
        add("kernel", f"SVC, {loss}", estimators.SVC(loss=loss), wide, targets)
    for name in ("NuSVC", "SVR", "NuSVR", "OneClassSVM"):
        machine = getattr(estimators, name)()
        add("kernel", name, machine, X, two if name == "NuSVC" else X[:, 0])
    for precision in ("single", "double"):
        machine = estimators.SVC(planning=2, precision=precision)
        add("planning", f"planning, {precision}", machine, X, two)
    for name in ("MeanClassifier", "KernelNeighborsClassifier"):
        add("other", name, getattr(estimators, name)(kernel="rbf"), X, three)
    for name in ("KernelNeighborsRegressor", "LinearRegression"):
        add("other", name, getattr(estimators, name)(), X, X[:, 0])
    sequences = ["ACGTACGTAA", "ACGTTTGTAA", "GGGGCCCCTT", "GGGACCCCTT"]
    add("sequences", "sequences", estimators.SVC(kernel=Oligo(2, 1.0)), sequences, [0, 0, 1, 1])
    text = io.BytesIO(b"1 1:0.5\n")
    subjects["data"] = [("svmlight text", lambda: read_svmlight_text(text, ""))]
    for metric in ("radial", "full"):
        add("tuning", f"tuning, {metric}", AutoSVC(metric=metric, strategy="kta"), X, two)
    return subjects
