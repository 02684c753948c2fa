"""Finds and ends every process that came from this one, however it tried to get away."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from time import monotonic, sleep  # taken now: the simulated GPU replaces those of the time module

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PF_EXITING = 4


def _prctl(option: int, value: int) -> bool:
    if sys.platform != "linux":
        return False
    import ctypes

    return bool(ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) == 0)


def adopt_orphans() -> bool:
    """From now on a process whose parent ended becomes a child of this one instead of init's. Linux only."""
    return _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def end_with_parent() -> bool:
    """This process is killed when the thread that started it ends. Linux only."""
    return _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _parents() -> dict[int, int]:
    """The parent of each process, by pid; empty where there is no /proc."""
    parents = {}
    for entry in Path("/proc").iterdir() if sys.platform == "linux" else ():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                # The name in parentheses may itself hold spaces and parentheses.
                after_name = (entry / "stat").read_bytes().rpartition(b")")[2].split()
                parents[int(entry.name)] = int(after_name[1])
    return parents


def descendants(pid: int) -> list[int]:
    parents = _parents()
    children: dict[int, list[int]] = {}
    for child, parent in parents.items():
        children.setdefault(parent, []).append(child)
    found: list[int] = []
    waiting = [pid]
    while waiting:
        of_this_one = children.get(waiting.pop(), [])
        found += of_this_one
        waiting += of_this_one
    return found


def memory_bytes(pid: int) -> int:
    """A process's share of the memory: what it shares with others is divided by their number. Linux only."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_bytes().splitlines():
            if line.startswith(b"Pss:"):
                return int(line.split()[1]) * 1024
    # A process can forbid others of the same user to look at its memory, but not to ask how large it is.
    kb = 0
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in Path(f"/proc/{pid}/status").read_bytes().splitlines():
            if line.startswith((b"RssAnon:", b"RssShmem:")):
                kb += int(line.split()[1])
    return kb * 1024


def file_slots(pid: int) -> int:
    """How many open files a process's table has room for: it grows with them, and can't be hidden. Linux only."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in Path(f"/proc/{pid}/status").read_bytes().splitlines():
            if line.startswith(b"FDSize:"):
                return int(line.split()[1])
    return 0


def kill(pid: int, number: int = signal.SIGKILL) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def kill_session(pid: int) -> None:
    """Kill the process group that this process leads."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def marked(variable: str, value: str) -> list[int]:
    """The processes that were started with this environment variable, whoever their parent is by now. Linux only."""
    mark = f"{variable}={value}".encode()
    found = []
    for entry in Path("/proc").iterdir() if sys.platform == "linux" else ():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and mark in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
    return found


def is_running(pid: int) -> bool:
    """Whether a process can still do something; one that is on its way out, or wasn't collected yet, can't."""
    try:
        if sys.platform != "linux":
            os.kill(pid, 0)
            return True
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return fields[0] not in (b"Z", b"X") and not int(fields[6]) & _PF_EXITING
    except (OSError, ValueError, IndexError):
        return False


def end_others(find: Callable[[], list[int]], patience_s: float = 5.0) -> None:
    """Kill processes that aren't this one's children, and those that appear meanwhile, until none is running."""
    give_up_s = monotonic() + patience_s
    known: set[int] = set()
    while monotonic() < give_up_s:
        known.update(find())
        running = [pid for pid in known if is_running(pid)]
        if not running:
            return
        for pid in running:
            kill(pid)
        sleep(0.001)


def reap() -> tuple[dict[int, int], bool]:
    """Collect children that have ended: their exit codes by pid, and whether any child is left."""
    ended: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended, False
        if pid == 0:
            return ended, True
        ended[pid] = os.waitstatus_to_exitcode(status)


def end_all(
    child: int, ended: Mapping[int, int] | None = None, *, sparing: int | None = None, patience_s: float = 10.0
) -> dict[int, int]:
    """Kill the child, its group and all descendants of this process; the exit codes of those that were collected.

    With orphans adopted, having no child means having no descendant, so this ends only when nothing is left but
    the process to be spared, if there is one, and what came from that. `ended` are those collected before.
    Raises TimeoutError when processes appear faster than they can be killed.
    """
    ended = dict(ended or {})
    give_up_s = monotonic() + patience_s
    kill_session(child)
    while True:
        collected, any_left = reap()
        ended |= collected
        spared = set() if sparing is None or sparing in ended else {sparing, *descendants(sparing)}
        if not any_left or (spared and child in ended and not set(descendants(os.getpid())) - spared):
            return ended
        if monotonic() > give_up_s:
            raise TimeoutError
        living = [pid for pid in descendants(os.getpid()) if pid not in spared]
        for pid in living:  # stopped first, so that none can fork while the others are being killed
            kill(pid, signal.SIGSTOP)
        for pid in living:
            kill(pid)
        if child not in ended:
            kill(child)
        sleep(0.001)
