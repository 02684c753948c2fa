"""A verdict in a line, and in full, as the timeline says it."""

from __future__ import annotations

import re
from io import StringIO

from textual.content import Content

from course.app.runs import Shown
from course.diagnosis_report import lines
from course.report import Ink, printable
from lab.language import _
from lab.trace.verdict import Diagnosis
from lab.trace.words import NAMES, duration

STYLES = {"1": "bold", "2": "$foreground 70%", "31": "bold $text-error", "32": "$text-success", "33": "$text-warning"}
PAINTED = re.compile(r"\x1b\[(\d+)m(.*?)\x1b\[0m")
GOOD = ("compute", "none")


class ScreenInk(Ink):
    """Marks colours for the screen, whatever the terminal is; it is taken off again by `painted`."""

    def __init__(self, width: int) -> None:
        super().__init__(StringIO())
        self._plain = False
        self._colours = True
        self.width = width


def painted(line: str) -> Content:
    """A line of the report in the colours of the theme."""
    parts: list[Content | tuple[str, str] | str] = []
    at = 0
    for found in PAINTED.finditer(line):
        parts += [line[at : found.start()], (found[2], STYLES.get(found[1], ""))]
        at = found.end()
    return Content.assemble(*parts, line[at:])


def report(found: Diagnosis, width: int) -> Content:
    """The whole verdict: the split, what shows it, what to try."""
    return Content("\n").join(painted(line) for line in lines([found], None, None, ScreenInk(width)))


def headline(shown: Shown) -> Content:
    """The verdict in a line."""
    found = shown.diagnosis
    verdict = found.verdict
    style = "bold $text-success" if verdict.bottleneck in GOOD else "bold $text-warning"
    asked = [each for each in found.devices if each.has_a_say and each.window_us]
    if not asked:
        return Content.styled(printable(verdict.summary), "bold")
    idle = sum(each.idle_us / each.window_us for each in asked) / len(asked)
    # What is examined is a part of the run: without saying so, this would contradict how busy the GPU was in all.
    part = _("of the steps") if found.steps.count else _("once it began")
    if verdict.bottleneck in ("unknown", "none"):
        said = _("GPU idle {idle:.0%} {part}.", idle=idle, part=part)
        return Content.assemble((said, style), f" {printable(verdict.summary)}")
    if verdict.bottleneck == "compute":
        busy = _("GPU busy {busy:.0%} {part}", busy=1 - idle, part=part)
        return Content.assemble((busy, style), _(": only computing less, or at a lower cost, is faster."))
    share = _("{share:.0%} of the time", share=verdict.share)
    if found.step_us is not None:
        share = _(
            "{part} of {step} per step", part=duration(verdict.share * found.step_us), step=duration(found.step_us)
        )
    calls = found.evidence.calls
    cause = _(NAMES[verdict.bottleneck])
    if verdict.bottleneck == "sync" and calls:
        cause = _("waiting for the CPU after {call}", call=printable(calls[0].name))
    said = _("GPU idle {idle:.0%} {part}, {cause}", idle=idle, part=part, cause=cause)
    return Content.assemble((said, style), _(": {share}", share=share))
