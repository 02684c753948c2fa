"""What the instructor is shown: figures that add up, what looks like the machine, and who handed in the same."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings

from grader.batch.records import NotAssigned, Result, Score
from grader.mistakes import card_of, misconceptions, title
from grader.reports import class_figures as figures
from grader.reports.class_report import class_html
from grader.reports.names import safe_names
from grader.reports.similarity import Group, compare, normalised
from grader.reports.taught import place_of
from grader.reports.troubles import many_timeouts, streaks
from grader.reports.words import Words
from tests.grader.reports.classes import (
    EXERCISES,
    GRADED_AT_S,
    VERDICTS,
    class_of,
    gradebook,
    result,
    row,
    score,
    student,
    verdict_saying,
)
from tests.grader.reports.test_feedback import TEXTS, Read

WORDS = Words()
EXERCISE = EXERCISES[0]
PASSED, STARTER, LOADING, LOGGING = VERDICTS[0], VERDICTS[1], VERDICTS[2], VERDICTS[3]
CRASHED = next(each for each in VERDICTS if each.status == "crashed")
TIMEOUT = next(each for each in VERDICTS if each.status == "timeout")
MINE = "def f(x):\n    total = 0  # sum\n    for each in x:\n        total += each * 3\n    return total\n"
RENAMED = '"""Mine!"""\n\ndef f(values):\n\n    s = 0\n    for v in values:\n        s += v * 3\n    return s\n'
OTHER = "def f(x):\n    return sum(each * 3 for each in x)\n"


def read(book: object) -> Read:
    names = safe_names(each.student.id for each in book.rows)  # type: ignore[attr-defined]
    return Read(class_html(book, WORDS, names))  # type: ignore[arg-type]


def handed_in(student_number: int, source: str, folder: Path, **fields: object) -> Score:
    file = folder / f"{student_number}-{fields.get('number', 1)}.py"
    file.write_text(source, encoding="utf-8")
    digest = hashlib.sha256(source.encode()).hexdigest()
    who = student(student_number).id
    return score(result(PASSED, student=who, file=str(file), source_sha256=digest, **fields))


def groups(*sources: str, folder: Path) -> list[Group]:
    rows = (row(student(n), handed_in(n, source, folder)) for n, source in enumerate(sources, 1))
    return list(compare(gradebook(*rows)).groups)


def test_an_exercise_is_counted_among_those_who_handed_it_in() -> None:
    book = gradebook(
        row(student(1), score(result(PASSED))),
        row(student(2), score(result(STARTER), late_days=1.0)),
        row(student(3), score(result(CRASHED))),
        row(student(4), score(result(None))),
        row(student(5), score(None)),
    )
    (found,) = figures.exercises(book)
    assert (found.tried, found.passed, found.ended_early, found.late) == (3, 1, 1, 1)
    assert found.share == pytest.approx(1 / 3)
    assert found.mean_points == pytest.approx((5 + 1 + 0) / 3)


def test_the_hardest_check_comes_first() -> None:
    book = gradebook(row(student(1), score(result(PASSED))), row(student(2), score(result(STARTER))))
    found = figures.checks(book)
    assert [each.share for each in found] == sorted(each.share for each in found)
    assert {(each.name, each.passed) for each in found} >= {
        (PASSED.checks[0].name, 2),
        (PASSED.checks[1].name, 1),
    }


def test_a_mistake_counts_once_for_a_student_in_any_attempt_and_tells_who_still_makes_it() -> None:
    first = [result(LOADING, student="s0001", number=1), result(LOADING, student="s0001", number=2)]
    better = result(PASSED, student="s0001", number=3)
    other = result(LOADING, student="s0002")
    book = gradebook(row(student(1), score(better)), row(student(2), score(other)), results=[*first, better, other])
    (found,) = figures.mistakes(book)
    assert (found.id, found.made, found.still, found.tried) == ("loading_timed_too", 2, 1, 2)


def test_the_distribution_counts_everybody_who_handed_in_something_once() -> None:
    book = gradebook(
        *(row(student(n), score(result(PASSED), points=n * 0.5)) for n in range(11)), row(student(11), score(None))
    )
    assert figures.distribution(book) == [1, 1, 1, 1, 1, 1, 1, 1, 1, 2]
    assert figures.median_percent(book) == 50


def test_an_empty_class_has_a_report() -> None:
    assert "Nothing: all that was handed in could be graded" in read(gradebook()).of("main")


@pytest.mark.parametrize("mistake", sorted(misconceptions()))
def test_every_known_mistake_has_a_title_and_a_card_that_is_there(mistake: str) -> None:
    assert title(mistake)[0].isupper()
    card = card_of(mistake)
    assert card is None or place_of(card) is not None


def test_a_title_writes_cpu_and_gpu_as_they_are_written() -> None:
    assert title("cpu_time_for_gpu_time") == "CPU time for GPU time"


def test_several_students_in_a_row_who_crash_look_like_the_machine() -> None:
    def at(second: int, number: int, verdict: object) -> Result:
        return result(verdict, student=f"s{number:04}", graded_at_s=GRADED_AT_S + second)  # type: ignore[arg-type]

    fine = [at(0, 9, PASSED), at(10, 8, PASSED)]
    bad = [at(n, n, CRASHED if n % 2 else TIMEOUT) for n in range(1, 5)]
    (found,) = streaks(gradebook(results=[*fine, *reversed(bad)]))
    assert (found.runs, found.students) == (4, 4)
    assert not list(streaks(gradebook(results=[*fine, *bad[:3]]))), "three happen by chance"
    assert not list(streaks(gradebook(results=[at(n, 1, CRASHED) for n in range(9)]))), "one student's attempts"


def test_many_timeouts_in_one_exercise_look_like_a_slow_machine() -> None:
    def rows(timeouts: int, others: int) -> list[object]:
        ended = [TIMEOUT] * timeouts + [VERDICTS[7]] * others
        return [row(student(n), score(result(each))) for n, each in enumerate(ended)]

    (found,) = many_timeouts(gradebook(*rows(3, 12)))  # type: ignore[arg-type]
    assert (found.timed_out, found.students) == (3, 15)
    assert not list(many_timeouts(gradebook(*rows(2, 0))))  # type: ignore[arg-type]
    assert not list(many_timeouts(gradebook(*rows(3, 30))))  # type: ignore[arg-type]


def test_names_comments_docstrings_and_blank_space_make_no_difference() -> None:
    assert normalised(MINE) == normalised(RENAMED)
    assert normalised(MINE) != normalised(OTHER)
    assert normalised("x.wait()\n") != normalised("x.record()\n"), "what is called is what a program does"
    assert normalised("print(1)\n") != normalised("print(2)\n")
    assert normalised("'a'.join(x)\n") != normalised("'b'.join(x)\n"), "a string that is used is no docstring"
    assert normalised("a = b\n") != normalised("a = a\n")


@pytest.mark.parametrize("source", ["def f(:\n  (", "'''", "x = (", "\0", "  x\n y\n", "(" * 5000, "\x0c\\"])
def test_what_is_no_python_is_not_compared_and_does_no_harm(source: str) -> None:
    tokens = normalised(source)
    assert tokens is None or isinstance(tokens, tuple)


def test_the_same_file_and_the_same_but_for_names_are_told_apart(tmp_path: Path) -> None:
    found = groups(MINE, MINE, RENAMED, OTHER, folder=tmp_path)
    assert {(each.kind, each.students) for each in found} == {
        ("exact", ("s0001", "s0002")),
        ("normalised", ("s0001", "s0002", "s0003")),
    }
    assert all(each.own_tokens for each in found)


def test_different_sources_make_no_group(tmp_path: Path) -> None:
    assert groups(MINE, OTHER, folder=tmp_path) == []


def test_the_unchanged_starter_and_the_courses_solution_are_named_as_such_and_come_last(tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    starter, solution = ((root / part / f"{EXERCISE}.py").read_text() for part in ("exercises", "solutions"))
    found = groups(starter, f"{starter}# really\n", MINE, RENAMED, solution, solution, folder=tmp_path)
    assert found[0].kind == "normalised"
    assert {(each.kind, each.students) for each in found[1:]} == {
        ("starter", ("s0001", "s0002")),
        ("solution", ("s0005", "s0006")),
    }


@pytest.mark.parametrize("exercise", [each for each in EXERCISES if not each.endswith("/quiz")])
def test_starters_that_were_hardly_changed_are_not_called_the_same(tmp_path: Path, exercise: str) -> None:
    starter = (Path(__file__).parents[3] / "exercises" / f"{exercise}.py").read_text()
    changes = ["import math\n" + starter, starter + "\nprint(1)\n", starter.replace("return", "return 1 +", 1)]
    for changed in changes:
        sources = [changed, changed, changed + "# mine\n"]
        rows = []
        for n, source in enumerate(sources, 1):
            file = tmp_path / f"{n}.py"
            file.write_text(source)
            digest = hashlib.sha256(source.encode()).hexdigest()
            attempt = result(PASSED, exercise=exercise, student=student(n).id, file=str(file), source_sha256=digest)
            rows.append(row(student(n), score(attempt)))
        assert {each.kind for each in compare(gradebook(*rows)).groups} <= {"little", "starter"}


def test_a_students_own_attempts_are_no_group(tmp_path: Path) -> None:
    first = handed_in(1, MINE, tmp_path, number=1).counted
    second = handed_in(1, MINE, tmp_path, number=2)
    assert first is not None
    assert second.counted is not None
    assert not compare(gradebook(row(student(1), second), results=[first, second.counted])).groups


@pytest.mark.parametrize("change", ["gone", "changed", "link", "folder"])
def test_a_file_that_is_no_longer_what_was_graded_is_compared_by_its_hash_alone(tmp_path: Path, change: str) -> None:
    scores = [handed_in(n, MINE, tmp_path) for n in (1, 2)]
    for n in (1, 2):
        file = tmp_path / f"{n}-1.py"
        file.unlink()
        if change == "changed":
            file.write_text(OTHER)
        elif change == "link":
            (tmp_path / "kept").write_text(MINE)
            file.symlink_to(tmp_path / "kept")
        elif change == "folder":
            file.mkdir()
    found = compare(gradebook(*(row(student(n), each) for n, each in enumerate(scores, 1))))
    assert found.unread == 2
    assert [(each.kind, each.own_tokens) for each in found.groups] == [("exact", None)]


def test_everything_to_look_at_is_on_the_page() -> None:
    looked_at = result(PASSED, look=["reads /proc/self/mem"])
    book = gradebook(
        row(student(1), score(looked_at)),
        row(student(2), score(result(None, student="s0002", trouble="no space left on device"))),
        row(student(3, name="Nobody Came"), score(None)),
        not_assigned=[NotAssigned("IMG_1.heic", "no exercise is called so")],
    )
    text = read(book).of("section.")
    for each in (
        "reads /proc/self/mem",
        "no space left on device",
        "Nobody Came",
        "IMG_1.heic",
        "no exercise is called",
    ):
        assert each in text


def test_the_page_links_to_each_students_feedback() -> None:
    book = gradebook(row(student(id="a/b ü#?%"), score(None)))
    (name,) = safe_names(["a/b ü#?%"]).values()
    links = [value for key, value in read(book).attributes if key == "href" and value and "feedback" in value]
    assert links == [f"students/{name.replace(' ', '%20').replace('ü', '%C3%BC')}/feedback.html"]


def test_the_points_of_each_student_for_each_exercise_stand_in_one_table() -> None:
    quiz = score(None, exercise="synchronize/quiz", max_points=3)
    half = score(result(LOADING), points=2.5)
    book = gradebook(row(student(1), score(result(PASSED)), quiz), row(student(2), half, quiz))
    page = class_html(book, Words("it"), safe_names(each.student.id for each in book.rows)).decode()
    table = page.partition('<section id="all_students">')[2].replace("&nbsp;", " ")
    assert f">{EXERCISE.partition('/')[2]}</th>" in table
    assert ">synchronize/quiz</th>" in table
    assert '<td class="number passed" data-value="5">✓ 5</td>' in table
    assert 'data-value="2.5"> 2,5</td>' in table
    assert table.count('<td class="number missing" data-value="-1">\N{EN DASH}</td>') == 2


def test_a_large_class_has_every_student_in_its_table() -> None:
    book = class_of(120)
    text = read(book).of("section.")
    assert all(each.student.id in text for each in book.rows)


@settings(max_examples=40)
@given(TEXTS)
def test_any_text_stays_text_on_the_instructors_page(text: str) -> None:
    odd = result(verdict_saying(text, mistake=text), shown=text, trouble=text, look=[text], exercise=text)
    unusual = msgspec.structs.replace(score(odd), exercise=text)
    who = student(id=text, name=text, section=text)
    book = gradebook(row(who, unusual), title=text, not_assigned=[NotAssigned(text, text)])
    page = read(book)
    assert page.tags <= {
        *("html", "head", "meta", "title", "style", "script", "body", "header", "main", "footer", "section", "nav"),
        *("h1", "h2", "h3", "p", "ul", "li", "a", "dl", "div", "dt", "dd", "table", "caption", "thead", "tbody", "tr"),
        *("th", "td", "svg", "desc", "line", "rect", "text", "span", "code", "wbr"),
    }
    assert not [name for name, _ in page.attributes if name.startswith("on") or name in ("src", "style")]
    links = [value or "" for name, value in page.attributes if name == "href"]
    assert all(link.startswith(("#", "students/")) for link in links)
