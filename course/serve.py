"""The command `serve`: the course in a browser, on this machine unless told otherwise."""

from __future__ import annotations

import argparse
import asyncio
import errno
import signal
import socket
import sys
from typing import Any

from course import language
from course.names import WrongUsage
from lab.language import N_, _

HOST, PORT, MOST_PORTS = "127.0.0.1", 8000, 65535
ENDED = 130

WIDER = N_("""\
Anyone who reaches {host}:{port} can run code with your rights and sees your work: there is no password. Let only a
network that you trust reach it. Safer, from another machine: ssh -L {port}:127.0.0.1:{port} THIS_MACHINE, and serve
without --host.""")


def add_command(commands: Any) -> None:
    """Add the command to the command line's."""
    from lab.command_line import Form

    command: argparse.ArgumentParser = commands.add_parser(
        "serve",
        help=_("open the course in a browser"),
        description=_(
            "Serves the course as a page, with the same progress as in the terminal, also at the same time. It needs "
            "no network: the page loads nothing from elsewhere. Ctrl+C ends it (exit code 130) and every "
            "session.\n\nOnly this machine can reach it, unless --host says otherwise. There is no password: whoever "
            "reaches the port, on this machine or by a wider --host, can run code with your rights."
        ),
        formatter_class=Form,
    )
    command.add_argument(
        "--port", type=_port, default=PORT, metavar="N", help=_("the port to listen on ({port})", port=PORT)
    )
    command.add_argument(
        "--host",
        default=HOST,
        metavar=_("ADDRESS"),
        help=_("the address to listen on ({host}); 0.0.0.0 is all of them", host=HOST),
    )
    command.set_defaults(do=run, parser=command)


def run(options: argparse.Namespace) -> int:
    """Serve until Ctrl+C."""
    listen_or_say_why_not(options.host, options.port)
    try:
        return asyncio.run(_serve(options.host, options.port))
    except OSError as error:
        raise WrongUsage(_why_not(error, options.host, options.port)) from error


async def _serve(host: str, port: int) -> int:
    from course.web.server import CourseServer, serve_until

    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            try:
                loop.add_signal_handler(getattr(signal, name), ended.set)
            except NotImplementedError:  # Windows: Ctrl+C then is a KeyboardInterrupt, which ends the sessions as well
                break
    server = CourseServer([sys.executable, "-m", "course", *language.as_told()], host, port)
    await serve_until(ended, server, lambda: _say_where(host, port))
    return ENDED


def _say_where(host: str, port: int) -> None:
    from course.web.guard import is_loopback

    here = f"[{host}]" if ":" in host else host
    shown = "localhost" if host in ("0.0.0.0", "::", "") else here
    url = f"http://{shown}:{port}/"
    print(_("Profile First is at {url} - open it in a browser. Ctrl+C ends it.", url=url), flush=True)
    if not is_loopback(host):
        print(_(WIDER, host=here, port=port), flush=True)


def listen_or_say_why_not(host: str, port: int) -> None:
    """Try to listen; where that fails, a WrongUsage says what to do."""
    try:
        _try(host, port)
    except OSError as error:
        raise WrongUsage(_why_not(error, host, port)) from error


def _why_not(error: OSError, host: str, port: int) -> str:
    if isinstance(error, socket.gaierror):
        return _(
            "{host!r} is no address of this machine. --host takes an address such as 127.0.0.1 or 0.0.0.0.", host=host
        )
    if error.errno == errno.EADDRNOTAVAIL:
        return _("{host} is no address of this machine. Leave --host out, or give one that it has.", host=host)
    if error.errno in (errno.EACCES, errno.EPERM):
        return _(
            "port {port} needs more rights than you have. Give one from 1024 on: --port {usual}.", port=port, usual=PORT
        )
    if error.errno != errno.EADDRINUSE:
        return _("can't listen on {host}, port {port}: {reason}.", host=host, port=port, reason=error.strerror or error)
    free = next_free(host, port + 1)
    in_use = _("port {port} is in use, perhaps by another 'profile-first serve'.", port=port)
    if free is None:
        return in_use
    command = f"profile-first serve --port {free}" + (f" --host {host}" if host != HOST else "")
    return in_use + " " + _("Port {port} is free: {command}.", port=free, command=command)


def next_free(host: str, port: int) -> int | None:
    """The first port from this one on that can be listened on."""
    for candidate in range(port, min(port + 100, MOST_PORTS + 1)):
        try:
            _try(host, candidate)
        except OSError:
            continue
        return candidate
    return None


def _try(host: str, port: int) -> None:
    """Listen for a moment, as the server will."""
    family, kind, protocol, _, address = socket.getaddrinfo(
        host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    with socket.socket(family, kind, protocol) as listening:
        if sys.platform != "win32":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(1)


def _port(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MOST_PORTS:
        raise argparse.ArgumentTypeError(
            _("{text!r} is no port: a whole number from 1 to {most}", text=text, most=MOST_PORTS)
        )
    return int(text)
