"""What a run spent its time on, as tables: kernels, operators, and what the GPU waited for."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from course.run_view import RunView


class Row(NamedTuple):
    """A line of a table: everything of one name together."""

    name: str
    calls: int
    total_s: float
    longest_s: float
    share: float
    """Of the sum over all rows of kernels, or of the whole run for idle time."""


def kernel_rows(run: RunView) -> list[Row]:
    """Kernels and copies by name, those with most time on the GPU first."""
    return _rows((span.name, span.duration_s) for span in run.launches)


def op_rows(run: RunView) -> list[Row]:
    """The operators that launched them, those with most time on the GPU first."""
    return _rows((span.op, span.duration_s) for span in run.launches)


def idle_rows(run: RunView) -> list[Row]:
    """What the GPU waited for, the most expensive first; the shares are of the whole run."""
    return _rows(((gap.words, gap.duration_s) for gap in run.gaps), run.window_s)


def _rows(durations: Iterable[tuple[str, float]], whole_s: float | None = None) -> list[Row]:
    found: dict[str, list[float]] = {}
    for name, duration_s in durations:
        found.setdefault(name, []).append(duration_s)
    totals = {name: math.fsum(each) for name, each in found.items()}
    whole_s = math.fsum(totals.values()) if whole_s is None else whole_s
    rows = (
        Row(name, len(each), totals[name], max(each), totals[name] / whole_s if whole_s else 0.0)
        for name, each in found.items()
    )
    return sorted(rows, key=lambda row: (-row.total_s, row.name))


def in_mib(size_bytes: float) -> str:
    """An amount of memory in binary megabytes, to about three digits."""
    mib = size_bytes / 2**20
    digits = 0 if mib >= 100 else 1 if mib >= 10 else 2
    return f"{mib:,.{digits}f} MiB".replace(",", " ")


def in_ms(duration_s: float) -> str:
    """A time in milliseconds, to about three digits."""
    ms = duration_s * 1e3
    digits = 0 if abs(ms) >= 1000 else 1 if abs(ms) >= 100 else 2 if abs(ms) >= 10 else 3
    return f"{ms:,.{digits}f} ms".replace(",", " ")
