"""Accounts of progress are merged without losing anything, in any order, and what isn't accounts is refused."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course import accounts
from course.accounts import Accounts, AccountsUnreadable, Attempt, Bookmark, FileText, Predicted, SolutionSeen, Stop
from course.progress import Progress
from grader.verdict import to_plain
from tests.course.conftest import CheckResult, verdict

NEWER = accounts.VERSION + 1
STEPS = st.sampled_from(["one/a", "one/b", "two/a", "two/quiz"])
LESSONS = st.sampled_from(["one", "two"])
MOMENTS = st.sampled_from([0.0, 1.5, 2.25, 1e9 + 0.1])
VERDICTS = st.builds(
    lambda exercise, points, seed: {
        **to_plain(verdict(CheckResult("It is.", points == 2, points, 2), exercise=exercise)),
        "seed": seed,
    },
    STEPS,
    st.integers(0, 2),
    st.integers(0, 1),
)
ACCOUNTS = st.builds(
    Accounts,
    attempts=st.lists(st.builds(Attempt, MOMENTS, VERDICTS), max_size=4),
    places=st.dictionaries(LESSONS, st.builds(Stop, MOMENTS, st.sampled_from(["a", "b"]))),
    seen=st.dictionaries(STEPS, MOMENTS),
    hints=st.dictionaries(STEPS, st.integers(0, 3)),
    predictions=st.dictionaries(
        STEPS, st.builds(Predicted, MOMENTS, st.integers(0, 3), st.sampled_from([None, True, False]))
    ),
    expected=st.dictionaries(STEPS, st.sampled_from(["12 ms", "as long as before"])),
    revealed=st.lists(STEPS, unique=True),
    bookmarks=st.dictionaries(STEPS, st.builds(Bookmark, MOMENTS, st.booleans())),
    solutions=st.dictionaries(STEPS, st.builds(SolutionSeen, MOMENTS, st.booleans())),
    spent_s=st.dictionaries(st.sampled_from(["0" * 32, "f" * 32]), st.dictionaries(LESSONS, MOMENTS, min_size=1)),
    files=st.dictionaries(STEPS, st.builds(FileText, st.integers(0, 2), st.sampled_from(["x", "y"]))),
)


@given(ACCOUNTS, ACCOUNTS)
def test_it_makes_no_difference_which_of_two_is_merged_into_which(one: Accounts, other: Accounts) -> None:
    assert accounts.merge(one, other) == accounts.merge(other, one)


@given(ACCOUNTS, ACCOUNTS, ACCOUNTS)
def test_it_makes_no_difference_which_of_three_are_merged_first(a: Accounts, b: Accounts, c: Accounts) -> None:
    assert accounts.merge(accounts.merge(a, b), c) == accounts.merge(a, accounts.merge(b, c))


@given(ACCOUNTS, ACCOUNTS)
def test_merging_again_changes_nothing(one: Accounts, other: Accounts) -> None:
    together = accounts.merge(one, other)
    assert accounts.merge(together, other) == accounts.merge(together, one) == together


@given(ACCOUNTS, ACCOUNTS)
def test_no_check_step_hint_or_reading_of_either_is_lost(one: Accounts, other: Accounts) -> None:
    together = accounts.merge(one, other)
    for each in (one, other):
        assert [attempt for attempt in each.attempts if attempt not in together.attempts] == []
        assert set(each.seen) <= set(together.seen)
        assert set(each.revealed) <= set(together.revealed)
        assert all(together.hints[step] >= shown for step, shown in each.hints.items())
        assert all(together.places[lesson].at_s >= stop.at_s for lesson, stop in each.places.items())
        assert all(together.files[step].changed_ns >= file.changed_ns for step, file in each.files.items())


@given(ACCOUNTS)
def test_a_file_says_the_same_when_it_is_read_back(one: Accounts) -> None:
    assert accounts.decode(accounts.encode(one), "file") == one


@settings(max_examples=30)
@given(ACCOUNTS, ACCOUNTS)
def test_the_database_says_the_same_when_it_is_read_back(one: Accounts, other: Accounts) -> None:
    # One database for each example: a fixture would be shared by all of them.
    both = accounts.merge(Accounts(), accounts.merge(one, other))
    with tempfile.TemporaryDirectory() as folder, Progress(Path(folder) / "progress.sqlite3") as kept:
        for each in (one, other):
            with kept.transaction() as database:
                accounts.write(database, accounts.merge(accounts.read_from(database), each))
        assert accounts.merge(Accounts(), accounts.read(kept)) == msgspec.structs.replace(both, files={})


ATTEMPT = {"at_s": 1.0, "verdict": to_plain(verdict(CheckResult("It is.", True, 2, 2), status="passed"))}


def changed(**values: Any) -> dict[str, Any]:
    return {"profile_first_progress": 1, "attempts": [ATTEMPT], **values}


def test_a_good_file_is_read() -> None:
    assert (
        accounts.decode(json.dumps(changed()).encode(), "file").attempts[0].exercise == ATTEMPT["verdict"]["exercise"]
    )


def test_a_file_of_before_predictions_in_words_is_still_read() -> None:
    read = accounts.decode(json.dumps(changed(profile_first_progress=1)).encode(), "file")
    assert read.attempts
    assert accounts.merge(read, Accounts(expected={"one/a": "12 ms"})).expected == {"one/a": "12 ms"}


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "not a file that 'profile-first progress export' wrote"),
        (b"\x00\xff\xfe", "not a file that"),
        (b"[" * 100_000, "not a file that"),
        (b'{"traceEvents": []}', "not a file that"),
        (json.dumps(changed()).encode()[:-40], "not a file that"),
        (
            json.dumps(changed(profile_first_progress=NEWER, more=1)).encode(),
            "written by a newer version",
        ),
        (json.dumps(changed(seen={"../../etc/passwd": 1.0})).encode(), "is damaged"),
        (json.dumps(changed(files={"perf_counter/../x": {"changed_ns": 1, "text": ""}})).encode(), "is damaged"),
        (json.dumps(changed(files={"/etc/passwd": {"changed_ns": 1, "text": ""}})).encode(), "is damaged"),
        (json.dumps(changed(files={"a/b\n": {"changed_ns": 1, "text": ""}})).encode(), "is damaged"),
        (json.dumps(changed(files={"a/b": {"changed_ns": -1, "text": ""}})).encode(), "is damaged"),
        (json.dumps(changed(files={"a/b": {"changed_ns": 1, "text": "x" * 1_000_001}})).encode(), "is damaged"),
        (b'{"profile_first_progress": 1, "files": {"a/b": {"changed_ns": 1, "text": "\\ud800"}}}', "not a file that"),
        (json.dumps(changed(seen={"a/b": 1e300})).encode(), "is damaged"),
        (json.dumps(changed(more=1)).encode(), "is damaged"),
        (json.dumps(changed(attempts=[{"at_s": 1.0, "verdict": {}}])).encode(), "is damaged"),
        (
            json.dumps(changed(attempts=[{"at_s": 1.0, "verdict": {**ATTEMPT["verdict"], "points": 99}}])).encode(),
            "99 of 2 points can't be",
        ),
        (
            json.dumps(changed(attempts=[{"at_s": 1.0, "verdict": {**ATTEMPT["verdict"], "exercise": "x"}}])).encode(),
            "is damaged",
        ),
    ],
)
def test_what_isnt_accounts_is_refused_with_the_reason(data: bytes, why: str) -> None:
    with pytest.raises(AccountsUnreadable, match=f"^file .*{why}"):
        accounts.decode(data, "file")


def test_the_reason_holds_nothing_that_a_terminal_would_obey() -> None:
    with pytest.raises(AccountsUnreadable, match=r"is damaged: .*more") as refused:
        accounts.decode(json.dumps(changed(**{"\x1b]0;more\x07": 1})).encode(), "file")
    assert str(refused.value).isprintable()


@given(st.binary(max_size=200))
def test_bytes_of_any_kind_are_refused_with_a_message(data: bytes) -> None:
    with pytest.raises(AccountsUnreadable, match=r"^file "):
        accounts.decode(data, "file")
