"""What a program does with a profiler: its making, its steps, its traces."""

from __future__ import annotations

from functools import wraps
from pathlib import Path
from typing import Any

from lab.observe import log


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
