"""Lets go of screens that were left, which Textual (8.2) doesn't do by itself."""

from __future__ import annotations

from typing import Any

from textual._styles_cache import StylesCache
from textual.app import App


def forget_what_was_left(app: App[Any]) -> None:
    """Take away what still holds closed widgets, two thirds of a megabyte for each exercise that was opened."""
    # Every TextArea and scroll bar watches the theme; Textual only takes the closed ones out when the theme changes.
    watchers: dict[str, list[tuple[Any, Any]]] = getattr(app, "__watchers", {})
    for of_one in watchers.values():
        of_one[:] = [(node, callback) for node, callback in of_one if not node._closing]
    # A cache of two colours, whose keys are the drawn lines of a thousand widgets.
    StylesCache.get_inner_outer.cache_clear()
