"""A line to type into."""

from __future__ import annotations

from textual import events
from textual.widgets import Input

from course.app.keys import act, typed


class Field(Input):
    """An input of one line that takes what terminals report as codes."""

    async def on_key(self, event: events.Key) -> None:
        if event.character is None and (character := typed(event)):
            event.stop()
            event.prevent_default()
            self.insert_text_at_cursor(character)
        elif not event.is_printable:
            await act(self, event)
