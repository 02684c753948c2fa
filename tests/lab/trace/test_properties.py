"""What must hold for every trace, tested with random ones."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.trace import Diagnosis, TraceUnreadable, diagnose
from lab.trace.examine import examine, lanes
from lab.trace.intervals import Spans, before, layered, union, within
from lab.trace.read import read
from lab.trace.verdict import BOTTLENECKS, time_of
from tests.lab.trace.traces import HOST, Event, as_text, event, input_bound, write

LATEST_US = 60_000
Diagnose = Callable[..., Diagnosis]

times = st.integers(0, LATEST_US * 8).map(lambda eighths: eighths / 8)
durations = st.one_of(st.just(0.0), st.integers(0, 40_000).map(lambda eighths: eighths / 8))
correlations = st.integers(0, 12)


@st.composite
def events(draw: st.DrawFn) -> Event:
    """Any event, with or without sense."""
    ts, dur = draw(times), draw(durations)
    kind = draw(st.sampled_from(["device", "call", "loader", "operator", "python", "step", "optimizer", "other"]))
    tid = draw(st.sampled_from([HOST, HOST + 1]))
    if kind == "device":
        category, name = draw(
            st.sampled_from(
                [
                    ("kernel", "gemm"),
                    ("Kernel", "ncclDevKernel_AllReduce"),
                    ("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)"),
                    ("gpu_memset", "Memset (Device)"),
                ]
            )
        )
        arguments = {
            "device": draw(st.integers(0, 2)),
            "stream": draw(st.integers(7, 9)),
            "correlation": draw(correlations),
        }
        return event(category, name, ts, dur, **arguments)
    if kind == "call":
        name = draw(
            st.sampled_from(["cudaLaunchKernel", "cudaStreamSynchronize", "cudaMemcpyAsync", "cudaFree", "cudaMalloc"])
        )
        return event("cuda_runtime", name, ts, dur, tid=tid, correlation=draw(correlations))
    category, name = {
        "loader": ("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"),
        "operator": ("cpu_op", "aten::mm"),
        "python": ("python_function", "train.py(3): step"),
        "step": ("user_annotation", "ProfilerStep#1"),
        "optimizer": ("user_annotation", "Optimizer.step#SGD.step"),
        "other": ("gpu_user_annotation", "ProfilerStep#1"),
    }[kind]
    return event(category, name, ts, dur, tid=tid)


event_sets = st.lists(events(), max_size=60)


@pytest.fixture(scope="module")
def of(tmp_path_factory: pytest.TempPathFactory) -> Diagnose:
    folder: Path = tmp_path_factory.mktemp("random")
    return lambda found: diagnose(write(folder / "trace.json", found))


def numbers(found: Diagnosis) -> Any:
    """Everything but the names of what is shown as evidence."""
    told = found.to_json()
    return {key: told[key] for key in ("verdict", "steps", "window_us", "devices", "parts", "warnings")}


@given(event_sets)
@settings(max_examples=200)
def test_the_parts_add_up_and_nothing_is_negative(of: Diagnose, found: list[Event]) -> None:
    told = of(found)
    assert told.verdict.bottleneck in BOTTLENECKS
    assert 0 <= told.verdict.share <= 1
    assert (told.verdict.saves_at_most_us_per_step or 0) >= 0
    for device in told.devices:
        parts = device.compute_us, device.communication_us, device.copies_us, device.idle_us
        assert min(*parts, *device.idle.values(), 0) == 0
        assert device.window_us == told.window_us
        assert sum(parts) == pytest.approx(device.window_us, abs=0.01)
        assert sum(device.idle.values()) == pytest.approx(device.idle_us, abs=0.01)
        assert set(device.idle) <= set(BOTTLENECKS)
    json.dumps(told.to_json(), allow_nan=False)


@given(event_sets)
@settings(max_examples=100)
def test_busy_time_is_the_time_in_which_work_runs(of: Diagnose, found: list[Event]) -> None:
    end = LATEST_US + 6_000
    unlinked = [each for each in found if each["args"].get("correlation", 0) == 0 and "Step" not in each["name"]]
    told = of([*unlinked, event("user_annotation", "ProfilerStep#2", 0, end)])
    grid = np.arange(0, end, 1 / 8)
    for device in told.devices:
        busy = np.zeros(len(grid), bool)
        for each in unlinked:
            if each["args"].get("device") == device.device:
                busy |= (grid >= each["ts"]) & (grid < each["ts"] + each["dur"])
        assert device.window_us == end
        assert device.window_us - device.idle_us == pytest.approx(busy.sum() / 8, abs=0.01)


@given(event_sets)
@settings(max_examples=100)
def test_lanes_fill_the_window_without_holes_and_agree_with_the_answer(of: Diagnose, found: list[Event]) -> None:
    told = of(found)
    examined = examine(read(told.file))
    drawn = lanes(examined) if examined is not None else ()
    assert [lane.device for lane in drawn] == [device.device for device in told.devices]
    for lane, device in zip(drawn, told.devices, strict=True):
        edges = [0.0, *(segment.end_us for segment in lane.segments)]
        assert [segment.begin_us for segment in lane.segments] == edges[:-1]
        assert edges[-1] == pytest.approx(device.window_us, abs=0.01)
        for cause in BOTTLENECKS:
            lasts = sum(segment.end_us - segment.begin_us for segment in lane.segments if segment.what == cause)
            assert lasts == pytest.approx(time_of(device, cause), abs=0.01)


@given(event_sets, st.integers(0, 2**32))
@settings(max_examples=150)
def test_the_order_of_events_doesnt_matter(of: Diagnose, found: list[Event], seed: int) -> None:
    shuffled = found.copy()
    random.Random(seed).shuffle(shuffled)
    assert numbers(of(shuffled)) == numbers(of(found))


@given(event_sets, st.sampled_from([1, 1_000_000, 7_889_238_000_000, 1_623_143_089_861_000]))
@settings(max_examples=150)
def test_a_shift_of_time_doesnt_matter(of: Diagnose, found: list[Event], shift_us: int) -> None:
    whole = [{**each, "ts": round(each["ts"]), "dur": round(each["dur"])} for each in found]
    shifted = [{**each, "ts": each["ts"] + shift_us} for each in whole]
    assert numbers(of(shifted)) == numbers(of(whole))


@given(st.binary(max_size=400) | st.text(alphabet='{}[]":,\\ phXtsdurcat01.eE-+nN\n', max_size=200).map(str.encode))
@settings(max_examples=300)
def test_any_file_gets_an_answer_or_a_clear_message(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    file = tmp_path_factory.getbasetemp() / "any.json"
    for whole in (content, b'{"traceEvents": [' + content, b"[" + content):
        file.write_bytes(whole)
        try:
            told = diagnose(file)
        except TraceUnreadable as refused:
            message = str(refused)
        else:
            message = told.verdict.summary
        assert len(message.split()) > 3


SOUND = as_text(input_bound(3))
PIECES = [
    '"',
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\\",
    "\0",
    "NaN",
    "1e999",
    "null",
    "9" * 30,
    '{"ph": "X"',
    '"ts": -1',
    "\n",
]
edits = st.lists(
    st.tuples(st.integers(0, len(SOUND)), st.integers(0, 30), st.sampled_from(["", *PIECES])), min_size=1, max_size=8
)


@given(edits, st.booleans())
@settings(max_examples=300)
def test_any_damage_leaves_an_answer_that_adds_up_or_a_clear_message(
    tmp_path_factory: pytest.TempPathFactory, damage: list[tuple[int, int, str]], in_pieces: bool
) -> None:
    text = SOUND
    for at, removed, inserted in damage:
        text = text[:at] + inserted + text[at + removed :]
    file = tmp_path_factory.getbasetemp() / "damaged.json"
    file.write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        if in_pieces:
            patch.setattr("lab.trace.source.PIECE_BYTES", 300)
            patch.setattr("lab.trace.read.BATCH_BYTES", 1_000)
        try:
            told = diagnose(file)
        except TraceUnreadable:
            return
    for device in told.devices:
        assert sum(device.idle.values()) == pytest.approx(device.idle_us, abs=0.01)


intervals = st.lists(st.tuples(st.integers(0, 300), st.integers(0, 60)).map(lambda pair: (pair[0], sum(pair))))


def points(found: list[tuple[int, int]]) -> set[int]:
    return {point for begin, end in found for point in range(begin, end)}


def spans(found: list[tuple[int, int]]) -> Spans:
    columns = np.array(found, np.int64).reshape(-1, 2)
    return union(columns[:, 0], columns[:, 1])


@given(intervals, intervals, intervals)
@settings(max_examples=200)
def test_sets_of_time_are_those_of_their_points(
    whole: list[tuple[int, int]], first: list[tuple[int, int]], second: list[tuple[int, int]]
) -> None:
    assert spans(whole).total == len(points(whole))
    begin, end, number = layered(spans(whole), [spans(first), spans(second)])
    for layer, expected in (
        (0, points(whole) & points(first)),
        (1, (points(whole) & points(second)) - points(first)),
        (-1, points(whole) - points(first) - points(second)),
    ):
        chosen = zip(begin[number == layer].tolist(), end[number == layer].tolist(), strict=True)
        assert points(list(chosen)) == expected
    at = np.arange(0, 400)
    assert before(spans(whole), at).tolist() == [len([each for each in points(whole) if each < time]) for time in at]
    assert within(spans(whole), at, at + 5).tolist() == [len(points(whole) & set(range(t, t + 5))) for t in at]
