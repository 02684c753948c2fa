"""A diagnosis as text for a terminal or a pipe."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator, Sequence

from course import catalog
from course.remedies import REMEDIES
from course.report import Ink, printable
from lab.language import N_, _, ngettext, number
from lab.trace.compare import Comparison
from lab.trace.ranks import Ranks
from lab.trace.verdict import Bottleneck, Cost, DeviceSplit, Diagnosis
from lab.trace.words import NAMES, duration

NAME_WIDTH = 60
SHARE_BAR = 24
LABEL = 16


def lines(found: Sequence[Diagnosis], comparison: Comparison | None, ranks: Ranks | None, ink: Ink) -> Iterator[str]:
    """All that the command says."""
    if comparison is not None:
        yield from _comparison(found, comparison, ink)
        return
    for at, each in enumerate(found):
        if at:
            yield ""
        yield from _diagnosis(each, ink)
    if ranks is not None:
        yield ""
        yield ink.bold(ngettext("{n} rank", "{n} ranks", len(ranks.ranks)))
        yield from _wrapped(ink, ranks.summary, "  ")
        for rank in ranks.ranks:
            yield _(
                "  rank {rank}: {time} per step in collectives",
                rank=rank.rank,
                time=duration(rank.collective_us_per_step),
            )


def _diagnosis(found: Diagnosis, ink: Ink) -> Iterator[str]:
    verdict = found.verdict
    paint = {"unknown": ink.warn, "none": ink.good, "compute": ink.good}.get(verdict.bottleneck, ink.bad)
    rank = _(" (rank {rank})", rank=found.rank) if found.rank is not None else ""
    share = _(", {share:.0%} of the time", share=verdict.share) if verdict.bottleneck not in ("unknown", "none") else ""
    said = paint(verdict.bottleneck) + share
    yield _("{name}: {detail}", name=ink.bold(printable(found.file)) + rank, detail=said)
    yield from _wrapped(ink, verdict.summary, "  ")
    yield from _wrapped(ink, saving(found), "  ")
    if found.devices:
        yield ""
        steps = ngettext("{n} step", "{n} steps", found.steps.count)
        median = _(", median {time}", time=duration(found.steps.median_us)) if found.steps.median_us else ""
        yield ink.quiet(
            _("  {time} examined, {steps}{median}", time=duration(found.window_us), steps=steps, median=median)
        )
    for device in found.devices:
        yield from _device(device, ink)
    yield from _evidence(found, ink)
    remedy = REMEDIES[verdict.bottleneck]
    if remedy.tries:
        yield ink.bold(_("  What to try"))
        for at, each in enumerate(remedy.tries, start=1):
            yield from _wrapped(ink, f"{at}. {_(each)}", "    ", hang=3)
    yield from _wrapped(ink, lesson_of(verdict.bottleneck), "    ")
    for each in found.record_better:
        yield from _wrapped(ink, f"→ {each}", "  ", hang=2)
    for each in found.warnings:
        yield from _wrapped(ink, f"! {printable(each)}", "  ", hang=2)


def saving(found: Diagnosis) -> str:
    """What a fix could save at most, as a sentence; nothing where that isn't known."""
    saves = found.verdict.saves_at_most_us_per_step
    if not saves or found.verdict.bottleneck in ("none", "compute"):
        return ""
    step = found.step_us or 0.0
    faster = _(", {times:.2f} times as fast", times=step / (step - saves)) if saves < 0.99 * step else ""
    if found.verdict.bottleneck == "sync":
        # Not "that": the sentence before may be about what stays without them.
        said = N_("Without these waits, a step would be shorter by {time} at best{faster}.")
        return _(said, time=duration(saves), faster=faster)
    return _("Without that, a step would be shorter by {time} at best{faster}.", time=duration(saves), faster=faster)


def lesson_of(bottleneck: Bottleneck) -> str:
    """Where the course teaches what to do about it."""
    card = REMEDIES[bottleneck].card
    step = catalog.load().step(card)
    return _('The card "{title}" ({card}) is about this.', title=step.title, card=card) if step is not None else ""


def _device(device: DeviceSplit, ink: Ink) -> Iterator[str]:
    yield f"  GPU {device.device} {ink.quiet(printable(device.name))}".rstrip()
    rows = [
        (_("compute"), device.compute_us, 0),
        (_("communication"), device.communication_us, 0),
        (_("copies"), device.copies_us, 0),
        (_("idle"), device.idle_us, 0),
        # By the words that verdicts and exercises use, which are the same in every language.
        *((name, us, 2) for name, us in sorted(device.idle.items(), key=lambda row: -row[1])),
    ]
    for name, us, indent in rows:
        share = us / device.window_us if device.window_us else 0.0
        if indent and share < 0.001:
            continue
        bar = "█" * round(share * SHARE_BAR)
        label = " " * indent + name
        yield f"    {label:<{LABEL}}{number(share, '.1%'):>7}  {bar}".rstrip()


def _evidence(found: Diagnosis, ink: Ink) -> Iterator[str]:
    shown = found.evidence
    if not (shown.facts or shown.gaps or shown.calls or shown.functions or shown.work):
        return
    yield ink.bold(_("  What shows it"))
    for fact in shown.facts:
        yield from _wrapped(ink, fact, "    ")
    for gap in shown.gaps:
        host = _("the CPU was in {call}", call=short(gap.host)) if gap.host else _("of the CPU nothing is recorded")
        ended = _(", then came {kernel}", kernel=short(gap.next)) if gap.next else ""
        yield from _wrapped(
            ink,
            _(
                "At {at} GPU {device} was idle for {time}: {host}{ended}.",
                at=duration(gap.at_us),
                device=gap.device,
                time=duration(gap.lasts_us),
                host=host,
                ended=ended,
            ),
            "    ",
        )
    for title, costs in ((_("calls"), shown.calls), ("Python", shown.functions), ("GPU", shown.work)):
        for cost in costs[:3]:
            yield f"    {title:<7}{_cost(cost)}"


def _cost(cost: Cost) -> str:
    return f"{duration(cost.us):>8}  {cost.count:>6} x {short(cost.name)}"


def _comparison(found: Sequence[Diagnosis], comparison: Comparison, ink: Ink) -> Iterator[str]:
    before, after = found
    paint = {True: ink.good, False: ink.bad, None: ink.warn}[comparison.helped]
    told = comparison.step_before_us is not None and comparison.step_after_us is not None
    unclear = _("no difference") if told else _("I can't tell")
    yield paint({True: _("helped"), False: _("didn't help"), None: unclear}[comparison.helped])
    yield from _wrapped(ink, comparison.summary, "  ")
    yield ""
    for title, each in ((_("before"), before), (_("after"), after)):
        said = _("{name}: {detail}", name=ink.bold(printable(each.file)), detail=each.verdict.bottleneck)
        yield f"  {title:<7}{said}"
        yield from _wrapped(ink, each.verdict.summary, "         ")
    if comparison.changes:
        yield ""
        yield ink.quiet("  " + " " * 44 + _("before").rjust(10) + _("after").rjust(10))
    for change in comparison.changes:
        values = [
            duration(value) if comparison.unit == "us_per_step" else number(value, ".1%")
            for value in (change.before, change.after)
        ]
        yield f"  {_(NAMES[change.bottleneck]):<44}{values[0]:>10}{values[1]:>10}"
    for each in found:
        for warning in each.warnings:
            said = _("{name}: {detail}", name=printable(each.file), detail=printable(warning))
            yield from _wrapped(ink, f"! {said}", "  ", hang=2)


def short(name: str) -> str:
    """A name that fits on a line: kernels have names of hundreds of characters."""
    name = printable(name)
    return name if len(name) <= NAME_WIDTH else f"{name[: NAME_WIDTH - 1]}…"


def _wrapped(ink: Ink, text: str, indent: str, hang: int = 0) -> Iterator[str]:
    width = max(ink.width or shutil.get_terminal_size((100, 24)).columns, 40)
    yield from textwrap.wrap(
        printable(text), width, initial_indent=indent, subsequent_indent=indent + " " * hang, break_on_hyphens=False
    )
