"""The server: our page, textual-serve's terminal for it, and the sessions behind it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import aiohttp_jinja2
import jinja2
from aiohttp import web
from textual_serve.server import Server, to_int

from course import language
from course.web.guard import own_names, refusal
from course.web.session import Session
from course.web.texts import page_texts
from lab.language import current

PAGE = Path(__file__).with_name("page")
HEADERS = {
    # Nothing is loaded from anywhere else, and no other page may show this one inside of itself.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; "
        "img-src 'self' data: blob:; connect-src 'self' {sockets}; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
SMALLEST_FONT, LARGEST_FONT, FONT = 8, 48, 16
log = logging.getLogger("course.web")

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class CourseServer(Server):
    """Serves an app: one process for each page that is open."""

    def __init__(self, command: Sequence[str], host: str, port: int) -> None:
        super().__init__("", host=host, port=port, title="Profile First", templates_path=PAGE)
        self._arguments = list(command)
        self._names = own_names(host)
        self._sessions: set[Session] = set()

    async def _make_app(self) -> web.Application:
        app = web.Application(middlewares=[self._guarded])
        aiohttp_jinja2.setup(app, loader=jinja2.FileSystemLoader(self.templates_path), autoescape=True)
        app.add_routes(
            [
                web.get("/", self.handle_index, name="index"),
                web.get("/favicon.ico", self._icon),
                web.get("/ws", self.handle_websocket, name="websocket"),
                web.get("/download/{key}", self.handle_download, name="download"),
                web.static("/static", self.statics_path, name="static"),
                web.static("/page", PAGE, name="page"),
            ]
        )
        app.on_shutdown.append(self.on_shutdown)
        return app

    @web.middleware
    async def _guarded(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        host, drives = request.headers.get("Host"), request.path == "/ws"
        if why := refusal(host, request.headers.get("Origin"), names=self._names, drives=drives):
            raise web.HTTPForbidden(text=why + "\n")
        response = await handler(request)
        if not response.prepared:
            for name, value in HEADERS.items():
                response.headers[name] = value.format(sockets=f"ws://{host} wss://{host}")
        return response

    async def handle_index(self, request: web.Request) -> web.Response:
        """The page that shows the terminal."""
        language.again()
        size = to_int(request.query.get("fontsize", ""), FONT)
        context: dict[str, Any] = {
            "language": current(),
            "texts": page_texts(),
            "font_size": min(max(size, SMALLEST_FONT), LARGEST_FONT),
        }
        response = aiohttp_jinja2.render_template("index.html", request, context)
        response.headers["Cache-Control"] = "no-store"
        return response

    async def _icon(self, _request: web.Request) -> web.StreamResponse:
        return web.FileResponse(PAGE / "icon.svg", headers={"Content-Type": "image/svg+xml"})

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """Run an app for as long as its page is open."""
        websocket = web.WebSocketResponse(heartbeat=15)
        await websocket.prepare(request)
        session = Session(self._arguments, websocket, self.download_manager)
        self._sessions.add(session)
        try:
            await session.start(to_int(request.query.get("width", ""), 80), to_int(request.query.get("height", ""), 24))
            await self._process_messages(websocket, session)
        except (ConnectionError, ValueError, LookupError, TypeError, AssertionError) as error:
            log.warning(
                "A page sent what no terminal sends (%s: %s); its session was ended.", type(error).__name__, error
            )
        finally:
            # Also when this handler is cancelled: the app must have kept everything before it is gone.
            await asyncio.shield(session.stop())
            self._sessions.discard(session)
            await websocket.close()
        return websocket

    async def on_shutdown(self, app: web.Application) -> None:
        """End all apps, each of which keeps everything first."""
        await asyncio.gather(*(session.stop() for session in set(self._sessions)), return_exceptions=True)


async def serve_until(ended: asyncio.Event, server: CourseServer, on_listening: Callable[[], None]) -> None:
    """Serve until the event is set; an address that is in use is an OSError."""
    runner = web.AppRunner(await server._make_app(), handle_signals=False, access_log=None, shutdown_timeout=2.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, server.host, server.port).start()
        on_listening()
        await ended.wait()
    finally:
        await runner.cleanup()
