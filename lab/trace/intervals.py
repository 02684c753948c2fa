"""Sets of time as sorted, disjoint intervals of whole nanoseconds, so that parts add up exactly."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


class Spans(NamedTuple):
    """Intervals that are sorted and don't touch."""

    begin: Ints
    end: Ints

    @property
    def total(self) -> int:
        return int((self.end - self.begin).sum())


NOTHING = Spans(np.empty(0, np.int64), np.empty(0, np.int64))


def union(begin: Ints, end: Ints) -> Spans:
    """The time that is in any of these intervals, which may overlap and come in any order."""
    lasting = end > begin
    begin, end = begin[lasting], end[lasting]
    if not len(begin):
        return NOTHING
    order = np.argsort(begin, kind="stable")
    begin, end = begin[order], np.maximum.accumulate(end[order])
    first = np.concatenate(([True], begin[1:] > end[:-1]))
    last = np.concatenate((first[1:], [True]))
    return Spans(begin[first], end[last])


def clipped(spans: Spans, begin_ns: int, end_ns: int) -> Spans:
    """The part between two times."""
    begin, end = np.maximum(spans.begin, begin_ns), np.minimum(spans.end, end_ns)
    inside = end > begin
    return Spans(begin[inside], end[inside])


def active(spans: Spans, at: Ints) -> npt.NDArray[np.bool_]:
    """At which of these times one of the intervals is under way; its begin belongs to it, its end doesn't."""
    return np.searchsorted(spans.begin, at, "right") > np.searchsorted(spans.end, at, "right")


def before(spans: Spans, at: Ints) -> Ints:
    """How much of the set lies before each of these times."""
    done = np.concatenate(([0], np.cumsum(spans.end - spans.begin)))
    index = np.searchsorted(spans.begin, at, "right")
    inside = np.zeros(len(at), np.int64)
    begun = index > 0
    last = index[begun] - 1
    inside[begun] = np.minimum(at[begun], spans.end[last]) - spans.end[last]
    return done[index] + inside


def within(spans: Spans, begin: Ints, end: Ints) -> Ints:
    """How much of the set lies in each of these intervals."""
    return before(spans, end) - before(spans, begin)


def layered(whole: Spans, layers: list[Spans]) -> tuple[Ints, Ints, npt.NDArray[np.int8]]:
    """The whole, cut into segments, each with the number of the first layer that covers it, or -1."""
    cuts = np.sort(np.concatenate([side for spans in (whole, *layers) for side in spans]))
    if len(cuts) < 2:
        return NOTHING.begin, NOTHING.end, np.empty(0, np.int8)
    cuts = cuts[np.concatenate(([True], cuts[1:] != cuts[:-1]))]  # numpy's unique hashes, which takes ten times as long
    begin, end = cuts[:-1], cuts[1:]
    kept = active(whole, begin)
    begin, end = begin[kept], end[kept]
    number = np.full(len(begin), -1, np.int8)
    for layer in reversed(range(len(layers))):
        number[active(layers[layer], begin)] = layer
    if not len(begin):
        return begin, end, number
    first = np.concatenate(([True], (begin[1:] != end[:-1]) | (number[1:] != number[:-1])))
    last = np.concatenate((first[1:], [True]))
    return begin[first], end[last], number[first]
