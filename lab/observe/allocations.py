"""What is allocated on the simulated GPU, and by what, so that a run can tell what was alive when it took most.

Nothing is copied at a peak: what was given before it and is gone since is put aside, and the rest is still there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from lab.observe import log, phases

ROWS_TOLD = 60
"""More rows than that are added up by role."""
SHAPE_SHOWN = 6


@dataclass(eq=False)
class Held:
    """One allocation."""

    number: int
    size_bytes: int
    op: str
    label: str
    shape: tuple[int, ...]
    dtype: str
    role: str
    """parameter, buffer, gradient, optimizer_state, activation, input, created, backward, optimizer or other."""


@dataclass
class Books:
    """What is allocated now, and what was when it was most."""

    held: dict[int, Held] = field(default_factory=dict)
    """By address."""
    total_bytes: int = 0
    peak_bytes: int = 0
    peak_number: int = 0
    """The number of the allocation with which the peak was reached."""
    peak_at_s: float = 0.0
    gone: list[Held] = field(default_factory=list)
    """What was alive at the peak and isn't now."""
    numbers: int = 0

    def give(self, address: int, held: Held, at_s: float) -> None:
        self.held[address] = held
        self.total_bytes += held.size_bytes
        if self.total_bytes > self.peak_bytes:
            self.peak_bytes, self.peak_number, self.peak_at_s = self.total_bytes, held.number, at_s
            self.gone.clear()

    def take_back(self, address: int) -> None:
        held = self.held.pop(address, None)
        if held is None:
            return
        self.total_bytes -= held.size_bytes
        if held.number <= self.peak_number:
            self.gone.append(held)

    def next_number(self) -> int:
        self.numbers += 1
        return self.numbers

    def restart(self) -> None:
        """The peak is looked for anew, from what is allocated now."""
        self.gone.clear()
        self.peak_bytes, self.peak_number, self.peak_at_s = self.total_bytes, self.numbers, log.lab_time_s()

    def at_peak(self) -> list[Held]:
        return [*(held for held in self.held.values() if held.number <= self.peak_number), *self.gone]


books = Books()


def note_given(address: int, size_bytes: int, tensor: Any, op: str, differentiable: bool, has_inputs: bool) -> None:
    """The simulated GPU gave memory to a tensor."""
    shape = () if tensor is None else tuple(tensor.shape)
    dtype = "" if tensor is None else str(tensor.dtype).removeprefix("torch.")
    role = _role(op, differentiable, has_inputs)
    label = phases.labels[-1] if phases.labels else ""
    held = Held(books.next_number(), size_bytes, op, label, shape, dtype, role)
    books.give(address, held, log.lab_time_s())


def note_action(action: str, address: int, size: int) -> None:
    """What the allocator does; of interest is what it takes back."""
    if action == "free_completed":
        books.take_back(address)


def mark(address: int, role: str) -> None:
    """What an allocation turned out to be. A parameter stays one."""
    held = books.held.get(address)
    if held is not None and held.role not in ("parameter", "buffer", "optimizer_state"):
        held.role = role


def _role(op: str, differentiable: bool, has_inputs: bool) -> str:
    """What an allocation is, as far as the moment tells."""
    if differentiable:
        return "activation"
    if phases.going_on["backward"]:
        return "backward"
    if phases.going_on["optimizer"]:
        return "optimizer"
    if not has_inputs:
        return "input" if op in ("aten::_to_copy", "aten::copy_") else "created"
    return "other"


def summary() -> dict[str, Any] | None:
    """What was alive at the peak as an event; None where nothing was allocated."""
    if not books.peak_bytes:
        return None
    alive = books.at_peak()
    rows = _rows(alive)
    shown, others = rows[:ROWS_TOLD], rows[ROWS_TOLD:]
    rest: dict[str, dict[str, Any]] = {}
    for row in others:
        known = rest.setdefault(
            row["role"],
            {"role": row["role"], "op": "", "label": "", "shape": [], "dtype": "", "count": 0, "bytes": 0},
        )
        known["count"] += row["count"]
        known["bytes"] += row["bytes"]
    return {
        "at_s": max(books.peak_at_s - log.began_s, 0.0),
        "what": "alive_at_peak",
        "peak_bytes": books.peak_bytes,
        "rows": [*shown, *rest.values()],
    }


def _rows(alive: Iterable[Held]) -> list[dict[str, Any]]:
    """Allocations of the same kind together, the largest first."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for held in alive:
        key = held.role, held.op, held.label, held.shape, held.dtype
        row = found.setdefault(
            key,
            {
                "role": held.role,
                "op": held.op,
                "label": held.label,
                "shape": list(held.shape[:SHAPE_SHOWN]),
                "dtype": held.dtype,
                "count": 0,
                "bytes": 0,
            },
        )
        row["count"] += 1
        row["bytes"] += held.size_bytes
    return sorted(found.values(), key=lambda row: (-row["bytes"], row["role"], row["op"]))
