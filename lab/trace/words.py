"""The sentences of a verdict."""

from __future__ import annotations

from lab.language import N_, _, number
from lab.trace.verdict import Bottleneck, Diagnosis, Evidence, Verdict

NAMES: dict[Bottleneck, str] = {
    "input": N_("waiting for data"),
    "launch": N_("launching"),
    "sync": N_("waiting for the CPU after a synchronization"),
    "copies": N_("copies"),
    "communication": N_("communication"),
    "allocator": N_("taking and giving back memory"),
    "device_wait": N_("waiting for another stream or device"),
    "python": N_("other work of the CPU"),
    "compute": N_("computing"),
    "none": N_("nothing in particular"),
    "unknown": N_("unknown"),
}
WAITED: dict[Bottleneck, str] = {
    "input": N_("the GPU was idle because the next batch wasn't there yet"),
    "launch": N_("the GPU was idle because the CPU was still busy launching its next kernel"),
    "sync": N_("the GPU was idle because the CPU had waited for it and only then launched more"),
    "copies": N_("the GPU did nothing but wait for copies between host and device"),
    "communication": N_("the GPU did nothing but communicate with other GPUs, or wait for them"),
    "allocator": N_("the GPU was idle while memory was taken from it or given back"),
    "device_wait": N_("the GPU was idle although its next work was launched: it waited for another stream or device"),
    "python": N_("the GPU was idle while the CPU worked on something else than launching"),
}


def summary(verdict: Verdict, found: Diagnosis, shown: Evidence, reason: str | None) -> str:
    """The verdict in a sentence."""
    share = number(verdict.share, ".0%")
    if verdict.bottleneck == "unknown":
        return _("I can't tell: {reason}.", reason=reason)
    if verdict.bottleneck == "none":
        return _("No single cause takes a tenth of the time: there is no bottleneck to remove.")
    if verdict.bottleneck == "compute":
        return _(
            "The GPU is busy computing for {share} of the time: only less, or cheaper, computation makes it faster.",
            share=share,
        )
    by = ""
    if verdict.bottleneck == "sync" and shown.calls:
        by = f" ({shown.calls[0].name})"
    lost = stays = ""
    if verdict.saves_at_most_us_per_step is not None:
        step = found.step_us or 0.0
        lost_us = verdict.share * step
        lost = _(", {part} of {step} per step", part=duration(lost_us), step=duration(step))
        stays_us = lost_us - verdict.saves_at_most_us_per_step
        if verdict.bottleneck == "sync" and stays_us > lost_us / 2:
            stays = " " + _(
                "But {part} per step of that is the CPU's own work after the wait, which stays when the wait goes: "
                "shorten that first.",
                part=duration(stays_us),
            )
    said = _(
        "For {share} of the time{lost}, {waited}{by}.",
        share=share,
        lost=lost,
        waited=_(WAITED[verdict.bottleneck]),
        by=by,
    )
    return said + stays


def duration(us: float) -> str:
    """A duration as people read it."""
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if us >= size:
            return f"{number(us / size, '.3g' if us < size * 1000 else '.0f')} {unit}"
    return f"{number(us, '.3g')} µs"
