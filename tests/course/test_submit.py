"""What a learner hands in is in the archive, nothing else is, and the grader takes it as it is."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest

from course import catalog, workspace
from course.cli import main
from course.names import WrongUsage
from course.submit import Packed, archive, collect
from grader.batch.records import Student
from grader.submissions.find import find
from grader.submissions.roster import roster_of

TIME, EVENTS, QUIZ = "synchronize/time_on_the_gpu", "synchronize/time_with_events", "synchronize/quiz"
MINE = "def time_on_the_gpu(work):\n    return 1.0  # mine\n"


@pytest.fixture
def begun(home: Path) -> Path:
    """A workspace with an exercise that was worked on, one that wasn't, a quiz, and what a workspace collects."""
    own = workspace.at_home()
    own.open(TIME)
    own.save(TIME, MINE)
    own.open(EVENTS)
    own.save_answers("synchronize", {"forward_or_copy": "forward"})
    own.reset(TIME)
    own.save(TIME, MINE)
    (own.folder / "synchronize" / "secret.py").write_text("password = 1")
    (own.folder / "notes.txt").write_text("private")
    return own.folder


def submit(*arguments: str) -> int:
    return main(["submit", *arguments])


def test_packs_what_was_worked_on_and_nothing_else_of_the_machine(begun, tmp_path, capsys):
    out = tmp_path / "hand in.zip"
    assert submit("--out", str(out)) == 0
    with zipfile.ZipFile(out) as zipped:
        content = {name: zipped.read(name).decode() for name in zipped.namelist()}
    assert list(content) == ["synchronize/quiz.toml", f"{TIME}.py", "profile-first.json"]
    assert content[f"{TIME}.py"] == MINE
    note = json.loads(content["profile-first.json"])
    assert note["exercises"] == [QUIZ, TIME]
    assert set(note) == {"exercises", "student", "version", "schema"}
    assert str(tmp_path) not in str(content)
    said = capsys.readouterr().out
    assert f"✓ {TIME}.py" in said
    assert f"{EVENTS}: still as it came" in said
    assert "perf_counter/quiz: not begun yet" in said


def test_says_so_as_json(begun, tmp_path, capsys):
    assert submit("--out", str(tmp_path / "x.zip"), "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["files"][1] == {"name": f"{TIME}.py", "exercises": [TIME]}
    assert {"exercise": EVENTS, "why": "still as it came"} in said["missing"]


def test_the_same_files_make_the_same_archive(begun, tmp_path):
    for name in ("a.zip", "b.zip"):
        assert submit("--out", str(tmp_path / name)) == 0
        (begun / f"{TIME}.py").touch()
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_what_is_there_stays_unless_forced(begun, tmp_path, capsys):
    out = tmp_path / "x.zip"
    out.write_text("precious")
    assert submit("--out", str(out)) == 2
    assert out.read_text() == "precious"
    assert "--force" in capsys.readouterr().err
    assert submit("--out", str(out), "--force") == 0
    assert zipfile.is_zipfile(out)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--out", "x.tar"], "end its name in .zip"),
        (["nonsense/none", "--out", "x.zip"], "there is no exercise"),
        (["perf_counter", "--out", "x.zip"], "nothing to hand in yet"),
        (["none.ipynb", "--out", "x.zip"], "there is no file"),
    ],
)
def test_what_can_t_be_done_is_said_and_nothing_written(begun, tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert submit(*arguments) == 2
    assert message in capsys.readouterr().err
    assert not Path("x.zip").exists()


def test_the_first_things_that_are_not_begun_are_named_and_how_many_more_there_are(home, tmp_path, capsys):
    lessons = catalog.load()
    assert submit("--out", str(tmp_path / "x.zip")) == 2
    said = capsys.readouterr().err
    left = len(list(lessons.graded())) - 3
    assert said.count("not begun yet") == 3
    assert f"; and {left} more)" in said
    assert submit("perf_counter/quiz", "--out", str(tmp_path / "x.zip")) == 2
    assert "more" not in capsys.readouterr().err


def test_one_exercise_or_one_lesson_can_be_named(begun):
    own, lessons = workspace.at_home(), catalog.load()
    packed, missing = collect([TIME], lessons, own)
    assert ([each.name for each in packed], missing) == ([f"{TIME}.py"], [])
    packed, missing = collect(["synchronize"], lessons, own)
    assert [each.exercises[0] for each in packed] == [QUIZ, TIME]
    assert [each.exercise for each in missing] == [EVENTS, "synchronize/remove_hidden_syncs"]


def test_a_notebook_that_is_named_is_packed_with_all_that_it_holds(begun, tmp_path):
    assert main(["notebook", "synchronize", "--out", str(tmp_path / "books"), "--mine"]) == 0
    books = sorted((tmp_path / "books/synchronize").iterdir())
    packed, missing = collect(list(map(str, books)), catalog.load(), workspace.at_home())
    assert sorted(exercise for each in packed for exercise in each.exercises) == sorted(
        [QUIZ, TIME, EVENTS, "synchronize/remove_hidden_syncs"]
    )
    assert missing == []
    (tmp_path / "copy").mkdir()
    copy = tmp_path / "copy" / books[0].name
    copy.write_text(books[0].read_text() + "\n")
    with pytest.raises(WrongUsage, match="two different files"):
        collect([str(books[0]), str(copy)], catalog.load(), workspace.at_home())


def test_a_file_that_is_too_large_to_be_graded_is_refused(begun):
    (begun / f"{TIME}.py").write_text("#" * 1_000_001)
    with pytest.raises(WrongUsage, match="larger than 1 MB"):
        collect([], catalog.load(), workspace.at_home())


def test_the_grader_takes_it_as_it_is(begun, tmp_path):
    given = tmp_path / "class"
    given.mkdir()
    assert submit("--out", str(given / "anna.zip")) == 0
    assert submit("--out", str(given / "hand-in.zip"), "--student", "ben@uni.it") == 0
    roster = roster_of([Student("s2", "Ben Rossi", "ben@uni.it"), Student("s1", "Anna", "anna@uni.it")])
    for found, students in (
        (find(given, into=tmp_path / "into"), ["anna", "ben@uni.it"]),
        (find(given, roster, into=tmp_path / "into"), ["s2", "s1"]),
    ):
        assert [(each.student, each.exercise) for each in found.attempts] == [
            (student, exercise) for student in students for exercise in (QUIZ, TIME)
        ]
        assert found.not_assigned == []
        assert Path(found.attempts[1].file).read_text() == MINE


def test_it_is_found_through_the_download_of_a_learning_system(begun, tmp_path):
    packed = archive([Packed((TIME,), f"{TIME}.py", MINE.encode())])
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as zipped:
        zipped.writestr("Anna Muster_123456_assignsubmission_file_/hand-in.zip", packed)
        zipped.writestr("Ben Rossi_123457_assignsubmission_file_/my work.zip", packed)
    (tmp_path / "all.zip").write_bytes(data.getvalue())
    found = find(tmp_path / "all.zip", into=tmp_path / "into")
    assert [(each.student, each.exercise) for each in found.attempts] == [("123456", TIME), ("123457", TIME)]
