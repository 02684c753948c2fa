"""Two traces of one program, before and after a change: what changed, and whether it helped."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from lab.language import _
from lab.trace.verdict import BOTTLENECKS, Bottleneck, Diagnosis
from lab.trace.words import NAMES, duration

NOTICEABLE_SHARE = 0.03  # a step that differs by less is as fast as before
MENTIONED_SHARE = 0.02


@dataclass(frozen=True)
class Change:
    """What a cause took before and after: per step, or as a share of the window where there are no steps."""

    bottleneck: Bottleneck
    before: float
    after: float


@dataclass(frozen=True)
class Comparison:
    """What a change did."""

    summary: str
    helped: bool | None  # None where it made no difference, or nothing tells
    unit: str  # of the changes: "us_per_step" or "share"
    step_before_us: float | None
    step_after_us: float | None
    changes: tuple[Change, ...]  # the largest first

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


def compare(
    before: Diagnosis, after: Diagnosis, as_a_whole: str = "", noticeable: float = NOTICEABLE_SHARE
) -> Comparison:
    """What changed from one to the other.

    What differs by less than `noticeable` is as fast as before. `as_a_whole` says in words what is compared where one
    of them has no steps, if the two are the same work as a whole.
    """
    step_before, step_after = _step_us(before), _step_us(after)
    stepwise = step_before is not None and step_after is not None
    if as_a_whole and not stepwise and before.devices and after.devices:
        step_before, step_after = before.window_us, after.window_us
    per_step = step_before is not None and step_after is not None
    changes = sorted(
        (
            Change(each, _taken(before, each, step_before, per_step), _taken(after, each, step_after, per_step))
            for each in BOTTLENECKS
        ),
        key=lambda change: (-abs(change.after - change.before), change.bottleneck),
    )
    whole = max(step_before or 0.0, step_after or 0.0) if per_step else 1.0
    shown = tuple(change for change in changes if abs(change.after - change.before) >= MENTIONED_SHARE * whole)
    helped = None
    if step_before is not None and step_after is not None and step_before > 0:
        ratio = step_after / step_before
        helped = None if abs(ratio - 1) < noticeable else ratio < 1
    words = (_("a step"), _(" per step")) if stepwise or not as_a_whole else (as_a_whole, "")
    summary = _summary(before, after, step_before, step_after, helped, shown, words)
    return Comparison(summary, helped, "us_per_step" if per_step else "share", step_before, step_after, shown)


def _step_us(found: Diagnosis) -> float | None:
    return found.step_us if found.devices else None


def _taken(found: Diagnosis, bottleneck: Bottleneck, step_us: float | None, per_step: bool) -> float:
    share = found.share_of(bottleneck)
    return share * step_us if per_step and step_us is not None else share


def _summary(
    before: Diagnosis,
    after: Diagnosis,
    step_before: float | None,
    step_after: float | None,
    helped: bool | None,
    changes: tuple[Change, ...],
    words: tuple[str, str],
) -> str:
    if step_before is None or step_after is None:
        which = _(" and ").join(found.file for found in (before, after) if _step_us(found) is None)
        return _(
            "I can't tell whether it helped: {which} has no steps with work of a GPU, so there is nothing to compare.",
            which=which,
        )
    what, per = words
    spans = _(
        "{what} takes {after} instead of {before}",
        what=what,
        after=duration(step_after),
        before=duration(step_before),
    )
    if helped is None:
        first = _("It made no difference: {spans}.", spans=spans)
    elif helped:
        first = _("It helped: {spans}, {times:.2f} times as fast.", spans=spans, times=step_before / step_after)
    else:
        first = _("It didn't help: {spans}, {times:.2f} times as long.", spans=spans, times=step_after / step_before)
    sentences = [first]
    if changes:
        most = changes[0]
        name = _(NAMES[most.bottleneck])
        sentences.append(
            _(
                "The largest change is {name}: from {before} to {after}{per}.",
                name=name,
                before=duration(most.before),
                after=duration(most.after),
                per=per,
            )
        )
    was, now = before.verdict.bottleneck, after.verdict.bottleneck
    if was != now:
        sentences.append(_("The bottleneck was {was}, now it is {now}.", was=was, now=now))
    return " ".join(sentences)
