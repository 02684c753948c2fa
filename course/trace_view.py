"""A trace as the timeline shows it, from the arrays of the process that read it; spans are made when they are seen."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, overload

from course.lanes import Average, Gap, KindSums, Lane, Mark, RunView, Span
from course.report import printable
from lab.language import _

Arrays = Mapping[str, "array[Any]"]


class SpanArray(Sequence[Span]):
    """Spans in columns; each is made when it is asked for."""

    def __init__(self, arrays: Arrays, name: str, texts: Sequence[str]) -> None:
        self.begins = arrays[f"{name} begin_s"]
        self._ends, self._busy = arrays[f"{name} end_s"], arrays[f"{name} busy_s"]
        self._kinds, self._names = arrays[f"{name} kind"], arrays[f"{name} name"]
        self._ops, self._counts = arrays.get(f"{name} op"), arrays.get(f"{name} count")
        self._texts = texts

    def __len__(self) -> int:
        return len(self.begins)

    @overload
    def __getitem__(self, number: int) -> Span: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Span]: ...
    def __getitem__(self, number: int | slice) -> Span | Sequence[Span]:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        name = self._texts[self._names[number]]
        if self._counts is not None and self._counts[number] > 1:
            name = _("{count} of them, {name} first", count=self._counts[number], name=name)
        op = self._texts[self._ops[number]] if self._ops is not None else ""
        return Span(self.begins[number], self._ends[number], self._texts[self._kinds[number]], name, op)

    def sums(self) -> Iterator[None]:
        """Fill `made_sums`, a piece at a time, so that the app isn't held up by a long lane."""
        made: dict[int, tuple[list[float], list[float], list[float]]] = {}
        totals: dict[int, float] = {}
        for number, kind in enumerate(self._kinds):
            if kind not in made:
                made[kind], totals[kind] = ([], [], []), 0.0
            begins, ends, before = made[kind]
            begins.append(self.begins[number])
            ends.append(self._ends[number])
            before.append(totals[kind])
            totals[kind] += self._busy[number]
            if number % 20_000 == 19_999:
                yield
        self.made_sums = KindSums(())
        for kind, (begins, ends, before) in made.items():
            self.made_sums.put(self._texts[kind], begins, ends, [*before, totals[kind]])


class GapArray(Sequence[Gap]):
    """Gaps in columns; each is made when it is asked for."""

    def __init__(self, arrays: Arrays, texts: Sequence[str]) -> None:
        self.begins = arrays["gaps begin_s"]
        self._ends = arrays["gaps end_s"]
        self._kinds, self._after = arrays["gaps kind"], arrays["gaps name"]
        self._texts = texts

    def __len__(self) -> int:
        return len(self.begins)

    @overload
    def __getitem__(self, number: int) -> Gap: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Gap]: ...
    def __getitem__(self, number: int | slice) -> Gap | Sequence[Gap]:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        after = self._texts[self._after[number]] if self._after[number] >= 0 else ""
        return Gap(self.begins[number], self._ends[number], self._texts[self._kinds[number]], after)


def device_view(file: Mapping[str, Any], device: Mapping[str, Any], arrays: Arrays) -> Iterator[RunView | None]:
    """One device with the host of its file: None for each piece of the work, then the view."""
    texts = file["shown_texts"]
    host: SpanArray = file["host"]
    if not hasattr(host, "made_sums"):
        yield from host.sums()
    streams = {number: SpanArray(arrays, f"stream {number}", texts) for number in device["streams"]}
    together = SpanArray(arrays, "together", texts)
    for lane in (*streams.values(), together):
        yield from lane.sums()
    gaps = GapArray(arrays, texts)
    idle = [
        (Gap(0.0, 0.0, texts[kind], texts[after] if after >= 0 else "").words, count, total_s, longest_s)
        for kind, after, count, total_s, longest_s in device["idle_sums"]
    ]
    run = RunView(
        window_s=file["window_s"],
        host=host,
        marks=tuple(Mark(at_s, kind, printable(name), until_s) for at_s, kind, name, until_s in file["marks"]),
        streams=streams,
        gaps=gaps,
        busy_s=device["busy_s"],
        averages=tuple(
            Average(printable(name), calls, own_cpu, cpu, own_device, of_device)
            for name, calls, own_cpu, cpu, own_device, of_device in file["averages"]
        ),
        steps=tuple((begin_s, end_s) for begin_s, end_s in file["steps"]),
        kernel_sums=tuple(
            (printable(name), count, total_s, most_s) for name, count, total_s, most_s in device["kernel_sums"]
        ),
        idle_sums=tuple(idle),
    )
    # What the process that read the trace has worked out needn't be worked out here.
    run.__dict__.update(
        host_sums=host.made_sums,
        stream_sums={number: lane.made_sums for number, lane in streams.items()},
        gpu_sums=together.made_sums,
        long_gaps=[gaps[number] for number in device["long_gaps"]],
        idle_s=run.window_s - run.busy_s,
        stream_lanes={number: Lane(lane) for number, lane in streams.items()},
    )
    yield run


def nothing_of_a_device() -> RunView:
    """What there is to show of a trace without a device: only its verdict."""
    return RunView(0.0, (), (), {}, (), 0.0)
