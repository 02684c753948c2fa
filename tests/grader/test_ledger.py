"""What was graded is kept, whatever stops the grader, and taken again only for what has not changed."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from grader.batch.ledger import NAME, Ledger, LedgerInUse, LedgerUnusable
from grader.batch.records import Attempt, Result
from grader.verdict import CheckResult, Verdict

ATTEMPT = Attempt("anna", "synchronize/time_on_the_gpu", "/tmp/a.py", "anna/time_on_the_gpu.py", 5.0)


def result(attempt: Attempt = ATTEMPT, *, digest: str = "d", seed: int = 7, graded: bool = True) -> Result:
    verdict = Verdict(
        attempt.exercise, "passed", 2, 2, [CheckResult("It waits", True, 2, 2)], None, seed, 0.5, digest, "1"
    )
    return Result(attempt, digest, seed, "1", [], 1.0, 0.5, verdict if graded else None, None if graded else "lost")


def test_a_result_is_found_again_by_the_next_grader(tmp_path: Path) -> None:
    with Ledger(tmp_path, 7) as ledger:
        assert ledger.find(ATTEMPT, "d", 7, "course") is None
        ledger.add(result(), "course")
    with Ledger(tmp_path, 99) as ledger:
        assert ledger.seed == 7
        assert ledger.find(ATTEMPT, "d", 7, "course") == result()


def test_where_the_file_lies_this_time_is_what_the_result_says(tmp_path: Path) -> None:
    moved = msgspec.structs.replace(ATTEMPT, file="/tmp/b.py", number=2)
    with Ledger(tmp_path, 7) as ledger:
        ledger.add(result(), "course")
        found = ledger.find(moved, "d", 7, "course")
    assert found is not None
    assert found.attempt == moved


@pytest.mark.parametrize(
    ("digest", "seed", "course", "student"),
    [("other", 7, "course", "anna"), ("d", 8, "course", "anna"), ("d", 7, "other", "anna"), ("d", 7, "course", "bob")],
)
def test_what_has_changed_is_graded_again(digest: str, seed: int, course: str, student: str, tmp_path: Path) -> None:
    with Ledger(tmp_path, 7) as ledger:
        ledger.add(result(), "course")
        assert ledger.find(msgspec.structs.replace(ATTEMPT, student=student), digest, seed, course) is None


def test_what_the_grader_failed_at_is_tried_again(tmp_path: Path) -> None:
    with Ledger(tmp_path, 7) as ledger:
        ledger.add(result(graded=False), "course")
        assert ledger.find(ATTEMPT, "d", 7, "course") is None


def test_of_a_file_graded_twice_the_last_result_counts(tmp_path: Path) -> None:
    with Ledger(tmp_path, 7) as ledger:
        ledger.add(result(), "course")
        ledger.add(msgspec.structs.replace(result(), graded_at_s=2.0), "course")
    with Ledger(tmp_path, 7) as ledger:
        found = ledger.find(ATTEMPT, "d", 7, "course")
    assert found is not None
    assert found.graded_at_s == 2.0


def test_cut_off_at_any_byte_it_has_all_whole_lines(tmp_path: Path) -> None:
    with Ledger(tmp_path, 7) as ledger:
        ledger.add(result(digest="first"), "course")
        ledger.add(result(digest="second"), "course")
    whole = (tmp_path / NAME).read_bytes()
    ends = [position + 1 for position, byte in enumerate(whole) if byte == ord("\n")]
    for size in range(len(whole)):
        (tmp_path / NAME).write_bytes(whole[:size])
        with Ledger(tmp_path, 7) as ledger:
            assert (ledger.find(ATTEMPT, "first", 7, "course") is not None) == (size >= ends[1])
            assert ledger.find(ATTEMPT, "second", 7, "course") is None
            ledger.add(result(digest="third"), "course")
        with Ledger(tmp_path, 7) as ledger:
            assert ledger.find(ATTEMPT, "third", 7, "course") is not None


def test_two_graders_never_write_to_the_same_folder(tmp_path: Path) -> None:
    with Ledger(tmp_path, 7), pytest.raises(LedgerInUse, match="Another grader is writing"):
        Ledger(tmp_path, 7)
    with Ledger(tmp_path, 7):
        pass


@pytest.mark.parametrize("line", ['{"type":"other"}', "not json", '{"type":"opening","seed":1,"schema":2}'])
def test_a_file_that_is_no_ledger_is_refused_and_left_alone(line: str, tmp_path: Path) -> None:
    (tmp_path / NAME).write_text(f"{line}\n")
    with pytest.raises(LedgerUnusable, match="line 1"):
        Ledger(tmp_path, 7)
    assert (tmp_path / NAME).read_text() == f"{line}\n"


def test_a_folder_that_can_not_be_made_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LedgerUnusable, match="can't be written"):
        Ledger(tmp_path / "file" / "results", 7)
