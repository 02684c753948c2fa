"""Two runs beside each other, before and after a change: whether it helped, and what became of the time."""

from __future__ import annotations

from dataclasses import dataclass, replace

from course.lanes import RunView
from course.run_tables import Table, TableColumn, Value, in_mib, in_ms
from lab.language import N_, _, ngettext, number
from lab.trace.compare import Comparison, compare
from lab.trace.verdict import BOTTLENECKS, Bottleneck, Diagnosis
from lab.trace.words import NAMES

WHOLE = N_("the GPU's part, from its first kernel to its last,")
NOTICEABLE = 0.05
"""A single run of a program differs by a few hundredths from the next one, whatever is changed."""
NOTHING_NEW = 0.005
"""A share or a ratio that changed by less didn't change."""


@dataclass(frozen=True)
class Difference:
    """One line: a quantity before and after."""

    what: str
    before: str
    after: str
    change: str
    better: bool | None
    """None where it didn't change, or where less isn't better."""


@dataclass(frozen=True)
class Overlay:
    """What a change did."""

    summary: str
    helped: bool | None
    rows: tuple[Difference, ...]


def overlay(before: RunView, after: RunView, was: Diagnosis, now: Diagnosis) -> Overlay:
    """Two runs with the diagnosis of each."""
    comparison = compare(was, now, _(WHOLE), NOTICEABLE)
    summary, helped = comparison.summary, comparison.helped
    unknown = next((each for each in (was, now) if each.devices and each.verdict.bottleneck == "unknown"), None)
    if unknown is not None:  # what is too little for a verdict is too little to be compared
        summary, helped = unknown.verdict.summary, None
        summary = summary.replace(_("I can't tell"), _("I can't tell whether it helped"), 1)
    return Overlay(summary, helped, tuple(_rows(before, after, was, now, comparison)))


def undecided(found: Overlay, why: str) -> Overlay:
    """The same numbers without saying which are better, where they may differ for another reason than the change."""
    return Overlay(why, None, tuple(replace(row, better=None) for row in found.rows))


def _rows(before: RunView, after: RunView, was: Diagnosis, now: Diagnosis, comparison: Comparison) -> list[Difference]:
    rows = []
    stepwise = was.step_us is not None and now.step_us is not None
    if comparison.step_before_us is not None and comparison.step_after_us is not None:
        rows.append(
            _time(_("Step") if stepwise else _("GPU's part"), comparison.step_before_us, comparison.step_after_us)
        )
    rows.append(_time(_("In all"), before.window_s * 1e6, after.window_s * 1e6))
    if was.devices and now.devices:
        rows.append(_share(_("GPU busy"), _busy(was), _busy(now)))
        for cause in BOTTLENECKS:
            old, new = _idle(was, cause, stepwise), _idle(now, cause, stepwise)
            if max(old, new) >= NOTHING_NEW * max(_of(was, stepwise), _of(now, stepwise), 1e-9):
                what = _("Idle per step: {cause}") if stepwise else _("Idle: {cause}")
                rows.append(_time(what.format(cause=_(NAMES[cause])), old, new))
    if before.peak and after.peak:
        old_bytes, new_bytes = before.peak.size_bytes, after.peak.size_bytes
        rows.append(_line(_("Peak memory"), in_mib(old_bytes), in_mib(new_bytes), old_bytes, new_bytes))
    return rows


def _of(found: Diagnosis, stepwise: bool) -> float:
    return (found.step_us if stepwise else None) or found.window_us


def _busy(found: Diagnosis) -> float:
    """The share of the time in which the GPU did anything."""
    asked = [each for each in found.devices if each.has_a_say]
    return sum(1 - each.idle_us / each.window_us for each in asked if each.window_us) / max(len(asked), 1)


def _idle(found: Diagnosis, cause: Bottleneck, stepwise: bool) -> float:
    """How long the GPU was idle for this cause, in a step or in all."""
    asked = [each for each in found.devices if each.has_a_say]
    idle_us = sum(each.idle.get(cause, 0.0) for each in asked) / max(len(asked), 1)
    return idle_us / found.window_us * _of(found, stepwise) if found.window_us else 0.0


def _time(what: str, before_us: float, after_us: float) -> Difference:
    return _line(what, in_ms(before_us / 1e6), in_ms(after_us / 1e6), before_us, after_us)


def _line(what: str, before: str, after: str, old: float, new: float) -> Difference:
    """A quantity of which less is better."""
    if old <= 0 or new <= 0:
        change = _("gone") if old > 0 else _("new") if new > 0 else _("same")
        return Difference(what, before, after, change, None if old == new else new < old)
    ratio = new / old
    if abs(ratio - 1) < NOTHING_NEW:
        return Difference(what, before, after, _("same"), None)
    if ratio < 1:
        return Difference(what, before, after, _("{share:.0%} less", share=1 - ratio), True)
    more = _("{share:.0%} more", share=ratio - 1) if ratio < 2 else _("{ratio:.3g} times as much", ratio=ratio)
    return Difference(what, before, after, more, False)


def _share(what: str, old: float, new: float) -> Difference:
    """A share that had better be large."""
    points = round((new - old) * 100)
    same = abs(new - old) < NOTHING_NEW
    signed = f"{points:+d}"
    change = _("same") if same else ngettext("{points} point", "{points} points", abs(points), points=signed)
    return Difference(what, number(old, ".0%"), number(new, ".0%"), change, None if same else new > old)


def comparison_table(found: Overlay, note: str) -> Table:
    """The differences as a table."""
    columns = tuple(
        TableColumn(title, str, is_text=True) for title in (_("What"), _("Before"), _("After"), _("Change"), "")
    )
    marks = {True: _("better"), False: _("worse"), None: ""}
    rows: list[tuple[Value, ...]] = [
        (row.what, row.before, row.after, row.change, marks[row.better]) for row in found.rows
    ]
    return Table(_("Compare"), columns, rows, None, note)
