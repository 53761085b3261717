"""The server of the lab: its pages, and a socket on which rooms answer.

It listens on 127.0.0.1 only. Every address begins with a random token; the host and origin of a
request must be its own, so that no other page of the browser can talk to it. Messages are bounded
in size and rate. Nothing that arrives is run.

Order of calls: `Lab.app` serves `index.html` and `static/`; the page opens the socket; each message
``{"id", "room", "request"}`` is answered by ``{"id", "answer"}`` or ``{"id", "error"}``.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import socket
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.status import WS_1008_POLICY_VIOLATION
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from .rooms import RequestError, rooms
from .workers import Workers

STATIC = Path(__file__).parent / "static"
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class Lab:
    """The application, its token and its workers."""

    def __init__(self, port: int, token: str | None = None) -> None:
        self.port = port
        self.token = token or secrets.token_urlsafe(16)
        self.hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        self.origins = {f"http://{host}" for host in self.hosts}
        self.app = Starlette(
            routes=[
                Route(f"/{self.token}/", self.index),
                Route(f"/{self.token}/rooms.json", self.list_rooms),
                WebSocketRoute(f"/{self.token}/socket", self.converse),
                Mount(f"/{self.token}/static", StaticFiles(directory=STATIC)),
                Route("/{rest:path}", self.refuse),
            ],
            middleware=[Middleware(OwnPagesOnly, hosts=self.hosts, origins=self.origins)],
            lifespan=self.lifespan,
        )

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/{self.token}/"

    @contextlib.asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        del app
        self.workers = Workers()
        try:
            yield
        finally:
            self.workers.close()

    async def index(self, request: Request) -> Response:
        del request
        return Response((STATIC / "index.html").read_text("utf-8"), media_type="text/html")

    async def list_rooms(self, request: Request) -> Response:
        del request
        return JSONResponse([room.listed() for room in rooms()])

    async def refuse(self, request: Request) -> Response:
        del request
        return PlainTextResponse("open the address that `maxmargin lab` printed", 404)

    async def converse(self, socket: WebSocket) -> None:
        await socket.accept()
        bucket = Bucket(rate=60.0, burst=120.0)
        tasks: set[asyncio.Task[None]] = set()
        try:
            while True:
                message = await socket.receive_text()
                if not bucket.take():
                    await socket.close(WS_1008_POLICY_VIOLATION, "too many messages")
                    return
                number, room, request = read_message(message)
                if len(tasks) >= 8:  # of one page
                    await say(socket, number, error="the lab is busy with earlier requests: wait")
                    continue
                task = asyncio.create_task(self.reply(socket, number, room, request))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
        except RequestError as error:
            await socket.close(WS_1008_POLICY_VIOLATION, str(error)[:100])
        except WebSocketDisconnect:
            pass
        finally:
            for task in tasks:
                task.cancel()

    async def reply(self, socket: WebSocket, number: int, room: str, request: Any) -> None:
        try:
            found = await self.workers.ask(room, request)
        except RequestError as error:
            await say(socket, number, error=str(error))
        else:
            await say(socket, number, answer=found)


class OwnPagesOnly:
    """Refuse requests for another host or from another origin; add the headers of a page."""

    def __init__(self, app: ASGIApp, hosts: set[str], origins: set[str]) -> None:
        self.app, self.hosts, self.origins = app, hosts, origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self.app(scope, receive, send)
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        origin = headers.get("origin")
        # A browser always names the origin of a socket.
        own = origin in self.origins or (origin is None and scope["type"] == "http")
        if headers.get("host") not in self.hosts or not own:
            if scope["type"] == "websocket":
                await receive()
                return await send({"type": "websocket.close", "code": WS_1008_POLICY_VIOLATION})
            return await PlainTextResponse("not a page of this lab", 403)(scope, receive, send)

        async def with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                extra = [(k.lower().encode(), v.encode()) for k, v in HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *extra]}
            await send(message)

        return await self.app(scope, receive, with_headers)


class Bucket:
    """A limit of messages: `rate` a second on average, `burst` at once."""

    def __init__(self, rate: float, burst: float) -> None:
        self.rate, self.burst, self.tokens, self.at = rate, burst, burst, time.monotonic()

    def take(self) -> bool:
        now = time.monotonic()
        self.tokens = min(self.burst, self.tokens + self.rate * (now - self.at))
        self.at = now
        self.tokens -= 1.0
        return self.tokens >= 0.0


def read_message(text: str) -> tuple[int, str, Any]:
    """Number, room and request of a message."""
    try:
        message = json.loads(text)
        number, room, request = message["id"], message["room"], message["request"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise RequestError("a message must be an object with id, room and request") from None
    if not isinstance(number, int) or not isinstance(room, str):
        raise RequestError("id must be a whole number and room a text")
    return number, room, request


async def say(socket: WebSocket, number: int, **content: Any) -> None:
    # The visitor may have left meanwhile.
    with contextlib.suppress(RuntimeError, WebSocketDisconnect):
        await socket.send_text(json.dumps({"id": number, **content}, allow_nan=False))


def listening(port: int = 0) -> socket.socket:
    """A socket on 127.0.0.1; port 0 takes any that is free."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    found.bind(("127.0.0.1", port))
    # From now on browsers wait instead of being refused.
    found.listen()
    return found


def serve(lab: Lab, bound: socket.socket) -> None:
    """Serve until Ctrl-C."""
    config = uvicorn.Config(
        lab.app,
        log_level="warning",
        access_log=False,
        ws="websockets-sansio",
        ws_max_size=8 << 20,  # 100,000 rows of a CSV file fit
        timeout_graceful_shutdown=1,
        server_header=False,
    )
    # Ctrl-C is how a visit ends; uvicorn repeats it once all is closed.
    with contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[bound])
