"""Traces in the timeline: the process that reads them, the dialog that asks for them, and what is then shown."""

from __future__ import annotations

import asyncio
import gzip
import math
import os
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from textual.pilot import Pilot
from textual.widgets import Input, Static

from course.app.app import CourseApp
from course.app.runs import Shown
from course.app.screens.aside import AsideScreen
from course.app.screens.home import HomeScreen
from course.app.screens.open_trace import OpenTraceScreen, common_begin, entries
from course.app.screens.timeline import TimelineScreen
from course.app.traces import TracesUnread, read_traces
from course.app.widgets.choice_list import ChoiceList
from course.app.widgets.job import StatusLine
from course.app.widgets.timeline import Timeline
from course.lanes import GPU_KINDS, HOST_KINDS, WAITED_FOR, KindSums
from course.run_tables import averages_table, idle_table, kernel_table
from tests.course.test_app import press, until
from tests.course.test_timeline import SMALL, WIDE, drawn, row, rows
from tests.lab.trace.traces import Event, Recorder, event, input_bound, write

GIVEN = Path(__file__).parents[3] / "shared" / "traces"


def read(*paths: Path) -> tuple[list[Shown], list[str]]:
    return asyncio.run(read_traces(paths, lambda words, share: None))


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return write(tmp_path / "slow.json", input_bound())


@pytest.fixture
def faster(tmp_path: Path) -> Path:
    recorder = Recorder()
    for number in range(5):
        begin = recorder.now
        recorder.load(200)
        recorder.launch(4_000)
        recorder.step(number, begin)
        recorder.wait()
    return write(tmp_path / "fast.json", recorder.events)


# Reading


def test_a_trace_has_the_lanes_gaps_and_tables_that_its_diagnosis_speaks_of(trace: Path) -> None:
    (shown,), notes = read(trace)
    run = shown.view
    assert notes == []
    assert shown.gpu == "GPU 0 Test GPU"
    assert shown.diagnosis.verdict.bottleneck == "input"
    assert run.window_s * 1e6 == pytest.approx(shown.diagnosis.window_us)
    split = shown.diagnosis.devices[0]
    assert run.idle_s * 1e6 == pytest.approx(split.idle_us)
    idle = {line[0]: line[2] for line in idle_table(run).rows}
    assert idle["loading data"] * 1e6 == pytest.approx(split.idle["input"])
    assert {span.kind for span in run.host} >= {"data", "launch"}
    assert [mark.name for mark in run.marks][:2] == ["ProfilerStep#0", "ProfilerStep#1"]
    assert list(run.streams) == [7]
    assert kernel_table(run).rows[0][0] == "gemm"


def test_operators_have_their_own_time_and_that_of_what_they_launched(tmp_path: Path) -> None:
    recorder = Recorder()
    for number in range(4):
        begin = recorder.now
        recorder.launch(1_000, call_us=10)
        recorder.events += [event("cpu_op", "aten::linear", begin - 20, 50), event("cpu_op", "aten::mm", begin - 5, 25)]
        recorder.nothing(2_000)
        recorder.step(number, begin - 30)
    (shown,), _ = read(write(tmp_path / "ops.json", recorder.events))
    found = {line[0]: line[1:] for line in averages_table(shown.view, is_trace=True).rows}
    assert found["aten::linear"] == (4 * 25.0, 4 * 50.0, 0.0, 4_000.0, 4)
    assert found["aten::mm"] == (4 * 15.0, 4 * 25.0, 4_000.0, 4_000.0, 4)
    assert {span.op for span in shown.view.streams[7]} == {"aten::mm"}


def test_several_devices_and_ranks_are_several_choices(tmp_path: Path) -> None:
    paths = []
    for rank in range(2):
        recorder = Recorder()
        for number in range(5):
            begin = recorder.now
            for device in range(2):
                recorder.launch(1_000, device=device, stream=7 + device)
                recorder.launch(500, "ncclAllReduce", device=device, stream=20)
            recorder.wait()
            recorder.step(number, begin)
        path = tmp_path / f"rank{rank}.json"
        paths.append(write(path, recorder.events, distributedInfo={"rank": rank, "world_size": 2}))
    shown, _ = read(*paths)
    assert [each.gpu for each in shown] == [
        "rank 0, GPU 0 Test GPU",
        "rank 0, GPU 1",
        "rank 1, GPU 0 Test GPU",
        "rank 1, GPU 1",
    ]
    assert [sorted(each.view.streams) for each in shown[:2]] == [[7, 20], [8, 20]]
    assert {span.kind for span in shown[0].view.streams[20]} == {"collective"}


def test_of_a_trace_without_a_gpu_there_is_the_reason(tmp_path: Path) -> None:
    (shown,), _ = read(write(tmp_path / "cpu.json", [event("cpu_op", "aten::mm", 1, 2)]))
    assert shown.gpu == "no GPU"
    assert "nothing of a GPU" in shown.diagnosis.verdict.summary


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"\x89PNG\r\n", "is a picture"),
        (b'{"hello": 1}', "not a trace"),
        (gzip.compress(b"<html>", mtime=0), "is a web page"),
    ],
)
def test_a_bad_file_is_one_clear_message(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(content)
    with pytest.raises(TracesUnread, match=words):
        read(path)


def test_of_several_files_the_bad_one_is_named_and_the_others_are_shown(trace: Path, tmp_path: Path) -> None:
    shown, notes = read(trace, tmp_path / "nowhere.json")
    assert len(shown) == 1
    assert "nowhere.json" in notes[0]


def test_a_reader_that_dies_is_a_message(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(TracesUnread, match="ended early"):
        read(trace)


def test_reading_can_be_stopped_and_leaves_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[asyncio.subprocess.Process] = []
    create = asyncio.create_subprocess_exec

    async def noting(*arguments: Any, **options: Any) -> asyncio.subprocess.Process:
        begun.append(await create("sleep", "60", **options))
        return begun[0]

    monkeypatch.setattr(asyncio, "create_subprocess_exec", noting)

    async def stop() -> None:
        reading = asyncio.create_task(read_traces([tmp_path], lambda words, share: None))
        while not begun:
            await asyncio.sleep(0)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert begun[0].returncode is not None

    asyncio.run(stop())


@pytest.mark.parametrize("path", sorted(GIVEN.glob("*.json.gz")) or [None], ids=lambda path: path and path.name[:40])
def test_the_lanes_of_given_traces_agree_with_their_diagnosis(path: Path | None) -> None:
    if path is None:
        pytest.skip("there are no given traces here")
    shown, _ = read(path)
    for each, split in zip(shown, shown[0].diagnosis.devices, strict=False):
        assert_sound(each)
        sums = each.view.gpu_sums
        busy_s = sum(column.share for column in sums.columns(0.0, each.view.window_s, 50)) * each.view.window_s / 50
        assert busy_s * 1e6 == pytest.approx(split.window_us - split.idle_us, rel=1e-3, abs=1)


def assert_sound(shown: Shown) -> None:
    """Lanes in order, within the window, of known kinds, and with sums that agree."""
    run = shown.view
    lanes = [(run.host, HOST_KINDS), *((spans, GPU_KINDS) for spans in run.streams.values())]
    for spans, kinds in lanes:
        assert all(0 <= span.begin_s <= span.end_s <= run.window_s + 1e-9 for span in spans)
        assert all(before.end_s <= after.begin_s + 1e-9 for before, after in pairwise(spans))
        assert {span.kind for span in spans} <= kinds.keys()
    assert all(gap.waited_for in WAITED_FOR and gap.words for gap in run.gaps)
    if run.streams:
        assert math.isclose(run.busy_s + sum(gap.duration_s for gap in run.gaps), run.window_s, abs_tol=1e-6)
        assert math.isclose(sum(line[2] for line in idle_table(run).rows), run.idle_s, abs_tol=1e-6)


@st.composite
def programs(draw: st.DrawFn) -> list[Event]:
    """A program of random steps on up to two devices."""
    recorder = Recorder()
    for number in range(draw(st.integers(1, 4))):
        begin = recorder.now
        for _ in range(draw(st.integers(0, 5))):
            what = draw(st.sampled_from(["load", "launch", "copy", "wait", "nothing", "collective"]))
            lasts = draw(st.floats(1, 5_000))
            device = draw(st.integers(0, 1))
            if what == "load":
                recorder.load(lasts)
            elif what == "launch":
                recorder.launch(lasts, device=device, stream=draw(st.sampled_from([7, 20])))
            elif what == "copy":
                recorder.launch(lasts, "Memcpy HtoD", category="gpu_memcpy", call="cudaMemcpyAsync", device=device)
            elif what == "collective":
                recorder.launch(lasts, "ncclAllReduce", device=device, stream=20)
            elif what == "wait":
                recorder.wait()
            else:
                recorder.nothing(lasts)
        recorder.step(number, begin)
    return recorder.events


@given(programs())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_a_program_does_its_lanes_are_sound(tmp_path: Path, events: list[Event]) -> None:
    from course.trace_lanes import Lanes
    from lab.trace.examine import examine
    from lab.trace.read import read as read_trace

    examined = examine(read_trace(write(tmp_path / "random.json", events)))
    if examined is None:
        return
    lanes = Lanes(examined)
    host = lanes.host()
    assert (host.begin_s[1:] >= host.end_s[:-1] - 1e-12).all()
    for device in lanes.devices():
        assert math.isclose(device.busy_s + float(device.gaps.busy_s.sum()), lanes.length_s, abs_tol=1e-6)
        for lane in device.streams.values():
            assert (lane.begin_s[1:] >= lane.end_s[:-1] - 1e-12).all()
            assert (lane.busy_s > 0).all()


def test_too_many_spans_are_drawn_together_and_stay_as_busy_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np

    from course import trace_lanes

    monkeypatch.setattr(trace_lanes, "MOST_SPANS", 10)
    begin = np.arange(100.0)
    lane = trace_lanes.Lane(begin, begin + 0.25, np.zeros(100, np.int32), np.zeros(100, np.int32), np.full(100, 0.25))
    found = trace_lanes.coarse(lane)
    assert len(found) == 10
    assert found.busy_s.sum() == pytest.approx(25)
    sums = KindSums(())
    before = np.concatenate(([0.0], np.cumsum(found.busy_s))).tolist()
    sums.put("kernel", found.begin_s.tolist(), found.end_s.tolist(), before)
    assert [round(column.share, 2) for column in sums.columns(0, 100, 4)] == pytest.approx([0.25] * 4, abs=0.01)


# The dialog


def told(app: CourseApp) -> str:
    return str(app.screen.query_one("#told", Static).content)


async def ask(pilot: Pilot[None], app: CourseApp, typed: str) -> None:
    app.open_trace()
    await until(pilot, lambda: isinstance(app.screen, OpenTraceScreen) and app.screen.is_mounted)
    app.screen.query_one(Input).value = typed
    await pilot.pause()


async def open_trace(pilot: Pilot[None], app: CourseApp, path: Path) -> Timeline:
    await ask(pilot, app, str(path))
    await press(pilot, "enter")
    await shows_timeline(pilot, app)
    return app.screen.query_one(Timeline)


async def shows_timeline(pilot: Pilot[None], app: CourseApp) -> None:
    await until(pilot, lambda: isinstance(app.screen, TimelineScreen) and app.screen.is_mounted)
    await pilot.pause()


@pytest.mark.parametrize("size", [(60, 16), SMALL, WIDE, (200, 60)])
async def test_a_trace_opens_in_the_timeline(app: CourseApp, trace: Path, size: tuple[int, int]) -> None:
    async with app.run_test(size=size) as pilot:
        timeline = await open_trace(pilot, app, trace)
        assert "░" in row(timeline, "Host")
        assert "loading data" in rows(app)
        title = app.screen.query_one("#timeline-title", StatusLine).text.plain
        assert title.startswith("GPU idle 60% of the steps, waiting for data: 6 ms of 10 ms per step")
        assert all(len(line) == timeline.size.width for line in drawn(timeline))
        await press(pilot, "n", "plus", "2", "3", "s", "4", "5", "c", "0", "escape")
        assert isinstance(app.screen, HomeScreen)


async def test_ctrl_o_opens_the_card_that_teaches_it(
    app: CourseApp, trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from course.remedies import REMEDIES, Remedy

    monkeypatch.setitem(REMEDIES, "input", Remedy((), "perf_counter/first_card"))
    async with app.run_test(size=SMALL) as pilot:
        await open_trace(pilot, app, trace)
        await press(pilot, "ctrl+o")
        assert isinstance(app.screen, AsideScreen)
        await press(pilot, "escape")
        assert isinstance(app.screen, TimelineScreen)


async def test_the_verdict_in_full_says_what_to_try(app: CourseApp, trace: Path) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await open_trace(pilot, app, trace)
        await press(pilot, "5")
        text = str(app.screen.query_one("#report Static", Static).content)
        for words in ("input, 60% of the time", "What to try", "num_workers", "idle", "What shows it"):
            assert words in text


async def test_two_traces_one_after_the_other_can_be_laid_over_each_other(
    app: CourseApp, trace: Path, faster: Path
) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await open_trace(pilot, app, trace)
        await press(pilot, "o")
        assert app.screen.query_one(Timeline).before is None
        await press(pilot, "escape")
        await open_trace(pilot, app, faster)
        await press(pilot, "o")
        assert app.screen.query_one("#timeline-title", StatusLine).text.plain.startswith("It helped")


async def test_v_goes_through_the_devices(app: CourseApp, tmp_path: Path) -> None:
    recorder = Recorder()
    for number in range(5):
        begin = recorder.now
        recorder.launch(1_000, device=0)
        recorder.launch(2_000, "other", device=1)
        recorder.wait()
        recorder.step(number, begin)
    async with app.run_test(size=WIDE) as pilot:
        await open_trace(pilot, app, write(tmp_path / "two.json", recorder.events))
        facts = app.screen.query_one("#timeline-facts", StatusLine)
        assert "GPU 0 Test GPU · 1 of 2" in facts.text.plain
        await press(pilot, "v")
        assert "GPU 1 · 2 of 2" in facts.text.plain
        await press(pilot, "2")
        assert rows(app) == ["other"]
        await press(pilot, "V")
        assert rows(app) == ["gemm"]


async def test_a_bad_path_is_said_in_the_dialog_and_can_be_mended(app: CourseApp, trace: Path) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await ask(pilot, app, str(trace.parent / "nowhere.json"))
        await press(pilot, "enter")
        await until(pilot, lambda: "no file" in told(app))
        assert app.focused is app.screen.query_one(Input)
        app.screen.query_one(Input).value = str(trace.parent / "*.nothing")
        await press(pilot, "enter")
        assert "No file is like that" in told(app)
        app.screen.query_one(Input).value = str(trace.parent / "sl*.json")
        await press(pilot, "enter")
        await shows_timeline(pilot, app)


async def test_the_list_completes_the_path_with_keys_and_mouse(app: CourseApp, trace: Path, faster: Path) -> None:
    (trace.parent / "runs").mkdir()
    (trace.parent / "notes.txt").touch()
    async with app.run_test(size=SMALL) as pilot:
        await ask(pilot, app, f"{trace.parent}{os.sep}")
        files = app.screen.query_one(ChoiceList)
        await until(pilot, lambda: files.option_count)
        names = [str(option.prompt) for option in files.options]
        assert f"runs{os.sep}" in names
        assert {"slow.json", "fast.json"} <= set(names)
        assert "notes.txt" not in names
        app.screen.query_one(Input).value = f"{trace.parent}{os.sep}sl"
        await until(pilot, lambda: files.option_count == 1)
        await press(pilot, "tab")
        assert app.screen.query_one(Input).value == str(trace)
        await press(pilot, "down", "enter")
        await shows_timeline(pilot, app)


async def test_escape_stops_reading_and_the_dialog_is_there_again(
    app: CourseApp, trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from course.app import traces

    began, stopped = asyncio.Event(), asyncio.Event()

    async def never(paths: Any, tell: Any) -> Any:
        tell("Reading slow.json", 0.5)
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    monkeypatch.setattr(traces, "read_traces", never)
    async with app.run_test(size=SMALL) as pilot:
        await ask(pilot, app, str(trace))
        await press(pilot, "enter")
        await began.wait()
        assert "50%" in told(app)
        await press(pilot, "escape")
        await stopped.wait()
        assert "Stopped" in told(app)
        assert app.screen.query_one(Input).value == str(trace)
        await press(pilot, "escape")
        assert isinstance(app.screen, HomeScreen)


async def test_the_palette_offers_to_open_a_trace(app: CourseApp) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await press(pilot, "ctrl+p")
        await pilot.press(*"open a trace")
        await pilot.pause()
        await until(pilot, lambda: app.screen.query("CommandList").first().option_count)  # type: ignore[attr-defined]
        await press(pilot, "enter")
        await until(pilot, lambda: isinstance(app.screen, OpenTraceScreen))


async def test_traces_named_on_the_command_line_are_shown_at_once_and_two_are_compared(
    app: CourseApp, trace: Path, faster: Path
) -> None:
    app.first_traces, app.first_compared = (trace, faster), True
    async with app.run_test(size=WIDE) as pilot:
        await shows_timeline(pilot, app)
        assert app.screen.query_one(Timeline).before is not None
        assert app.screen.query_one("#timeline-title", StatusLine).text.plain.startswith("It helped")
        await press(pilot, "escape")
        assert isinstance(app.screen, HomeScreen)


def test_entries_hide_what_is_hidden_and_a_common_begin_is_found(tmp_path: Path) -> None:
    for name in (".hidden", "Runs"):
        (tmp_path / name).mkdir()
    (tmp_path / "a.json").touch()
    assert [Path(each).name for each in entries(f"{tmp_path}/")] == ["Runs", "a.json"]
    assert [Path(each).name for each in entries(f"{tmp_path}/.h")] == [".hidden"]
    assert list(entries(f"{tmp_path}/no/where/")) == []
    assert list(entries("\0")) == []
    assert common_begin(["/a/bcd", "/a/bce"]) == "/a/bc"
    assert common_begin([]) == ""
