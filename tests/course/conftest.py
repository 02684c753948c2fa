"""A small course of two lessons, a home folder, and a grader that answers what a test tells it to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from textual.geometry import Region
from textual.pilot import Pilot

from course import catalog, progress, workspace
from course.app.app import CourseApp
from course.app.grading import real_grader
from course.app.widgets.actions import ActionBar
from course.app.widgets.footer import CourseFooter
from course.progress import Progress
from course.workspace import Workspace
from grader.client import RunResult
from grader.verdict import CheckResult, Gpu, Verdict

LESSON = """\
# Measure first

You can time a step.

## A card with code {#first_card}

Some **bold** words and `code`.

```python run
print("hello from the card")
```

After the code.

## A second card {#second_card}

- one
- two

## Time a step {#warm_up_and_repeat}

Complete `time_step`.

```python
## not a heading
```

### Hint

The first hint.

### Hint

The second hint.

## Check yourself {#quiz}

A few questions.

## Recap {#recap}

- Measure first.
"""
ORDER = """\
minutes = 8
[[steps]]
card = "first_card"
[[steps]]
card = "second_card"
[[steps]]
exercise = "warm_up_and_repeat"
why = "first_card"
points = 5
[[steps]]
quiz = "quiz"
points = 5
[[steps]]
recap = "recap"
"""
SECOND_LESSON = "# Wait\n\nYou can wait.\n\n## Only card {#only}\n\nText.\n\n## Recap {#recap}\n\nDone.\n"
SECOND_ORDER = 'minutes = 5\n[[steps]]\ncard = "only"\n[[steps]]\nrecap = "recap"\n'
STARTER = "import time\n\n\ndef time_step(step):\n    return {}\n"
EXERCISE = "perf_counter/warm_up_and_repeat"
GPU = Gpu("simulated", "Test Card")


class FakeGrader:
    """Answers at once, or when the test lets it; remembers what it was asked."""

    def __init__(self) -> None:
        self.gpu: Gpu | None = None
        self.on_ready: Callable[[Gpu], None] | None = None
        self.asked: list[tuple[str, str]] = []
        """What was asked for, and the text of the file at that moment."""
        self.prints = "hello\n"
        self.exit_code = 0
        self.gpu_kind: Literal["real", "simulated"] = "simulated"
        self.events: list[dict[str, Any]] = []
        """What a run is seen to do."""
        self.verdict: Verdict | None = None
        self.holds = False
        """Whether a request waits until it is cancelled."""
        self.closed = False
        self._cancelled = asyncio.Event()

    async def start(self) -> None:
        self.gpu = GPU
        if self.on_ready:
            self.on_ready(GPU)

    async def run(self, path: Path, on_output: Callable[[str], None]) -> RunResult:
        self.asked.append(("run", path.read_text("utf-8")))
        on_output(self.prints)
        stopped = await self._held()
        gpu = Gpu(self.gpu_kind, GPU.name)
        if stopped:
            return RunResult("cancelled", None, 0.5, gpu, [])
        return RunResult("finished", self.exit_code, 0.5, gpu, self.events)

    async def check(
        self,
        exercise: str,
        path: Path,
        seed: int | None = None,
        on_events: Callable[[list[dict[str, Any]]], None] | None = None,
    ) -> Verdict:
        self.asked.append((exercise, path.read_text("utf-8")))
        if await self._held():
            from grader.errors import Cancelled

            raise Cancelled("The check was stopped.")
        assert self.verdict is not None
        if on_events is not None:
            on_events(self.events)
        return self.verdict

    async def _held(self) -> bool:
        if self.holds:
            await self._cancelled.wait()
            self._cancelled.clear()
        return self.holds

    async def cancel(self) -> None:
        self._cancelled.set()

    async def close(self) -> None:
        self.closed = True


def verdict(*checks: CheckResult, status: Any = "failed", exercise: str = EXERCISE) -> Verdict:
    """A verdict with these checks."""
    points, max_points = sum(check.points for check in checks), sum(check.max_points for check in checks)
    return Verdict(exercise, status, points, max_points, list(checks), GPU, 7, 0.3, "0" * 64, "1")


def footer(app: CourseApp) -> CourseFooter:
    """The keys at the bottom of the screen."""
    return app.screen.query_one(CourseFooter)


def bars(app: CourseApp) -> list[ActionBar]:
    """The rows of buttons of the screen that are shown."""
    return [bar for bar in app.screen.query(ActionBar) if bar.display and bar.region]


def buttons(app: CourseApp) -> list[str]:
    """What the buttons of the screen say, with their keys."""
    return [button.text.plain.strip() for bar in bars(app) for button, _begin, _end in bar.places()]


def cut_off_buttons(app: CourseApp) -> list[str]:
    """The buttons that don't fit on the screen."""
    return [
        button.text.plain
        for bar in bars(app)
        for button, begin, end in bar.places()
        if not app.screen.region.contains_region(Region(bar.region.x + begin, bar.region.y, end - begin, 1))
    ]


async def click(pilot: Pilot[Any], app: CourseApp, button_id: str) -> None:
    """Click on a button."""
    bar, column = next(
        (bar, begin + 1) for bar in bars(app) for button, begin, _end in bar.places() if button.id == button_id
    )
    await pilot.click(bar, offset=(column, 0))


@pytest.fixture
def lessons(tmp_path: Path) -> Path:
    """A folder of two lessons."""
    folder = tmp_path / "lessons"
    for name, text, order in (
        ("1_perf_counter", LESSON, ORDER),
        ("2_synchronize", SECOND_LESSON, SECOND_ORDER),
    ):
        (folder / name).mkdir(parents=True)
        (folder / name / "en.md").write_text(text, "utf-8")
        (folder / name / "lesson.toml").write_text(order, "utf-8")
    return folder


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the course stores everything in."""
    folder = tmp_path / "home"
    monkeypatch.setenv("PROFILE_FIRST_HOME", str(folder))
    for name in ("NO_COLOR", "TEXTUAL_THEME", "PROFILE_FIRST_GPU", "TMUX"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def own(home: Path, tmp_path: Path) -> Workspace:
    """The learner's workspace, with a starter for the exercise."""
    starters = tmp_path / "starters"
    (starters / "perf_counter").mkdir(parents=True)
    (starters / f"{EXERCISE}.py").write_text(STARTER, "utf-8")
    return Workspace(home / "workspace", starters)


@pytest.fixture
def kept(home: Path) -> Iterator[Progress]:
    """The learner's progress."""
    with progress.at_home() as opened:
        yield opened


@pytest.fixture
def fake() -> FakeGrader:
    return FakeGrader()


@pytest.fixture
def make_app(lessons: Path, own: Workspace, kept: Progress, fake: FakeGrader) -> Callable[[], CourseApp]:
    """Makes the app as it starts from what is stored; a second call is the next start."""
    return lambda: CourseApp(catalog.load(lessons), own, kept, lambda: fake)


@pytest.fixture
def app(make_app: Callable[[], CourseApp]) -> CourseApp:
    return make_app()


@pytest.fixture(autouse=True)
def _no_other_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test ever touches the progress of whoever runs it."""
    monkeypatch.setenv("PROFILE_FIRST_HOME", str(tmp_path / "home"))
    assert workspace.at_home().folder.is_relative_to(tmp_path)


@pytest.fixture
def real_app(home: Path, kept: Progress, monkeypatch: pytest.MonkeyPatch) -> CourseApp:
    """The app with the real course and the real grader, on the simulated GPU."""
    monkeypatch.setenv("PROFILE_FIRST_GPU", "simulated")
    return CourseApp(catalog.load(), workspace.at_home(), kept, real_grader)
