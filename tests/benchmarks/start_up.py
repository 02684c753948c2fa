"""Start to the first frame of the course map, beside a five-line Textual app: CPU and wall seconds of each.

    python tests/benchmarks/start_up.py [RUNS]

Both are started in a pseudo-terminal of 80x24 in turns, so that whatever else the machine does hits both. The time goes
from just before the process is made to the moment at which a text of the complete frame has been drawn. CPU seconds are
those of the process alone; the process of the grader, which the course starts after its first frame, isn't counted.
"""

from __future__ import annotations

import fcntl
import os
import pty
import resource
import select
import signal
import statistics
import struct
import sys
import tempfile
import termios
import time
from pathlib import Path

FIVE_LINES = """\
from textual.app import App
from textual.widgets import Static
class Hello(App):
    def compose(self): yield Static("the frame is complete")
Hello().run()
"""
LIMIT_S = 60.0
ROWS, COLUMNS = 24, 80


def cpu_s(process_id: int) -> float:
    """The CPU time of a living process itself, without its children, to the nanosecond."""
    try:
        threads = list(Path(f"/proc/{process_id}/task").iterdir())
        return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9
    except FileNotFoundError:  # not Linux: only what the process had used when it ended is known
        return float("nan")


def start(command: list[str], marker: bytes, environment: dict[str, str]) -> tuple[float, float]:
    """CPU and wall seconds from start to the frame that has the marker."""
    began_s = time.perf_counter()
    process_id, terminal = pty.fork()
    if process_id == 0:
        os.execve(command[0], command, environment)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    drawn = b""
    while marker not in drawn:
        if time.perf_counter() - began_s > LIMIT_S:
            raise TimeoutError(f"{marker!r} was not drawn: {drawn[-500:]!r}")
        if select.select([terminal], [], [], 1.0)[0]:
            drawn += os.read(terminal, 1 << 16)
    wall_s, used_s = time.perf_counter() - began_s, cpu_s(process_id)
    os.kill(process_id, signal.SIGKILL)
    os.close(terminal)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    os.waitpid(process_id, 0)
    if used_s != used_s:
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used_s, wall_s


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    with tempfile.TemporaryDirectory() as folder:
        hello = Path(folder, "hello.py")
        hello.write_text(FIVE_LINES)
        base = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        apps = {
            "five lines": ([sys.executable, str(hello)], b"the frame is complete"),
            "course map": ([sys.executable, "-m", "course"], b"palette"),
        }
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in apps}
        for run in range(runs + 1):
            for name, (command, marker) in apps.items():
                # Always a first start: the map, with nothing stored.
                home = str(Path(folder, f"home{run}"))
                measured = start(command, marker, {**base, "PROFILE_FIRST_HOME": home})
                if run:  # the first one compiles and fills the caches
                    times[name].append(measured)
    print(f"median of {runs} runs (lowest to highest), {COLUMNS}x{ROWS}, Python {sys.version.split()[0]}")
    medians: dict[str, list[float]] = {}
    for name, measured_runs in times.items():
        columns = [sorted(column) for column in zip(*measured_runs, strict=True)]
        medians[name] = [statistics.median(column) for column in columns]
        shown = (f"{statistics.median(column):.3f} s ({column[0]:.3f} to {column[-1]:.3f})" for column in columns)
        print(f"{name:12}  CPU {next(shown)}   wall {next(shown)}")
    ratios = [ours / theirs for ours, theirs in zip(medians["course map"], medians["five lines"], strict=True)]
    print(f"{'ratio':12}  CPU {ratios[0]:.2f}   wall {ratios[1]:.2f}")


if __name__ == "__main__":
    main()
