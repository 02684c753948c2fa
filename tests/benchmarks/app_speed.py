"""What the app costs, beside a five-line Textual app and Harlequin: CPU seconds of each, and memory.

    python -m tests.benchmarks.app_speed [--runs 7] [--harlequin] [--only start,cards,keys,memory]

All programs run in a pseudo-terminal of 120x40, in turns, so that whatever else the machine does hits all of them. The
time of a start goes from just before the process is made to the moment at which its complete frame was drawn; that of
an action from the key to the moment at which what it shows was drawn and the process was idle again. CPU seconds are
those of the app's process alone; the process of the grader, which the course starts after its first frame, isn't
counted, but memory is said with the grader's beside it. `--harlequin` makes a virtual environment with Harlequin in the
folder for temporary files, once. Linux only: what a process has used is read from its clock.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from course import catalog, progress, workspace
from course.catalog import Step
from lab.language import VARIABLE
from tests.course.real_terminal import RealTerminal

COLUMNS, ROWS = 120, 40
EXERCISE = "synchronize/time_on_the_gpu"
HELLO = """\
from textual.app import App
from textual.widgets import Static
class Hello(App):
    def compose(self): yield Static("the frame is complete")
Hello().run()
"""
# The same with what is measured: text that changes with a key, and an editor.
TEXT = """\
from textual.app import App
from textual.widgets import Static
class Text(App):
    def compose(self): yield Static("the frame is complete")
    def on_key(self): self.query_one(Static).update("card " * 300)
Text().run()
"""
EDITOR = """\
from textual.app import App
from textual.widgets import TextArea
class Editor(App):
    def compose(self): yield TextArea.code_editor(open(__import__("sys").argv[1]).read(), language="python")
Editor().run()
"""
LINE = "    total = total + step({0}, repeat={0})  # line {0}"
LONG_FILE = "\n".join(
    ["def train(step):", "    total = 0", *(LINE.format(number) for number in range(496)), "    return total", ""]
)
KEYS = "abcdefghijklmnopqrstuvwxyz"
HARLEQUIN = "harlequin==2.17.0"
TREE_SITTER = "tree-sitter<0.26"  # 0.26.1, which would be installed, crashes it
ENGLISH = {VARIABLE: "en"}
QUIET_MS = 60
COMPILED = Path(tempfile.gettempdir()) / "profile-first-benchmark-compiled"


class Measured(RealTerminal):
    """A program in a terminal, and what it has used."""

    def __init__(self, home: Path, command: list[str], **more: str) -> None:
        self.began_s = time.perf_counter()
        environment = {"COLORTERM": "truecolor", "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), **more}
        # Compiled once, as wherever it is installed: an environment that keeps Python from writing what it compiled
        # has it only of installed packages, and would compile ours at each start.
        environment |= {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(COMPILED)}
        super().__init__(home, command=command, columns=COLUMNS, rows=ROWS, **environment)

    @property
    def cpu_s(self) -> float:
        """The CPU time of the process itself, without its children: Linux gives the clock of another process."""
        return time.clock_gettime((~self.process.pid << 3) | 2)

    def until_idle(self) -> None:
        """Read until nothing is drawn and nothing is computed any more."""
        quiet, before_s = 0, self.cpu_s
        while quiet < 2:
            drew = self._read(QUIET_MS / 1000)
            now_s = self.cpu_s
            quiet = 0 if drew or now_s - before_s > 0.002 else quiet + 1
            before_s = now_s

    def cost_of(self, act: Callable[[], None], shows: Callable[[], bool]) -> float:
        """The CPU seconds of an action, from the key to the idle process."""
        before_s = self.cpu_s
        act()
        self.read_while(lambda: not shows(), "the action shows nothing")
        self.until_idle()
        return self.cpu_s - before_s

    def memory_mb(self) -> float:
        """The resident memory."""
        told = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(told.split("VmRSS:")[1].split()[0]) / 1024

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self.close()


@contextmanager
def running(home: Path, command: list[str], shows: str, **more: str) -> Iterator[Measured]:
    terminal = Measured(home, command, **more)
    try:
        terminal.read_until(shows)
        yield terminal
    finally:
        terminal.end()


def course_at(home: Path, step: str | None) -> tuple[list[str], str]:
    """The command that starts the course at this step, and what the complete frame shows."""
    os.environ["PROFILE_FIRST_HOME"] = str(home)
    with progress.at_home() as kept:
        if step is not None:
            kept.move_to(*step.split("/"))
    return [sys.executable, "-m", "course"], "palette"


def table(title: str, rows: dict[str, list[float]], unit: float, name: str) -> None:
    """Print the median and the range of each, and how many times the first one it is."""
    print(f"\n{title}")
    base = statistics.median(next(iter(rows.values())))
    for label, values in rows.items():
        middle, low, high = (value * unit for value in (statistics.median(values), min(values), max(values)))
        ratio = statistics.median(values) / base
        print(f"  {label:34} {middle:8.1f} {name}  ({low:.1f} to {high:.1f}, n={len(values)})  x {ratio:.2f}")


def starts(folder: Path, runs: int, harlequin: list[str] | None) -> None:
    """From nothing to the complete frame."""
    hello = script(folder, "hello", HELLO)
    cpu: dict[str, list[float]] = {}
    wall: dict[str, list[float]] = {}
    for run in range(runs + 1):
        home = folder / f"start{run}"
        new, card, exercise = (home / each for each in ("new", "card", "exercise"))
        at_card, at_exercise = course_at(card, "synchronize/too_fast")[0], course_at(exercise, EXERCISE)[0]
        todo: dict[str, tuple[Path, list[str], str, dict[str, str]]] = {
            "five lines": (new, hello, "the frame is complete", {}),
            "course: map, first start": (new, course_at(new, None)[0], "palette", ENGLISH),
            "course: card": (card, at_card, "palette", ENGLISH),
            "course: lesson with the editor": (exercise, at_exercise, "palette", ENGLISH),
            "course: the same in Italian": (exercise, at_exercise, "comandi", {VARIABLE: "it"}),
        }
        if harlequin:
            todo["Harlequin"] = (new, harlequin, "Query Editor", {})
        for label, (place, command, marker, language) in todo.items():
            with running(place, command, marker, **language) as terminal:
                if run:  # the first one compiles and fills the caches
                    cpu.setdefault(label, []).append(terminal.cpu_s)
                    wall.setdefault(label, []).append(time.perf_counter() - terminal.began_s)
    table("start to the complete frame, CPU", cpu, 1000, "ms")
    table("start to the complete frame, wall", wall, 1000, "ms")


def cards(folder: Path, runs: int) -> None:
    """From card to card, and to the biggest one."""
    lessons = catalog.load().lessons
    pairs = [
        (before, after)
        for lesson in lessons
        for before, after in zip(lesson.steps, lesson.steps[1:], strict=False)
        if before.kind == after.kind == "card"
    ]
    biggest = max((after for _, after in pairs), key=lambda step: len(step.text))
    costs: dict[str, list[float]] = {"five lines: a text for another": [], "course: card to card": []}
    costs |= {"course: the biggest card": [], "course: the biggest card, opened first": []}
    for run in range(max(runs // 3, 1)):
        with running(folder, script(folder, "text", TEXT), "the frame is complete") as terminal:
            terminal.until_idle()
            costs["five lines: a text for another"].append(
                terminal.cost_of(lambda: terminal.press("x"), lambda: "card card" in terminal.text)
            )
        for first in {lesson.id: pair for lesson in lessons for pair in pairs if pair[0].lesson == lesson.id}.values():
            _walk_cards(folder / f"cards{run}", [pair for pair in pairs if pair[0].lesson == first[0].lesson], costs)
        before = next(before for before, after in pairs if after is biggest)
        with _opened(folder / f"big{run}", before) as terminal:
            costs["course: the biggest card, opened first"].append(_go_on(terminal, biggest))
            terminal.press("p")
            terminal.read_until(before.title[:30])
            terminal.until_idle()
            costs["course: the biggest card"].append(_go_on(terminal, biggest))
    table("from key to card, CPU", costs, 1000, "ms")


@contextmanager
def _opened(home: Path, step: Step) -> Iterator[Measured]:
    command, marker = course_at(home, step.id)
    with running(home, command, marker, PROFILE_FIRST_GPU="simulated") as terminal:
        terminal.read_until("imulated")  # the grader has said which GPU, and the app is quiet from then on
        terminal.until_idle()
        yield terminal


def _go_on(terminal: Measured, to: Step) -> float:
    return terminal.cost_of(lambda: terminal.press("n"), lambda: to.title[:30] in terminal.text)


def _walk_cards(home: Path, pairs: list[tuple[Step, Step]], costs: dict[str, list[float]]) -> None:
    with _opened(home, pairs[0][0]) as terminal:
        at = pairs[0][0]
        for before, after in pairs:
            if before is not at:
                break  # an exercise lies between
            costs["course: card to card"].append(_go_on(terminal, after))
            at = after


def keys(folder: Path, harlequin: list[str] | None) -> None:
    """From a key to the letter on the screen, in a file of 500 lines."""
    long_file = folder / "long.py"
    long_file.write_text(LONG_FILE)
    costs: dict[str, list[float]] = {}
    with running(folder, [*script(folder, "editor", EDITOR), str(long_file)], "line 10") as terminal:
        costs["five lines: an editor"] = _typed(terminal)
    home = folder / "keys"
    command, marker = course_at(home, EXERCISE)
    own = workspace.at_home()
    own.open(EXERCISE)
    own.save(EXERCISE, LONG_FILE)
    with running(home, command, marker, PROFILE_FIRST_GPU="simulated") as terminal:
        terminal.read_until("imulated")
        terminal.press("f3")
        terminal.read_until("leaves the editor")
        costs["course: the editor"] = _typed(terminal)
    if harlequin:
        with running(folder / "harlequin", harlequin, "Query Editor") as terminal:
            terminal.until_idle()
            terminal.paste("select 1,\n" * 499 + "select 2")
            costs["Harlequin: the editor"] = _typed(terminal, in_the_middle=False)
    table("from key to screen in 500 lines, CPU a key", costs, 1000, "ms")


def _typed(terminal: Measured, in_the_middle: bool = True) -> list[float]:
    if in_the_middle:
        for _ in range(250):
            terminal.press("\x1b[B")
    terminal.press("\x1b[F")
    terminal.until_idle()
    costs = []
    for number, letter in enumerate(KEYS):
        typed = KEYS[: number + 1]
        costs.append(
            terminal.cost_of(lambda letter=letter: terminal.press(letter), lambda typed=typed: typed in terminal.text)
        )
    return costs


def memory(folder: Path, harlequin: list[str] | None) -> None:
    """After the whole course was walked."""
    used: dict[str, list[float]] = {}
    with running(folder, script(folder, "hello", HELLO), "the frame is complete") as terminal:
        terminal.until_idle()
        used["five lines"] = [terminal.memory_mb()]
    lessons = catalog.load().lessons
    home = folder / "memory"
    with _opened(home, lessons[0].steps[0]) as terminal:
        used["course: first card"] = [terminal.memory_mb()]
        for lesson in lessons:
            for step in lesson.steps:
                _walk_on(terminal, step)
        terminal.read_until("recap")
        terminal.until_idle()
        used["course: after all its steps"] = [terminal.memory_mb()]
    if harlequin:
        with running(folder / "harlequin", harlequin, "Query Editor") as terminal:
            terminal.until_idle()
            used["Harlequin: just opened"] = [terminal.memory_mb()]
    table("resident memory", used, 1, "MB")


def _walk_on(terminal: Measured, step: Step) -> None:
    with progress.at_home() as kept:
        terminal.read_while(
            lambda: (place := kept.place()) is None or place.step != step.name, f"{step.id} isn't reached"
        )
    terminal.until_idle()
    match step.kind:
        case "exercise":
            for key in ("f3", "escape", "ctrl+n"):
                terminal.press(key)
                terminal.until_idle()
        case "quiz":
            while "Question" in terminal.text:
                terminal.press("enter")
                terminal.until_idle()
            terminal.press("n")
        case _:
            terminal.press("n")


def script(folder: Path, name: str, text: str) -> list[str]:
    """A file with this text, as a command."""
    path = folder / f"{name}.py"
    path.write_text(text)
    return [sys.executable, str(path)]


def harlequin_command() -> list[str]:
    """Harlequin, in an environment of its own that is made once."""
    place = Path(tempfile.gettempdir()) / "profile-first-benchmark-harlequin"
    if not (place / "bin" / "harlequin").exists():
        venv.create(place, with_pip=True)
        subprocess.run([place / "bin" / "pip", "install", "--quiet", HARLEQUIN, TREE_SITTER], check=True)
    return [str(place / "bin" / "harlequin")]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--harlequin", action="store_true")
    parser.add_argument("--only", default="start,cards,keys,memory")
    options = parser.parse_args()
    harlequin = harlequin_command() if options.harlequin else None
    print(f"{COLUMNS}x{ROWS}, Python {sys.version.split()[0]}; median (lowest to highest), times the first row's")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wanted = options.only.split(",")
        if "start" in wanted:
            starts(folder, options.runs, harlequin)
        if "cards" in wanted:
            cards(folder, options.runs)
        if "keys" in wanted:
            keys(folder, harlequin)
        if "memory" in wanted:
            memory(folder, harlequin)


if __name__ == "__main__":
    main()
