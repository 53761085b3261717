"""maxmargin beside its peers: `python -m benchmarks.speed`, see docs/guide/performance.md."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from . import contenders, first, problems, threads
from .cold import beginning
from .first import first_contacts, table_of
from .growth import growth
from .machine import busy, description, gemm_rate
from .measure import Bench, Settings
from .report import Table, comparison_table, rendered, summaries
from .results import Results, write_json, write_plot

RESULTS = Path(__file__).resolve().parent / "results"


def main(arguments: Sequence[str] | None = None) -> Results | None:
    given = parsed(arguments)
    if given.first:
        first_contact(given)
        return None
    if given.threads:
        more_cores(given)
        return None
    results = Results(
        machine=description(),
        settings={
            **given.settings._asdict(),
            "problems": [problem.name for problem in given.problems],
            "contenders": [contender.name for contender in given.contenders],
        },
        gemm_rates={dtype: gemm_rate(dtype) for dtype in ("float64", "float32")},
        absent={c.name: why for c in given.contenders if (why := c.missing()) is not None},
    )
    print(f"{opening(results)}\n", flush=True)
    try:
        measure(given, results)
    except KeyboardInterrupt:
        say("interrupted: this is what there is")
    for table in summaries(results):
        show(table)
    save(given.output, results)
    return results


def measure(given: argparse.Namespace, results: Results) -> None:
    """Fill the record, from the quick to the slow; what there is after each problem is saved."""
    if given.cold:
        results.beginning = beginning(given.settings.repeats)
    present = [c for c in given.contenders if c.name not in results.absent]
    with Bench(present, given.settings, results.gemm_rates, say) as bench:
        if given.predict:
            results.prediction = bench.compare(problems.PREDICTION)
            show(comparison_table(results.prediction))
        for problem in given.problems:
            results.comparisons.append(bench.compare(problem, memory=given.memory))
            show(comparison_table(results.comparisons[-1]))
            write_json(results, given.output / "speed.json")
    if given.growth:
        known = {comparison.problem.name: comparison for comparison in results.comparisons}
        with Bench(contenders.OWN, given.settings, results.gemm_rates, say) as bench:
            results.curves = growth(bench, known)


def first_contact(given: argparse.Namespace) -> None:
    """Import, fit and predict in new processes, and nothing else."""
    present = [one for one in given.contenders if one.missing() is None]
    found = first_contacts(present, given.repeats, say=say)
    print(table_of(found))
    first.write(found, description(), given.output)


def more_cores(given: argparse.Namespace) -> None:
    """Fits on one core and on all, and nothing else."""
    present = [one for one in given.contenders if one.missing() is None]
    machine, found = description(), list[threads.Gain]()
    for row in threads.gains(
        present, given.problems, given.repeats, given.settings.budget, say=say
    ):
        found.append(row)
        threads.write(found, machine, given.output)
    print(threads.table_of(found))


def opening(results: Results) -> str:
    """What was measured, on what, and what is to be kept in mind."""
    machine, rates = results.machine, results.gemm_rates
    packages = (f"{name} {number}" for name, number in machine["packages"].items() if number)
    multiplies = (f"{rate / 1e9:.0f} GFLOP/s in {dtype}" for dtype, rate in rates.items())
    warning = busy(machine["load"])
    return "\n".join(
        (
            f"{machine['processor']}, {machine['cores']} cores, Python {machine['python']}",
            ", ".join(packages),
            f"matrix products: {', '.join(multiplies)}",
            *(f"{name} is left out: {why}" for name, why in results.absent.items()),
            *([] if warning is None else [warning]),
        )
    )


def save(folder: Path, results: Results) -> None:
    tables = (*map(comparison_table, results.compared), *summaries(results))
    write_json(results, folder / "speed.json")
    text = "\n".join((opening(results) + "\n", *map(rendered, tables)))
    (folder / "speed.txt").write_text(text, encoding="utf-8")
    undrawn = write_plot(results, folder / "speed.png")
    say(f"written to {folder}: speed.json, speed.txt, {undrawn or 'speed.png'}")


def show(table: Table) -> None:
    print(rendered(table), flush=True)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options, with `problems`, `contenders` and `settings` made of them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    option = parser.add_argument
    option("--problems", metavar="a,b,c", type=_listed, help="names or patterns such as 'mnist*'")
    option("--quick", action="store_true", help="problems of fewer than 5,000 samples only")
    problems.add_groups(option)
    option("--peers", metavar="a,b,c", type=_listed, help="names or patterns, or none")
    option("--repeats", type=_count, help="runs of which the median counts (3; --first: 5)")
    option("--long", type=_seconds, default=60.0, help="a run of more seconds is the only one (60)")
    option("--budget", type=_seconds, default=900.0, help="a run of more seconds is ended (900)")
    option(
        "--patience",
        type=_seconds,
        default=100.0,
        help="so is a peer's of so many times ours (100)",
    )
    option("--memory", action="store_true", help="also measure the memory that fits take")
    option("--predict", action="store_true", help="also time 10,000 predictions by 2,000 SVs")
    option("--growth", action="store_true", help="also fit our time as a power of n")
    option("--cold", action="store_true", help="also time imports and first fits")
    option("--first", action="store_true", help="import, fit, predict in new processes, only that")
    option("--threads", action="store_true", help="fits on one core and on all, only that")
    option("--all", action="store_true", help="all of these four")
    option("--output", type=Path, default=RESULTS, help="folder for JSON, text and plot")
    given = parser.parse_args(arguments)
    for extra in ("memory", "predict", "growth", "cold"):
        setattr(given, extra, given.all or getattr(given, extra))
    try:
        given.problems = problems.selected(given.problems, given.quick, given.group)
        given.contenders = contenders.selected(given.peers)
    except ValueError as error:
        parser.error(str(error))
    given.repeats = given.repeats or (5 if given.first else 3)
    given.settings = Settings(given.repeats, given.long, given.budget, given.patience)
    return given


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {number}")
    return number


def _seconds(text: str) -> float:
    number = float(text)
    if not number > 0:
        raise argparse.ArgumentTypeError(f"must be positive, got {text}")
    return number


if __name__ == "__main__":
    main()
