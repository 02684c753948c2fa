"""What can't be saved is kept until it can, also while one is elsewhere, and when one leaves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from course import workspace
from course.app.app import CourseApp
from course.workspace import Workspace, WorkspaceError
from tests.course.conftest import EXERCISE, STARTER
from tests.course.test_app import SMALL, editor, go_to, press, until
from tests.course.test_keeping import THEIRS, TYPED, on_disk, status

CARD = "perf_counter/second_card"


class Disk:
    """Takes nothing while it is full."""

    full = False


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    """The disk that the workspace is on."""
    disk, write = Disk(), workspace.write_atomically

    def writing(path: Path, content: Any) -> None:
        if disk.full:
            raise WorkspaceError(f"{path} can't be saved: No space left on device.")
        write(path, content)

    monkeypatch.setattr(workspace, "write_atomically", writing)
    return disk


async def type_in_vain(pilot: Pilot[None], app: CourseApp, disk: Disk) -> None:
    """Type something that can't be saved, and go to a card."""
    await go_to(pilot, app, EXERCISE)
    await press(pilot, "f3")
    disk.full = True
    editor(app).insert("x")
    await until(pilot, lambda: "NOT saved" in status(app))
    await go_to(pilot, app, CARD)


async def test_what_could_not_be_saved_is_there_again_after_one_was_elsewhere(
    app: CourseApp, own: Workspace, disk: Disk
) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await type_in_vain(pilot, app, disk)
        assert on_disk(own) == STARTER
        await go_to(pilot, app, EXERCISE)
        assert editor(app).text == TYPED
        disk.full = False
        await until(pilot, lambda: on_disk(own) == TYPED)


async def test_it_is_asked_which_version_stays_if_another_program_saved_meanwhile(
    app: CourseApp, own: Workspace, disk: Disk
) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await type_in_vain(pilot, app, disk)
        own.path(EXERCISE).write_text(THEIRS, "utf-8")
        disk.full = False
        await go_to(pilot, app, EXERCISE)
        await until(pilot, lambda: "Ctrl+S asks" in status(app))
        assert editor(app).text == TYPED
        assert on_disk(own) == THEIRS


async def test_what_could_not_be_saved_is_rescued_when_one_leaves_from_another_screen(
    app: CourseApp, disk: Disk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    async with app.run_test(size=SMALL) as pilot:
        await type_in_vain(pilot, app, disk)
        await press(pilot, "ctrl+q")
        assert app.is_running, "it says first that something isn't saved"
        await press(pilot, "ctrl+q")
    assert [path.read_text("utf-8") for path in tmp_path.glob("profile-first-*")] == [TYPED]
