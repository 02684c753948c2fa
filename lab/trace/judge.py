"""Which cause is the bottleneck, by how the devices' time is split."""

from __future__ import annotations

from lab.trace.verdict import BOTTLENECKS, Bottleneck, Diagnosis, Part

BOTTLENECK_SHARE = 0.10
MENTIONED_SHARE = 0.05
BUSY_SHARE = 0.75  # nothing takes a tenth, and the device computes for most of the time: that is what limits


def causes(found: Diagnosis) -> list[Part]:
    """All causes with a share, the largest first."""
    shares = [(found.share_of(each), each) for each in BOTTLENECKS]
    return [
        Part(each, share, None if found.step_us is None else share * found.step_us)
        for share, each in sorted(shares, key=lambda pair: (-pair[0], pair[1]))
        if share > 0
    ]


def largest(parts: list[Part], found: Diagnosis) -> Bottleneck:
    """The first cause of at least a tenth; none where nothing takes so much, and the device isn't busy either."""
    for part in parts:
        if part.bottleneck != "compute" and part.share >= BOTTLENECK_SHARE:
            return part.bottleneck
    return "compute" if found.share_of("compute") >= BUSY_SHARE else "none"
