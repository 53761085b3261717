"""The history of the benchmark: `python -m benchmarks.history` lists the runs that are kept.

    python -m benchmarks.history                  # list the runs in benchmarks/history.json
    python -m benchmarks.history --add            # append the run in benchmarks/results/speed.json
    python -m benchmarks.history --git            # collect the tables published in past commits

A run keeps, for each problem, our seconds and how many times longer each peer takes, with the
faster precision of each. `make docs` draws the page "Benchmark history" from the file.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from .contenders import INTELEX, OURS, SKLEARN

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "benchmarks" / "history.json"
RESULTS = ROOT / "benchmarks" / "results" / "speed.json"
# Pages that have held the table of figures, and the heading above it.
PAGES = ("docs/benchmarks.md", "docs/guide/performance.md")
HEADING = "## Figures\n"
PEERS = (SKLEARN, INTELEX)
# Runs of fewer problems are of parts of the benchmark.
FEWEST_PROBLEMS = 20


@dataclass(frozen=True)
class Timing:
    """One problem of a run.

    Attributes
    ----------
    seconds : float
        Of our fit.
    ratios : dict
        Seconds of each peer ÷ ours.
    at_least : list of str
        Peers that were ended by the time limit, whose ratio is a lower bound.
    """

    seconds: float
    ratios: dict[str, float] = field(default_factory=dict)
    at_least: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Run:
    """One run of the benchmark, with the commit that it measured or was published in."""

    commit: str
    date: str
    machine: str
    problems: dict[str, Timing]

    def mean_ratio(self, peer: str, names: Sequence[str]) -> float:
        """Geometric mean of the ratios to a peer, lower bounds included."""
        return float(np.exp(np.mean([np.log(self.problems[n].ratios[peer]) for n in names])))

    def slowest(self, peer: str) -> tuple[float, str]:
        """The smallest ratio to a peer, and its problem."""
        return min((t.ratios[peer], n) for n, t in self.problems.items() if peer in t.ratios)


def read(path: Path = KEPT) -> list[Run]:
    """The runs that are kept, oldest first."""
    if not path.exists():
        return []
    return [
        Run(**{**run, "problems": {n: Timing(**t) for n, t in run["problems"].items()}})
        for run in json.loads(path.read_text("utf-8"))
    ]


def write(runs: Sequence[Run], path: Path = KEPT) -> None:
    """Keep runs, one line for each problem."""
    texts = []
    for run in runs:
        lines = [
            f"  {json.dumps(name, ensure_ascii=False)}: {json.dumps(asdict(timing))}"
            for name, timing in run.problems.items()
        ]
        head = {"commit": run.commit, "date": run.date, "machine": run.machine}
        opening = json.dumps(head, ensure_ascii=False)[:-1]
        texts.append(opening + ', "problems": {\n' + ",\n".join(lines) + "\n }}")
    path.write_text("[\n" + ",\n".join(texts) + "\n]\n", "utf-8")


def from_page(text: str, commit: str, day: str) -> Run | None:
    """The run in the table of figures of a page; None if it has no whole table."""
    if HEADING not in text:
        return None
    section = text.split(HEADING, 1)[1]
    before, header, body = section.partition("| problem | n × d | ours, s |")
    problems = {}
    for line in body.splitlines()[2:]:
        if not line.startswith("|"):
            break
        name, _, seconds, *ratios = (cell.strip() for cell in line.strip("|").split("|")[:5])
        problems[name] = _timing(float(seconds), dict(zip(PEERS, ratios)))
    if not header or len(problems) < FEWEST_PROBLEMS:
        return None
    machine = re.search(r"two cores of [^,;.(]*", before.replace("\n", " "), re.IGNORECASE)
    return Run(commit, day, "" if machine is None else machine[0].strip().lower(), problems)


def _timing(seconds: float, cells: Mapping[str, str]) -> Timing:
    numbers = {peer: cell.lstrip("> ") for peer, cell in cells.items()}
    ratios = {peer: float(text) for peer, text in numbers.items() if re.match(r"[\d.]+$", text)}
    return Timing(seconds, ratios, [peer for peer in ratios if cells[peer].startswith(">")])


def from_results(results: Mapping[str, Any], commit: str, day: str) -> Run:
    """The run in the content of a `speed.json`."""
    problems = {}
    for problem in results["problems"]:
        times = {library: _fastest(problem["rows"], library) for library in (OURS, *PEERS)}
        seconds, _ = times[OURS]
        if seconds is not None:
            measured = {peer: times[peer] for peer in PEERS if times[peer][0] is not None}
            ratios = {peer: round(s / seconds, 3) for peer, (s, _) in measured.items()}
            problems[problem["name"]] = Timing(
                seconds, ratios, [peer for peer, (_, ended) in measured.items() if ended]
            )
    machine = results["machine"]
    return Run(commit, day, f"{machine['cores']} cores of {machine['processor']}", problems)


def _fastest(rows: Sequence[Mapping[str, Any]], library: str) -> tuple[Any, bool]:
    """Seconds of a library in its faster precision, and whether a time limit ended it."""
    own = [row for row in rows if row["contender"].startswith(library)]
    finished = [row["fit"] for row in own if row["fit"] is not None]
    ended = [row["over_budget"] for row in own if row["over_budget"] is not None]
    if finished:
        return min(finished), False
    return (min(ended), True) if ended else (None, False)


def published(root: Path = ROOT) -> Iterator[Run]:
    """Runs whose tables were published in the history of the repository, oldest first."""
    log = _git(root, "log", "--reverse", "--format=%h %cs", "--", *PAGES).split("\n")
    before = None
    for commit, day in (line.split() for line in log if line):
        for page in PAGES:
            run = from_page(_git(root, "show", f"{commit}:{page}"), commit, day)
            if run is not None and run.problems != before:
                before = run.problems
                yield run


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(root), *arguments], capture_output=True, text=True, encoding="utf-8"
    )
    return done.stdout if done.returncode == 0 else ""


def common(runs: Sequence[Run], peer: str) -> list[str]:
    """Problems that have a ratio to a peer in every run."""
    names = [n for n, timing in runs[-1].problems.items() if peer in timing.ratios]
    return [
        name
        for name in names
        if all(name in run.problems and peer in run.problems[name].ratios for run in runs)
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--add", action="store_true", help="append the run in speed.json")
    parser.add_argument("--git", action="store_true", help="collect published tables from git")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the speed.json to append")
    parser.add_argument("--kept", type=Path, default=KEPT, help="the file with the history")
    given = parser.parse_args(arguments)
    runs = read(given.kept)
    if given.git:
        known = {run.commit for run in runs}
        runs += [run for run in published() if run.commit not in known]
    if given.add:
        commit = _git(ROOT, "log", "-1", "--format=%h").strip()
        results = json.loads(given.results.read_text("utf-8"))
        runs.append(from_results(results, commit, date.today().isoformat()))
    runs.sort(key=lambda run: run.date)
    if given.git or given.add:
        write(runs, given.kept)
    for run in runs:
        print(f"{run.date}  {run.commit:9}  {len(run.problems)} problems, {run.machine}")


if __name__ == "__main__":
    main()
