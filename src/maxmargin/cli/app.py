"""The commands and their options."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from . import arguments as a
from . import watching
from .commands.data import data_app
from .errors import ExitCode, UsageError, came, explained, obey_termination
from .options import MachineOptions
from .screen import Screen

app = typer.Typer(
    name="maxmargin",
    help="Exact, certified, self-tuning support vector machines.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(data_app, name="data")


@app.command()
def train(
    data: a.Data,
    target: a.Target = None,
    drop: a.Drop = None,
    include: a.Include = None,
    impute: a.Impute = None,
    holdout: a.Holdout = 0.2,
    format: a.Format = None,
    scale: a.Scale = None,
    output: a.ModelOutput = None,
    report: a.Report = None,
    quiet: a.Quiet = False,
    json: a.Json = False,
    svc: a.Svc = False,
    svr: a.Svr = False,
    one_class: a.OneClass = False,
    linear: a.Linear = False,
    tree: a.Tree = False,
    max_depth: a.MaxDepth = None,
    max_leaves: a.MaxLeaves = None,
    online: a.Online = False,
    probability: a.Probability = None,
    strategy: a.Strategy = None,
    metric: a.Metric = None,
    kernel: a.KernelName = None,
    C: a.Price = None,
    gamma: a.Gamma = None,
    degree: a.Degree = None,
    coef0: a.Coef0 = None,
    nu: a.Nu = None,
    epsilon: a.Epsilon = None,
    loss: a.Loss = None,
    max_seconds: a.MaxSeconds = None,
    tol: a.Tol = None,
    seed: a.Seed = 0,
    fresh: a.Fresh = False,
) -> None:
    """Tune, train, certify and save a machine, and write a report."""
    screen = Screen(quiet, json)
    with explained(screen):
        with screen.working("starting"):
            from .commands.train import Reading, TrainingRun, as_json, read_samples
            from .training.fitting import finished

        options = MachineOptions(
            linear=linear,
            tree=tree,
            max_depth=max_depth,
            max_leaves=max_leaves,
            online=online,
            svr=svr,
            svc=svc,
            one_class=one_class,
            kernel=kernel,
            C=C,
            gamma=gamma,
            degree=degree,
            coef0=coef0,
            nu=nu,
            epsilon=epsilon,
            loss=loss,
            tol=tol,
            strategy=strategy,
            metric=metric,
            probability=probability,
            scale=scale,
            seed=seed,
            max_seconds=max_seconds,
        )
        place = output or default_output(data)
        require_writable(place)
        reading = Reading(format, target, impute, tuple(drop or ()), tuple(include or ()))
        with screen.working(f"reading {data}"):
            samples = read_samples(data, reading, unlabelled=one_class and target is None)
        run = _checked(
            TrainingRun,
            samples,
            options,
            screen=screen,
            output=place,
            holdout=holdout,
            command=typed(),
            fresh=fresh,
        )
        model = _checked(run.run)
        page = _page(report, place, screen)
        if page is not None:
            from ..report.html import write_report

            with screen.working("writing the report"):
                write_report(model, page, X=run.X, y=run.samples.y)
            screen.say("report", str(page))
        screen.result(as_json(model, model=str(place), report=None if page is None else str(page)))
        if not finished(model.estimator):
            raise typer.Exit(ExitCode.UNFINISHED)


@app.command()
def predict(
    model: a.ModelFile,
    data: a.Data,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="csv, tsv, parquet or arrow file.")
    ] = None,
    keep: a.Keep = None,
    format: a.Format = None,
    quiet: a.Quiet = False,
    json: a.Json = False,
) -> None:
    """Predict the class (or value), decision value and probability of each sample."""
    screen = Screen(quiet, json, aside=output is None or output == "-")
    with explained(screen):
        with screen.working("starting"):
            from ..data.tables.columns import filled_in_words
            from ..report.words import measure_in_words
            from .commands.predict import (
                as_columns,
                beside,
                comparison,
                inputs_for,
                kept_columns,
                predicted,
                trained_on,
                write_columns,
            )

        require_writable(output)
        with screen.working(f"reading {data}"):
            loaded, table, X = inputs_for(data, model, format)
        assert loaded.schema is not None
        for name, count in loaded.schema.unseen(table).items():
            screen.say("data", f"{count} values of {name!r} did not occur in training")
        for name, (count, fill) in loaded.schema.filled_in(table).items():
            text = f"{fill:.6g}" if isinstance(fill, float) else repr(fill)
            screen.say("data", f"{filled_in_words(name, count, text)}, as in training")
        kept = kept_columns(table, keep or [])
        predictions = predicted(loaded.estimator, X, screen)
        columns = beside(kept, as_columns(loaded.estimator, predictions))
        with screen.working("comparing with the target"):
            measures = comparison(loaded, table, predictions)
        screen.say_all("compared", [measure_in_words(measure) for measure in measures])
        if measures and trained_on(loaded, table):
            screen.say("", "measured on its training data; `maxmargin inspect` shows the test")
        values = {m.name: {"value": m.value, "low": m.low, "high": m.high} for m in measures}
        if not (json and output is None):
            with screen.working("writing predictions"):
                write_columns(columns, output)
        if output not in (None, "-"):
            screen.say("saved", f"{output}: {X.shape[0]:,} predictions")
        shown = {} if output is not None else {"predictions": columns}
        screen.result({"samples": X.shape[0], "output": output, "measures": values, **shown})


@app.command()
def tune(
    data: a.Data,
    target: a.Target = None,
    drop: a.Drop = None,
    include: a.Include = None,
    impute: a.Impute = None,
    format: a.Format = None,
    scale: a.Scale = None,
    plot: Annotated[Path | None, a.option(a.OUTPUT, help="Picture of the points tried.")] = None,
    output: Annotated[
        str | None, a.option(a.OUTPUT, "--output", "-o", help="Table of the points tried: csv, …")
    ] = None,
    quiet: a.Quiet = False,
    json: a.Json = False,
    svc: a.Svc = False,
    svr: a.Svr = False,
    linear: a.Linear = False,
    strategy: a.Strategy = None,
    metric: a.Metric = None,
    max_seconds: a.MaxSeconds = None,
    seed: a.Seed = 0,
    fresh: a.Fresh = False,
) -> None:
    """Search for the parameters of a machine, and show the points tried."""
    screen = Screen(quiet, json)
    with explained(screen):
        with screen.working("starting"):
            from .commands.train import Reading
            from .commands.tune import tell_of_search

        options = MachineOptions(
            strategy=strategy,
            metric=metric,
            linear=linear,
            svc=svc,
            svr=svr,
            scale=scale,
            seed=seed,
            max_seconds=max_seconds,
        )
        reading = Reading(format, target, impute, tuple(drop or ()), tuple(include or ()))
        require_writable(plot, output)
        _checked(
            tell_of_search,
            data,
            reading,
            options,
            screen,
            plot=plot,
            output=output,
            checkpoint=search_checkpoint(data),
            fresh=fresh,
        )


@app.command()
def inspect(model: a.ModelFile, quiet: a.Quiet = False, json: a.Json = False) -> None:
    """Describe a model: its parameters, its certificate, and its training data."""
    screen = Screen(quiet, json)
    with explained(screen):
        with screen.working("starting"):
            from .commands.inspect import described
            from .commands.predict import load_any
            from .commands.train import as_json

            loaded = load_any(model)
        for subject, text in described(loaded):
            screen.say(subject, text)
        screen.result(as_json(loaded))


@app.command()
def report(
    model: a.ModelFile,
    data: a.Data,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path(
        "report.html"
    ),
    format: a.Format = None,
    quiet: a.Quiet = False,
    json: a.Json = False,
) -> None:
    """Write an HTML report about a model on data: figures, plots, how to reproduce it."""
    screen = Screen(quiet, json)
    with explained(screen):
        require_plots()
        with screen.working("starting"):
            from ..report.html import write_report
            from .commands.predict import inputs_for, known_targets

        loaded, table, X = inputs_for(data, model, format)
        assert loaded.schema is not None
        with screen.working("writing the report"):
            targets = known_targets(loaded, table)
            write_report(loaded, output, X=X, y=targets, source=table.name)
        screen.say("report", str(output))
        screen.result({"report": str(output)})


@app.command()
def convert(
    source: Annotated[str, typer.Argument(help="A .mm file, or a model of LIBSVM.")],
    destination: Annotated[Path, typer.Argument(help="Ends with .mm, .libsvm (.model) or .onnx.")],
    codes: Annotated[
        bool, typer.Option("--codes", help="LIBSVM: write 0, 1, … for labels that are strings.")
    ] = False,
    quiet: a.Quiet = False,
    json: a.Json = False,
) -> None:
    """Write a model in another format."""
    screen = Screen(quiet, json)
    with explained(screen):
        with screen.working(f"writing {destination}"):
            from .commands.convert import converted

            notes = _checked(converted, source, destination, codes=codes)
        screen.say_all("saved", [str(destination), *notes])
        screen.result({"output": str(destination), "notes": notes})


@app.command()
def demo(
    folder: Annotated[Path, typer.Argument(help="Where to put the files.")] = Path(
        "maxmargin-demo"
    ),
) -> None:
    """Go from a file to a report, with a data set that ships with scikit-learn."""
    screen = Screen()
    with explained(screen):
        from .commands.demo import write_demo_data

        path = write_demo_data(folder)
        screen.say("demo", f"wrote {path}; now: maxmargin train {path}\n")
    sys.argv[1:] = ["train", str(path)]
    app(sys.argv[1:], standalone_mode=False)
    screen.say("", f"\nopen {path.with_suffix('.html')} in a browser; then try\n")
    screen.say("", f"maxmargin predict {path.with_suffix('.mm')} {path} -o predictions.csv")
    screen.say("", f"maxmargin inspect {path.with_suffix('.mm')}")


@app.command()
def warmup(quiet: a.Quiet = False, json: a.Json = False) -> None:
    """Compile everything in advance, so that no later fit has to."""
    screen = Screen(quiet, json)
    with explained(screen):
        from .commands.warmup import compile_everything

        with screen.working("compiling") as bar:
            seconds = compile_everything(bar.update)
        screen.say("compiled", f"everything, in {seconds:.1f} s; kept on disk")
        screen.result({"seconds": seconds})


@app.command()
def version(json: a.Json = False) -> None:
    """Show the versions of maxmargin and its dependencies."""
    screen = Screen(as_json=json)
    from .commands.inspect import versions

    found = versions()
    for name, number in found.items():
        screen.say(name, number)
    screen.result(found)


app.command()(watching.lab)
app.command()(watching.trace)


def run() -> None:
    obey_termination()
    try:
        app()
    except SystemExit as end:
        # Typer ends with the code of Ctrl-C if a signal comes before or after the command itself.
        if end.code == ExitCode.INTERRUPTED and signal.SIGTERM in came:
            sys.exit(ExitCode.TERMINATED)
        raise


def default_output(data: str) -> Path:
    """The name of the data file with .mm in place of all its suffixes."""
    if data == "-":
        return Path("model.mm")
    path = Path(data)
    stem = path.name
    for _ in range(2):
        ending = Path(stem).suffix
        if ending and not ending[1:].isdigit():
            stem = stem[: -len(ending)]
    return path.with_name(f"{stem or 'model'}.mm")


def search_checkpoint(data: str) -> Path:
    """data.tune.checkpoint next to the data, or here if that folder is not writable."""
    place = default_output(data).with_suffix(".tune.checkpoint")
    return place if os.access(place.parent, os.W_OK) else Path(place.name)


def typed() -> str:
    """The command as it was typed."""
    return shlex.join(["maxmargin", *sys.argv[1:]])


def require_writable(*places: str | Path | None) -> None:
    """Raise before any work if an output file could not be written."""
    from ..archive import check_writable

    for place in places:
        if place is not None and str(place) != "-":
            check_writable(place)


def require_plots() -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise UsageError(
            "reports need matplotlib, which is not installed: pip install matplotlib"
        ) from None


def _page(wanted: bool | None, model: Path, screen: Screen) -> Path | None:
    """Where the report goes, if there is to be one."""
    if wanted is False:
        return None
    try:
        require_plots()
    except UsageError as error:
        if wanted:
            raise
        screen.say("report", f"none: {error}")
        return None
    return model.with_suffix(".html")


def _checked(function: Any, *arguments: Any, **options: Any) -> Any:
    """Call it, and report what estimators refuse as an error of the options."""
    from ..data import DataError
    from ..models import ModelFileError

    try:
        return function(*arguments, **options)
    except (DataError, ModelFileError, UsageError):
        raise
    except (ValueError, TypeError) as error:
        raise UsageError(str(error)) from error
