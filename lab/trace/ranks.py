"""Traces of several ranks of one run: whom the others wait for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lab.language import _
from lab.trace.verdict import Diagnosis
from lab.trace.words import NAMES, duration

NOTICEABLE_SHARE = 0.05  # of a step


@dataclass(frozen=True)
class RankTime:
    """How long one rank is in collectives per step, its waiting for others included."""

    rank: int
    file: str
    collective_us_per_step: float
    waits_at_most_us_per_step: float


@dataclass(frozen=True)
class Ranks:
    """Which rank the others wait for."""

    summary: str
    waited_for: int | None  # None where they don't differ enough
    ranks: tuple[RankTime, ...]

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


def compare_ranks(found: Sequence[Diagnosis]) -> Ranks | None:
    """Whom the others wait for; None where the traces aren't those of several ranks with collectives.

    A collective ends on all ranks at once, so the rank that is in it shortest came last: the others waited for it.
    Its own share of communication says nothing about the network.
    """
    known = {each.rank for each in found} - {None}
    numbers = [each.rank for each in found] if len(known) == len(found) else range(len(found))
    taking = [
        (rank, each, each.collective_us_per_step)
        for rank, each in zip(numbers, found, strict=True)
        if rank is not None and each.collective_us_per_step is not None
    ]
    if len(taking) < 2:
        return None
    least = min(us for _, _, us in taking)
    times = tuple(
        RankTime(rank, each.file, us, us - least) for rank, each, us in sorted(taking, key=lambda row: row[0])
    )
    rank, last, _least = min(taking, key=lambda row: (row[2], row[0]))
    most = max(time.waits_at_most_us_per_step for time in times)
    step_us = last.window_us if last.step_us is None else last.step_us
    if most < NOTICEABLE_SHARE * step_us:
        return Ranks(
            _("All ranks are about equally long in collectives: none of them holds up the others."), None, times
        )
    causes = [part for part in last.parts if part.bottleneck not in ("communication", "unknown")]
    reason = _(" What takes most of its own time is {cause}.", cause=_(NAMES[causes[0].bottleneck])) if causes else ""
    summary = _(
        "The others wait for rank {rank}, up to {time} per step: it is in collectives "
        "for the shortest time, so it comes last.{reason}",
        rank=rank,
        time=duration(most),
        reason=reason,
    )
    return Ranks(summary, rank, times)
