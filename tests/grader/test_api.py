"""The names that checks use compare strictly and speak plainly."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import mistakes
from grader.api import Mistake, Seen, approx, mistake, named, other_unit
from grader.errors import CheckFault
from grader.verdict import Gpu

EVENTS = [
    {"n": 0, "what": "wait", "call": "Tensor.item", "waited_s": 0.1},
    {"n": 1, "what": "host_read", "call": "Tensor.item"},
    {"n": 2, "what": "wait", "call": "torch.cuda.synchronize", "waited_s": 0.2},
]


@pytest.mark.parametrize(
    ("value", "equal"),
    [
        (100, True),
        (100.0, True),
        (109.9, True),
        (90.1, True),
        (111, False),
        (89, False),
        (True, False),
        ("100", False),
        ([100], False),
        (None, False),
        ({"$float": "nan"}, False),
        (float("nan"), False),
        (float("inf"), False),
        (10**400, False),
        (-100, False),
    ],
)
def test_approx_is_equal_to_near_numbers_only(value: object, equal: bool) -> None:
    assert (value == approx(100, rel=0.1)) is equal
    assert (approx(100, rel=0.1) == value) is equal
    assert (value != approx(100, rel=0.1)) is not equal


def test_approx_takes_an_absolute_tolerance_where_a_relative_one_is_no_use() -> None:
    assert approx(0, abs=0.1) == 0.05
    assert approx(0) != 0.05


def test_approx_shows_its_tolerance() -> None:
    assert repr(approx(2.0, rel=0.25)) == "2 ± 0.5"


def test_events_are_chosen_by_kind_and_by_field() -> None:
    seen = Seen(None, None, EVENTS, "", 0.0, Gpu("simulated", "fake"))
    assert [event["n"] for event in seen.events()] == [0, 1, 2]
    assert [event["n"] for event in seen.events("wait")] == [0, 2]
    assert [event["n"] for event in seen.events(call="Tensor.item")] == [0, 1]
    assert [event["n"] for event in seen.events("wait", call="Tensor.item")] == [0]
    assert seen.events("host_read", waited_s=None) == []


@pytest.fixture
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "misconceptions.toml"
    file.write_text('[early]\nsays = "{left_ms:.0f} ms were left."\ncard = "a/b"\nsource = "S1"\n', encoding="utf-8")
    known = mistakes.read_misconceptions(file)
    monkeypatch.setattr(mistakes, "misconceptions", lambda: known)


@pytest.mark.usefixtures("known")
def test_a_mistake_is_a_message_that_knows_its_id() -> None:
    message = mistake("early", left_ms=12.4)
    assert message == "12 ms were left."
    assert isinstance(message, Mistake)
    assert message.id == "early"


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize(
    ("mistake_id", "values", "complaint"),
    [
        ("late", {}, r"has no \[late\]"),
        ("early", {}, "needs a value for 'left_ms'"),
        ("early", {"left_ms": "many"}, "can't be filled in"),
    ],
)
def test_a_mistake_that_cannot_be_told_is_a_fault_of_the_checks(
    mistake_id: str, values: dict[str, object], complaint: str
) -> None:
    with pytest.raises(CheckFault, match=complaint):
        mistake(mistake_id, **values)


@pytest.mark.parametrize("text", ["[early]\ncard = 'a/b'", "[early", "[early]\nsays = 3", "[early]\nsays='a'\nsay='b'"])
def test_a_broken_file_of_mistakes_is_reported(text: str, tmp_path: Path) -> None:
    file = tmp_path / "misconceptions.toml"
    file.write_text(text)
    with pytest.raises(CheckFault, match=r"misconceptions\.toml can't be read"):
        mistakes.read_misconceptions(file)


def test_the_mistakes_of_the_course_can_be_read() -> None:
    assert all(entry.says.strip() for entry in mistakes.misconceptions().values())


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (None, "nothing (None)"),
        (True, "a bool"),
        ("1.5", "text"),
        ([1.5], "a list or tuple"),
        ({"seconds": 1.5}, "a dictionary"),
        ({}, "a dictionary"),
        ({"$$float": 1}, "a dictionary"),
        ({"$float": "nan"}, "nan"),
        ({"$tensor": {"shape": []}}, "a tensor (take its value with .item())"),
        ({"$other": "numpy.ndarray"}, "an object of type numpy.ndarray"),
        ({"$big_int": 70}, "something too large"),
    ],
)
def test_a_value_of_the_wrong_type_is_named(value: object, name: str) -> None:
    assert named(value) == name


@pytest.mark.parametrize(
    ("reported", "unit"),
    [
        (0.05, None),
        (0.5, None),
        (50, "milliseconds"),
        (5e4, "microseconds"),
        (5e7, "nanoseconds"),
        (0, None),
        (-50, None),
    ],
)
def test_the_unit_of_a_number_that_should_be_seconds_is_recognised(reported: float, unit: str | None) -> None:
    assert other_unit(reported, expected_s=0.05) == unit
