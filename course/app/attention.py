"""How long a learner is at a lesson: from key to key, without the pauses."""

from __future__ import annotations

from time import monotonic

from textual import events
from textual.app import App

from course.progress import Progress

PAUSE_S = 180.0
"""Whoever touches nothing for longer was away."""
KEEP_EVERY_S = 30.0


class Attention(App[None]):
    """The part of the app that counts the time."""

    progress: Progress
    _attended: str | None = None
    """The lesson that the learner is in."""
    _touched_s = 0.0
    _spent_s = 0.0

    def attend(self, lesson: str | None) -> None:
        """The learner is in this lesson from now on, or in none."""
        self.keep_time()
        self._attended = lesson

    def keep_time(self) -> None:
        """Keep what was counted since the last time."""
        self._count()
        if self._attended is not None and self._spent_s > 0:
            self.progress.spend(self._attended, self._spent_s)
        self._spent_s = 0.0

    def _count(self) -> None:
        now_s = monotonic()
        if self._attended is not None and now_s - self._touched_s < PAUSE_S:
            self._spent_s += now_s - self._touched_s
        self._touched_s = now_s

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key | events.MouseEvent):
            self._count()
            if self._spent_s > KEEP_EVERY_S:
                self.keep_time()
        await super().on_event(event)
