"""Attempts become points as the policy says, exactly, and what an instructor sets stays."""

from __future__ import annotations

import argparse
import datetime
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.batch.overrides import Override, OverridesUnreadable, read_overrides
from grader.batch.points import gradebook, max_points
from grader.batch.policy import Policy, PolicyUnreadable, add_options, policy_from, policy_of, read_policy
from grader.batch.records import Attempt, Found, Gradebook, Result, Student
from grader.check import exercise_ids
from grader.errors import UnknownExercise
from grader.quiz import quiz_ids
from grader.submissions.table import TableUnreadable
from grader.verdict import Status, Verdict

TIME, QUIZ = "synchronize/time_on_the_gpu", "synchronize/quiz"
EXERCISES = {TIME: 4, QUIZ: 3}
DUE = datetime.datetime(2026, 3, 1, 22, 59, tzinfo=datetime.timezone.utc)
DUE_S = DUE.timestamp()
DAY_S, HOUR_S = 24 * 3600, 3600
ANNA, BEN = Student("s1", "Anna Muster", "anna@uni.it"), Student("s2", "Ben Rossi")
LATE = Policy(due=DUE, late_per_day=Fraction(1, 10))


def attempt(
    exercise: str = TIME, at_s: float | None = DUE_S - 1, number: int = 1, student: str = "s1", **more
) -> Attempt:
    return Attempt(student, exercise, f"/x/{number}.py", f"{student}/{exercise}/{number}", at_s, number, **more)


def result(of: Attempt, points: int | None, status: Status = "failed", most: int = 4) -> Result:
    verdict = None
    if points is not None:
        verdict = Verdict(of.exercise, status, points, most, [], None, 1, 0.1, "00", "1")
    return Result(of, "00", 1, "1", [], 0.0, 0.1, verdict)


def book(
    *results: Result, policy: Policy | None = None, overrides=None, students=(ANNA, BEN), ungraded=()
) -> Gradebook:
    found = Found(list(students), [*(each.attempt for each in results), *ungraded], [], [])
    return gradebook(
        found, results, policy=policy, overrides=overrides, exercises=EXERCISES, title="Class", graded_at_s=5.0
    )


def points(*results: Result, policy: Policy | None = None) -> float:
    return book(*results, policy=policy).rows[0].scores[0].points


def test_rows_stand_in_the_roster_s_order_with_a_score_for_each_exercise():
    made = book(result(attempt(student="s1"), 4, "passed"), students=(BEN, ANNA))
    assert [row.student for row in made.rows] == [BEN, ANNA]
    assert [[(score.exercise, score.status) for score in row.scores] for row in made.rows] == [
        [(TIME, "missing"), (QUIZ, "missing")],
        [(TIME, "passed"), (QUIZ, "missing")],
    ]
    assert [(row.points, row.max_points) for row in made.rows] == [(0, 7), (4, 7)]
    assert made.exercises == [TIME, QUIZ]


def test_the_best_attempt_counts():
    first, second, third = (
        result(attempt(number=i, at_s=DUE_S - 10 + i), points) for i, points in ((1, 2), (2, 3), (3, 1))
    )
    score = book(first, second, third).rows[0].scores[0]
    assert (score.points, score.counted, score.attempts) == (3, second, 3)


def test_the_best_is_the_best_after_lateness():
    early, late = result(attempt(number=1), 3), result(attempt(number=2, at_s=DUE_S + 2.5 * DAY_S), 4, "passed")
    score = book(early, late, policy=LATE).rows[0].scores[0]
    assert (score.points, score.counted, score.late_days, score.before_lateness) == (3, early, 0, 3)


def test_of_two_equal_attempts_the_earlier_counts():
    first, second = result(attempt(number=1), 4, "passed"), result(attempt(number=2), 4, "passed")
    assert book(first, second).rows[0].scores[0].counted == first


def test_the_latest_attempt_counts_if_the_policy_says_so():
    first, second = result(attempt(number=1), 4, "passed"), result(attempt(number=2), 1)
    assert points(first, second, policy=Policy(count="latest")) == 1


@pytest.mark.parametrize("count", ["best", "latest"])
def test_a_quiz_that_was_left_as_it_was_in_a_later_notebook_undoes_no_answers(count):
    answered, untouched = result(attempt(QUIZ, number=1), 0), result(attempt(QUIZ, number=2), 0, "unanswered")
    policy = Policy(count=count)
    assert book(answered, untouched, policy=policy).rows[0].scores[1].status == "failed"
    assert book(untouched, policy=policy).rows[0].scores[1].status == "unanswered"


def test_the_latest_attempt_that_couldn_t_be_graded_isn_t_replaced_by_an_earlier_one():
    first, second = result(attempt(number=1), 4, "passed"), result(attempt(number=2), None)
    score = book(first, second, policy=Policy(count="latest")).rows[0].scores[0]
    assert (score.points, score.status, score.attempts) == (0, "ungraded", 2)


def test_what_could_not_be_graded_is_said_and_worth_nothing_yet():
    made = book(result(attempt(), None), ungraded=[attempt(QUIZ)])
    assert [(score.points, score.status, score.attempts) for score in made.rows[0].scores] == [
        (0, "ungraded", 1),
        (0, "ungraded", 1),
    ]


def test_of_a_graded_and_an_ungraded_attempt_the_graded_counts():
    assert points(result(attempt(number=1), 2), result(attempt(number=2), None)) == 2


def test_of_an_attempt_that_was_graded_twice_the_last_result_counts():
    again = attempt()
    found = Found([ANNA], [again], [], [])
    results = [result(again, 1), result(again, 3)]
    made = gradebook(found, results, exercises=EXERCISES, title="", graded_at_s=0.0)
    assert made.rows[0].points == 3


def test_points_beyond_the_maximum_and_below_zero_don_t_count():
    assert points(result(attempt(), 9)) == 4
    assert points(result(attempt(), -9)) == 0


# Lateness


@pytest.mark.parametrize(
    ("late_s", "expected", "late_days"),
    [(0, 4, 0), (0.001, 3.6, 1), (DAY_S, 3.6, 1), (DAY_S + 1, 3.2, 2), (20 * DAY_S, 0, 20), (-5, 4, 0)],
)
def test_each_day_that_has_begun_costs_its_share(late_s, expected, late_days):
    score = book(result(attempt(at_s=DUE_S + late_s), 4, "passed"), policy=LATE).rows[0].scores[0]
    assert (score.points, score.late_days, score.before_lateness) == (expected, late_days, 4)


@pytest.mark.parametrize(
    ("change", "late_s", "expected"),
    [
        ({"grace_s": Fraction(600)}, 600, 4),
        ({"grace_s": Fraction(600)}, 601, 3.6),
        ({"late_at_most": Fraction(1, 2)}, 9 * DAY_S, 2),
        ({"minimum": Fraction(1, 4)}, 20 * DAY_S, 1),
        ({"closed_after_days": Fraction(7)}, 7 * DAY_S, 1.2),
        ({"closed_after_days": Fraction(7), "minimum": Fraction(1, 4)}, 7 * DAY_S + 1, 0),
        ({"days": "exact"}, DAY_S / 2, 3.8),
        ({"extensions": {"s1": Fraction(2)}}, 2 * DAY_S, 4),
        ({"extensions": {"s1": Fraction(2)}}, 2 * DAY_S + 1, 3.6),
        ({"extensions": {"s2": Fraction(2)}}, 2 * DAY_S, 3.2),
        ({"extensions": {"s1": DUE + datetime.timedelta(days=3)}}, 3 * DAY_S, 4),
        ({"extensions": {"s1": DUE - datetime.timedelta(days=3)}}, 0, 4),
        ({"due_of": {TIME: DUE + datetime.timedelta(days=1)}}, DAY_S, 4),
        ({"due_of": {QUIZ: DUE + datetime.timedelta(days=1)}}, DAY_S, 3.6),
        ({"due": None}, DAY_S, 4),
    ],
)
def test_what_a_policy_can_say_of_lateness(change, late_s, expected):
    policy = Policy(**{"due": DUE, "late_per_day": Fraction(1, 10), **change})
    assert points(result(attempt(at_s=DUE_S + late_s), 4, "passed"), policy=policy) == expected


def test_the_minimum_gives_nobody_more_than_they_earned():
    policy = Policy(due=DUE, late_per_day=Fraction(1, 10), minimum=Fraction(1, 2))
    assert points(result(attempt(at_s=DUE_S + 9 * DAY_S), 1), policy=policy) == 1
    assert points(result(attempt(at_s=DUE_S + 9 * DAY_S), 0), policy=policy) == 0


def test_an_unknown_time_isn_t_late_unless_the_learning_system_says_so():
    assert points(result(attempt(at_s=None), 4), policy=LATE) == 4
    assert points(result(attempt(at_s=None, marked_late=True), 4), policy=LATE) == 3.6


@pytest.mark.parametrize(("round_to", "expected"), [("0.01", 3.35), ("0.5", 3.5), ("1", 3), ("0.1", 3.4)])
def test_halves_are_rounded_upwards(round_to, expected):
    """0.8375 of 4 is 3.35; in binary floating point that is less than half way from 3.3 to 3.4."""
    policy = Policy(due=DUE, late_per_day=Fraction("0.1625"), round_to=Fraction(round_to))
    assert points(result(attempt(at_s=DUE_S + 1), 4), policy=policy) == expected


def test_sums_are_those_of_the_points_as_they_are_written():
    results = [result(attempt(TIME, DUE_S + 1), 1), result(attempt(QUIZ, DUE_S + 1), 2, most=3)]
    row = book(*results, policy=Policy(due=DUE, late_per_day=Fraction(9, 10))).rows[0]
    assert [score.points for score in row.scores] == [0.1, 0.2]
    assert row.points == 0.3


@given(
    earned=st.integers(-5, 20),
    late_s=st.floats(-1e7, 1e7),
    rate=st.fractions(0, 1),
    most_lost=st.fractions(0, 1),
    minimum=st.fractions(0, 1),
    round_to=st.sampled_from([Fraction(1, 100), Fraction(1, 3), Fraction(3), Fraction(1, 2)]),
    days=st.sampled_from(["begun", "exact"]),
)
def test_points_lie_between_nothing_and_the_maximum(earned, late_s, rate, most_lost, minimum, round_to, days):
    policy = Policy(due=DUE, late_per_day=rate, late_at_most=most_lost, minimum=minimum, round_to=round_to, days=days)
    score = book(result(attempt(at_s=DUE_S + late_s), earned), policy=policy).rows[0].scores[0]
    assert 0 <= score.points <= 4
    assert score.late_days >= 0


# Policies as they are written


def test_a_policy_is_read_from_toml(tmp_path):
    file = tmp_path / "policy.toml"
    file.write_text(
        """
        count = "best"
        due = 2026-03-01T23:59:00
        time_zone = "Europe/Rome"
        late_per_day = 0.1
        grace_minutes = 15
        late_at_most = "50 %"
        closed_after_days = 14
        minimum = 0.25
        round_to = 0.5
        days = "exact"
        [extensions]
        s1 = 2
        s2 = 2026-03-08
        [exercises."synchronize/quiz"]
        due = 2026-03-02T12:00:00Z
        """
    )
    policy = read_policy(file)
    assert policy.due == DUE
    assert (policy.late_per_day, policy.late_at_most, policy.minimum) == (
        Fraction(1, 10),
        Fraction(1, 2),
        Fraction(1, 4),
    )
    assert (policy.grace_s, policy.closed_after_days, policy.round_to) == (900, 14, Fraction(1, 2))
    assert policy.extensions["s1"] == 2
    end = policy.extensions["s2"]
    assert isinstance(end, datetime.datetime)
    assert end.isoformat() == "2026-03-09T00:00:00+01:00"
    assert policy.due_of[QUIZ] == datetime.datetime(2026, 3, 2, 12, tzinfo=datetime.timezone.utc)
    assert (policy.days, policy.count) == ("exact", "best")


def test_a_due_date_after_the_clocks_changed_is_in_summer_time():
    policy = policy_of('due = "2026-03-29"\ntime_zone = "Europe/Rome"')
    assert policy.due is not None
    assert policy.due.astimezone(datetime.timezone.utc).isoformat() == "2026-03-29T22:00:00+00:00"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("due = 2026-03-01T23:59:00", "which time zone"),
        ('due = "tomorrow"', "is no date"),
        ("due = 5", "is no date"),
        ('time_zone = "Mars/Olympus"', "is none that is known"),
        ("late_per_day = 10", "out of range: it may be from 0 to 1"),
        ("late_per_day = -0.1", "is no number"),
        ('late_per_day = "much"', "is no number"),
        ("late_per_day = true", "is no number"),
        ("late_per_day = nan", "is no number"),
        ("late_per_day = inf", "is no number"),
        ("round_to = 0", "out of range"),
        ('count = "worst"', "count"),
        ("late_per_dy = 0.1", "late_per_dy"),
        ("[extensions]\ns1 = []", "is no date"),
        ("= broken", "can't be read"),
    ],
)
def test_a_policy_that_means_nothing_is_refused(text, message):
    with pytest.raises(PolicyUnreadable, match=message):
        policy_of(text)


def test_a_policy_that_isn_t_there_or_isn_t_text_is_refused(tmp_path):
    with pytest.raises(PolicyUnreadable, match="can't be read"):
        read_policy(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes("# für".encode("latin-1"))
    with pytest.raises(PolicyUnreadable, match="UTF-8"):
        read_policy(tmp_path / "latin.toml")


@pytest.mark.parametrize(
    "policy",
    [Policy(extensions={"s9": Fraction(1)}), Policy(due_of={"synchronize/none": DUE})],
)
def test_names_that_a_policy_alone_knows_are_refused(policy):
    with pytest.raises(PolicyUnreadable, match="The policy has"):
        book(policy=policy)


def test_flags_go_before_the_file(tmp_path):
    (tmp_path / "p.toml").write_text("late_per_day = 0.1\nminimum = 0.5\n")
    parser = argparse.ArgumentParser()
    add_options(parser)
    arguments = ["--policy", str(tmp_path / "p.toml"), "--due", "2026-03-01T23:59", "--time-zone", "Europe/Rome"]
    arguments += ["--late-per-day", "20%", "--grace-minutes", "1.5", "--count", "latest", "--late-at-most", "0.6"]
    policy = policy_from(parser.parse_args(arguments))
    assert policy == Policy(
        count="latest",
        due=DUE,
        late_per_day=Fraction(1, 5),
        grace_s=Fraction(90),
        late_at_most=Fraction(3, 5),
        minimum=Fraction(1, 2),
    )
    assert policy_from(parser.parse_args([])) == Policy()
    assert policy_from(parser.parse_args(["--minimum", "1"])).minimum == 1


# Overrides


@pytest.fixture
def overrides(tmp_path: Path):
    def read(text: str) -> dict[tuple[str, str], Override]:
        (tmp_path / "overrides.csv").write_text(text, encoding="utf-8")
        return read_overrides(tmp_path / "overrides.csv", [ANNA, BEN], EXERCISES)

    return read


def test_overrides_are_read(overrides):
    found = overrides(
        f'student,exercise,points,reason\ns1,{TIME},3.5,"explained it, well"\nBen Rossi,time_on_the_gpu,"0,25",late\n'
    )
    assert found == {
        ("s1", TIME): Override(Fraction(7, 2), "explained it, well"),
        ("s2", TIME): Override(Fraction(1, 4), "late"),
    }


def test_an_override_sets_the_points_whatever_was_graded(overrides):
    given = overrides(
        f"student;exercise;points;bonus;reason\ns1;{TIME};6;yes;the poster\n"
        f"s1;{QUIZ};0;;copied\ns2;{QUIZ};1;no;oral exam\n"
    )
    graded = [result(attempt(), 1), result(attempt(QUIZ), 3, "passed", most=3)]
    for results in (graded, [result(attempt(), 2), graded[1]]):
        anna, ben = book(*results, overrides=given).rows
        assert [(score.points, score.overridden) for score in anna.scores] == [(6, "the poster"), (0, "copied")]
        assert [(score.points, score.status) for score in ben.scores] == [(0, "missing"), (1, "missing")]
        assert (anna.points, anna.max_points) == (6, 7)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("student,points,reason\ns1,1,x\n", "no column exercise"),
        (f"student,exercise,points,reason\ns9,{TIME},1,x\n", "line 2: nobody is 's9'"),
        ("student,exercise,points,reason\ns1,none,1,x\n", "line 2: there is no exercise 'none'"),
        (f"student,exercise,points,reason\ns1,{TIME},1,x\ns1,{TIME},2,y\n", "line 3: line 2 sets the same"),
        (f"student,exercise,points,reason\ns1,{TIME},1,\n", "line 2: there is no reason"),
        (f"student,exercise,points,reason\ns1,{TIME},4.1,x\n", "line 2: .* has 4 points, so 4.1 are more than all"),
        (f"student,exercise,points,reason,bonus\ns1,{TIME},99,x,no\n", "line 2: .* add a column bonus"),
        (f"student,exercise,points,reason,bonus\ns1,{TIME},1,x,maybe\n", "line 2: bonus is 'maybe'"),
        (f"student,exercise,points,reason\ns1,{TIME},9,x\ns9,{QUIZ},1,x\n", "line 2: .*\n.*line 3: nobody is 's9'"),
        *(
            (f"student,exercise,points,reason\ns1,{TIME},{points},x\n", "line 2: .* are no points")
            for points in ("-1", "nan", "inf", "1e3", "1/2", "", "9999999", "٣")
        ),
    ],
)
def test_an_override_that_can_t_be_applied_is_refused_with_its_line(overrides, text, message):
    with pytest.raises(OverridesUnreadable, match=message):
        overrides(text)


def test_overrides_that_were_kept_may_speak_of_what_is_not_in_this_gradebook_and_are_wrong_otherwise(tmp_path):
    file = tmp_path / "overrides.csv"
    head = f"student,exercise,points,reason\ns9,{TIME},1,gone\ns1,none,1,not now\ns1,{TIME},2,fair\n"
    file.write_text(head)
    left_out: list[str] = []
    found = read_overrides(file, [ANNA, BEN], EXERCISES, shown="mine.csv", left_out=left_out)
    assert found == {("s1", TIME): Override(Fraction(2), "fair")}
    assert [line.partition(":")[0] for line in left_out] == ["mine.csv, line 2", "mine.csv, line 3"]
    file.write_text(f"{head}s2,{TIME},nan,x\n")
    with pytest.raises(OverridesUnreadable, match=r"mine.csv, line 5: 'nan' are no points"):
        read_overrides(file, [ANNA, BEN], EXERCISES, shown="mine.csv", left_out=[])


def test_overrides_that_aren_t_there_are_an_error(tmp_path):
    with pytest.raises(TableUnreadable):
        read_overrides(tmp_path / "none.csv", [ANNA], EXERCISES)


def test_every_exercise_and_quiz_of_the_course_has_points():
    every = [*exercise_ids(), *quiz_ids()]
    found = max_points(every)
    assert list(found) == every
    assert all(points > 0 for points in found.values())
    assert found[TIME] == 4
    with pytest.raises(UnknownExercise):
        max_points(["synchronize/none"])
