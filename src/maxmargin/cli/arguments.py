"""The options that commands share, in panels by subject."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

OUTPUT, DATA, MACHINE = "Output", "Data", "Which machine"
KERNEL, SEARCH, RUN = "Its parameters (searched for if not given)", "Search", "Run"


def option(panel: str, *names: str, **settings: Any) -> Any:
    """An option of a command, in a panel of its help."""
    return typer.Option(*names, rich_help_panel=panel, **settings)


Data = Annotated[str, typer.Argument(help="CSV, TSV, Parquet, Arrow, svmlight, NPZ; - is stdin.")]
ModelFile = Annotated[str, typer.Argument(help="A .mm file, or a model of LIBSVM.")]
Quiet = Annotated[bool, option(OUTPUT, "--quiet", "-q", help="Print errors only.")]
Json = Annotated[bool, option(OUTPUT, "--json", help="Print one JSON object and nothing else.")]

Target = Annotated[str | None, option(DATA, help="Column to predict: name, or number from 1.")]
Drop = Annotated[list[str] | None, option(DATA, help="Column to leave out; may be repeated.")]
Include = Annotated[
    list[str] | None,
    option(DATA, help="Column to use although it looks like a trap; may be repeated."),
]
Impute = Annotated[
    str | None, option(DATA, help="'median' fills in missing values, also in new data.")
]
Format = Annotated[
    str | None,
    option(DATA, help="csv, tsv, parquet, arrow, svmlight or npz, if the file name does not say."),
]
Holdout = Annotated[float, option(DATA, help="Share of samples held out for the test.")]
Scale = Annotated[bool | None, option(DATA, help="Standardise features.")]
Keep = Annotated[
    list[str] | None,
    option(OUTPUT, help="Column of the data to copy to the output, or 'all'; may be repeated."),
]

ModelOutput = Annotated[
    Path | None, option(OUTPUT, "--output", "-o", help="Model file; by default next to the data.")
]
Report = Annotated[
    bool | None, option(OUTPUT, help="Write a report next to the model.", show_default="yes")
]

Linear = Annotated[bool, option(MACHINE, "--linear", help="No kernel.")]
Online = Annotated[bool, option(MACHINE, "--online", help="One pass over the samples.")]
Svc = Annotated[bool, option(MACHINE, "--svc", help="Treat the target as classes.")]
Svr = Annotated[bool, option(MACHINE, "--svr", help="Treat the target as numbers.")]
Tree = Annotated[bool, option(MACHINE, "--tree", help="A decision tree.")]
MaxDepth = Annotated[int | None, option(MACHINE, help="Largest depth of a tree.")]
MaxLeaves = Annotated[int | None, option(MACHINE, help="Most leaves of a tree; best splits first.")]
OneClass = Annotated[
    bool, option(MACHINE, "--one-class", help="Learn where samples are; no target.")
]
Probability = Annotated[
    bool | None, option(MACHINE, help="Also compute probabilities.", show_default="by size")
]

KernelName = Annotated[str | None, option(KERNEL, help="rbf, linear, poly or sigmoid.")]
Price = Annotated[float | None, option(KERNEL, "--C", help="Cost of an error.")]
Gamma = Annotated[str | None, option(KERNEL, help="Of the kernel: a number, 'scale' or 'auto'.")]
Degree = Annotated[int | None, option(KERNEL, help="Degree of the kernel poly.")]
Coef0 = Annotated[float | None, option(KERNEL, help="Constant of the kernels poly and sigmoid.")]
Nu = Annotated[float | None, option(KERNEL, help="In place of C: bound on the fraction of errors.")]
Epsilon = Annotated[float | None, option(KERNEL, help="Half-width of the tube of a regression.")]
Loss = Annotated[str | None, option(KERNEL, help="hinge or squared_hinge.")]

Strategy = Annotated[
    str | None,
    option(
        SEARCH,
        help="Of classes: cv-posterior, kta, posterior, likelihood, span, radius_margin, cv-cma, "
        "grid, kernels. Of numbers: cv-loss, grid, span, leave-one-out.",
    ),
]
Metric = Annotated[
    str | None, option(SEARCH, help="radial, diagonal or full metric of the kernel.")
]

MaxSeconds = Annotated[float | None, option(RUN, help="Time limit.", min=0.0)]
Tol = Annotated[float | None, option(RUN, help="Largest KKT violation at the end of training.")]
Seed = Annotated[int, option(RUN, help="Seed of everything random.")]
Fresh = Annotated[bool, option(RUN, "--fresh", help="Ignore an existing checkpoint.")]
