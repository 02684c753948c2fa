"""A picture of the densest screens of the real course in Italian and French, where words are longest.

    pytest tests/course/test_snapshots_in_languages.py --update-snapshots

keeps the pictures as they are now. Look at what changed before it is committed: is anything cut off?
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot

from course import catalog, workspace
from course.app.app import CourseApp
from course.app.screens import recap
from course.progress import Progress
from grader.mistakes import mistake
from grader.verdict import CheckResult
from lab.language import ENGLISH, LANGUAGES, _, speaking
from tests.course.conftest import EXERCISE, FakeGrader, verdict
from tests.course.every_screen import drawn, shows
from tests.course.snapshots import picture
from tests.course.test_app import go_to, press, until
from tests.course.test_snapshots import KEPT, FixedDate
from tests.course.test_timeline import EVENTS

SIZE = (80, 24)
Go = Callable[[Pilot[None], CourseApp, FakeGrader], Awaitable[None]]


async def _map(pilot: Pilot[None], app: CourseApp, fake: FakeGrader) -> None:
    await go_to(pilot, app, "perf_counter/which_clock")
    app.go_home()
    await shows(pilot, app, "HomeScreen")


async def _prediction(pilot: Pilot[None], app: CourseApp, fake: FakeGrader) -> None:
    await go_to(pilot, app, "perf_counter/which_clock")


async def _task(pilot: Pilot[None], app: CourseApp, fake: FakeGrader) -> None:
    await go_to(pilot, app, EXERCISE)


async def _code(pilot: Pilot[None], app: CourseApp, fake: FakeGrader) -> None:
    await _task(pilot, app, fake)
    await press(pilot, "f3")


async def _not_yet(pilot: Pilot[None], app: CourseApp, fake: FakeGrader) -> None:
    said = mistake("mean_for_the_median", reported_ms=12.3, median_ms=8.25)
    fake.verdict = verdict(
        CheckResult(_("The first call is reported apart."), True, 2, 2),
        CheckResult(_("The median is that of the later calls."), False, 0, 3, str(said), said.id),
    )
    await _task(pilot, app, fake)
    await press(pilot, "f6")
    await until(pilot, lambda: app.job is None and fake.asked)


async def _question(pilot: Pilot[None], app: CourseApp, fake: FakeGrader) -> None:
    app.progress.set("quiz seed perf_counter", "1")
    await go_to(pilot, app, "perf_counter/quiz")


async def _answered(pilot: Pilot[None], app: CourseApp, fake: FakeGrader) -> None:
    await _question(pilot, app, fake)
    await press(pilot, "enter")


async def _timeline(pilot: Pilot[None], app: CourseApp, fake: FakeGrader) -> None:
    fake.events = EVENTS
    await _task(pilot, app, fake)
    await press(pilot, "f5")
    await until(pilot, lambda: app.job is None and fake.asked and app.seen_run is not None)
    await press(pilot, "f10")
    await shows(pilot, app, "TimelineScreen")


async def _help(pilot: Pilot[None], app: CourseApp, fake: FakeGrader) -> None:
    await _task(pilot, app, fake)
    await press(pilot, "f1")
    await shows(pilot, app, "HelpScreen")


async def _search(pilot: Pilot[None], app: CourseApp, fake: FakeGrader) -> None:
    await _prediction(pilot, app, fake)
    await press(pilot, "slash")
    await shows(pilot, app, "SearchScreen")
    await press(pilot, *"profiler")


async def _glossary(pilot: Pilot[None], app: CourseApp, fake: FakeGrader) -> None:
    await _prediction(pilot, app, fake)
    await press(pilot, "g")
    await shows(pilot, app, "GlossaryScreen")


async def _recap(pilot: Pilot[None], app: CourseApp, fake: FakeGrader) -> None:
    await go_to(pilot, app, "perf_counter/recap")


async def _course_recap(pilot: Pilot[None], app: CourseApp, fake: FakeGrader) -> None:
    await _prediction(pilot, app, fake)
    app.go_to_course_recap()
    await shows(pilot, app, "CourseRecapScreen")


DENSE: dict[str, Go] = {
    go.__name__.strip("_"): go
    for go in (
        _map,
        _prediction,
        _task,
        _code,
        _not_yet,
        _question,
        _answered,
        _timeline,
        _help,
        _search,
        _glossary,
        _recap,
        _course_recap,
    )
}


@pytest.fixture(params=[code for code in LANGUAGES if code != ENGLISH])
def spoken(request: pytest.FixtureRequest) -> Iterator[str]:
    with speaking(request.param):
        yield request.param


@pytest.mark.parametrize("name", DENSE)
async def test_the_screen_is_as_in_its_picture(
    spoken: str,
    home: Path,
    kept: Progress,
    fake: FakeGrader,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    monkeypatch.setattr(recap, "date", FixedDate)
    app = CourseApp(catalog.load(), workspace.at_home(), kept, lambda: fake)
    app.animation_level = "none"
    async with app.run_test(size=SIZE) as pilot:
        await DENSE[name](pilot, app, fake)
        await drawn(pilot, app)
        seen = picture(app.screen._compositor.render_strips())
    seen = re.sub(r"\(\d+,\d s\)", "(0,0 s)", seen)
    picture_of_it = KEPT / f"{SIZE[0]}x{SIZE[1]}-{spoken}" / f"{name}.txt"
    if request.config.getoption("--update-snapshots"):
        picture_of_it.parent.mkdir(parents=True, exist_ok=True)
        picture_of_it.write_text(seen, "utf-8")
    assert picture_of_it.is_file(), f"{name} has no picture: pytest {Path(__file__).name} --update-snapshots"
    assert seen == picture_of_it.read_text("utf-8")


def test_each_picture_is_of_a_screen_that_there_is() -> None:
    assert {file.stem for file in KEPT.glob(f"{SIZE[0]}x{SIZE[1]}-*/*.txt")} == set(DENSE)
