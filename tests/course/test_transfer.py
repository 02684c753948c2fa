"""Progress goes to another machine and back; what can't be taken over changes nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from course import accounts, catalog, cli, transfer
from course.accounts import AccountsUnreadable
from course.catalog import Catalog
from course.progress import Progress
from course.workspace import Workspace, WorkspaceError
from grader.verdict import to_plain
from tests.course.conftest import EXERCISE, STARTER, CheckResult, verdict

QUIZ = "perf_counter/quiz"
RIGHT, HALF = CheckResult("It is.", True, 5, 5), CheckResult("It is.", False, 2, 5)


class Machine:
    """A machine with its own progress file and workspace."""

    def __init__(self, folder: Path, starters: Path, lessons: Catalog) -> None:
        self.kept = Progress(folder / "progress.sqlite3")
        self.own = Workspace(folder / "workspace", starters)
        self.lessons = lessons
        self.file = folder / "export.json"

    def write(self, text: str, changed_s: float) -> None:
        self.own.open(EXERCISE)
        self.own.save(EXERCISE, text)
        os.utime(self.own.path(EXERCISE), (changed_s, changed_s))

    def export(self) -> Path:
        transfer.export_to(self.file, self.kept, self.own, self.lessons)
        return self.file

    def take(self, file: Path) -> transfer.Imported:
        return transfer.import_from(file, self.kept, self.own, self.lessons)

    def all_there_is(self) -> tuple[bytes, dict[str, bytes]]:
        """Everything that is stored: the accounts, and each file with its text."""
        files = {
            path.relative_to(self.own.folder).as_posix(): path.read_bytes()
            for path in self.own.folder.rglob("*")
            if path.is_file() and path.name != ".lock"
        }
        return accounts.encode(accounts.merge(accounts.Accounts(), accounts.read(self.kept))), files

    def code(self) -> str:
        return self.own.path(EXERCISE).read_text()

    def backups(self) -> list[str]:
        return sorted(path.read_text() for path in self.own.folder.glob("*/backups/*"))


@pytest.fixture
def machines(tmp_path: Path, own: Workspace, lessons: Path) -> Iterator[tuple[Machine, Machine]]:
    both = [Machine(tmp_path / name, own.starters, catalog.load(lessons)) for name in ("laptop", "desk")]
    yield both[0], both[1]
    for machine in both:
        machine.kept.close()


def test_an_import_into_an_empty_machine_brings_everything(machines: tuple[Machine, Machine]) -> None:
    laptop, desk = machines
    laptop.kept.record(to_plain(verdict(RIGHT, status="passed")))
    laptop.kept.move_to("perf_counter", "second_card")
    laptop.kept.show_hints(EXERCISE, 2)
    laptop.kept.predict("perf_counter/first_card", 1, True)
    laptop.kept.toggle_bookmark("synchronize/only")
    laptop.kept.see_solution(EXERCISE, passed=True)
    laptop.kept.spend("perf_counter", 90.0)
    laptop.write("# mine\n", 1000)
    laptop.own.save_answers("perf_counter", {"q": "a"})
    desk.take(laptop.export())
    assert desk.all_there_is() == laptop.all_there_is()
    assert desk.kept.best() == laptop.kept.best()
    assert desk.kept.bookmarks() == ["synchronize/only"]
    assert desk.own.answers("perf_counter") == {"q": "a"}


def test_an_import_done_twice_changes_nothing(machines: tuple[Machine, Machine]) -> None:
    laptop, desk = machines
    for machine, text, changed_s in ((laptop, "# laptop\n", 1000), (desk, "# desk\n", 2000)):
        machine.kept.record(to_plain(verdict(HALF)))
        machine.write(text, changed_s)
    file = laptop.export()
    assert desk.take(file).changed
    once = desk.all_there_is()
    assert not desk.take(file).changed
    assert desk.all_there_is() == once


@pytest.mark.parametrize("newer", ["laptop", "desk"])
def test_both_directions_give_the_same_and_the_older_code_is_kept_aside(
    newer: str, machines: tuple[Machine, Machine]
) -> None:
    laptop, desk = machines
    for machine, name in ((laptop, "laptop"), (desk, "desk")):
        machine.kept.record(to_plain(verdict(RIGHT, status="passed") if name == newer else verdict(HALF)))
        machine.kept.move_to("perf_counter", "first_card" if name == newer else "second_card")
        machine.write(f"# {name}\n", 2000 if name == newer else 1000)
    from_laptop, from_desk = laptop.export(), desk.export()
    laptop.take(from_desk)
    desk.take(from_laptop)
    assert laptop.all_there_is() == desk.all_there_is()
    assert laptop.code() == f"# {newer}\n"
    assert laptop.backups() == [f"# {'desk' if newer == 'laptop' else 'laptop'}\n"]
    assert laptop.kept.best()[EXERCISE].attempts == 2


def test_the_newest_attempt_is_shown_wherever_it_was_made(machines: tuple[Machine, Machine]) -> None:
    laptop, desk = machines
    desk.kept.record(to_plain(verdict(RIGHT, status="passed")))
    laptop.kept.record(to_plain(verdict(HALF)))
    desk.take(laptop.export())
    desk.kept.close()
    desk.kept = Progress(desk.kept.path)
    shown = desk.kept.last_verdict(EXERCISE)
    assert shown is not None
    assert shown["points"] == 2
    assert desk.kept.best()[EXERCISE].passed


def test_a_starter_that_was_only_opened_neither_replaces_work_nor_is_kept(machines: tuple[Machine, Machine]) -> None:
    laptop, desk = machines
    laptop.write("# work\n", 1000)
    desk.write(STARTER, 2000)
    from_desk = desk.export()
    assert accounts.decode(from_desk.read_bytes(), "file").files == {}
    desk.take(laptop.export())
    laptop.take(from_desk)
    assert (desk.code(), laptop.code()) == ("# work\n", "# work\n")
    assert desk.backups() == laptop.backups() == []


def test_a_mark_that_was_taken_away_doesnt_come_back(machines: tuple[Machine, Machine]) -> None:
    laptop, desk = machines
    laptop.kept.toggle_bookmark("synchronize/only")
    desk.take(laptop.export())
    desk.kept.toggle_bookmark("synchronize/only")
    desk.take(laptop.file)
    laptop.take(desk.export())
    assert desk.kept.bookmarks() == laptop.kept.bookmarks() == []


def test_time_is_counted_once_however_often_it_goes_to_and_fro(machines: tuple[Machine, Machine]) -> None:
    laptop, desk = machines
    laptop.kept.spend("perf_counter", 60.0)
    desk.kept.spend("perf_counter", 30.0)
    for _ in range(3):
        desk.take(laptop.export())
        laptop.take(desk.export())
    assert desk.kept.spent_s() == laptop.kept.spent_s() == {"perf_counter": 90.0}


def test_a_file_of_an_exercise_that_isnt_in_the_course_is_left_out_and_named(machines: tuple[Machine, Machine]) -> None:
    laptop, desk = machines
    laptop.write("# work\n", 1000)
    plain = json.loads(laptop.export().read_text())
    plain["files"]["perf_counter/torch"] = {"changed_ns": 1, "text": "raise SystemExit"}
    laptop.file.write_text(json.dumps(plain))
    assert desk.take(laptop.file).unknown == ["perf_counter/torch"]
    assert sorted(path.name for path in desk.own.folder.rglob("*.py")) == ["warm_up_and_repeat.py"]


def test_a_refused_file_changes_nothing(machines: tuple[Machine, Machine]) -> None:
    laptop, desk = machines
    desk.write("# desk\n", 1000)
    desk.kept.record(to_plain(verdict(HALF)))
    before = desk.all_there_is()
    laptop.kept.record(to_plain(verdict(RIGHT, status="passed")))
    data = laptop.export().read_bytes()
    huge = laptop.file.with_name("huge.json")
    with huge.open("wb") as file:
        file.truncate(accounts.MAX_BYTES + 1)
    laptop.file.write_bytes(data[:-9])
    for file, why in ((laptop.file, "damaged"), (huge, "larger than 64 MiB"), (desk.own.folder, "can't be read")):
        with pytest.raises(AccountsUnreadable, match=why):
            desk.take(file)
    assert desk.all_there_is() == before


def test_a_file_that_cant_be_written_undoes_the_import(
    machines: tuple[Machine, Machine], monkeypatch: pytest.MonkeyPatch
) -> None:
    laptop, desk = machines
    laptop.write("# laptop\n", 2000)
    laptop.own.save_answers("perf_counter", {"q": "a"})
    laptop.kept.record(to_plain(verdict(RIGHT, status="passed")))
    desk.write("# desk\n", 1000)
    before, stamp = desk.all_there_is(), desk.own.path(EXERCISE).stat().st_mtime_ns
    real, failed = transfer.write_atomically, []

    def full_disk(path: Path, text: str) -> None:
        if path.name == "quiz.toml" and not failed:
            failed.append(path)
            raise WorkspaceError("the disk is full")
        real(path, text)

    file = laptop.export()
    monkeypatch.setattr(transfer, "write_atomically", full_disk)
    with pytest.raises(WorkspaceError, match="the disk is full"):
        desk.take(file)
    assert desk.all_there_is() == before
    assert desk.own.path(EXERCISE).stat().st_mtime_ns == stamp


# The command


def test_progress_says_how_far_one_is(kept: Progress, capsys: pytest.CaptureFixture[str]) -> None:
    quiz = verdict(CheckResult("Right?", True, 4, 5), exercise=QUIZ)
    kept.record(to_plain(quiz))
    kept.record(to_plain(verdict(RIGHT, status="passed")))
    kept.move_to("perf_counter", "warm_up_and_repeat")
    assert cli.main(["progress"]) == 0
    said = capsys.readouterr().out
    assert "\x1b" not in said
    assert "◐ 1 Measure before you optimize" in said
    assert "9 of 134 points." in said
    assert "1 of 20 exercises passed, 1 of 6 quizzes taken (0 without a mistake)." in said
    assert "You stopped at “Warm up and repeat” in lesson 1." in said


def test_progress_as_json_names_every_exercise_and_what_comes_next(
    kept: Progress, capsys: pytest.CaptureFixture[str]
) -> None:
    kept.record(to_plain(verdict(HALF)))
    kept.see_solution(EXERCISE, passed=False)
    kept.toggle_bookmark("synchronize/events")
    assert cli.main(["progress", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["version"], said["points"], said["stopped_at"]) == (1, 2, None)
    assert said["next"] == "perf_counter/why_measure"
    assert said["bookmarks"] == ["synchronize/events"]
    listed = next(each for each in said["lessons"][0]["graded"] if each["id"] == EXERCISE)
    assert (listed["status"], listed["attempts"], listed["solution_seen"]) == ("attempted", 1, True)


def test_export_and_import_say_what_they_did(
    home: Path, kept: Progress, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept.record(to_plain(verdict(RIGHT, status="passed")))
    file = tmp_path / "progress.json"
    assert cli.main(["progress", "export", str(file)]) == 0
    assert f"{file} holds 1 check and 0 files." in capsys.readouterr().out
    monkeypatch.setenv("PROFILE_FIRST_HOME", str(tmp_path / "other"))
    assert cli.main(["progress", "import", str(file)]) == 0
    assert "New here: 1 check and 0 files." in capsys.readouterr().out
    assert cli.main(["progress", "import", str(file)]) == 0
    assert "New here: 0 checks and 0 files." in capsys.readouterr().out


def test_a_file_that_cant_be_imported_is_one_line_and_wrong_usage(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "foreign.json").write_text("{}")
    for name in ("foreign.json", "missing.json"):
        assert cli.main(["progress", "import", str(tmp_path / name)]) == 2
        said = capsys.readouterr().err
        assert said.startswith(f"profile-first: {tmp_path / name}")
        assert said.count("\n") == 1
