"""What a run spent its time and memory on, as tables that can be sorted by any column."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from course.lanes import Alive, RunView, Sum
from lab.language import N_, _, localised, number

Value = str | float | None
"""What a cell holds; None where it isn't known."""
UNKNOWN = "-"

ROLES = {
    "parameter": N_("parameters"),
    "buffer": N_("buffers"),
    "gradient": N_("gradients"),
    "optimizer_state": N_("optimizer state"),
    "activation": N_("activations"),
    "input": N_("inputs, copied in"),
    "created": N_("made on the GPU"),
    "backward": N_("temporary, backward"),
    "optimizer": N_("temporary, optimizer"),
    "other": N_("other results"),
}
"""What an allocation is, and the words for it."""


class Row(NamedTuple):
    """A line of a table of times: everything of one name together."""

    name: str
    calls: int
    total_s: float
    longest_s: float
    share: float
    """Of the sum over all rows of kernels, or of the whole run for idle time."""


@dataclass(frozen=True)
class TableColumn:
    """One column: its title and how its values are shown. Numbers are sorted from the largest, text by the alphabet."""

    title: str
    show: Callable[[Value], str]
    is_text: bool = False


@dataclass(frozen=True)
class Table:
    """Rows to sort; `note` says what isn't known, or that there are none."""

    title: str
    columns: tuple[TableColumn, ...]
    rows: list[tuple[Value, ...]]
    sorted_by: int | None
    """None: in the order of the rows."""
    note: str = ""

    def ordered(self, by: int | None) -> list[tuple[Value, ...]]:
        """The rows by one column; what isn't known comes last."""
        if by is None:
            return self.rows
        if self.columns[by].is_text:
            return sorted(self.rows, key=lambda row: (row[by] is None, str(row[by]).lower(), _numbers(row)))
        return sorted(self.rows, key=lambda row: (row[by] is None, -_number(row[by]), str(row[0])))

    def as_text(self, by: int | None) -> str:
        """Tab-separated, with titles: for a spreadsheet."""
        lines = ["\t".join(column.title for column in self.columns)]
        for row in self.ordered(by):
            cells = (column.show(value) for column, value in zip(self.columns, row, strict=True))
            lines.append("\t".join(cells))
        return "\n".join(lines) + "\n"


def _number(value: Value) -> float:
    return value if isinstance(value, (int, float)) else 0.0


def _numbers(row: tuple[Value, ...]) -> tuple[float, ...]:
    return tuple(-_number(value) for value in row)


# What is shown, in words


def _grouped(value: float, digits: int) -> str:
    """A number with a space after the thousands."""
    return f"{localised(f'{value:_.{digits}f}')}".replace("_", " ")


def in_mib(size_bytes: float) -> str:
    """An amount of memory in binary megabytes, to about three digits."""
    mib = size_bytes / 2**20
    if 0 < abs(mib) < 0.1:
        return number(size_bytes / 2**10, ".3g") + " KiB"
    digits = 0 if abs(mib) >= 100 else 1 if abs(mib) >= 10 else 2
    return f"{_grouped(mib, digits)} MiB"


def in_ms(duration_s: float) -> str:
    """A time in milliseconds, to about three digits."""
    ms = duration_s * 1e3
    digits = 0 if abs(ms) >= 1000 else 1 if abs(ms) >= 100 else 2 if abs(ms) >= 10 else 3
    return f"{_grouped(ms, digits)} ms"


def in_kib_or_mib(size_bytes: float) -> str:
    """An amount of memory as the profiler's table has it: also small ones, also given back."""
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if abs(size_bytes) >= size:
            return f"{number(size_bytes / size, '.2f')} {unit}"
    return f"{size_bytes:.0f} B"


def _text(value: Value) -> str:
    return str(value or "")


def _shown(show: Callable[[float], str]) -> Callable[[Value], str]:
    return lambda value: UNKNOWN if value is None else show(_number(value))


_count = _shown(lambda value: f"{value:.0f}")
_time = _shown(in_ms)
_us = _shown(lambda value: in_ms(value / 1e6))
_share = _shown(lambda value: number(value, ".1%"))
_mib = _shown(in_mib)
_bytes = _shown(in_kib_or_mib)


# The tables


def _rows(durations: Iterable[tuple[str, float]], whole_s: float | None = None) -> list[Row]:
    found: dict[str, list[float]] = {}
    for name, duration_s in durations:
        found.setdefault(name, []).append(duration_s)
    totals = {name: math.fsum(each) for name, each in found.items()}
    whole_s = math.fsum(totals.values()) if whole_s is None else whole_s
    rows = (
        Row(name, len(each), totals[name], max(each), totals[name] / whole_s if whole_s else 0.0)
        for name, each in found.items()
    )
    return sorted(rows, key=lambda row: (-row.total_s, row.name))


def kernel_rows(run: RunView) -> list[Row]:
    """Kernels and copies by name, those with most time on the GPU first."""
    if run.kernel_sums is not None:
        return _of_sums(run.kernel_sums, math.fsum(total_s for _, _, total_s, _ in run.kernel_sums))
    return _rows((span.name, span.duration_s) for span in run.launches)


def op_rows(run: RunView) -> list[Row]:
    """The operators that launched them, those with most time on the GPU first."""
    return _rows((span.op, span.duration_s) for span in run.launches)


def idle_rows(run: RunView) -> list[Row]:
    """What the GPU waited for, the most expensive first; the shares are of the whole run."""
    if run.idle_sums is not None:
        return _of_sums(run.idle_sums, run.window_s)
    return _rows(((gap.words, gap.duration_s) for gap in run.gaps), run.window_s)


def _of_sums(sums: Iterable[Sum], whole_s: float) -> list[Row]:
    return [Row(*each, each[2] / whole_s if whole_s else 0.0) for each in sums]


def _of_times(title: str, first: str, calls: str, rows: list[Row], note: str = "") -> Table:
    columns = (
        TableColumn(first, _text, is_text=True),
        TableColumn(calls, _count),
        TableColumn(_("Total"), _time),
        TableColumn(_("Longest"), _time),
        TableColumn(_("Share"), _share),
    )
    return Table(title, columns, list(rows), 2, note)


def idle_table(run: RunView) -> Table:
    return _of_times(_("Idle"), _("The GPU waited for"), _("Gaps"), idle_rows(run))


def kernel_table(run: RunView) -> Table:
    return _of_times(_("Kernels"), _("Kernel or copy"), _("Calls"), kernel_rows(run))


def averages_table(run: RunView, is_trace: bool = False) -> Table:
    """The profiler's key_averages, or what is known without a profiler: the operators that launched kernels."""
    has_memory = any(row.self_cpu_bytes or row.self_device_bytes for row in run.averages)
    columns = [
        TableColumn("Name", _text, is_text=True),
        TableColumn("Self CPU", _us),
        TableColumn("CPU total", _us),
        TableColumn("Self CUDA", _us),
        TableColumn("CUDA total", _us),
        TableColumn("# of Calls", _count),
    ]
    if has_memory:
        columns += [TableColumn(title, _bytes) for title in ("CPU Mem", "Self CPU Mem", "CUDA Mem", "Self CUDA Mem")]
    rows: list[tuple[Value, ...]] = []
    for each in run.averages:
        row = each.name, each.self_cpu_us, each.cpu_us, each.self_device_us, each.device_us, each.calls
        memory = each.cpu_bytes, each.self_cpu_bytes, each.device_bytes, each.self_device_bytes
        rows.append((*row, *memory) if has_memory else row)
    if run.averages:
        note = "" if is_trace else _("key_averages() of the last profiler session of this run")
        return Table("key_averages", tuple(columns), rows, 3 if any(row[3] for row in rows) else 1, note)
    rows = [(op.name, op.total_s * 1e6, op.total_s * 1e6, op.calls) for op in op_rows(run)]
    note = _("No profiler ran: calls are launches, and the CPU's times aren't known")
    return Table("key_averages", (columns[0], *columns[3:6]), rows, 1, note)


def memory_table(run: RunView, real: bool = False) -> Table:
    """What was allocated at the peak."""
    columns = (
        TableColumn(_("What"), _text, is_text=True),
        TableColumn(_("Made by"), _text, is_text=True),
        TableColumn(_("Shape"), _text, is_text=True),
        TableColumn(_("Count"), _count),
        TableColumn(_("Memory"), _mib),
        TableColumn(_("Share"), _share),
    )
    total = sum(each.size_bytes for each in run.alive)
    rows: list[tuple[Value, ...]] = [
        (
            _(ROLES.get(each.role, each.role)),
            _made_by(each),
            shape_of(each),
            each.count,
            each.size_bytes,
            each.size_bytes / total if total else 0.0,
        )
        for each in run.alive
    ]
    if rows:
        note = _("At the peak of {size}: {roles}", size=in_mib(total), roles=roles_in_words(run))
    elif real:
        note = _(
            "What was alive at the peak isn't known on a real GPU. "
            "torch.cuda.memory._record_memory_history() and _snapshot() tell."
        )
    else:
        note = _("What was alive at the peak isn't known.")
    return Table(_("Memory"), columns, rows, 4, note)


def roles_in_words(run: RunView) -> str:
    """How the peak is made up, in a line."""
    sums: dict[str, int] = {}
    for each in run.alive:
        sums[each.role] = sums.get(each.role, 0) + each.size_bytes
    total = sum(sums.values()) or 1
    ordered = sorted(sums.items(), key=lambda pair: -pair[1])
    return ", ".join(
        f"{_(ROLES.get(role, role))} {number(size / total, '.0%')}" for role, size in ordered if size / total >= 0.01
    )


def _made_by(each: Alive) -> str:
    op = each.op.removeprefix("aten::") or (_("several") if not each.dtype else "")
    return _("{op} in {label}", op=op, label=each.label) if each.label else op


def shape_of(each: Alive) -> str:
    """Sizes and type of a tensor, as far as they are known."""
    if not each.dtype:
        return ""
    sizes = " x ".join(map(str, each.shape)) or _("scalar")
    return f"{sizes} {each.dtype}"
