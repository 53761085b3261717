"""`lab` and `trace`: the solvers in a browser, and every step of a run in a file."""

from __future__ import annotations

import json
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...archive import check_writable, replacing
from ...data import DataError
from ...lab.machines import CLASSES, MOST_POINTS
from ...lab.page import address_of, recorded_page
from ...lab.rooms import NAMES, RequestError, answer, example
from ...lab.rooms.smo import LONGEST_CSV, MOST_WATCHED
from ...lab.table import Columns, points_from, read_columns
from ..errors import UsageError
from ..screen import Screen

PARTS = ("starlette", "uvicorn", "websockets", "anyio", "h11", "click")
FORMAT = "maxmargin trace 1"
Named = tuple[str | None, str | None, str | None]


def open_lab(port: int, browser: bool, room: str, data: Path | None, screen: Screen) -> None:
    """Serve the lab until Ctrl-C."""
    try:
        from ...lab.server import Lab, listening, serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in PARTS:
            raise
        raise UsageError(
            f"the lab needs {error.name}, which is not installed: "
            "pip install starlette uvicorn websockets"
        ) from None
    _known_room(room)
    state = None if data is None else _request_of(data, (None, None, None), MOST_POINTS)
    try:
        bound = listening(port)
    except OSError as error:
        raise UsageError(f"port {port} cannot be used ({error.strerror}): omit --port") from None
    lab = Lab(bound.getsockname()[1])
    address = lab.address + address_of(room, state)
    screen.say("lab", f"{lab.address}#{room}\nstop with Ctrl-C")
    if browser:
        # The socket is already listening; it answers once the server runs.
        threading.Timer(0.5, webbrowser.open, [address]).start()
    serve(lab, bound)


def write_page(page: Path, room: str, data: Path | None, screen: Screen) -> None:
    """Write a room with a recorded run to one file."""
    check_writable(page)
    if data is not None and data.suffix == ".json":
        recorded = _read_trace(data)
        room, answers = recorded["room"], [(recorded["request"], recorded["answer"])]
    else:
        _known_room(room)
        request = example(room)
        if data is not None:
            request |= _request_of(data, (None, None, None), MOST_WATCHED)
        with screen.working(f"recording {room}"), _as_usage():
            answers = [(request, answer(room, request))]
    _write(page, recorded_page(room, answers))
    screen.say("saved", f"{page}: opens in any browser, needs no server")


def write_trace(
    data: Path, output: Path, columns: Named, fields: dict[str, Any], screen: Screen
) -> dict[str, Any]:
    """Record every step on the points of a file; return a summary."""
    check_writable(output)
    request = {**_request_of(data, columns, MOST_WATCHED), **fields}
    with screen.working("solving"), _as_usage():
        found = answer("smo", request)
    content = {"format": FORMAT, "room": "smo", "request": request, "answer": found}
    _write(output, json.dumps(content, allow_nan=False))
    end = found["machine"]
    steps = len(found["steps"])
    screen.say("solved", f"{end['status']} after {steps:,} steps: dual {end['dual']:.9g}")
    screen.say("saved", f"{output}; see it with: maxmargin lab --export page.html --data {output}")
    return {"output": str(output), "steps": steps, "status": end["status"], "dual": end["dual"]}


def _request_of(path: Path, columns: Named, most: int) -> dict[str, Any]:
    """The points of a CSV file."""
    if path.stat().st_size > LONGEST_CSV:
        raise DataError(f"{path} has more than {LONGEST_CSV // 10**6} MB: take fewer rows")
    try:
        table = read_columns(path.read_text("utf-8"))
        places = [_place(table, name) for name in columns]
        points, _, _ = points_from(table, places[0], places[1], places[2], most, CLASSES)
    except UnicodeDecodeError:
        raise DataError(f"{path} is not UTF-8 text") from None
    except RequestError as error:
        raise DataError(f"{path}: {error}") from None
    return {"points": points, "example": ""}


def _place(table: Columns, name: str | None) -> int | None:
    if name is None:
        return None
    if name not in table.names:
        raise UsageError(f"there is no column {name!r}; the columns are {', '.join(table.names)}")
    return table.names.index(name)


def _read_trace(path: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(path.read_text("utf-8"))
        if content["format"] == FORMAT and content["room"] in NAMES:
            return content
    except (ValueError, KeyError, TypeError):
        pass
    raise DataError(f"{path} is not a trace: `maxmargin trace data.csv -o {path}` writes one")


def _known_room(room: str) -> None:
    if room not in NAMES:
        raise UsageError(f"--room must be one of {', '.join(NAMES)}, got {room!r}")


@contextmanager
def _as_usage() -> Iterator[None]:
    """Report what a room refuses as an error of the options."""
    try:
        yield
    except RequestError as error:
        raise UsageError(str(error)) from None


def _write(path: Path, text: str) -> None:
    with replacing(path) as stream:
        stream.write(text.encode())
