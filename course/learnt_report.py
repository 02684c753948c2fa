"""The report of what was learnt, as Markdown: for the screen at the end of the course, and to be saved."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from course import learnt, standing
from course.catalog import Catalog
from course.learnt import Learnt, Mistake, duration_in_words
from course.progress import Progress
from course.report import card_of, tell_notice
from course.standing import Standing
from lab.language import LANGUAGES, N_, _, ngettext, speaking

TITLE = N_("Profile First: what I learnt")
HABIT = N_("""\
Find out where the time goes before changing anything. Measure the loop, warm and with waits for the GPU. Profile a few
steps and name what limits it. Predict what a fix can save at most. Change one thing. Measure again, the same way.
""")


MONTHS = (
    N_("January"),
    N_("February"),
    N_("March"),
    N_("April"),
    N_("May"),
    N_("June"),
    N_("July"),
    N_("August"),
    N_("September"),
    N_("October"),
    N_("November"),
    N_("December"),
)


def markdown(kept: Progress, lessons: Catalog, day: datetime.date) -> str:
    """The whole report."""
    parts = learnt.learnt(kept, lessons, card_of)
    reached = standing.standing(lessons, standing.done(kept))
    return "\n".join(
        [f"# {_(TITLE)}", "", *_sum(reached, parts, day), "", *_lessons(parts), "## " + _("The habit"), "", _(HABIT)]
    )


def body(kept: Progress, lessons: Catalog, day: datetime.date) -> str:
    """The report without its title, for a screen that has one."""
    return markdown(kept, lessons, day).partition("\n")[2]


def _sum(reached: Standing, parts: Sequence[Learnt], day: datetime.date) -> Iterator[str]:
    sentences = [
        _points_of(reached.points, reached.max_points),
        f"{standing.in_words(reached)}.",
    ]
    came_true, made = (sum(each.predictions[i] for each in parts) for i in (0, 1))
    if made:
        sentences.append(_predictions(came_true, made))
    if spent := sum(each.spent_s for each in parts):
        sentences.append(_("Time spent: {time}.", time=duration_in_words(spent)))
    yield f"{_date(day)}. {' '.join(sentences)}"
    able = [each for each in parts if each.reached.complete]
    yield from ("", "## " + _("What I can do now"), "")
    if able:
        yield from (f"- {_capital(each.lesson.promise.removeprefix('You can '))}" for each in able)
    else:
        yield _("No lesson is finished yet. What is finished will stand here; what was begun stands below.")
    later = [each for each in parts if not each.reached.begun]
    if later:
        yield from (
            "",
            _(
                "Not begun yet: {list}.",
                list=_("; ").join(f"{each.lesson.number} {each.lesson.title}" for each in later),
            ),
        )


def _lessons(parts: Sequence[Learnt]) -> Iterator[str]:
    for each in parts:
        if each.reached.begun or each.checks:
            yield from (f"## {each.lesson.number} {each.lesson.title}", "", _in_numbers(each), "")
            yield from _points(each)
            if each.reached.complete:
                yield from _to_take_along(each)


def _in_numbers(each: Learnt) -> str:
    reached = each.reached
    sentences = [_points_of(reached.points, reached.lesson.points)]
    if reached.exercises:
        sentences.append(
            ngettext(
                "{passed} of {n} exercise passed",
                "{passed} of {n} exercises passed",
                reached.exercises,
                passed=reached.exercises_passed,
            )
        )
        if reached.quiz_points is not None:
            sentences[-1] += _(", quiz {points} of {most}", points=reached.quiz_points, most=reached.quiz_max_points)
        if each.checks:
            sentences[-1] += ngettext(", {n} check", ", {n} checks", each.checks)
        sentences[-1] += "."
    if each.spent_s:
        sentences.append(_("Time spent: {time}.", time=duration_in_words(each.spent_s)))
    return " ".join(sentences)


def _points(each: Learnt) -> Iterator[str]:
    lines = []
    if each.predictions[1]:
        lines.append(_predictions(*each.predictions))
    for understood, words in ((True, _("Made and understood")), (False, _("Still to understand"))):
        made = [mistake for mistake in each.mistakes if mistake.understood is understood]
        if made:
            lines.append(_("{name}: {detail}", name=words, detail=_("; ").join(map(_mistake, made))) + ".")
    if each.wrong_answers:
        lines.append(
            _("Answered wrong in the quiz: ") + " ".join(f"“{_one_line(name)}”" for name in each.wrong_answers)
        )
    if each.looked_first:
        lines.append(
            _("Looked at the solution first: {list}.", list=", ".join(step.title for step in each.looked_first))
        )
    if each.open:
        lines.append(_("Still open: {list}.", list=", ".join(step.title for step in each.open)))
    if lines:
        yield from (f"- {line}" for line in lines)
        yield ""


def _to_take_along(each: Learnt) -> Iterator[str]:
    recap = next((step.text for step in each.lesson.steps if step.kind == "recap"), "")
    if recap:
        yield from (_("To take along:"), "", recap, "")


def _mistake(mistake: Mistake) -> str:
    times = ngettext(", {n} time", ", {n} times", mistake.times) if mistake.times > 1 else ""
    if not mistake.card:
        return f"{mistake.in_words}{times}"
    return _("{mistake} (“{card}”{times})", mistake=mistake.in_words, card=mistake.card.title, times=times)


def _predictions(came_true: int, made: int) -> str:
    return ngettext(
        "{came_true} of {n} prediction came true.",
        "{came_true} of {n} predictions came true.",
        made,
        came_true=came_true,
    )


def _points_of(points: int, most: int) -> str:
    return ngettext("{points} of {n} point.", "{points} of {n} points.", most, points=points)


def _date(day: datetime.date) -> str:
    return _("{day} {month} {year}", day=day.day, month=_(MONTHS[day.month - 1]), year=day.year)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _beginnings() -> Iterator[str]:
    """How a report begins in each language: an earlier one may be replaced, whichever it was written in."""
    for language in LANGUAGES:
        with speaking(language):
            yield f"# {_(TITLE)}"


def report(out: Path | None, *, force: bool) -> int:
    """Print the report, or write it to a file."""
    from course import catalog, progress
    from course.transfer import refuse_to_replace
    from course.workspace import write_atomically

    with progress.at_home() as kept:
        tell_notice(kept)
        text = markdown(kept, catalog.load(), datetime.date.today())
    if out is None:
        from course.report import Ink

        print(Ink(sys.stdout).text(text), end="")
        return 0
    if not force:
        refuse_to_replace(out, *_beginnings())
    write_atomically(out, text)
    print(_("The report is {out}.", out=out))
    return 0
