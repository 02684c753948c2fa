"""The gradebooks as CSV: every name comes back, and no spreadsheet runs any of them."""

from __future__ import annotations

import csv
import html
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.reports.canvas import canvas_csv
from grader.reports.characters import plain
from grader.reports.csv_cells import as_csv, defused, number
from grader.reports.gradebook_csv import gradebook_csv
from grader.reports.moodle import feedback_comment, moodle_csv
from grader.reports.words import Words
from tests.grader.reports.classes import EXERCISES, VERDICTS, gradebook, result, row, score, student

ANY_TEXT = st.text(st.characters())  # also controls and halves of surrogate pairs
WIDE = "\uff1d\uff0b\uff0d\uff20"
RUN = re.compile(rf"(?:^|[;\r\n\t])\s*[=+\-@{WIDE}]")
WORDS = Words()


def read(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def undefused(text: str) -> str:
    small = "\ufe66\ufe62\ufe63\ufe6b\u2212"
    return re.sub(rf"(^|[;\n\t])'(?=\s*[=+\-@{WIDE}{small}\t\n])", r"\1", text)


@pytest.mark.parametrize(
    "name", ["Müller, Jürgen", 'Robert "Bobby" O\'Neil', "two\nlines", "李小龍", "a;b", "tab\tinside", "Anne-Marie", ""]
)
def test_a_name_comes_back_as_it_was(name: str) -> None:
    data = gradebook_csv(gradebook(row(student(name=name), score(None))))
    assert read(data)[1][1] == name


@pytest.mark.parametrize("sign", [*"=+-@", *WIDE, "\t=", "\r=", "  =", "\u00a0@", "\n+"])
@pytest.mark.parametrize("where", ["{}1+1", "Ada;{}1+1", "Ada\n{}1+1", "Ada\t{}1+1"])
def test_what_a_spreadsheet_would_run_is_defused_wherever_a_cell_may_begin(sign: str, where: str) -> None:
    text = where.format(sign)
    assert not RUN.search(defused(text))
    assert undefused(defused(text)) == plain(text)


@pytest.mark.parametrize("lead", ["\t", "\r", "\n"])
def test_a_cell_that_begins_with_blank_space_is_defused(lead: str) -> None:
    assert defused(f"{lead}Ada").startswith("'")


@given(st.lists(st.lists(ANY_TEXT, min_size=1), min_size=1))
def test_any_text_comes_back_from_csv_but_for_the_apostrophe_and_replaced_characters(rows: list[list[str]]) -> None:
    back = read(as_csv(rows))
    assert back == [[defused(cell) for cell in row] for row in rows]
    assert not any(RUN.search(cell) for row in back for cell in row)
    assert all(undefused(defused(cell)) == undefused(plain(cell)) for row in rows for cell in row)


@pytest.mark.parametrize(("value", "text"), [(7.5, "7.5"), (10, "10"), (0.0, "0"), (-0.001, "0"), (6.666667, "6.67")])
def test_points_have_at_most_two_digits(value: float, text: str) -> None:
    assert number(value) == text


def test_the_gradebook_begins_with_a_mark_by_which_excel_knows_utf_8() -> None:
    assert gradebook_csv(gradebook()).startswith(b"\xef\xbb\xbf")


def test_the_gradebook_has_a_line_for_each_student_with_points_statuses_lateness_and_reasons() -> None:
    half = result(VERDICTS[1])
    late = score(half, late_days=2.0, points=0.5, before_lateness=1.0)
    book = gradebook(
        row(student(1), late),
        row(student(2), score(None)),
        row(student(3), score(result(None))),
        row(student(4), score(result(None), points=5.0, overridden="Oral exam")),
    )
    head, *lines = read(gradebook_csv(book))
    assert head == [
        *("student", "name", "email", "section", "points", "max_points", "percent"),
        *(EXERCISES[0], f"{EXERCISES[0]} status", "late", "overridden", "attempts"),
    ]
    assert [line[4:10] for line in lines] == [
        ["0.5", "5", "10", "0.5", "failed", f"{EXERCISES[0]}: 2 days, 1 points before"],
        ["0", "5", "0", "0", "missing", ""],
        ["0", "5", "0", "", "ungraded", ""],  # no points rather than wrong ones
        ["5", "5", "100", "5", "ungraded", ""],
    ]
    assert lines[3][10] == f"{EXERCISES[0]}: Oral exam"


def test_an_exercise_that_a_student_has_no_score_for_leaves_the_cell_empty() -> None:
    book = gradebook(row(student(1), score(None)), exercises=[EXERCISES[0], "diagnosis/six_loops"])
    assert read(gradebook_csv(book))[1][8] == ""


def test_canvas_finds_its_columns_and_its_line_of_possible_points() -> None:
    book = gradebook(row(student(1), score(result(VERDICTS[0]))), row(student(2, email=""), score(result(None))))
    head, possible, *lines = read(canvas_csv(book))
    assert head == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", EXERCISES[0]]
    assert possible == ["    Points Possible", "", "", "", "", "5"]
    assert lines[0] == [student(1).name, "90001", "s0001", "s0001@example.edu", "B", "5"]
    assert lines[1][3] == "s0002"
    assert lines[1][5] == "", "an empty cell leaves the grade that is there"
    assert not canvas_csv(book).startswith(b"\xef\xbb\xbf")


def test_moodle_finds_its_columns_and_the_participant() -> None:
    book = gradebook(row(student(1), score(result(VERDICTS[0]))), row(student(2, lms_id=""), score(result(None))))
    head, *lines = read(moodle_csv(book, WORDS))
    first, second = (dict(zip(head, line, strict=True)) for line in lines)
    assert {"Identifier", "Grade", "Last modified (grade)", "Feedback comments", "Email address"} <= set(head)
    assert (first["Identifier"], first["Grade"], first["Maximum Grade"]) == ("Participant 90001", "5", "5")
    assert first["Email address"] == "s0001@example.edu"
    assert first[EXERCISES[0]] == "5"
    assert second["Identifier"] == ""
    assert second["Grade"] == "", "no grade rather than a wrong one"


def test_moodle_takes_comments_for_html_so_they_are_escaped() -> None:
    reason = score(result(VERDICTS[0]), overridden="<script>alert(1)</script> & <b>")
    comment = feedback_comment(row(student(1), reason), WORDS)
    assert "<script" not in comment
    assert "&lt;script&gt;" in comment


def test_moodles_comment_has_numbers_and_days_as_the_language_writes_them() -> None:
    half_late = score(result(VERDICTS[0]), points=4.5, late_days=1.5)
    day_late = score(result(VERDICTS[0]), points=4.5, late_days=1.0)
    assert feedback_comment(row(student(1), half_late), Words("it")).endswith("1,5 giorni di ritardo")
    assert ": 4,5/" in feedback_comment(row(student(1), half_late), Words("it"))
    assert feedback_comment(row(student(1), day_late), Words("it")).endswith("1 giorno di ritardo")
    assert feedback_comment(row(student(1), day_late), Words("en")).endswith("1 day late")


@given(ANY_TEXT)
def test_any_reason_is_escaped_in_moodles_comment_and_starts_no_formula(reason: str) -> None:
    comment = feedback_comment(row(student(1), score(result(VERDICTS[0]), overridden=reason or "x")), WORDS)
    assert not re.search(r"[<>]", comment)
    assert defused(comment) == comment
    assert html.unescape(comment).endswith(f"({plain(reason or 'x').translate({10: ' ', 9: ' '})})")


def test_canvas_finds_a_student_by_the_login_of_its_own_export() -> None:
    rows = read(canvas_csv(gradebook(row(student(login="anna", email=""), score(None)))))
    assert rows[2][3] == "anna"
