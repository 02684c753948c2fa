"""The runs and traces that were seen since the app was opened, for the timeline: the last one, and those before it."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from lab.language import _

if TYPE_CHECKING:
    from course.lanes import RunView
    from lab.trace.verdict import Diagnosis

Kind = Literal["run", "check", "trace"]

KEPT_OF_A_FILE = 4
KEPT_IN_ALL = 10


@dataclass(frozen=True)
class Shown:
    """What the timeline shows of a run, or of one device of a trace."""

    view: RunView
    diagnosis: Diagnosis
    gpu: str
    """The GPU in words."""
    is_real_run: bool = False
    """A run on a real GPU, whose kernels the lab doesn't see."""
    is_real: bool = False
    """A run on a real GPU: its times are those of everyone's clock."""


class SeenRun:
    """One run, the first run of a check, or a trace with one or more devices to choose from."""

    def __init__(self, name: str, kind: Kind, key: str, number: int, gpu: Any, events: Sequence[Any]) -> None:
        self.name = name
        self.kind = kind
        self.key = key
        """What it is a run of: runs with the same key can be compared."""
        self.number = number
        self.gpu = gpu
        self._events = events
        self._choices: tuple[Shown, ...] = ()
        self._lock = threading.Lock()

    @classmethod
    def of_trace(cls, name: str, number: int, choices: Sequence[Shown]) -> SeenRun:
        seen = cls(name, "trace", "trace", number, None, ())
        seen._choices = tuple(choices)
        return seen

    @property
    def title(self) -> str:
        """Its name, and which of the runs of the same file it is."""
        match self.kind:
            case "run":
                return _("{file}, run {number}", file=self.name, number=self.number)
            case "check":
                return _("{file}, check {number}", file=self.name, number=self.number)
            case "trace":
                return self.name

    def choices(self) -> tuple[Shown, ...]:
        """What there is to show; of a run it is read from its events when it is first asked for."""
        with self._lock:
            if not self._choices:
                self._choices, self._events = (self._read(self._events),), ()
            return self._choices

    def retell(self) -> None:
        """Word the verdict anew, in another language; that of a trace stays as it was read."""
        with self._lock:
            if self.kind != "trace":
                self._choices = tuple(self._told(each.view) for each in self._choices)

    def _read(self, events: Sequence[Mapping[str, Any]]) -> Shown:
        from course.run_view import view

        return self._told(view(events))

    def _told(self, run: RunView) -> Shown:
        from course.run_diagnosis import diagnose_run

        kind, name = (self.gpu.kind, self.gpu.name) if self.gpu else ("", "")
        gpu = {"real": _("real GPU"), "simulated": _("simulated GPU")}.get(kind, "GPU")
        real = kind == "real"
        return Shown(run, diagnose_run(run, self.name, name, real), gpu, real and not run.streams, real)


class SeenRuns:
    """The last runs of each file; the oldest ones are forgotten, a pinned one is not."""

    def __init__(self) -> None:
        self._seen: list[SeenRun] = []
        self._numbers: dict[tuple[str, Kind], int] = {}
        self._pinned: dict[str, SeenRun] = {}

    @property
    def last(self) -> SeenRun | None:
        return self._seen[-1] if self._seen else None

    def keep(self, name: str, kind: Kind, key: str, gpu: Any, events: Sequence[Any]) -> SeenRun:
        """Add what has just run."""
        return self._add(SeenRun(name, kind, key, self._next_number(key, kind), gpu, events))

    def keep_trace(self, name: str, choices: Sequence[Shown]) -> SeenRun:
        """Add a trace that was read."""
        return self._add(SeenRun.of_trace(name, self._next_number("trace", "trace"), choices))

    def _next_number(self, key: str, kind: Kind) -> int:
        number = self._numbers[key, kind] = self._numbers.get((key, kind), 0) + 1
        return number

    def _add(self, seen: SeenRun) -> SeenRun:
        self._seen.append(seen)
        pinned = self._pinned.values()
        same = [each for each in self._seen if each.key == seen.key and each not in pinned]
        forgotten = same[:-KEPT_OF_A_FILE]
        others = [each for each in self._seen if each not in pinned and each not in forgotten]
        forgotten += others[:-KEPT_IN_ALL]
        self._seen = [each for each in self._seen if each not in forgotten]
        return seen

    def others(self, seen: SeenRun) -> list[SeenRun]:
        """All other runs of the same file, in order."""
        return [each for each in self._seen if each.key == seen.key and each is not seen]

    def before(self, seen: SeenRun) -> SeenRun | None:
        """What to lay under it: the pinned run, else the last one before it of the same kind, else of the same file."""
        pinned = self._pinned.get(seen.key)
        if pinned is not None and pinned is not seen:
            return pinned
        number = self._seen.index(seen) if seen in self._seen else len(self._seen)
        earlier = [each for each in self._seen[:number] if each.key == seen.key]
        same_kind = [each for each in earlier if each.kind == seen.kind]
        found = same_kind or earlier
        return found[-1] if found else None

    def is_pinned(self, seen: SeenRun) -> bool:
        return self._pinned.get(seen.key) is seen

    def pin(self, seen: SeenRun) -> bool:
        """Pin a run as the one before all others of its file, or let it go; returns whether it is pinned now."""
        if self.is_pinned(seen):
            del self._pinned[seen.key]
            return False
        self._pinned[seen.key] = seen
        return True

    def retell(self) -> None:
        """Word all verdicts anew, in another language."""
        for seen in self._seen:
            seen.retell()

    def __len__(self) -> int:
        return len(self._seen)
