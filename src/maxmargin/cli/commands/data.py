"""`data list` and `data fetch`: public data sets, converted and checked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .. import arguments as a
from ..errors import explained
from ..screen import Screen

data_app = typer.Typer(help="List and fetch public data sets.", no_args_is_help=True)

Folder = Annotated[
    Path | None,
    typer.Option("--folder", help="Where the files are; else $MAXMARGIN_DATA, else the cache."),
]
Names = Annotated[list[str], typer.Argument(help="Names of sets, or `all`.")]
Mirror = Annotated[
    str | None, typer.Option("--mirror", help="A server with copies under /<host>/<path>.")
]


@data_app.command("list")
def list_sets(folder: Folder = None, quiet: a.Quiet = False, json: a.Json = False) -> None:
    """List the public sets: source, licence, whether present here, and which are unavailable."""
    screen = Screen(quiet, json)
    with explained(screen):
        from ...data.public import CATALOGUE, UNAVAILABLE, data_folder, present

        place = folder or data_folder()
        screen.say("folder", str(place))
        for entry in CATALOGUE.values():
            here = "here" if present(entry, place) else "not here"
            lines = [f"{entry.name}: {here}", f"from {entry.source}", entry.licence, entry.note]
            screen.say("set", "\n  ".join(line for line in lines if line))
        for name, reason in UNAVAILABLE.items():
            screen.say("unavailable", f"{name}: {reason}")
        sets = {
            entry.name: {
                "files": entry.files,
                "source": entry.source,
                "licence": entry.licence,
                "note": entry.note,
                "present": present(entry, place),
            }
            for entry in CATALOGUE.values()
        }
        screen.result({"folder": str(place), "sets": sets, "unavailable": UNAVAILABLE})


@data_app.command("fetch")
def fetch_sets(
    names: Names,
    folder: Folder = None,
    mirror: Mirror = None,
    quiet: a.Quiet = False,
    json: a.Json = False,
) -> None:
    """Download sets, convert them, compare their checksums, and keep them."""
    screen = Screen(quiet, json)
    with explained(screen):
        from ...data.public import CATALOGUE, Web, data_folder, fetch, present
        from ...data.public.fetching import find

        place = folder or data_folder()
        chosen = list(CATALOGUE.values()) if "all" in names else [find(name) for name in names]
        written = {}
        for entry in chosen:
            if present(entry, place):
                screen.say("here", f"{entry.name} is in {place} already")
                continue
            with screen.working(f"fetching {entry.name}") as bar:
                web = Web(mirror, place / "openml", bar.update)
                found = fetch(entry.name, place, web)
            written[entry.name] = [str(path) for path in found.files]
            order = "" if found.same_order else ", rows in another order than the reference"
            screen.say_all("saved", [f"{path}{order}" for path in found.files])
            screen.say("licence", f"{entry.licence}; {entry.source}")
        screen.result({"folder": str(place), "written": written})
