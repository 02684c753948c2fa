"""Whose turn it is to run: one job at a time, and one that waits for it, the newest."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager


class Turns:
    """A job waits for its turn before it begins. Asked for again while it waits, it still runs once."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        """
        Args:
            on_change: Called when something else runs or waits than before.
        """
        self.running: str | None = None
        """What runs now."""
        self.waiting: str | None = None
        """What waits for that to end."""
        self._turn: asyncio.Future[bool] | None = None
        self._on_change = on_change

    @asynccontextmanager
    async def turn(self, label: str) -> AsyncIterator[bool]:
        """Wait for a job's turn and give it back at the end; whether the job may begin."""
        mine = await self._take(label)
        try:
            yield mine
        finally:
            if mine:
                self._give_back()

    async def _take(self, label: str) -> bool:
        """Wait until nothing else runs. False if a newer job took this one's place, or if it was cancelled."""
        self.cancel_waiting()
        if self.running is None:
            self.running = label
            self._on_change()
            return True
        turn: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._turn = turn
        self.waiting = label
        self._on_change()
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.result():
                self._give_back()  # it was its turn already, but it isn't there any more
            elif self._turn is turn:
                self._forget_waiting()
            raise

    def _give_back(self) -> None:
        """The job has ended: what waits is next."""
        self.running = None
        turn = self._turn
        if turn is not None and not turn.done():
            # Taken for it here, so that nothing comes in between until it goes on.
            self.running = self.waiting
            self._forget_waiting()
            turn.set_result(True)
        self._on_change()

    def cancel_waiting(self) -> bool:
        """Let what waits not begin; whether something waited."""
        if self._turn is None:
            return False
        turn = self._turn
        self._forget_waiting()
        turn.set_result(False)
        self._on_change()
        return True

    def _forget_waiting(self) -> None:
        self._turn = self.waiting = None
