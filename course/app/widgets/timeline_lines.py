"""All lines of the timeline: those of one run, or of two over one another on the same scale."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.style import Style
from textual.strip import Strip

from course.app.widgets.timeline_rows import (
    COPY,
    GUTTER,
    HOST_GLYPHS,
    IDLE,
    TALK,
    axis,
    flow,
    gap_row,
    gpu_rows,
    host_row,
    marks,
    memory_row,
    names,
    strip,
)
from course.lanes import GPU_KINDS, HOST_KINDS, RunView
from lab.language import _

MOST_STREAMS = 4
"""How many lanes the GPU gets at most; a run with more shows the busiest ones."""

Legend = list[tuple[str, list[tuple[str, str]]]]
"""For each line the name of the lane, and the words, each with its style."""


def streams(run: RunView) -> dict[str, int]:
    """The streams that have a lane, by the lane's name."""
    lanes = run.stream_lanes
    busiest = sorted(lanes, key=lambda stream: -lanes[stream].total_s)[:MOST_STREAMS]
    if len(lanes) == 1:
        return {"GPU": busiest[0]}
    return {f"G{stream}"[: GUTTER - 1] if stream > 9 else f"GPU {stream}": stream for stream in sorted(busiest)}


def height(run: RunView, before: RunView | None, brief: bool = False) -> int:
    """How many lines there are, without the legend; `brief` leaves out names, or the memory of two runs."""
    if before is None:
        lanes = len(streams(run))
        return (2 if brief else 4) + (2 * lanes + 1 if lanes else 0) + bool(run.memory)
    return 1 + sum(1 + (3 if each.streams else 0) + (bool(each.memory) and not brief) for each in (before, run))


def legend(run: RunView, before: RunView | None, width: int) -> Legend:
    """What the signs mean."""
    both = (run,) if before is None else (before, run)
    kinds = set().union(*(each.host_sums.kinds for each in both))
    host = [(f"{glyph} {_(HOST_KINDS[kind])}", kind) for kind, glyph in HOST_GLYPHS.items() if kind in kinds]
    gpu_kinds = set().union(*(sums.kinds for each in both for sums in each.stream_sums.values()))
    gpu = [(f"█ {_(GPU_KINDS['kernel'])}", "kernel"), (f"{COPY} {_(GPU_KINDS['memcpy'])}", "memcpy")]
    if "collective" in gpu_kinds:
        gpu.append((f"{TALK} {_(GPU_KINDS['collective'])}", "collective"))
    gpu += [(f"{IDLE} " + _("idle"), "gap"), (_("height: how busy"), "axis")]
    lines = [("" if number else _("Host"), line) for number, line in enumerate(flow(host, width - GUTTER))]
    if any(each.streams for each in both):
        lines.append(("GPU", gpu))
    return lines


def lines(
    run: RunView,
    before: RunView | None,
    window: tuple[float, float],
    width: int,
    cursor: int,
    kinds: Mapping[str, Style],
    brief: bool = False,
) -> Iterator[Strip]:
    """Everything but the legend."""
    begin_s, end_s = window
    column_s = (end_s - begin_s) / width
    yield strip("", axis(width, begin_s, end_s, cursor), kinds, cursor)
    if before is not None:
        most_bytes = 0 if brief else max(each.peak.size_bytes if each.peak else 0 for each in (before, run))
        for name, each in ((_("Before"), before), (_("After"), run)):
            yield from _laid_over(name, each, window, width, cursor, kinds, most_bytes)
        return
    if not brief:
        yield strip("", marks(run, width, begin_s, column_s), kinds, cursor)
    yield strip(_("Host"), host_row(run.host_sums.columns(begin_s, end_s, width)), kinds, cursor)
    if not brief:
        yield strip("", names(run, width, begin_s, column_s), kinds, cursor)
    for name, stream in streams(run).items():
        upper, lower = gpu_rows(run.stream_sums[stream].columns(begin_s, end_s, width))
        yield strip(name, upper, kinds, cursor)
        yield strip("", lower, kinds, cursor)
    if run.streams:
        yield strip(_("idle"), gap_row(run, width, begin_s, column_s), kinds, cursor)
    if run.memory:
        peak_bytes = run.peak.size_bytes if run.peak else 0
        yield strip(_("Mem"), memory_row(run, width, begin_s, end_s, peak_bytes), kinds, cursor)


def _laid_over(
    name: str,
    run: RunView,
    window: tuple[float, float],
    width: int,
    cursor: int,
    kinds: Mapping[str, Style],
    most_bytes: int,
) -> Iterator[Strip]:
    """One of two runs: its streams are one lane, and it ends where it ended."""
    begin_s, end_s = window
    column_s = (end_s - begin_s) / width
    ends = min(max(-int(-(run.window_s - begin_s) // column_s), 0), width)
    yield strip(name, host_row(run.host_sums.columns(begin_s, end_s, width)), kinds, cursor)
    if run.streams:
        upper, lower = gpu_rows(run.gpu_sums.columns(begin_s, end_s, width))
        for label, cells in (("GPU", upper), ("", lower)):
            yield strip(label, [*cells[:ends], *[(" ", "axis")] * (width - ends)], kinds, cursor)
        yield strip(_("idle"), gap_row(run, width, begin_s, column_s), kinds, cursor)
    if run.memory and most_bytes:
        yield strip(_("Mem"), memory_row(run, width, begin_s, end_s, most_bytes), kinds, cursor)
