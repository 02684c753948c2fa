"""torch.cuda.memory's snapshot and history, in the form that PyTorch's memory viewer reads."""

from __future__ import annotations

import sys
import time
from collections import deque
from pathlib import Path
from typing import Any

import torch

from lab.gpu.device import memory

FRAMES_DEEP = 40
OWN_FRAMES = (str(Path(__file__).parent), str(Path(__file__).parent.parent / "observe"))
TORCHS_FRAMES = ("/torch/utils/_python_dispatch.py", "/torch/_ops.py")

trace: deque[dict[str, Any]] | None = None
with_frames = False
allocated_at: dict[int, list[dict[str, Any]]] = {}


def install() -> None:
    memory.allocator.on_action.append(remember)
    module: Any = torch.cuda.memory
    module._record_memory_history = record_memory_history
    module._snapshot = snapshot
    module.memory_snapshot = torch.cuda.memory_snapshot = lambda *args, **kwargs: snapshot()["segments"]


def record_memory_history(
    enabled: str | bool | None = "all",
    context: str | None = "all",
    stacks: str = "all",
    max_entries: int = sys.maxsize,
    **others: Any,
) -> None:
    """Begin to write down every allocation (`enabled` "all", "state" or True), or stop (None or False)."""
    global trace, with_frames
    if enabled in (None, False):
        trace = None
        return
    if enabled not in ("all", "state", True):
        raise ValueError(f"`enabled` must be 'all', 'state' or None, not {enabled!r}")
    trace = deque(maxlen=None if max_entries >= sys.maxsize else max_entries)
    with_frames = context is not None
    allocated_at.clear()


def remember(action: str, address: int, size: int) -> None:
    """One action of the allocator: alloc, free_requested, free_completed, segment_alloc, segment_free, oom."""
    if trace is None:
        return
    frames = python_frames() if with_frames else []
    if action == "alloc":
        allocated_at[address] = frames
    elif action == "free_completed":
        frames = allocated_at.pop(address, frames)
    now_us = int(time.time() * 1e6)
    trace.append({"action": action, "addr": address, "size": size, "stream": 0, "time_us": now_us, "frames": frames})


def python_frames() -> list[dict[str, Any]]:
    frames: list[dict[str, Any]] = []
    frame = sys._getframe(2)
    while frame is not None and len(frames) < FRAMES_DEEP:
        code = frame.f_code
        if not code.co_filename.startswith(OWN_FRAMES) and not code.co_filename.endswith(TORCHS_FRAMES):
            frames.append({"filename": code.co_filename, "line": frame.f_lineno, "name": code.co_name})
        if frame.f_back is None:
            break
        frame = frame.f_back
    return frames


def snapshot(device: Any = None, **options: Any) -> dict[str, Any]:
    """The state of the allocator and what was written down: the dictionary of torch.cuda.memory._snapshot."""
    segments: dict[int, dict[str, Any]] = {}
    for block in sorted(memory.allocator.blocks.values(), key=lambda block: block.address):
        segment = segments.setdefault(
            block.segment,
            {
                "device": 0,
                "address": block.segment,
                "total_size": 0,
                "allocated_size": 0,
                "active_size": 0,
                "requested_size": 0,
                "stream": 0,
                "segment_type": "small" if block.pool == "small_pool" else "large",
                "segment_pool_id": (0, 0),
                "is_expandable": False,
                "frames": [],
                "blocks": [],
            },
        )
        used = 0 if block.free else block.size
        segment["total_size"] += block.size
        segment["allocated_size"] += used
        segment["active_size"] += used
        segment["requested_size"] += 0 if block.free else block.requested
        segment["blocks"].append(
            {
                "address": block.address,
                "size": block.size,
                "requested_size": 0 if block.free else block.requested,
                "state": "inactive" if block.free else "active_allocated",
                "frames": allocated_at.get(block.address, []),
            }
        )
    return {
        "segments": list(segments.values()),
        "device_traces": [list(trace or [])],
        "allocator_settings": {"expandable_segments": False, "max_split_size": -1},
        "external_annotations": [],
    }
