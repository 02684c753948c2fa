"""The command `grade`: what it goes by, what it refuses, and what it says at its end."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from grader.__main__ import main
from grader.batch import command
from grader.batch.grade import Settings
from grader.verdict import CheckResult, Verdict

EXERCISE = "synchronize/time_on_the_gpu"


class Checker:
    """Gives one of two points, and says of every second file that it is to be read."""

    layers = ["Landlock"]  # noqa: RUF012

    def check(self, exercise: str, path: Path, seed: int) -> Verdict:
        check = CheckResult("It waits", False, 1, 4, "It doesn't.")
        return Verdict(exercise, "failed", 1, 4, [check], None, seed, 0.1, "", "1")

    def close(self) -> None: ...


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A class of two, and no process to start."""
    monkeypatch.setattr(command, "_settings", lambda _options: (Settings(jobs=1), [Checker()]))
    monkeypatch.chdir(tmp_path)
    for student, text in (("s1", "def time_on_the_gpu(work): ...\n"), ("s2", "import ctypes\n")):
        path = tmp_path / "class" / student / "time_on_the_gpu.py"
        path.parent.mkdir(parents=True)
        path.write_text(text)
    return tmp_path


def overrides(points: str, *, student: str = "s1", exercise: str = EXERCISE) -> str:
    return f"student,exercise,points,reason\n{student},{exercise},{points},talked it over\n"


def grade(*arguments: str) -> int:
    return main(["grade", "class", "--out", "out", *arguments])


def points() -> dict[str, float]:
    rows = json.loads(Path("out/results.json").read_bytes())["rows"]
    return {row["student"]["id"]: row["points"] for row in rows}


def test_points_set_by_hand_stay_until_others_are_given_or_they_are_dropped(given, capsys):
    Path("mine.csv").write_text(overrides("3"))
    assert grade("--overrides", "mine.csv") == 0
    assert points()["s1"] == 3
    Path("mine.csv").unlink()  # the copy is what counts
    assert grade() == 0
    assert points()["s1"] == 3
    said = capsys.readouterr().out
    assert f"Points set by hand: {given / 'mine.csv'}, as it was when last given." in said
    assert "None: --no-overrides." in said
    Path("other.csv").write_text(overrides("2"))
    assert grade("--overrides", "other.csv") == 0
    assert grade("--regrade") == 0
    assert points()["s1"] == 2
    assert grade("--no-overrides") == 0
    assert points()["s1"] == 1
    capsys.readouterr()
    assert grade() == 0
    assert "Points set by hand" not in capsys.readouterr().out


def test_the_roster_and_the_policy_of_the_time_before_stay_too(given, capsys):
    Path("class.csv").write_text("id,name\ns2,Ben\ns1,Anna\ns3,Cem\n")
    Path("policy.toml").write_text('count = "latest"\n')
    assert grade("--roster", "class.csv", "--policy", "policy.toml") == 0
    assert grade() == 0
    assert list(points()) == ["s2", "s1", "s3"]
    said = capsys.readouterr().out
    assert f"Roster: {given / 'class.csv'}, as it was" in said
    assert f"Policy: {given / 'policy.toml'}, as it was" in said
    assert "changed since" not in said
    Path("class.csv").write_text("id,name\ns1,Anna\n")
    assert grade("--json") == 0
    assert json.loads(capsys.readouterr().out)["roster"] == str(given / "class.csv")
    assert list(points()) == ["s2", "s1", "s3"]
    assert grade("--no-policy") == 0
    assert "It has changed since" in capsys.readouterr().out
    assert grade("--no-roster") == 0
    assert list(points()) == ["s1", "s2"]


@pytest.mark.parametrize("wrong", [overrides("99"), overrides("-1"), overrides("nan"), overrides("1", student="s9")])
def test_a_file_that_can_t_be_applied_changes_nothing(given, capsys, wrong):
    Path("mine.csv").write_text(overrides("3"))
    assert grade("--overrides", "mine.csv") == 0
    Path("wrong.csv").write_text(wrong)
    before = {path: path.read_bytes() for path in Path("out").rglob("*") if path.is_file()}
    assert grade("--overrides", "wrong.csv") == 2
    assert "wrong.csv, line 2: " in capsys.readouterr().err
    assert {path: path.read_bytes() for path in Path("out").rglob("*") if path.is_file()} == before
    assert grade() == 0
    assert points()["s1"] == 3


def test_what_was_set_for_somebody_who_is_not_in_the_class_any_more_is_told_and_costs_nobody_the_run(given, capsys):
    Path("mine.csv").write_text(overrides("3") + f"s2,{EXERCISE},0,copied\n")
    assert grade("--overrides", "mine.csv") == 0
    Path("class/s2/time_on_the_gpu.py").unlink()
    assert grade() == 0
    assert "Not in this gradebook: " in (said := capsys.readouterr().out)
    assert "line 3: nobody is 's2'" in said


@pytest.mark.parametrize("make", [lambda _path: None, lambda path: (path / "notes.txt").write_text("none")])
def test_where_there_is_no_submission_at_all_that_is_wrong_usage(given, capsys, make):
    Path("empty").mkdir()
    make(Path("empty"))
    assert main(["grade", "empty", "--out", "out"]) == 2
    said = capsys.readouterr().err
    assert "Nothing in empty is a submission. Looked for" in said
    assert ("notes.txt" in said) == Path("empty/notes.txt").exists()
    assert not Path("out").exists()


def test_the_end_of_a_run_names_the_files_to_open_and_what_to_read_by_hand(given, capsys):
    Path("class/list.txt").write_text("nothing")
    assert grade() == 0
    said = capsys.readouterr().out
    for name in ("class.html", "gradebook.csv", "students", "not-assigned.csv"):
        assert str(Path("out") / name) in said
        assert (Path("out") / name).exists()
    assert said.rstrip().endswith("s2/time_on_the_gpu.py")
    assert "To read by hand: 1 file, with its reason in class.html." in said


def test_a_class_that_loses_points_by_coming_late_is_told_so(given, capsys):
    late = ["--due", "2020-01-01T00:00:00+00:00", "--late-per-day", "10%"]
    assert grade(*late) == 0
    assert "Late: 1 score has fewer points for it." in capsys.readouterr().out
    assert grade() == 0
    assert "Late" not in capsys.readouterr().out


def test_a_policy_may_speak_of_exercises_that_nobody_handed_in_yet(given, capsys):
    Path("policy.toml").write_text('time_zone = "Europe/Rome"\n[exercises."synchronize/quiz"]\ndue = 2026-03-08\n')
    assert grade("--policy", "policy.toml") == 0
    Path("policy.toml").write_text('time_zone = "Europe/Rome"\n[exercises."synchronize/quizz"]\ndue = 2026-03-08\n')
    assert grade("--policy", "policy.toml") == 2
    assert "synchronize/quizz" in capsys.readouterr().err


def test_what_comes_through_a_pipe_is_kept_as_what_comes_from_a_file(given, capsys):
    os.mkfifo("pipe")
    writer = threading.Thread(target=lambda: Path("pipe").write_text("id,name\ns2,Ben\ns1,Anna\n"))
    writer.start()
    assert grade("--roster", "pipe") == 0
    writer.join()
    assert grade() == 0  # and doesn't wait for the pipe
    assert list(points()) == ["s2", "s1"]
    assert f"Roster: {given / 'pipe'}, as it was" in capsys.readouterr().out


@pytest.mark.parametrize("listed", [b'{"roster":"a\\u0000b"}', b'{"roster":"/dev/zero"}', b'{"roster":"."}'])
def test_where_a_roster_came_from_may_be_nonsense_by_now(given, listed):
    Path("class.csv").write_text("id,name\ns2,Ben\ns1,Anna\n")
    assert grade("--roster", "class.csv") == 0
    Path("out/given/sources.json").write_bytes(listed)
    assert grade() == 0
    assert list(points()) == ["s2", "s1"]


def test_a_roster_s_name_need_not_be_utf_8(given):
    name = os.fsdecode(b"class-\xff.csv")
    Path(name).write_text("id,name\ns2,Ben\ns1,Anna\n")
    assert grade("--roster", name) == 0
    assert grade() == 0
    assert list(points()) == ["s2", "s1"]


def test_what_cannot_be_written_is_named_by_a_name_that_one_knows(given, capsys):
    Path("class.csv").write_text("id,name\ns2,Ben\ns1,Anna\n")
    Path("out/given/roster.csv").mkdir(parents=True)
    assert grade("--roster", "class.csv") == 2
    assert f"{given / 'out/given/roster.csv'} can't be written: " in capsys.readouterr().err


def test_a_class_whose_work_is_never_due_is_graded(given):
    Path("policy.toml").write_text('due = 9999-12-31\ntime_zone = "America/New_York"\nlate_per_day = "10 %"\n')
    assert grade("--policy", "policy.toml") == 0
    assert points()["s1"] == 1
