"""Turns what learner code returned into plain JSON data, by exact type, so that nothing of it can act where it is read.

Numbers, strings, lists and dictionaries stay what they are, and numpy's numbers become Python's. Anything else
becomes a dictionary with one key that begins with "$": what a tensor, a DataLoader or a profiler can tell about itself,
or just the name of the type.
A learner's own key that begins with "$" gets a second one, so that it can't be taken for one of these.
"""

from __future__ import annotations

import math
import sys
from typing import Any

MAX_DEPTH = 20
MAX_ITEMS = 50_000
MAX_TEXT = 100_000
MAX_ROWS = 2_000
JSON_INT = 2**63
NUMPY_NUMBERS = (
    *("bool_", "float16", "float32", "float64"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
)


def plain(value: object) -> Any:
    """The value as JSON data; never raises for what a value contains."""
    return _Plain().convert(value, 0)


class _Plain:
    def __init__(self) -> None:
        self.items = 0

    def convert(self, value: object, depth: int) -> Any:
        self.items += 1
        if depth > MAX_DEPTH or self.items > MAX_ITEMS:
            return {"$too_large": "nested too deeply" if depth > MAX_DEPTH else "too many values"}
        kind = type(value)
        if value is None or kind is bool:
            return value
        if isinstance(value, int) and kind is int:
            return value if -JSON_INT <= value < JSON_INT else {"$big_int": value.bit_length()}
        if isinstance(value, float) and kind is float:
            return value if math.isfinite(value) else {"$float": str(value)}
        if isinstance(value, str) and kind is str:
            return _text(value)
        if isinstance(value, (list, tuple)) and kind in (list, tuple):
            return self.convert_list(value, depth)
        if isinstance(value, dict) and kind is dict and all(type(key) is str for key in value):
            return self.convert_dict(value, depth)
        number = _of_numpy(value)
        if number is not None:
            return self.convert(number, depth)
        return _told_by_torch(value) or {"$other": type_name(value)}

    def convert_list(self, value: list[object] | tuple[object, ...], depth: int) -> Any:
        if self.items + len(value) > MAX_ITEMS:
            return {"$too_large": f"{len(value)} values"}
        return [self.convert(item, depth + 1) for item in value]

    def convert_dict(self, value: dict[str, object], depth: int) -> Any:
        if self.items + len(value) > MAX_ITEMS:
            return {"$too_large": f"{len(value)} keys"}
        return {
            _text("$" + key if key.startswith("$") else key): self.convert(item, depth + 1)
            for key, item in value.items()
        }


def _of_numpy(value: object) -> bool | int | float | None:
    """The Python number in one of numpy's scalars; None for anything else, also for a class derived from one."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not any(type(value) is getattr(numpy, name, None) for name in NUMPY_NUMBERS):
        return None
    try:
        number = value.item()  # type: ignore[attr-defined]
    except Exception:
        return None
    return number if type(number) in (bool, int, float) else None  # or it isn't numpy's any more


def _text(value: str) -> Any:
    if len(value) > MAX_TEXT:
        return {"$too_large": f"{len(value)} characters"}
    return value.encode("utf-8", "backslashreplace").decode()  # a lone surrogate isn't JSON


def type_name(value: object) -> str:
    kind = type(value)
    module = type.__getattribute__(kind, "__module__")
    name = type.__getattribute__(kind, "__qualname__")
    return f"{module}.{name}"[:200]


def _told_by_torch(value: object) -> dict[str, Any] | None:
    """What a tensor, a loader or a profiler tells about itself; None for anything else."""
    if "torch" not in sys.modules:
        return None
    import torch
    from torch.profiler import profile
    from torch.utils.data import DataLoader

    tells = {torch.Tensor: ("$tensor", _tensor), DataLoader: ("$loader", _loader), profile: ("$profile", _profile)}
    for kind, (name, tell) in tells.items():
        if issubclass(type(value), kind):
            try:
                return {name: tell(value)}
            except Exception as error:
                return {name: {"error": _text(f"{type(error).__name__}: {error}"[:500])}}
    return None


def _tensor(tensor: Any) -> dict[str, Any]:
    return {
        "shape": [int(size) for size in tensor.shape],
        "dtype": str(tensor.dtype),
        "device": str(tensor.device),
        "requires_grad": bool(tensor.requires_grad),
    }


def _loader(loader: Any) -> dict[str, Any]:
    return {
        "num_workers": plain(loader.num_workers),
        "batch_size": plain(loader.batch_size),
        "pin_memory": plain(loader.pin_memory),
        "persistent_workers": plain(loader.persistent_workers),
        "prefetch_factor": plain(loader.prefetch_factor),
        "dataset": type(loader.dataset).__qualname__,
    }


def _profile(profiler: Any) -> dict[str, Any]:
    told: dict[str, Any] = {
        "activities": sorted(activity.name for activity in profiler.activities),
        "profile_memory": bool(profiler.profile_memory),
        "record_shapes": bool(profiler.record_shapes),
    }
    try:
        rows = [_row(average) for average in profiler.key_averages()]
    except Exception as error:  # not started, or not finished
        return {**told, "rows": [], "error": _text(f"{type(error).__name__}: {error}"[:500])}
    return {**told, "rows": rows[:MAX_ROWS]}


def _row(average: Any) -> dict[str, Any]:
    return {
        "key": str(average.key)[:500],
        "count": int(average.count),
        "is_kernel": average.device_type.name != "CPU" and not getattr(average, "is_user_annotation", False),
        "self_cpu_us": float(average.self_cpu_time_total),
        "cpu_us": float(average.cpu_time_total),
        "self_device_us": float(average.self_device_time_total),
        "device_us": float(average.device_time_total),
        "self_device_bytes": int(average.self_device_memory_usage),
        "self_cpu_bytes": int(average.self_cpu_memory_usage),
    }
