"""The commands `lab` and `trace`: their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from . import arguments as a
from .errors import explained
from .screen import Screen

Room = Annotated[str, typer.Option(help="The room (page of the lab) to open or export.")]
Points = Annotated[
    Path | None,
    typer.Option(help="CSV file with two features and a class, or a file written by `trace`."),
]
Across = Annotated[
    str | None, typer.Option("--x", help="Horizontal axis; first column by default.")
]
Up = Annotated[str | None, typer.Option("--y", help="Vertical axis; second column by default.")]
Label = Annotated[str | None, typer.Option("--label", help="Column of the class.")]
Machine = Annotated[
    str,
    typer.Option(help="hinge, squared_hinge, hard_margin, epsilon_svr, one_class or ridge."),
]
Kernel = Annotated[str, typer.Option(help="gaussian, linear or polynomial.")]
Selection = Annotated[
    str,
    typer.Option(help="second_order, mvp, max_gain, hybrid_max_gain, greedy, platt or random."),
]
Newton = Annotated[bool, typer.Option(help="Newton steps on all free variables.")]
Shrinking = Annotated[bool, typer.Option(help="Set aside variables that stay at their bounds.")]
Number = Annotated[float | None, typer.Option()]
Whole = Annotated[int | None, typer.Option()]


def lab(
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 picks a free port.")] = 0,
    browser: Annotated[bool, typer.Option(help="Open the browser.")] = True,
    export: Annotated[
        Path | None, a.option(a.OUTPUT, help="Write one self-contained page and exit.")
    ] = None,
    room: Room = "smo",
    data: Points = None,
) -> None:
    """Watch the solvers work in a browser; stop with Ctrl-C."""
    screen = Screen()
    with explained(screen):
        from .commands.lab import open_lab, write_page

        if export is not None:
            write_page(export, room, data, screen)
        else:
            open_lab(port, browser, room, data, screen)


def trace(
    data: Annotated[Path, typer.Argument(help="CSV file with two features and a class.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")] = Path(
        "trace.json"
    ),
    x: Across = None,
    y: Up = None,
    label: Label = None,
    machine: Machine = "hinge",
    kernel: Kernel = "gaussian",
    C: Annotated[float | None, typer.Option("--C", "-C")] = None,
    gamma: Number = None,
    degree: Whole = None,
    epsilon: Number = None,
    nu: Number = None,
    tol: Number = None,
    selection: Selection = "second_order",
    planning: Annotated[int, typer.Option(help="Plan ahead with this many recent pairs.")] = 0,
    newton: Newton = True,
    shrinking: Shrinking = True,
    quiet: a.Quiet = False,
    json: a.Json = False,
) -> None:
    """Record every step of the solver, for the lab to replay without a server."""
    screen = Screen(quiet, json)
    with explained(screen):
        from .commands.lab import write_trace

        chosen: dict[str, Any] = {
            "machine": machine,
            "kernel": kernel,
            "C": C,
            "gamma": gamma,
            "degree": degree,
            "epsilon": epsilon,
            "nu": nu,
            "tol": tol,
            "selection": selection,
            "planning": planning,
            "face": newton,
            "shrinking": shrinking,
        }
        given = {name: value for name, value in chosen.items() if value is not None}
        screen.result(write_trace(data, output, (x, y, label), given, screen))
