"""A results folder holds every report, whole, and the same ones of the same gradebook."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from grader.batch.records import NotAssigned
from grader.reports import write_all
from grader.reports.files import write
from grader.reports.words import NoSuchLanguage, Words
from grader.verdict import Gpu
from tests.grader.reports.classes import (
    UNANSWERED,
    VERDICTS,
    class_of,
    gradebook,
    result,
    row,
    score,
    student,
    verdict_saying,
)


def test_every_report_is_written_and_named(tmp_path: Path) -> None:
    paths = write_all(class_of(3), tmp_path)
    names = {path.relative_to(tmp_path).as_posix() for path in paths}
    assert {
        *("results.json", "gradebook.csv", "gradebook-moodle.csv", "gradebook-canvas.csv", "not-assigned.csv"),
        *("junit.xml", "class.html", "students/s0001/feedback.md", "students/s0001/feedback.html"),
        *("gradescope/s0001.json", "exercism/s0001/synchronize/time_on_the_gpu.json"),
    } <= names
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == set(paths), "nothing else is left behind"


def test_the_same_gradebook_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second = (write_all(class_of(10), tmp_path / folder) for folder in ("first", "second"))
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_reports_are_replaced_whole(tmp_path: Path) -> None:
    write_all(class_of(3), tmp_path)
    before = (tmp_path / "class.html").stat().st_ino
    write_all(class_of(3), tmp_path)
    assert (tmp_path / "class.html").stat().st_ino != before


def test_a_report_that_can_not_be_written_leaves_the_old_one_and_nothing_else(tmp_path: Path) -> None:
    write(tmp_path / "report", b"old")
    with pytest.raises(TypeError):
        write(tmp_path / "report", "no bytes")  # type: ignore[arg-type]
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("report", b"old")]


def test_students_whose_ids_are_no_names_get_folders_of_their_own_inside(tmp_path: Path) -> None:
    ids = ["../../up", "/etc/passwd", "Anna", "anna", "", "CON", "a" * 400]
    paths = write_all(gradebook(*(row(student(id=each), score(None)) for each in ids)), tmp_path / "out")
    pages = [path for path in paths if path.name == "feedback.html"]
    assert len({str(path.resolve()).casefold() for path in pages}) == len(ids)
    assert all(path.resolve().is_relative_to((tmp_path / "out").resolve()) for path in paths)


def test_an_empty_class_has_reports(tmp_path: Path) -> None:
    assert len(write_all(gradebook(), tmp_path)) == 7


def test_an_unknown_language_says_which_there_are(tmp_path: Path) -> None:
    with pytest.raises(NoSuchLanguage, match="in: en"):
        write_all(gradebook(), tmp_path, language="xx")
    assert list(tmp_path.iterdir()) == []


def test_every_sentence_is_used_somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    used = set[str]()
    said = Words.__call__

    def noting(self: Words, key: str, **values: object) -> str:
        used.add(key)
        return said(self, key, **values)

    monkeypatch.setattr(Words, "__call__", noting)
    late = score(result(VERDICTS[0]), late_days=1.0, points=4.0, before_lateness=5.0)
    late_for_nothing = score(result(VERDICTS[1]), late_days=1.0)
    unknown = verdict_saying("?", mistake="no_such_mistake")
    on_a_gpu = msgspec.structs.replace(VERDICTS[0], gpu=Gpu("real", "NVIDIA H200"))
    scores = [score(result(each)) for each in (*VERDICTS, unknown, on_a_gpu, UNANSWERED)]
    scores += [late, late_for_nothing, score(None), score(result(None)), score(result(VERDICTS[0], look=["x"]))]
    scores += [score(result(VERDICTS[0]), overridden=reason, attempts=2) for reason in ("Oral exam", "")]
    write_all(gradebook(row(student(), *scores), not_assigned=[NotAssigned("a", "b")]), tmp_path / "all")
    write_all(class_of(60, tmp_path), tmp_path / "class")
    write_all(gradebook(), tmp_path / "empty")
    # In the templates, or tested where they belong.
    unusual = {
        "feedback.taught_unknown",
        "class.infrastructure",
        "class.in_a_row",
        "class.timeouts",
        "feedback.passed_all",
    }
    unusual |= {
        "class.same_exact",
        "class.same_starter",
        "class.same_solution",
        "class.same_normalised",
        "class.same_little",
    }
    known = Words().all_keys()
    of_a_number = {key for key in known if key.endswith("_one") or f"{key}_one" in known}
    assert known - used <= unusual | of_a_number


def test_a_sentence_about_one_thing_is_another_than_about_several() -> None:
    words = Words()
    assert words.count("class.same_unread", 1) != words.count("class.same_unread", 2)
    assert "2 files" in words.count("class.same_unread", 2)
