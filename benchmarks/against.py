"""This tree against another revision of it: `python -m benchmarks.against REV`.

Checks REV out into a temporary folder and fits the problems of `benchmarks.speed` with both, each
in a process of its own, in turn: A B, A B, A B. Prints how many times as fast this tree is on each
problem (median seconds of REV ÷ median seconds here, the better float of each), the difference of
the dual values, and the geometric mean.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
DTYPES = ("float64", "float32")


class Measured(NamedTuple):
    """One problem: median seconds of both trees, and their dual values."""

    problem: str
    here: float
    there: float
    dual_here: float
    dual_there: float

    @property
    def ratio(self) -> float:
        return self.there / self.here

    @property
    def dual_difference(self) -> float:
        return abs(self.dual_here - self.dual_there) / max(abs(self.dual_there), 1e-300)

    def line(self) -> str:
        return (
            f"{self.problem:>24}  {self.here:10.4g} s  {self.there:10.4g} s  {self.ratio:6.2f}  "
            f"dual differs by {self.dual_difference:.1e}"
        )


class Tree:
    """A process that fits with the package of one tree, perhaps with a fast path switched `off`
    (see `benchmarks.ablation`)."""

    def __init__(self, root: Path, cache: Path, off: str = "") -> None:
        paths = [str(root / "src"), str(ROOT)]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(paths),
            "NUMBA_CACHE_DIR": str(cache),
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.against", "--serve", "--off", off],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, **request: Any) -> Any:
        self.send(**request)
        return self.answer()

    def send(self, **request: Any) -> None:
        assert self.process.stdin is not None
        print(json.dumps(request), file=self.process.stdin, flush=True)

    def answer(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("a process ended unexpectedly; its error is above")
        return json.loads(line)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    """A folder with another revision."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tree"
        git = ["git", "-C", str(ROOT)]
        subprocess.run([*git, "worktree", "add", "-q", "--detach", str(path), revision], check=True)
        try:
            yield path
        finally:
            subprocess.run([*git, "worktree", "remove", "--force", str(path)], check=False)


class Fitted(NamedTuple):
    """What a tree took for a problem: median seconds in its better float, and the dual value."""

    seconds: float
    dual: float


def compare(problem: Any, here: Tree, there: Tree, repeats: int) -> Measured:
    """Fit a problem with both, in turn, in both kinds of float."""
    ours, theirs = fitted(problem, (here, there), repeats)
    return Measured(problem.name, ours.seconds, theirs.seconds, ours.dual, theirs.dual)


def fitted(problem: Any, trees: Sequence[Tree], repeats: int) -> list[Fitted]:
    """Fit a problem with all trees, in turn, in both kinds of float."""
    best, duals = [math.inf] * len(trees), [math.nan] * len(trees)
    for dtype in reversed(DTYPES):
        # Compiling and loading may use all cores; fits come one after the other.
        for tree in trees:
            tree.send(request="prepare", problem=problem.name, dtype=dtype)
        for tree in trees:
            tree.answer()
        rounds = [[tree.ask(request="fit") for tree in trees] for _ in range(repeats)]
        for place, answers in enumerate(zip(*rounds)):
            best[place] = min(best[place], median(answer["seconds"] for answer in answers))
            duals[place] = answers[-1]["dual"]  # that of float64, which comes last
    return list(map(Fitted, best, duals))


def serve(off: str) -> None:
    """Answer requests on standard input with lines on standard output."""
    import warnings

    if off:
        from .ablation import switch_off

        switch_off(off)

    from .contenders import OWN
    from .problems import EVERY
    from .workers import Session, timed

    warnings.simplefilter("ignore")
    session = None
    for line in sys.stdin:
        request = json.loads(line)
        if request["request"] == "prepare":
            contender = next(one for one in OWN if one.dtype == request["dtype"])
            session = Session(contender)
            session.prepare(EVERY[request["problem"]])
            answer: dict[str, Any] = {}
        else:
            assert session is not None
            seconds, model = timed(session._next_fit)
            solutions = model.solution_ if isinstance(model.solution_, list) else [model.solution_]
            dual = sum(float(solution.dual) for solution in solutions)
            answer = {"seconds": median(seconds), "dual": dual}
        print(json.dumps(answer), flush=True)


def main() -> None:
    from .problems import add_groups, missing, selected

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("revision", nargs="?", help="a commit, branch or tag")
    parser.add_argument("--problems", metavar="a,b,c", help="names or patterns such as 'mnist*'")
    parser.add_argument("--quick", action="store_true", help="fewer than 5,000 samples only")
    add_groups(parser.add_argument)
    parser.add_argument("--repeats", type=int, default=3, help="runs of which the median counts")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--off", default="", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve(arguments.off)
        return
    if arguments.revision is None:
        parser.error("a revision to compare with is missing")
    names = arguments.problems.split(",") if arguments.problems else None
    problems = selected(names, arguments.quick, arguments.group)
    results = []
    print(f"{'problem':>24}  {'here':>12}  {arguments.revision[:10]:>12}   ratio")
    with checked_out(arguments.revision) as folder, tempfile.TemporaryDirectory() as caches:
        trees = Tree(ROOT, Path(caches) / "here"), Tree(folder, Path(caches) / "there")
        try:
            for problem in problems:
                if (why := missing(problem)) is not None:
                    print(f"{problem.name:>24}  left out: {why}")
                    continue
                results.append(compare(problem, *trees, arguments.repeats))
                print(results[-1].line(), flush=True)
        finally:
            for tree in trees:
                with suppress(OSError):
                    tree.close()
    if results:
        worst = min(results, key=lambda one: one.ratio)
        mean = geometric_mean([one.ratio for one in results])
        print(f"geometric mean {mean:.3f}, lowest {worst.ratio:.2f} ({worst.problem})")


if __name__ == "__main__":
    main()
