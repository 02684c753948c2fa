"""The answer: what the devices waited for, as typed results."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

Bottleneck = Literal[
    "input",
    "launch",
    "sync",
    "copies",
    "communication",
    "allocator",
    "device_wait",
    "python",
    "compute",
    "none",
    "unknown",
]
BOTTLENECKS: tuple[Bottleneck, ...] = get_args(Bottleneck)


@dataclass(frozen=True)
class Verdict:
    """What limits the program."""

    bottleneck: Bottleneck
    share: float  # of the window
    summary: str
    saves_at_most_us_per_step: float | None  # None where the trace has no steps, or nothing is known


@dataclass(frozen=True)
class Steps:
    """The steps that were examined."""

    count: int
    median_us: float | None


@dataclass(frozen=True)
class DeviceSplit:
    """What one device did in the window. The four parts add up to it, and the classes to the idle time."""

    device: int
    name: str
    window_us: float
    compute_us: float
    communication_us: float  # while nothing was computed
    copies_us: float  # while nothing was computed or communicated
    idle_us: float
    idle: dict[str, float]
    has_a_say: bool = True  # unless hardly anything ran on it


@dataclass(frozen=True)
class Part:
    """A cause with its share of the window, over all devices."""

    bottleneck: Bottleneck
    share: float
    us_per_step: float | None


@dataclass(frozen=True)
class Gap:
    """A time in which a device was idle."""

    device: int
    at_us: float  # from the begin of the window
    lasts_us: float
    waited_for: Bottleneck
    host: str  # what the host did
    next: str  # the work that ended it


@dataclass(frozen=True)
class Cost:
    """Something by name: how often it was there, and how much of the verdict's time was its own."""

    name: str
    count: int
    us: float


@dataclass(frozen=True)
class Evidence:
    """What the verdict rests on."""

    gaps: tuple[Gap, ...] = ()
    calls: tuple[Cost, ...] = ()  # of the runtime, and operators
    functions: tuple[Cost, ...] = ()  # of Python, where stacks were recorded
    work: tuple[Cost, ...] = ()  # of the device
    facts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Diagnosis:
    """The answer for one trace."""

    file: str
    verdict: Verdict
    steps: Steps
    window_us: float
    step_us: float | None  # how long a step takes on the device; None where the trace has no steps
    devices: tuple[DeviceSplit, ...]
    warnings: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()  # all causes of at least 5 % of the window, the largest first
    evidence: Evidence = field(default_factory=Evidence)
    record_better: tuple[str, ...] = ()  # how to record a trace that tells more
    rank: int | None = None
    world_size: int | None = None
    collective_us_per_step: float | None = None  # all of it, also behind computation

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)

    def share_of(self, bottleneck: Bottleneck) -> float:
        """A cause's share of the window, over all devices."""
        asked = [each for each in self.devices if each.has_a_say]
        if not asked or not self.window_us:
            return 0.0
        return sum(time_of(each, bottleneck) for each in asked) / len(asked) / self.window_us


def time_of(split: DeviceSplit, bottleneck: Bottleneck) -> float:
    """How much of a device's window a cause takes."""
    exposed = {"compute": split.compute_us, "communication": split.communication_us, "copies": split.copies_us}
    return exposed.get(bottleneck, 0.0) + split.idle.get(bottleneck, 0.0)
