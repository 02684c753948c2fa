"""Redrawing the timeline of 50,000 spans, beside Textual's own Sparkline with as many numbers: CPU milliseconds.

    python tests/benchmarks/timeline.py [SPANS [RUNS]]

The same app shows both, one after the other. A redraw of the timeline is what a key costs (zoom, scroll, the cursor):
all of its lines, drawn anew. Of the Sparkline it is a change of its data; it has no axis, no lanes and no words. "two
runs" is the timeline with another run of as many spans laid over it.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.widgets import Sparkline

from course.app.widgets.timeline import Timeline
from course.lanes import RunView
from course.run_view import view

SIZES = ((80, 24), (120, 40), (200, 60))


def events(spans: int, seed: int) -> list[dict[str, Any]]:
    """A run of kernels on two streams with gaps between, a wait or a phase now and then, memory and labels."""
    chance = random.Random(seed)
    found: list[dict[str, Any]] = []
    now_s, free = 0.0, {7: 0.0, 13: 0.0}
    for number in range(spans):
        now_s += chance.choice((5e-6, 2e-5, 1e-4, 3e-3))
        stream = 7 if number % 5 else 13
        begin_s = max(now_s, free[stream])
        free[stream] = begin_s + chance.uniform(5e-6, 2e-4)
        found.append(
            {
                "what": "launch",
                "at_s": now_s,
                "begin_s": begin_s,
                "end_s": free[stream],
                "kind": "kernel" if number % 7 else "memcpy",
                "name": f"kernel {number % 40}",
                "op": f"aten::{number % 20}",
                "stream": stream,
                "allocated_bytes": chance.randrange(2**30),
            }
        )
        if number % 10 == 0:
            kind = ("forward", "backward", "optimizer", "data")[number // 10 % 4]
            found.append({"what": "host_phase", "at_s": now_s, "kind": kind, "lasted_s": 5e-5})
        if number % 50 == 0:
            found.append({"what": "label", "at_s": now_s, "phase": "entered", "name": "step"})
            found.append({"what": "label", "at_s": now_s + 2e-6, "phase": "left", "name": "step"})
    return found


class Both(App[None]):
    """The two widgets, one above the other."""

    CSS = "Sparkline { height: 4; } Timeline { height: auto; }"

    def __init__(self, run: RunView) -> None:
        super().__init__()
        self.run_view = run

    def compose(self) -> ComposeResult:
        yield Sparkline([], id="spark")
        yield Timeline(id="timeline")

    def on_mount(self) -> None:
        self.query_one(Timeline).run = self.run_view


def cpu_ms(act: Callable[[int], None], runs: int) -> tuple[float, float]:
    """Median and most of so many runs."""
    took = []
    for number in range(runs):
        began_s = time.process_time()
        act(number)
        took.append((time.process_time() - began_s) * 1e3)
    return statistics.median(took), max(took)


def redraw(widget: Any) -> None:
    widget.render_lines(Region(0, 0, *widget.size))


async def measure(run: RunView, before: RunView, spans: int, runs: int) -> None:
    numbers = [span.duration_s for span in run.launches][:spans]
    print(
        f"{len(run.host):,} spans of the host, {sum(map(len, run.streams.values())):,} of the GPU, "
        f"{len(run.gaps):,} gaps, {len(run.marks):,} labels; CPU ms, median (most) of {runs}\n"
    )
    print(f"{'':10} {'Sparkline':>16} {'whole run':>16} {'zoomed in':>16} {'two runs':>16}")
    for size in SIZES:
        app = Both(run)
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            spark, timeline = app.query_one(Sparkline), app.query_one(Timeline)
            found = []

            def draw_spark(number: int, spark: Any = spark) -> None:
                spark.data = numbers[number:] + numbers[:number]
                redraw(spark)

            def draw(number: int, timeline: Any = timeline) -> None:
                timeline.cursor_s = timeline.window[0] + timeline.column_s * (number % 60)
                redraw(timeline)

            def scroll(number: int, timeline: Any = timeline) -> None:
                timeline.look_at(run.window_s * number / runs, run.window_s * (number / runs + 0.02))
                redraw(timeline)

            redraw(timeline)  # what is worked out once
            found.append(cpu_ms(draw_spark, runs))
            found.append(cpu_ms(draw, runs))
            found.append(cpu_ms(scroll, runs))
            timeline.before = before
            await pilot.pause()
            redraw(timeline)
            found.append(cpu_ms(draw, runs))
            cells = (f"{median:6.1f} ({most:5.1f})" for median, most in found)
            print(f"{size[0]} x {size[1]:<4} " + " ".join(f"{cell:>16}" for cell in cells))


def main() -> None:
    spans = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    began_s = time.process_time()
    run, before = view(events(spans, 1)), view(events(spans, 2))
    print(f"reading the events of both runs: {(time.process_time() - began_s) / 2:.2f} s of CPU each")
    asyncio.run(measure(run, before, spans, runs))


if __name__ == "__main__":
    main()
