"""Waits for the GPU that a program asks for, and events on its streams."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from lab.observe import log
from lab.observe.calls import inside, waiting


def install(torch: Any) -> None:
    cuda, accelerator = torch.cuda, torch.accelerator
    cuda.synchronize = waiting("torch.cuda.synchronize", cuda.synchronize)
    accelerator.synchronize = waiting("torch.accelerator.synchronize", accelerator.synchronize)
    cuda.Stream.synchronize = waiting("torch.cuda.Stream.synchronize", cuda.Stream.synchronize)
    cuda.Event.synchronize = waiting("torch.cuda.Event.synchronize", cuda.Event.synchronize)
    cuda.Stream.query = polling("torch.cuda.Stream.query", cuda.Stream.query)
    cuda.Event.query = polling("torch.cuda.Event.query", cuda.Event.query)
    record_event, elapsed_time = cuda.Event.record, cuda.Event.elapsed_time

    @wraps(record_event)
    def recording_event(self: Any, *args: Any, **kwargs: Any) -> Any:
        log.record("event_record", call="torch.cuda.Event.record")
        return record_event(self, *args, **kwargs)

    @wraps(elapsed_time)
    def reading_elapsed_time(self: Any, end_event: Any) -> Any:
        value = elapsed_time(self, end_event)
        log.record("elapsed_time", value_ms=value)
        return value

    cuda.Event.record, cuda.Event.elapsed_time = recording_event, reading_elapsed_time


def polling(call: str, query: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Write down a wait by asking again and again, with nothing else in between, until the answer is yes."""

    @wraps(query)
    def asking(self: Any) -> bool:
        done = query(self)
        if not log.observing or inside.call:
            return done
        asked_at, begin_s = getattr(self, "asked_in_vain", (-1, 0.0))
        if not done and asked_at != len(log.events):
            self.asked_in_vain = len(log.events), log.lab_time_s()
        if done and asked_at == len(log.events):
            log.record("wait", call=call, waited_s=log.lab_time_s() - begin_s)
        return done

    return asking
