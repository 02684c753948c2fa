"""A diagnosis as one page of HTML that needs nothing else: to send to somebody, or to keep beside a trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from course.diagnosis_report import lesson_of, saving
from course.remedies import REMEDIES
from lab.language import _, current, ngettext, number
from lab.trace.compare import Comparison
from lab.trace.ranks import Ranks
from lab.trace.verdict import Cost, DeviceSplit, Diagnosis
from lab.trace.words import NAMES, duration

STYLE = """\
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.3rem } h2 { font-size: 1.1rem; margin-top: 2rem } h3 { font-size: 1rem; margin-bottom: .3rem }
.bar { display: flex; height: 1.6rem; border-radius: 4px; overflow: hidden; background: #8883 }
.bar span { display: block; min-width: 0 }
table { border-collapse: collapse; width: 100%; font-size: .9rem }
td, th { padding: .2rem .6rem .2rem 0; text-align: left; vertical-align: top; overflow-wrap: anywhere }
td.number, th.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }
.mark { display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin-right: .4em }
.quiet { opacity: .7 } .note { border-left: 3px solid #d90; padding-left: .6rem }
code { font-size: .9em }
"""
COLOURS = {
    "compute": "#2a9d5c",
    "communication": "#7b5ea7",
    "copies": "#2f7fb8",
    "input": "#d1495b",
    "sync": "#e07a3f",
    "launch": "#e9b44c",
    "allocator": "#a65e2e",
    "python": "#c98bb9",
    "device_wait": "#8d99ae",
    "unknown": "#888888",
}


def page(found: Sequence[Diagnosis], comparison: Comparison | None, ranks: Ranks | None) -> str:
    """The whole page."""
    body = "\n".join(_body(found, comparison, ranks))
    title, signed = _("What did the GPU wait for?"), _("Written by profile-first diagnose.")
    return f"""<!doctype html>
<html lang="{current()}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
{STYLE}</style></head><body>
<h1>{title}</h1>
{body}
<p class="quiet">{signed}</p>
</body></html>
"""


def _body(found: Sequence[Diagnosis], comparison: Comparison | None, ranks: Ranks | None) -> Iterator[str]:
    if comparison is not None:
        yield f"<p><strong>{escape(comparison.summary)}</strong></p>"
        before, after = _("before"), _("after")
        yield f"<table><tr><th></th><th class=number>{before}</th><th class=number>{after}</th></tr>"
        for change in comparison.changes:
            values = [
                duration(value) if comparison.unit == "us_per_step" else number(value, ".1%")
                for value in (change.before, change.after)
            ]
            cells = "".join(f"<td class=number>{value}</td>" for value in values)
            yield f"<tr><td>{escape(_(NAMES[change.bottleneck]))}</td>{cells}</tr>"
        yield "</table>"
    if ranks is not None:
        yield f"<p><strong>{escape(ranks.summary)}</strong></p>"
    for each in found:
        yield from _diagnosis(each)


def _diagnosis(found: Diagnosis) -> Iterator[str]:
    rank = _(" (rank {rank})", rank=found.rank) if found.rank is not None else ""
    yield f"<h2>{escape(found.file)}{rank}: {found.verdict.bottleneck}</h2>"
    yield f"<p>{escape(found.verdict.summary)} {escape(saving(found))}</p>"
    if found.devices:
        steps = ngettext("{n} step", "{n} steps", found.steps.count)
        examined = _("{time} examined, {steps}", time=duration(found.window_us), steps=steps)
        yield f"<p class=quiet>{examined}</p>"
    for device in found.devices:
        yield from _device(device)
    shown = found.evidence
    if shown.facts or shown.gaps:
        yield _heading(_("What shows it")) + "<ul>"
        for fact in shown.facts:
            yield f"<li>{escape(fact)}</li>"
        for gap in shown.gaps:
            host = _("of the CPU nothing is recorded")
            if gap.host:
                host = _("the CPU was in {call}", call=_code(gap.host))
            ended = _(", then came {kernel}", kernel=_code(gap.next)) if gap.next else ""
            said = _(
                "At {time} GPU {device} was idle for {lasts}: {host}{ended}.",
                time=duration(gap.at_us),
                device=gap.device,
                lasts=duration(gap.lasts_us),
                host=host,
                ended=ended,
            )
            yield f"<li>{said}</li>"
        yield "</ul>"
    for title, costs in (
        (_("Calls and operators"), shown.calls),
        (_("Python functions"), shown.functions),
        (_("On the GPU"), shown.work),
    ):
        yield from _costs(title, costs)
    remedy = REMEDIES[found.verdict.bottleneck]
    if remedy.tries:
        yield _heading(_("What to try")) + "<ol>"
        yield from (f"<li>{escape(_(each))}</li>" for each in remedy.tries)
        yield "</ol>"
    yield f"<p>{escape(lesson_of(found.verdict.bottleneck))}</p>"
    yield from (f"<p>{escape(each)}</p>" for each in found.record_better)
    yield from (f"<p class=note>{escape(each)}</p>" for each in found.warnings)


def _heading(text: str) -> str:
    return f"<h3>{text}</h3>"


def _code(text: str) -> str:
    return f"<code>{escape(text)}</code>"


def _device(device: DeviceSplit) -> Iterator[str]:
    yield f"<h3>GPU {device.device} <span class=quiet>{escape(device.name)}</span></h3>"
    parts = [
        (_("compute"), COLOURS["compute"], device.compute_us),
        (_("communication"), COLOURS["communication"], device.communication_us),
        (_("copies"), COLOURS["copies"], device.copies_us),
        *(
            (_("idle: {cause}", cause=_(cause)), COLOURS[cause], us)
            for cause, us in sorted(device.idle.items(), key=lambda row: -row[1])
        ),
    ]
    shares = [(name, colour, us, us / device.window_us if device.window_us else 0.0) for name, colour, us in parts]
    segments = "".join(
        f'<span style="width:{share:.4%};background:{colour}" title="{name} {number(share, ".1%")}"></span>'
        for name, colour, _us, share in shares
    )
    yield f"<div class=bar>{segments}</div><table>"
    for name, colour, us, share in shares:
        mark = f'<span class=mark style="background:{colour}"></span>'
        percent = number(share, ".1%")
        yield f"<tr><td>{mark}{name}</td><td class=number>{percent}</td><td class=number>{duration(us)}</td></tr>"
    yield "</table>"


def _costs(title: str, costs: Sequence[Cost]) -> Iterator[str]:
    if not costs:
        return
    yield _heading(title) + "<table>"
    for cost in costs:
        yield (
            f"<tr><td class=number>{duration(cost.us)}</td><td class=number>{cost.count}</td>"
            f"<td>{_code(cost.name)}</td></tr>"
        )
    yield "</table>"
