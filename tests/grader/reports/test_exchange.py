"""What other programs read: JUnit's XML, and the results of Gradescope and of exercism."""

from __future__ import annotations

import json
import re
from typing import Any
from xml.etree import ElementTree as Tree

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.batch.records import Gradebook, Score
from grader.reports.characters import plain
from grader.reports.exercism import MAX_MESSAGE, exercism_json
from grader.reports.gradescope import gradescope_json
from grader.reports.junit import junit_xml
from grader.reports.words import Words
from grader.verdict import Verdict
from tests.grader.reports.classes import (
    VERDICTS,
    class_of,
    gradebook,
    result,
    row,
    score,
    student,
    verdict_saying,
)

WORDS = Words()
ANY_TEXT = st.text(st.characters())
CLASS = class_of(30)
# What Jenkins' schema for it (junit-10.xsd of its xunit plugin) allows: children, required and other attributes.
SUITE_NUMBERS = {"tests", "failures", "errors"}
ALLOWED: dict[str, tuple[set[str], set[str], set[str]]] = {
    "testsuites": ({"testsuite"}, set(), {"name", "time", *SUITE_NUMBERS}),
    "testsuite": (
        {"properties", "testcase", "testsuite", "system-out", "system-err"},
        {"name", *SUITE_NUMBERS},
        {"group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url"},
    ),
    "properties": ({"property"}, set(), set()),
    "property": (set(), {"name", "value"}, set()),
    "testcase": (
        {"skipped", "error", "failure", "system-out", "system-err"},
        {"name"},
        {"time", "classname", "group"},
    ),
    **dict.fromkeys(("failure", "error", "skipped"), (set[str](), set[str](), {"type", "message"})),
}
GRADESCOPE = {  # https://gradescope-autograders.readthedocs.io/en/latest/specs/
    "type": "object",
    "additionalProperties": False,
    "required": ["score", "tests"],
    "properties": {
        "score": {"type": "number"},
        "execution_time": {"type": "integer"},
        "output": {"type": "string"},
        "output_format": {"$ref": "#/$defs/format"},
        "test_output_format": {"$ref": "#/$defs/format"},
        "test_name_format": {"$ref": "#/$defs/format"},
        "visibility": {"$ref": "#/$defs/visibility"},
        "stdout_visibility": {"$ref": "#/$defs/visibility"},
        "tests": {
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["score", "max_score", "name", "output", "output_format", "visibility"],
                "properties": {
                    "score": {"type": "number"},
                    "max_score": {"type": "number"},
                    "status": {"enum": ["passed", "failed"]},
                    "name": {"type": "string"},
                    "number": {"type": "string"},
                    "output": {"type": "string"},
                    "output_format": {"$ref": "#/$defs/format"},
                    "visibility": {"$ref": "#/$defs/visibility"},
                    "extra_data": {"type": "object"},
                },
            }
        },
    },
    "$defs": {
        "format": {"enum": ["text", "html", "simple_format", "md", "ansi"]},
        "visibility": {"enum": ["hidden", "after_due_date", "after_published", "visible"]},
    },
}
_STATUS = {"enum": ["pass", "fail", "error"]}
_TEXT = {"type": "string", "minLength": 1, "maxLength": MAX_MESSAGE}
EXERCISM = {  # https://exercism.org/docs/building/tooling/test-runners/interface
    "type": "object",
    "additionalProperties": False,
    "required": ["version", "status", "tests"],
    "properties": {
        "version": {"const": 3},
        "status": _STATUS,
        "message": {"anyOf": [_TEXT, {"type": "null"}]},
        "tests": {
            "items": {
                "additionalProperties": False,
                "required": ["name", "status"],
                "properties": {
                    "name": {"type": "string"},
                    "status": _STATUS,
                    "message": {"anyOf": [_TEXT, {"type": "null"}]},
                },
                "if": {"properties": {"status": {"enum": ["fail", "error"]}}},
                "then": {"properties": {"message": _TEXT}, "required": ["message"]},
            }
        },
    },
    "if": {"properties": {"status": {"const": "error"}}},
    "then": {"properties": {"message": _TEXT}, "required": ["message"]},
    "else": {"properties": {"message": {"type": "null"}, "tests": {"minItems": 1}}},
}


def follows_jenkins(element: Tree.Element) -> bool:
    children, required, optional = ALLOWED[element.tag]
    known = {child.tag for child in element} <= children and required <= set(element.keys()) <= required | optional
    time = re.fullmatch(r"[0-9]*(\.[0-9]*)?", element.get("time", ""))
    return known and time is not None and all(follows_jenkins(child) for child in element)


def junit(book: Gradebook) -> Tree.Element:
    return Tree.fromstring(junit_xml(book, WORDS))


def gradescope(*scores: Score) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(gradescope_json(row(student(), *scores), WORDS))
    jsonschema.validate(data, GRADESCOPE)
    return data


def exercism(given: Score) -> dict[str, Any]:
    written = exercism_json(given, WORDS)
    assert written is not None
    data: dict[str, Any] = json.loads(written)
    jsonschema.validate(data, EXERCISM)
    return data


def test_a_whole_class_follows_the_published_forms() -> None:
    assert follows_jenkins(junit(CLASS))
    for each in CLASS.rows:
        gradescope(*each.scores)
        for one in each.scores:
            assert exercism_json(one, WORDS) is None or exercism(one)


def test_junit_counts_what_it_holds() -> None:
    root = junit(CLASS)
    assert int(root.get("tests", "")) == len(list(root.iter("testcase")))
    assert int(root.get("failures", "")) == len(list(root.iter("failure")))
    assert int(root.get("errors", "")) == len(list(root.iter("error")))
    for suite in root:
        assert int(suite.get("tests", "")) == len(suite.findall("testcase"))
        assert int(suite.get("skipped", "")) == len(suite.findall("testcase/skipped"))


@pytest.mark.parametrize(
    ("status", "kind"),
    [("passed", None), ("failed", "failure"), ("error", "error"), ("timeout", "error"), ("crashed", "error")],
)
def test_junit_tells_a_failed_check_from_a_submission_that_ended_early(status: str, kind: str | None) -> None:
    verdict = next(each for each in VERDICTS if each.status == status)
    found = {
        child.tag
        for case in junit(gradebook(row(student(), score(result(verdict))))).iter("testcase")
        for child in case
    }
    assert found == ({kind} if kind else set())


def test_junit_skips_what_was_not_handed_in_and_calls_it_an_error_if_the_grader_failed() -> None:
    missing, ungraded = junit(gradebook(row(student(), score(None), score(result(None)))))
    assert [child.tag for child in missing[0]] == ["skipped"]
    assert [child.tag for child in ungraded[1]] == ["error"]
    assert (ungraded.get("errors"), ungraded.get("failures")) == ("1", "0")


def test_junit_keeps_the_seed_the_gpu_and_the_hash() -> None:
    suite = junit(gradebook(row(student(), score(result(VERDICTS[0])))))[0]
    properties = {each.get("name"): each.get("value") for each in suite.iter("property")}
    assert properties["seed"] == "7"
    assert properties["gpu"] == "simulated: Profile First Simulated GPU"
    assert properties["source_sha256"] == VERDICTS[0].source_sha256


@given(ANY_TEXT)
def test_any_text_makes_well_formed_xml_in_which_it_comes_back(text: str) -> None:
    book = gradebook(row(student(id=text), score(result(verdict_saying(text), shown=text))), title=text)
    root = junit(book)
    assert root.get("name") == plain(text)
    case = root[0].find("testcase")
    assert case is not None
    assert case.get("name") == plain(text)
    assert (case[0].text or "") == (plain(text) or "failed")
    assert [each.get("value") for each in root.iter("property")][-1] == plain(text)


def test_gradescope_shows_each_check_with_its_points_and_message() -> None:
    failed = VERDICTS[1]
    data = gradescope(score(result(failed)))
    first, second, third, *_ = data["tests"]
    assert (first["number"], first["score"], first["max_score"], first["status"]) == ("1.1", 1, 1, "passed")
    assert (second["status"], second["output"]) == ("failed", failed.checks[1].message)
    assert third["extra_data"] == {"seed": 7, "mistake": "loading_timed_too"}
    assert data["score"] == failed.points


def test_gradescopes_score_has_lateness_and_the_instructors_points_in_it_and_says_why() -> None:
    late = score(result(VERDICTS[0]), points=4.25, before_lateness=5.0, late_days=1.5)
    given_points = score(result(VERDICTS[7]), points=4.0, overridden="Oral exam")
    data = gradescope(late, given_points)
    assert data["score"] == 8.25
    assert "1.5 days late: 4.25 points instead of 5" in data["output"]
    assert "Oral exam" in data["output"]


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"points": 0.0, "before_lateness": 0.0, "late_days": 1.5}, "Handed in 1.5 days late."),
        (
            {"points": 5.0, "before_lateness": 5.0, "late_days": 1.5, "overridden": "Oral exam"},
            "Your instructor set the points to 5: Oral exam",
        ),
        ({"points": 4.5, "before_lateness": 5.0, "late_days": 1.0}, "Handed in 1 day late: 4.5 points instead of 5."),
        ({"points": 5.0, "overridden": " "}, "Your instructor set the points to 5."),
    ],
)
def test_gradescope_names_no_loss_that_there_is_none_of(changed: dict[str, Any], told: str) -> None:
    assert gradescope(score(result(VERDICTS[0]), **changed))["output"] == f"{VERDICTS[0].exercise}: {told}"


def test_gradescope_says_what_is_missing_or_could_not_be_graded() -> None:
    data = gradescope(score(None), score(result(None, trouble="no space left on /dev/sda1")))
    assert [test["status"] for test in data["tests"]] == ["failed", "failed"]
    assert "Nothing was handed in" in data["tests"][0]["output"]
    assert "sda1" not in json.dumps(data), "the machine's trouble is the instructor's"


@given(ANY_TEXT)
def test_any_text_comes_back_from_gradescopes_results(text: str) -> None:
    data = gradescope(score(result(verdict_saying(text)), overridden=text))
    assert data["tests"][0]["output"] == plain(text)
    assert data["tests"][0]["name"].endswith(f": {plain(text)}")


@pytest.mark.parametrize(
    ("status", "expected"),
    [("passed", "pass"), ("failed", "fail"), ("error", "error"), ("timeout", "error"), ("crashed", "error")],
)
def test_exercism_knows_three_ways_to_end(status: str, expected: str) -> None:
    data = exercism(score(result(next(each for each in VERDICTS if each.status == status))))
    assert data["status"] == expected
    assert "test_code" not in data["tests"][0], "it would show the hidden inputs"


def test_exercism_calls_it_a_failure_if_some_checks_passed_before_the_timeout() -> None:
    some = VERDICTS[1]
    timeout = Verdict(some.exercise, "timeout", 1, 5, some.checks, some.gpu, 7, 1.0, some.source_sha256, "0.1.0")
    data = exercism(score(result(timeout)))
    assert data["status"] == "fail"
    assert {test["status"] for test in data["tests"]} == {"pass", "error"}


def test_exercism_gets_nothing_for_what_was_not_handed_in_and_a_message_for_what_could_not_be_graded() -> None:
    assert exercism_json(score(None), WORDS) is None
    assert exercism(score(result(None)))["status"] == "error"


def test_exercism_cuts_a_message_that_is_longer_than_it_takes() -> None:
    data = exercism(score(result(verdict_saying("ü" * 70_000))))
    message = data["tests"][0]["message"]
    assert len(message.encode()) <= MAX_MESSAGE
    assert message.endswith("…")


@given(ANY_TEXT)
def test_any_text_comes_back_from_exercisms_results(text: str) -> None:
    data = exercism(score(result(verdict_saying(text))))
    assert data["tests"][0]["message"] == (plain(text) or "failed")
