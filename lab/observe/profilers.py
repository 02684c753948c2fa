"""What a program does with a profiler: its making, its steps, its traces; and what its last session found."""

from __future__ import annotations

from functools import wraps
from pathlib import Path
from typing import Any

from lab.observe import log

ROWS_TOLD = 150
"""Of a table with more rows, those with most time of their own are kept."""
PARSED_FOR_IT = 5_000
"""So many events may be read for the table where the program didn't ask for one itself."""

last_session: Any = None
"""The last profiler that was stopped."""
with_memory = False


def install(torch: Any) -> None:
    base = torch.profiler.profiler._KinetoProfile
    prepare_trace, start_trace, stop_trace = base.prepare_trace, base.start_trace, base.stop_trace
    make, step, export = torch.profiler.profile.__init__, torch.profiler.profile.step, base.export_chrome_trace

    def describe(self: Any) -> dict[str, Any]:
        return {
            "activities": sorted(str(activity).split(".")[-1] for activity in self.activities),
            "profile_memory": bool(self.profile_memory),
            "record_shapes": bool(self.record_shapes),
            "with_stack": bool(self.with_stack),
            "scheduled": bool(getattr(self, "record_steps", False)),
            "gpu_busy": log.gpu_left_s() != 0.0,
        }

    @wraps(make)
    def making(self: Any, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **kwargs)
        log.record("profiler_made", scheduled=bool(self.record_steps))

    @wraps(prepare_trace)
    def preparing(self: Any) -> None:
        log.record("profiler_prepare")  # with a schedule: the first of its warm-up steps begins
        prepare_trace(self)

    @wraps(start_trace)
    def starting(self: Any) -> None:
        log.record("profiler_start", **describe(self))
        start_trace(self)

    @wraps(stop_trace)
    def stopping(self: Any) -> None:
        log.record("profiler_stop", **describe(self))
        stop_trace(self)
        note_stopped(self)

    @wraps(step)
    def stepping(self: Any) -> None:
        log.record("profiler_step")
        step(self)

    @wraps(export)
    def exporting(self: Any, path: Any, *args: Any, **kwargs: Any) -> Any:
        done = export(self, path, *args, **kwargs)
        # Where the folder doesn't exist, PyTorch writes nothing and raises nothing.
        log.record("trace_export", path=str(path), written=Path(path).is_file())
        return done

    base.prepare_trace, base.start_trace, base.stop_trace = preparing, starting, stopping
    torch.profiler.profile.__init__ = making
    torch.profiler.profile.step, base.export_chrome_trace = stepping, exporting


def note_stopped(stopped: Any) -> None:
    global last_session, with_memory
    if log.observing:
        last_session, with_memory = getattr(stopped, "profiler", None), bool(stopped.profile_memory)


def forget() -> None:
    global last_session
    last_session = None


def summary() -> dict[str, Any] | None:
    """The table of the last profiler session as an event; None where there was none, or it can't be had."""
    session = last_session
    forget()
    if session is None or session.kineto_results is None:
        return None
    try:
        if session._function_events is None and len(session.kineto_results.events()) > PARSED_FOR_IT:
            return {"at_s": log.lab_time_s() - log.began_s, "what": "key_averages", "rows": [], "left_out": True}
        averages = session.key_averages()
    except Exception:  # the program may have done anything to it
        return None
    rows = sorted((row_of(each) for each in averages), key=lambda row: -max(row["self_cpu_us"], row["self_device_us"]))
    return {
        "at_s": log.lab_time_s() - log.began_s,
        "what": "key_averages",
        "rows": rows[:ROWS_TOLD],
        "rows_in_all": len(rows),
        "with_memory": with_memory,
        "with_device": session.use_device is not None,
    }


def row_of(average: Any) -> dict[str, Any]:
    """A row of the table; times in microseconds."""
    return {
        "name": str(average.key)[:200],
        "calls": int(average.count),
        "self_cpu_us": float(average.self_cpu_time_total),
        "cpu_us": float(average.cpu_time_total),
        "self_device_us": float(average.self_device_time_total),
        "device_us": float(average.device_time_total),
        "self_cpu_bytes": int(average.self_cpu_memory_usage),
        "cpu_bytes": int(average.cpu_memory_usage),
        "self_device_bytes": int(average.self_device_memory_usage),
        "device_bytes": int(average.device_memory_usage),
    }
