"""`tune`: the search alone, with all points tried."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ...data import standardised
from ...kernels import Gaussian
from ..errors import UsageError
from ..options import MachineOptions
from ..plan import labels_for, planned
from ..screen import Screen
from ..training.resuming import Keeper, fingerprint_of
from .predict import write_columns
from .train import Reading, read_samples, resumable_search, scaled


def tell_of_search(
    path: str,
    reading: Reading,
    options: MachineOptions,
    screen: Screen,
    *,
    plot: Path | None,
    output: str | None,
    checkpoint: Path,
    fresh: bool = False,
) -> None:
    """Search, report, and write table and picture if requested."""
    with screen.working(f"reading {path}"):
        samples = read_samples(path, reading)
    with screen.working("choosing a machine"):
        plan = planned(options, samples.X, samples.y)
    samples = replace(samples, y=labels_for(plan, options, samples.y))
    if not plan.search:
        raise UsageError(f"{plan.machine} has no parameters left to tune")
    schema = standardised(samples.schema, samples.X) if plan.scale else samples.schema
    screen.say_all("data", [f"{samples.name}: {samples.size:,} samples", *samples.notes])
    screen.say_all("machine", [f"{plan.machine}: {plan.reasons[0]}", *plan.reasons[1:]])
    fingerprint = fingerprint_of(samples.X, samples.y, options, command="tune")
    keeper = Keeper(checkpoint, fingerprint, screen, fresh)
    X = scaled(samples.X, schema)
    found = resumable_search(plan, options, X, samples.y, keeper, screen)
    keeper.forget()
    assert found.table is not None
    screen.say("searched", found.table.summary)
    hint = same_again(path, reading, plan.scale, found.parameters)
    if hint:
        screen.say("train", hint)
    if output is not None:
        write_columns(columns_of(found.table), output)
        screen.say("saved", output)
    if plot is not None:
        with screen.working("drawing"):
            from ...report import TuningDisplay

            TuningDisplay.from_table(found.table).save(plot)
        screen.say("plot", str(plot))
    parameters = {name: spoken(value) for name, value in found.parameters.items()}
    screen.result(
        {"machine": plan.machine, "parameters": parameters, "summary": found.table.summary}
    )


def spoken(value: Any) -> Any:
    return value if isinstance(value, int | float | str) else repr(value)


def columns_of(table: Any) -> dict[str, np.ndarray]:
    return {"stage": table.stage, "value": table.value, **table.parameters}


def same_again(path: str, reading: Reading, scale: bool, found: dict[str, Any]) -> str:
    """The command that trains with the parameters found, if it can be expressed as options."""
    kernel = found.get("kernel")
    values = {name: value for name, value in found.items() if name != "kernel"}
    if isinstance(kernel, Gaussian) and kernel.radial:
        values["gamma"] = kernel.gamma
    elif kernel is not None:
        return ""
    words = ["maxmargin train", shlex.quote(path)]
    reading_options = {"target": reading.target, "impute": reading.impute, "format": reading.format}
    words += [
        f"--{name} {shlex.quote(text)}"
        for name, text in reading_options.items()
        if text is not None
    ]
    words += [f"--drop {shlex.quote(name)}" for name in reading.drop]
    words += [f"--include {shlex.quote(name)}" for name in reading.include]
    words += [f"--{name} {value:.6g}" for name, value in values.items()]
    if scale and "gamma" in values:
        words.append("--scale")
    return " ".join(words if kernel is not None or "gamma" in values else [*words, "--linear"])
