"""The sentences of a verdict."""

from __future__ import annotations

from lab.trace.verdict import Bottleneck, Diagnosis, Evidence, Verdict

NAMES: dict[Bottleneck, str] = {
    "input": "waiting for data",
    "launch": "launching",
    "sync": "waiting for the CPU after a synchronization",
    "copies": "copies",
    "communication": "communication",
    "allocator": "taking and giving back memory",
    "device_wait": "waiting for another stream or device",
    "python": "other work of the CPU",
    "compute": "computing",
    "none": "nothing in particular",
    "unknown": "unknown",
}
WAITED: dict[Bottleneck, str] = {
    "input": "the GPU was idle because the next batch wasn't there yet",
    "launch": "the GPU was idle because the CPU was still busy launching its next kernel",
    "sync": "the GPU was idle because the CPU had waited for it and only then launched more",
    "copies": "the GPU did nothing but wait for copies between host and device",
    "communication": "the GPU did nothing but communicate with other GPUs, or wait for them",
    "allocator": "the GPU was idle while memory was taken from it or given back",
    "device_wait": "the GPU was idle although its next work was launched: it waited for another stream or device",
    "python": "the GPU was idle while the CPU worked on something else than launching",
}


def summary(verdict: Verdict, found: Diagnosis, shown: Evidence, reason: str | None) -> str:
    """The verdict in a sentence."""
    share = f"{verdict.share:.0%}"
    if verdict.bottleneck == "unknown":
        return f"I can't tell: {reason}."
    if verdict.bottleneck == "none":
        return "No single cause takes a tenth of the time: there is no bottleneck to remove."
    if verdict.bottleneck == "compute":
        return f"The GPU is busy computing for {share} of the time: only less, or cheaper, computation makes it faster."
    by = ""
    if verdict.bottleneck == "sync" and shown.calls:
        by = f" ({shown.calls[0].name})"
    lost = ""
    if verdict.saves_at_most_us_per_step is not None:
        step = found.step_us or 0.0
        lost = f", {duration(verdict.share * step)} of {duration(step)} per step"
    return f"For {share} of the time{lost}, {WAITED[verdict.bottleneck]}{by}."


def duration(us: float) -> str:
    """A duration as people read it."""
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if us >= size:
            return f"{us / size:.3g} {unit}" if us < size * 1000 else f"{us / size:.0f} {unit}"
    return f"{us:.3g} µs"
