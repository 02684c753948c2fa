"""Progress survives several processes, damage and kills."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from course import progress
from course.progress import Best, Caret, Place, Progress, ProgressError, status_of


def verdict(exercise: str, points: int, status: str = "failed") -> dict[str, object]:
    return {"exercise": exercise, "status": status, "points": points, "max_points": 5}


def test_the_best_attempt_counts_and_the_last_one_is_shown(kept: Progress) -> None:
    for attempt in (verdict("a/b", 2), verdict("a/b", 5, "passed"), verdict("a/b", 1)):
        kept.record(attempt)
    assert kept.best() == {"a/b": Best(5, 5, True, 3)}
    assert kept.last_verdict("a/b") == verdict("a/b", 1)


def test_a_status_is_one_word() -> None:
    assert status_of(None) == "new"
    assert status_of(Best(1, 5, False, 2)) == "attempted"
    assert status_of(Best(5, 5, True, 2)) == "passed"


def test_the_place_is_the_last_one_of_all_or_of_a_lesson(kept: Progress) -> None:
    kept.move_to("one", "card")
    kept.move_to("two", "quiz")
    assert kept.place() == Place("two", "quiz")
    assert kept.place("one") == Place("one", "card")
    assert kept.place("three") is None
    assert kept.seen() == {"one/card", "two/quiz"}


def test_all_else_comes_back_after_a_restart(kept: Progress) -> None:
    kept.keep_caret("a/b", Caret(3, 4, 5, 6, "code"))
    kept.show_hints("a/b", 2)
    kept.set("theme", "nord")
    with Progress(kept.path) as again:
        assert again.caret("a/b") == Caret(3, 4, 5, 6, "code")
        assert again.hints_shown("a/b") == 2
        assert again.setting("theme") == "nord"
        assert again.caret("c/d") is None


def test_two_processes_may_write_at_once(home: Path) -> None:
    program = (
        "from course import progress\n"
        "with progress.at_home() as kept:\n"
        "    for number in range(50):\n"
        "        kept.record({'exercise': 'a/b', 'status': 'failed', 'points': number, 'max_points': 100})\n"
    )
    # Both also find no file yet and make it.
    both = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(2)]
    assert [each.wait() for each in both] == [0, 0]
    with Progress(home / "progress.sqlite3") as kept:
        assert kept.best()["a/b"] == Best(49, 100, False, 100)


def test_a_damaged_file_is_put_aside_with_a_message(home: Path) -> None:
    home.mkdir()
    path = home / "progress.sqlite3"
    path.write_bytes(b"this is not a database, though it is long enough to look like a file of one" * 40)
    with Progress(path) as kept:
        assert kept.notice is not None
        assert "progress.sqlite3.damaged-1" in kept.notice
        assert kept.best() == {}
    assert (home / "progress.sqlite3.damaged-1").read_bytes().startswith(b"this is not a database")


def test_a_file_of_a_newer_version_is_left_alone(home: Path) -> None:
    home.mkdir()
    path = home / "progress.sqlite3"
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(ProgressError, match="newer version"):
        Progress(path)


def test_a_home_that_cannot_be_made_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ProgressError, match="PROFILE_FIRST_HOME"):
        Progress(tmp_path / "file" / "progress.sqlite3")


def test_the_first_prediction_on_a_card_is_kept(kept: Progress) -> None:
    kept.predict("perf_counter/a", 1, True)
    kept.predict("perf_counter/a", 0, False)
    kept.predict("perf_counter/b", 0, False)
    kept.predict("synchronize/c", 2, None)
    assert (kept.prediction("perf_counter/a"), kept.prediction("perf_counter/z")) == (1, None)
    assert (kept.predictions("perf_counter"), kept.predictions("synchronize"), kept.predictions()) == (
        (1, 2),
        (0, 0),
        (1, 2),
    )


@pytest.mark.parametrize("version", [1, 2])
def test_a_file_of_a_version_before_is_taken_over(version: int, home: Path) -> None:
    with progress.at_home() as kept:
        kept.show_hints("perf_counter/a", 2)
        path = kept.path
    database = sqlite3.connect(path)
    for table in ("bookmarks", "solutions", "spent", *(["predictions"] if version == 1 else [])):
        database.execute(f"DROP TABLE {table}")
    database.execute(f"PRAGMA user_version = {version}")
    database.commit()
    database.close()
    with progress.at_home() as kept:
        assert kept.hints_shown("perf_counter/a") == 2
        kept.predict("perf_counter/a", 1, True)
        assert kept.predictions() == (1, 1)
        assert kept.toggle_bookmark("perf_counter/a")


def test_a_bookmark_is_taken_away_by_the_second_time(kept: Progress) -> None:
    assert [kept.toggle_bookmark(step) for step in ("a/b", "c/d", "a/b")] == [True, True, False]
    assert kept.bookmarks() == ["c/d"]


def test_the_first_look_at_a_solution_counts(kept: Progress) -> None:
    kept.see_solution("a/b", passed=False)
    kept.see_solution("a/b", passed=True)
    assert kept.solutions_seen() == {"a/b": False}


def test_time_adds_up_for_each_lesson(kept: Progress) -> None:
    for lesson, seconds_s in (("one", 2.5), ("two", 1.0), ("one", 0.5)):
        kept.spend(lesson, seconds_s)
    assert kept.spent_s() == {"one": 3.0, "two": 1.0}
