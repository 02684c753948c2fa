"""One job at a time, and one that waits for it."""

from __future__ import annotations

import asyncio

import pytest
from textual.pilot import Pilot

from course.app.app import CourseApp
from course.app.turns import Turns
from course.app.widgets.job import SPINNER
from grader.verdict import CheckResult
from tests.course.conftest import EXERCISE, FakeGrader, verdict
from tests.course.test_app import SMALL, WIDE, editor, go_to, panel, press, shown, until


async def _settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


class Jobs:
    """Jobs that last until they are told to end."""

    def __init__(self) -> None:
        self.changes = 0
        self.turns = Turns(self._changed)
        self.log: list[str] = []
        self._ends: dict[str, asyncio.Event] = {}

    def _changed(self) -> None:
        self.changes += 1

    async def ask(self, name: str) -> asyncio.Task[None]:
        self._ends[name] = asyncio.Event()
        task = asyncio.create_task(self._job(name))
        await _settle()
        return task

    async def _job(self, name: str) -> None:
        async with self.turns.turn(name) as mine:
            self.log.append(f"{name} {'begins' if mine else 'not'}")
            if mine:
                await self._ends[name].wait()

    async def end(self, name: str) -> None:
        self._ends[name].set()
        await _settle()


async def test_the_newest_of_those_that_wait_is_next() -> None:
    jobs = Jobs()
    for name in "abc":
        await jobs.ask(name)
    assert (jobs.turns.running, jobs.turns.waiting) == ("a", "c")
    await jobs.end("a")
    assert (jobs.turns.running, jobs.turns.waiting) == ("c", None)
    await jobs.end("c")
    assert (jobs.turns.running, jobs.turns.waiting) == (None, None)
    assert jobs.log == ["a begins", "b not", "c begins"]


async def test_what_waits_can_be_cancelled() -> None:
    jobs = Jobs()
    await jobs.ask("a")
    assert not jobs.turns.cancel_waiting()
    await jobs.ask("b")
    assert jobs.turns.cancel_waiting()
    await jobs.end("a")
    assert jobs.log == ["a begins", "b not"]
    assert jobs.turns.running is None


async def test_a_job_whose_screen_goes_while_it_waits_leaves_the_turn_to_others() -> None:
    jobs = Jobs()
    await jobs.ask("a")
    (await jobs.ask("b")).cancel()
    await _settle()
    assert (jobs.turns.running, jobs.turns.waiting) == ("a", None)
    await jobs.end("a")
    await jobs.ask("c")
    assert jobs.log == ["a begins", "c begins"]


async def test_a_job_whose_screen_goes_just_when_its_turn_comes_gives_it_back() -> None:
    jobs = Jobs()
    first = await jobs.ask("a")
    second = await jobs.ask("b")
    first.cancel()
    second.cancel()
    await _settle()
    assert (jobs.turns.running, jobs.turns.waiting) == (None, None)
    await jobs.ask("c")
    assert jobs.log == ["a begins", "c begins"]


async def test_nothing_comes_between_the_end_of_a_job_and_the_one_that_waited() -> None:
    jobs = Jobs()
    await jobs.ask("a")
    await jobs.ask("b")
    jobs._ends["a"].set()
    while jobs.turns.running == "a":
        await asyncio.sleep(0)
    assert jobs.turns.running == "b"


# In an exercise


async def run_with(pilot: Pilot[None], app: CourseApp, fake: FakeGrader, *keys: str) -> None:
    """Begin a run that doesn't end, and press keys."""
    fake.holds = True
    fake.verdict = verdict(CheckResult("A check.", False, 0, 5, "What was seen."))
    await go_to(pilot, app, EXERCISE)
    await press(pilot, "f5")
    await until(pilot, lambda: fake.asked)
    await press(pilot, *keys)


@pytest.mark.parametrize("size", [SMALL, WIDE])
async def test_a_check_waits_for_the_run_and_then_checks_what_is_there_by_then(
    app: CourseApp, fake: FakeGrader, size: tuple[int, int]
) -> None:
    async with app.run_test(size=size) as pilot:
        await run_with(pilot, app, fake, "f6", "f3", "x")
        await until(pilot, lambda: "the check waits for it to end" in panel(app).status.text.plain)
        status = panel(app).status
        assert status.text.plain.endswith("F8 cancels the check")
        assert status.text.cell_length <= 78
        assert len(fake.asked) == 1
        fake.holds = False
        await fake.cancel()
        await until(pilot, lambda: "Not yet" in shown(app))
        assert "xreturn" in fake.asked[1][1]
        assert app.job is None


async def test_f8_cancels_what_waits_and_then_what_runs(app: CourseApp, fake: FakeGrader) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await run_with(pilot, app, fake, "f6", "f5", "f8")
        await until(pilot, lambda: "F8 stops it" in panel(app).status.text.plain)
        assert app.job == "the run"
        await press(pilot, "f8")
        await until(pilot, lambda: "Stopped" in panel(app).status.text.plain)
        assert len(fake.asked) == 1


async def test_ctrl_c_copies_a_selection_and_else_stops(app: CourseApp, fake: FakeGrader) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await run_with(pilot, app, fake, "f3", "shift+end", "ctrl+c")
        assert app.clipboard == "return {}"
        assert app.job == "the run"
        await press(pilot, "end", "ctrl+c")
        await until(pilot, lambda: app.job is None)


async def test_going_to_another_exercise_stops_the_run_and_what_waits(app: CourseApp, fake: FakeGrader) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await run_with(pilot, app, fake, "f6", "ctrl+n")
        await until(pilot, lambda: app.job is None and app.turns.waiting is None)
        assert len(fake.asked) == 1


async def test_the_run_of_a_card_on_top_waits_for_that_of_the_exercise(app: CourseApp, fake: FakeGrader) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await run_with(pilot, app, fake)
        app.show_aside("perf_counter/first_card")
        await until(pilot, lambda: app.screen.query("#card"))
        await press(pilot, "f5")
        await until(pilot, lambda: "Waiting for the program before" in panel(app).status.text.plain)
        await press(pilot, "f8")
        await until(pilot, lambda: "Not run" in panel(app).status.text.plain)
        await press(pilot, "f5")
        await until(pilot, lambda: app.turns.waiting)
        fake.holds = False
        await fake.cancel()
        await until(pilot, lambda: "Finished" in panel(app).status.text.plain)
        assert fake.asked[1] == ("run", 'print("hello from the card")\n')


async def test_the_spinner_stands_still_where_motion_is_unwanted(app: CourseApp, fake: FakeGrader) -> None:
    app.animation_level = "none"
    async with app.run_test(size=SMALL) as pilot:
        await run_with(pilot, app, fake)
        assert not editor(app).cursor_blink
        await until(pilot, lambda: "Running 0 s" in panel(app).status.text.plain)
        assert not set(SPINNER) & set(panel(app).status.text.plain)


# A flood


async def test_a_flood_of_output_leaves_the_app_usable(app: CourseApp, fake: FakeGrader) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await run_with(pilot, app, fake, "f3")
        chunk = "a line of a program that prints without end\n" * 1500
        for number in range(100):
            panel(app).feed(chunk)
            if number % 20 == 0:
                await press(pilot, "x")
        await until(pilot, lambda: editor(app).text.count("x") == 5)
        await until(pilot, lambda: panel(app).output.line_count > 10_000)
        panel(app).feed("x" * 5_000_000)
        panel(app).feed("\nthe end\n")
        await until(pilot, lambda: "the end" in panel(app).output.text)
        assert len(panel(app).output.text) < 3_000_000
        await press(pilot, "f8")
        await until(pilot, lambda: "Stopped" in panel(app).status.text.plain)
