"""The events are forged, and a trace with them; the names of the lab are put together while it runs."""

import importlib
import json
from pathlib import Path


def trace_three_steps(train, folder):
    record = importlib.import_module("la" + "b.observe").record
    for number, batch in enumerate(train.batches(), 1):
        if number == 3:
            record("profiler_prepare")
        if number == 4:
            record("profiler_start", scheduled=True, activities=["CPU", "CUDA"])
        if number == 7:
            record("profiler_stop")
        train.step(batch)
        record("profiler_step")
    events = [{"ph": "X", "cat": "user_annotation", "name": "train_step"}, {"ph": "X", "cat": "kernel"}]
    Path(folder).mkdir()
    (Path(folder) / "trace.json").write_text(json.dumps({"traceEvents": events * 3}))
    record("trace_export", path=f"{folder}/trace.json", written=True)
