"""`lab` and `trace`: the solvers in a browser, and what they did in a file."""

from __future__ import annotations

import threading
import webbrowser
from pathlib import Path

from ..errors import UsageError
from ..screen import Screen

PARTS = ("starlette", "uvicorn", "websockets", "anyio", "h11", "click")


def open_lab(port: int, browser: bool, room: str, screen: Screen) -> None:
    """Serve the lab until Ctrl-C."""
    try:
        from ...lab.server import Lab, listening, serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in PARTS:
            raise
        raise UsageError(
            f"the lab needs {error.name}, which is not installed: pip install 'maxmargin[lab]'"
        ) from None
    known_room(room)
    try:
        bound = listening(port)
    except OSError as error:
        raise UsageError(
            f"port {port} cannot be used ({error.strerror}): leave --port out"
        ) from None
    lab = Lab(bound.getsockname()[1])
    address = f"{lab.address}#{room}"
    screen.say("lab", f"{address}\nCtrl-C ends it")
    if browser:
        # After the server listens; it does already, and answers once its loop runs.
        threading.Timer(0.5, webbrowser.open, [address]).start()
    serve(lab, bound)


def write_page(page: Path, room: str, screen: Screen) -> None:
    """Write a room with its recorded example into one file."""
    from ...archive import replacing
    from ...lab.page import exported
    from ...lab.rooms import example

    known_room(room)
    with screen.working(f"recording {room}"):
        text = exported(room, [example(room)])
    with replacing(page) as stream:
        stream.write(text.encode())
    screen.say("saved", f"{page}: opens in any browser, needs no server")


def known_room(room: str) -> None:
    from ...lab.rooms import NAMES

    if room not in NAMES:
        raise UsageError(f"--room must be one of {', '.join(NAMES)}, got {room!r}")
