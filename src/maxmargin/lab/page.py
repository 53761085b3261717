"""One self-contained page: a room with its recorded answers, which plays without a server."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Any

from .rooms import answer, rooms

STATIC = Path(__file__).parent / "static"
IMPORT = re.compile(r'(\bfrom\s+|\bimport\s+)"(\.{1,2}/[^"]+)"')
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>
{style}
</style>
<script type="importmap">
{importmap}
</script>
<script type="application/json" id="recording">
{recording}
</script>
<script type="module">
import {{ start }} from "lab/main.js";
import * as room from "lab/rooms/{room}.js";
const recording = JSON.parse(document.getElementById("recording").textContent);
start({{ rooms: [recording.about], load: async () => room, connect: null, recording }});
</script>
</head>
<body></body>
</html>
"""


def exported(room: str, requests: list[dict[str, Any]]) -> str:
    """A page of one room that shows the first request and can answer all of them."""
    return recorded_page(room, [(request, answer(room, request)) for request in requests])


def recorded_page(room: str, answers: list[tuple[dict[str, Any], dict[str, Any]]]) -> str:
    """A page of one room with answers that are there already."""
    (about,) = (one for one in rooms() if one.name == room)
    recording = {
        "about": about.listed(),
        "room": room,
        "request": answers[0][0],
        "answers": [
            {"room": room, "request": request, "answer": found} for request, found in answers
        ],
    }
    return PAGE.format(
        title=f"{about.title} · maxmargin",
        style=(STATIC / "style.css").read_text("utf-8"),
        importmap=json.dumps({"imports": modules(f"rooms/{room}.js")}),
        recording=_inside_script(json.dumps(recording, allow_nan=False)),
        room=room,
    )


def address_of(room: str, state: dict[str, Any] | None) -> str:
    """The part of an address that says what to show; static/address.js reads it."""
    if state is None:
        return f"#{room}"
    encoded = base64.urlsafe_b64encode(json.dumps(state).encode()).decode()
    return f"#{room}/{encoded.rstrip('=')}"


def modules(entry: str) -> dict[str, str]:
    """Import map of the modules that an entry and the frame need, each as a data address."""
    found: dict[str, str] = {}
    waiting = ["main.js", entry]
    while waiting:
        path = waiting.pop()
        name = f"lab/{path}"
        if name in found:
            continue
        source = (STATIC / path).read_text("utf-8")
        for match in reversed(list(IMPORT.finditer(source))):
            needed = normpath(join(dirname(path), match[2]))
            waiting.append(needed)
            source = f'{source[: match.start()]}{match[1]}"lab/{needed}"{source[match.end() :]}'
        encoded = base64.b64encode(source.encode()).decode()
        found[name] = f"data:text/javascript;base64,{encoded}"
    return found


def _inside_script(text: str) -> str:
    """JSON that cannot end the script element it stands in."""
    return text.replace("</", "<\\/").replace("<!--", "<\\!--")
