"""Nothing that a learner typed is ever lost."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from course import workspace
from course.workspace import ChangedElsewhere, Workspace, WorkspaceError
from tests.course.conftest import EXERCISE, STARTER


def test_an_exercise_begins_as_a_copy_of_its_starter(own: Workspace) -> None:
    assert own.open(EXERCISE) == STARTER
    assert own.path(EXERCISE).read_text("utf-8") == STARTER


def test_what_was_saved_is_opened_again(own: Workspace) -> None:
    own.open(EXERCISE)
    own.save(EXERCISE, "mine = 'è €'\r\nkept = 1\n")
    assert own.open(EXERCISE) == "mine = 'è €'\r\nkept = 1\n"


def test_a_save_that_fails_leaves_the_old_text_and_no_rubbish(own: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    own.open(EXERCISE)

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(WorkspaceError, match="No space left on device"):
        own.save(EXERCISE, "new")
    assert own.open(EXERCISE) == STARTER
    assert [file.name for file in own.path(EXERCISE).parent.iterdir()] == ["warm_up_and_repeat.py"]


def test_the_file_is_replaced_and_never_rewritten_in_place(own: Workspace) -> None:
    own.open(EXERCISE)
    with own.path(EXERCISE).open(encoding="utf-8") as reader:
        own.save(EXERCISE, "new text")
        assert reader.read() == STARTER


def test_a_linked_file_stays_a_link(own: Workspace, tmp_path: Path) -> None:
    target = tmp_path / "repository.py"
    target.write_text("theirs", "utf-8")
    own.path(EXERCISE).parent.mkdir(parents=True)
    own.path(EXERCISE).symlink_to(target)
    own.save(EXERCISE, "mine")
    assert own.path(EXERCISE).is_symlink()
    assert target.read_text("utf-8") == "mine"


def test_reset_keeps_each_version_under_its_own_number(own: Workspace) -> None:
    own.open(EXERCISE)
    kept = []
    for text in ("first try", "second try"):
        own.save(EXERCISE, text)
        backup = own.reset(EXERCISE)
        assert backup is not None
        kept.append((backup.name, backup.read_text("utf-8")))
    assert kept == [("warm_up_and_repeat.1.py", "first try"), ("warm_up_and_repeat.2.py", "second try")]
    assert own.open(EXERCISE) == STARTER


def test_reset_of_an_untouched_file_makes_no_backup(own: Workspace) -> None:
    own.open(EXERCISE)
    assert own.reset(EXERCISE) is None


def test_a_version_saved_by_another_program_is_not_written_over(own: Workspace) -> None:
    known = own.open(EXERCISE)
    own.path(EXERCISE).write_text("from another editor", "utf-8")
    with pytest.raises(ChangedElsewhere) as changed:
        own.save(EXERCISE, "typed here", known)
    assert changed.value.theirs == b"from another editor"
    assert own.open(EXERCISE) == "from another editor"
    own.save(EXERCISE, "typed here", changed.value.theirs)
    assert own.open(EXERCISE) == "typed here"


def test_a_version_of_another_program_that_is_no_text_is_not_written_over_either(own: Workspace) -> None:
    known = own.open(EXERCISE)
    own.path(EXERCISE).write_bytes(b"\xff")
    with pytest.raises(ChangedElsewhere):
        own.save(EXERCISE, "typed here", known)


def test_a_file_that_was_deleted_is_written_again(own: Workspace) -> None:
    known = own.open(EXERCISE)
    own.path(EXERCISE).unlink()
    own.save(EXERCISE, known, known)
    assert own.open(EXERCISE) == known


def test_of_two_that_save_at_the_same_time_the_second_is_told(own: Workspace) -> None:
    known = own.open(EXERCISE)
    told: list[str] = []

    def save(text: str) -> None:
        try:
            own.save(EXERCISE, text, known)
        except ChangedElsewhere as changed:
            told.append(changed.theirs.decode())

    for _ in range(20):
        known = own.open(EXERCISE)
        told.clear()
        threads = [threading.Thread(target=save, args=(f"{known}{number}",)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert told == [own.open(EXERCISE)] * 3


def test_a_window_that_was_stopped_while_it_saved_holds_up_no_other(own: Workspace) -> None:
    with own.alone():
        own.save(EXERCISE, "typed here")
    assert own.open(EXERCISE) == "typed here"


def test_a_draft_is_found_again_by_its_process_and_by_others_once_that_has_ended(own: Workspace) -> None:
    own.keep_draft(EXERCISE, "mine")
    assert own.draft(EXERCISE) == "mine"
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    draft = own._draft_path(EXERCISE, os.getpid())
    draft.rename(own._draft_path(EXERCISE, other.pid))
    assert own.draft(EXERCISE) is None
    other.communicate(b"\n")
    assert own.draft(EXERCISE) == "mine"
    own.drop_draft(EXERCISE)
    assert own.draft(EXERCISE) is None


def test_of_several_drafts_one_is_to_be_decided_and_the_others_are_backed_up(own: Workspace) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    for process, text in ((ended.pid, "of one window"), (os.getpid(), "of the other")):
        workspace.write_atomically(own._draft_path(EXERCISE, process), text)
    to_decide = own.draft(EXERCISE)
    own.drop_draft(EXERCISE)
    assert own.draft(EXERCISE) is None
    (backup,) = own._draft_path(EXERCISE, "*").parent.iterdir()
    assert {to_decide, backup.read_text("utf-8")} == {"of one window", "of the other"}


def test_a_file_that_is_not_text_is_reported_with_its_path(own: Workspace) -> None:
    own.open(EXERCISE)
    own.path(EXERCISE).write_bytes(b"\xff\xfe")
    with pytest.raises(WorkspaceError, match=r"warm_up_and_repeat\.py isn't UTF-8"):
        own.open(EXERCISE)


def test_quiz_answers_come_back_whatever_they_contain(own: Workspace) -> None:
    answers = {"a question": 'with "quotes" and \\', "è": "line\nbreak"}
    own.save_answers("perf_counter", answers)
    assert own.answers("perf_counter") == answers


def test_unreadable_answers_count_as_none(own: Workspace) -> None:
    workspace.write_atomically(own.answers_path("perf_counter"), "not [ toml")
    assert own.answers("perf_counter") == {}


def test_a_link_to_itself_is_replaced(own: Workspace) -> None:
    own.path(EXERCISE).parent.mkdir(parents=True)
    own.path(EXERCISE).symlink_to(own.path(EXERCISE))
    own.reset(EXERCISE)
    assert own.open(EXERCISE) == own.starter(EXERCISE)
