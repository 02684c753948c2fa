"""results.json holds all of a gradebook and follows its own schema."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.batch.records import NotAssigned
from grader.reports.characters import encodable
from grader.reports.results_json import ResultsUnreadable, read_results, results_json, schema
from grader.submissions.private import PREFIX
from tests.grader.reports.classes import VERDICTS, class_of, gradebook, result, row, score, student, verdict_saying


def read(data: bytes, folder: Path) -> object:
    file = folder / "results.json"
    file.write_bytes(data)
    return read_results(file)


def test_a_class_comes_back_as_it_was(tmp_path: Path) -> None:
    book = class_of(30)
    assert read(results_json(book), tmp_path) == book


def test_the_file_follows_the_schema_that_is_published() -> None:
    jsonschema.validate(json.loads(results_json(class_of(10))), json.loads(schema()))


def test_a_file_that_departs_from_the_schema_is_refused_by_it() -> None:
    plain = json.loads(results_json(class_of(3)))
    plain["rows"][0]["scores"][0]["status"] = "splendid"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(plain, json.loads(schema()))


def test_a_result_stands_in_the_file_once_and_is_pointed_to() -> None:
    plain = json.loads(results_json(gradebook(row(student(), score(result(VERDICTS[0]))))))
    assert plain["schema"] == 1
    assert plain["rows"][0]["scores"][0]["counted"] == 0
    assert len(plain["results"]) == 1


def test_a_counted_result_that_is_missing_among_the_results_is_added(tmp_path: Path) -> None:
    counted = score(result(VERDICTS[0]))
    book = gradebook(row(student(), counted), results=[result(VERDICTS[1], number=2)])
    back = read(results_json(book), tmp_path)
    assert back.rows == book.rows  # type: ignore[attr-defined]
    assert len(back.results) == 2  # type: ignore[attr-defined]


def test_where_an_archive_was_opened_is_not_told_since_it_is_gone(tmp_path: Path) -> None:
    opened = result(VERDICTS[0])
    attempt = msgspec.structs.replace(opened.attempt, file=f"/tmp/{PREFIX}x/000001/time_on_the_gpu.py")
    book = gradebook(row(student(), score(msgspec.structs.replace(opened, attempt=attempt))))
    plain = json.loads(results_json(book))
    assert plain["results"][0]["attempt"]["file"] == ""
    assert plain["results"][0]["attempt"]["shown"] == attempt.shown


@given(st.text(st.characters()))
def test_any_text_comes_back_but_for_halves_of_pairs(text: str) -> None:
    counted = score(result(verdict_saying(text), shown=text), overridden=text)
    book = gradebook(row(student(id=text, name=text), counted), title=text, not_assigned=[NotAssigned(text, text)])
    plain = json.loads(results_json(book))
    expected = encodable(text)
    assert plain["title"] == plain["not_assigned"][0]["why"] == plain["results"][0]["attempt"]["shown"] == expected
    assert plain["rows"][0]["student"]["name"] == plain["rows"][0]["scores"][0]["overridden"] == expected
    assert plain["results"][0]["verdict"]["checks"][0]["message"] == expected


@pytest.mark.parametrize(
    "change", [{"schema": 2}, {"rows": None}, {"results": [], "rows": "same"}], ids=["schema", "form", "place"]
)
def test_a_file_of_another_form_says_what_to_do(tmp_path: Path, change: dict[str, object]) -> None:
    plain = json.loads(results_json(gradebook(row(student(), score(result(VERDICTS[0]))))))
    plain |= {key: value for key, value in change.items() if value != "same"}
    with pytest.raises(ResultsUnreadable, match="Grade again"):
        read(msgspec.json.encode(plain), tmp_path)


def test_a_file_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(ResultsUnreadable, match="can't be read"):
        read_results(tmp_path / "results.json")
