"""A class is graded whole: whatever a submission does, and whatever happens to the grader, costs nobody else."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.batch.grade import REACHES, Checker, Progress, Settings, grade, seed_for
from grader.batch.grading_process import ProcessLost
from grader.batch.ledger import Ledger
from grader.batch.records import Attempt, Result
from grader.errors import CheckFault, RunnerUnavailable
from grader.feedback import OURS
from grader.verdict import CheckResult, Verdict

EXERCISE = "synchronize/time_on_the_gpu"


class FakeChecker:
    """Gives the points that a file asks for, and remembers what it was asked."""

    layers = ["Landlock"]  # noqa: RUF012

    def __init__(self, act: Callable[[str], None] = lambda _: None) -> None:
        self.asked: list[tuple[str, int]] = []
        self.closed = 0
        self._act = act

    def check(self, exercise: str, path: Path, seed: int) -> Verdict:
        text = path.read_text("utf-8")
        self.asked.append((path.parent.name, seed))
        self._act(text)
        passed = "right" in text
        check = CheckResult("It waits", passed, 2 if passed else 0, 2, None if passed else "It doesn't.")
        return Verdict(exercise, "passed" if passed else "failed", check.points, 2, [check], None, seed, 0.1, "", "1")

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def hand_in(tmp_path: Path) -> Callable[..., list[Attempt]]:
    def hand_in(**texts: str) -> list[Attempt]:
        attempts = []
        for student, text in texts.items():
            path = tmp_path / "class" / student / "time_on_the_gpu.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            attempts.append(Attempt(student, EXERCISE, str(path), f"{student}/{path.name}"))
        return attempts

    return hand_in


def graded(
    attempts: list[Attempt],
    out: Path,
    *checkers: Checker,
    tell: Callable[[Progress], None] = lambda _: None,
    **settings: bool,
) -> list[Result]:
    with Ledger(out, 7) as ledger:
        return grade(attempts, ledger, Settings(jobs=2, **settings), checkers=checkers, tell=tell)


def points(results: list[Result]) -> dict[str, int | None]:
    return {each.attempt.student: each.verdict.points if each.verdict is not None else None for each in results}


Handed = Callable[..., list[Attempt]]


def test_each_result_is_of_its_own_attempt_in_the_order_of_the_attempts(hand_in: Handed, tmp_path: Path) -> None:
    texts = {f"student{number}": "right" if number % 3 else "wrong" for number in range(30)}
    results = graded(hand_in(**texts), tmp_path / "out", FakeChecker(), FakeChecker(), FakeChecker())
    assert [each.attempt.student for each in results] == list(texts)
    assert points(results) == {student: 2 if text == "right" else 0 for student, text in texts.items()}
    assert all(each.isolation == ["Landlock"] for each in results)


def test_the_seed_is_the_same_for_all_or_each_ones_own_and_the_same_again(hand_in: Handed, tmp_path: Path) -> None:
    attempts = hand_in(anna="right", bob="right")
    assert {each.seed for each in graded(attempts, tmp_path / "one", FakeChecker())} == {7}
    own = graded(attempts, tmp_path / "two", FakeChecker(), seed_per_student=True)
    assert [each.seed for each in own] == [seed_for("anna", 7), seed_for("bob", 7)]
    assert own[0].seed != own[1].seed


def test_what_has_not_changed_is_not_checked_again(hand_in: Handed, tmp_path: Path) -> None:
    first = graded(hand_in(anna="right", bob="wrong"), tmp_path / "out", FakeChecker())
    again = FakeChecker()
    told: list[Progress] = []
    second = graded(hand_in(anna="right", bob="right now"), tmp_path / "out", again, tell=told.append)
    assert [student for student, _ in again.asked] == ["bob"]
    assert second[0] == first[0]
    assert points(second) == {"anna": 2, "bob": 2}
    assert [(each.done, each.kept) for each in told] == [(1, 1), (2, 1)]


def test_regrade_checks_everything_again(hand_in: Handed, tmp_path: Path) -> None:
    attempts = hand_in(anna="right", bob="wrong")
    graded(attempts, tmp_path / "out", FakeChecker())
    again = FakeChecker()
    graded(attempts, tmp_path / "out", again, regrade=True)
    assert sorted(student for student, _ in again.asked) == ["anna", "bob"]


def test_what_ran_without_being_kept_apart_is_checked_again_where_it_is(hand_in: Handed, tmp_path: Path) -> None:
    attempts, unsafe, again = hand_in(anna="right"), FakeChecker(), FakeChecker()
    unsafe.layers = []
    graded(attempts, tmp_path / "out", unsafe, shut_in=False)
    graded(attempts, tmp_path / "out", again)
    assert [student for student, _ in again.asked] == ["anna"]


def test_checkers_are_closed_where_there_is_nothing_to_check(hand_in: Handed, tmp_path: Path) -> None:
    attempts, idle = hand_in(anna="right"), FakeChecker()
    graded(attempts, tmp_path / "out", FakeChecker())
    graded(attempts, tmp_path / "out", idle)
    assert (idle.asked, idle.closed) == ([], 1)


def test_a_process_that_is_lost_once_costs_nothing(hand_in: Handed, tmp_path: Path) -> None:
    lost: list[str] = []

    def lose_once(text: str) -> None:
        if "bad luck" in text and not lost:
            lost.append(text)
            raise ProcessLost("The grader's process ended unexpectedly.")

    results = graded(hand_in(anna="right", bob="right, bad luck"), tmp_path / "out", FakeChecker(lose_once))
    assert points(results) == {"anna": 2, "bob": 2}
    assert [each.trouble for each in results] == [None, None]


def test_a_submission_that_ends_the_process_each_time_has_no_verdict_and_the_others_have(
    hand_in: Handed, tmp_path: Path
) -> None:
    def lose(text: str) -> None:
        if text == "bad":
            raise ProcessLost("The grader's process ended unexpectedly.")
        if text == "broken":
            raise CheckFault("The checks of this exercise are broken.")

    results = graded(hand_in(anna="bad", bob="right", cem="broken", dora="right"), tmp_path / "out", FakeChecker(lose))
    assert points(results) == {"anna": None, "bob": 2, "cem": None, "dora": 2}
    assert results[0].trouble == "The grader's process ended unexpectedly."
    assert results[2].trouble == "The checks of this exercise are broken."
    again = FakeChecker()
    graded(hand_in(anna="bad", bob="right", cem="broken", dora="right"), tmp_path / "out", again)
    assert sorted(student for student, _ in again.asked) == ["anna", "cem"]


def test_where_nothing_can_be_run_the_whole_class_is_refused_with_the_reason(hand_in: Handed, tmp_path: Path) -> None:
    def refuse(_: str) -> None:
        raise RunnerUnavailable("Other people's code can't be kept apart here.")

    checkers = [FakeChecker(refuse), FakeChecker(refuse)]
    with pytest.raises(RunnerUnavailable, match="kept apart"):
        graded(hand_in(**{f"student{n}": "right" for n in range(20)}), tmp_path / "out", *checkers)
    assert sum(len(each.asked) for each in checkers) <= 4
    assert all(each.closed for each in checkers)


def test_a_fault_of_the_course_in_a_verdict_is_told(hand_in: Handed, tmp_path: Path) -> None:
    class Faulty(FakeChecker):
        def check(self, exercise: str, path: Path, seed: int) -> Verdict:
            check = CheckResult("It waits", False, 0, 2, "What to expect could not be measured.", ours=True)
            return Verdict(exercise, "error", 0, 2, [check], None, seed, 0.1, "", "1")

    (result,) = graded(hand_in(anna="right"), tmp_path / "out", Faulty())
    assert "could not be measured" in str(result.trouble)


def test_a_submission_that_calls_its_own_fault_the_courses_is_not_believed(hand_in: Handed, tmp_path: Path) -> None:
    class Told(FakeChecker):
        def check(self, exercise: str, path: Path, seed: int) -> Verdict:
            check = CheckResult("It waits", False, 0, 2, f"It stopped with an error: ValueError: {OURS}")
            return Verdict(exercise, "error", 0, 2, [check], None, seed, 0.1, "", "1")

    (result,) = graded(hand_in(anna="wrong"), tmp_path / "out", Told())
    assert result.trouble is None


def test_what_reaches_into_the_grader_gets_nothing_and_says_why(hand_in: Handed, tmp_path: Path) -> None:
    (result,) = graded(hand_in(anna="import sys\nsys._getframe()\n# right"), tmp_path / "out", FakeChecker())
    assert result.verdict is not None
    assert (result.verdict.status, result.verdict.points, result.verdict.max_points) == ("error", 0, 2)
    assert result.verdict.checks[0].message == REACHES.format(why="line 2: it uses sys._getframe")
    assert result.look == ["line 2: it uses sys._getframe"]


def test_stopped_half_way_it_keeps_what_is_done_and_goes_on_there(hand_in: Handed, tmp_path: Path) -> None:
    attempts = hand_in(**{f"student{number}": "right" for number in range(20)})
    stop = threading.Event()
    begun: list[str] = []

    def hang_at_the_sixth(text: str) -> None:
        begun.append(text)
        if len(begun) == 6:
            assert stop.wait(60)

    def tell(progress: Progress) -> None:
        if progress.done == 5:
            stop.set()

    with Ledger(tmp_path / "out", 7) as ledger:
        checkers = [FakeChecker(hang_at_the_sixth)]
        first = grade(attempts, ledger, Settings(jobs=1), checkers=checkers, tell=tell, stop=stop)
    assert len(first) == 5
    again = FakeChecker()
    assert points(graded(attempts, tmp_path / "out", again)) == {attempt.student: 2 for attempt in attempts}
    assert len(again.asked) == 15


def test_ctrl_c_ends_every_process_and_loses_nothing(hand_in: Handed, tmp_path: Path) -> None:
    def interrupt(progress: Progress) -> None:
        if progress.done == 3:
            raise KeyboardInterrupt

    checkers = [FakeChecker(), FakeChecker()]
    attempts = hand_in(**{f"student{number}": "right" for number in range(20)})
    with pytest.raises(KeyboardInterrupt):
        graded(attempts, tmp_path / "out", *checkers, tell=interrupt)
    assert all(each.closed for each in checkers)
    again = FakeChecker()
    graded(attempts, tmp_path / "out", again)
    assert len(again.asked) == 17


def test_a_file_that_is_gone_before_it_is_graded_costs_nobody_else(hand_in: Handed, tmp_path: Path) -> None:
    attempts = hand_in(anna="right", bob="right")
    Path(attempts[0].file).unlink()
    results = graded(attempts, tmp_path / "out", FakeChecker())
    assert points(results) == {"anna": None, "bob": 2}
    assert results[0].trouble == "anna/time_on_the_gpu.py can't be read any more: No such file or directory."
