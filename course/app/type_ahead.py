"""Keys that act at once wait for what was typed before them."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from textual.widget import Widget

AT_MOST_S = 1.0


async def taken(widget: Widget | None) -> None:
    """Wait until a widget has taken the keys and the text that were sent to it, so that a check sees all of them."""
    if widget is None or not widget.message_queue_size:
        return
    done = asyncio.Event()
    if widget.call_later(done.set):
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(done.wait(), AT_MOST_S)
