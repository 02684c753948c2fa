"""Who may talk to the server: without this, any page that is open in the same browser could drive the course.

A page elsewhere can send requests to localhost, and no browser stops it from opening a WebSocket there; what the
browser does is to say where the page came from, in `Origin`. A page whose name is made to point to this machine (DNS
rebinding) has the same origin as the server, but its name is in `Host`. So the host must be one that nobody else can
own, and the origin must be that host.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Collection
from urllib.parse import urlsplit

from lab.language import _


def own_names(host: str) -> frozenset[str]:
    """The names that this machine may be called by, beside its addresses."""
    names = {"localhost", host}
    if not is_loopback(host):
        name = socket.gethostname()
        names |= {name, f"{name}.local"}
    return frozenset(name.lower().rstrip(".") for name in names if name)


def is_loopback(host: str) -> bool:
    """Whether only programs on this machine reach a server that listens there."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def refusal(host: str | None, origin: str | None, *, names: Collection[str], drives: bool) -> str | None:
    """Why a request is refused, or None; `drives` says whether it would drive an app, as only our own page may."""
    called = _name(host)
    if called is None or not (_is_address(called) or called in names):
        return _(
            "This server isn't called {name}. Use localhost or an address, or start it with --host NAME.",
            name=host or '""',
        )
    if origin is None:
        return _("Only the course's own page may do that.") if drives else None
    if not _is_origin_of(origin, host or ""):
        return _("Pages from elsewhere may not use the course.")
    return None


def _name(host: str | None) -> str | None:
    """The name in a Host header, without its port."""
    if not host or any(sign in host for sign in "/?#@\\ "):
        return None
    try:
        found = urlsplit(f"//{host}")
        found.port  # noqa: B018 - raises where it is no number
    except ValueError:
        return None
    return found.hostname.rstrip(".") if found.hostname else None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_origin_of(origin: str, host: str) -> bool:
    scheme, separator, rest = origin.partition("://")
    return bool(separator) and scheme in ("http", "https") and rest.lower() == host.lower()
