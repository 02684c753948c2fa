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
from course.standing import Standing

TITLE = "Profile First: what I learnt"
HABIT = """\
Find out where the time goes before changing anything. Measure the loop, warm and with waits for the GPU. Profile a few
steps and name what limits it. Predict what a fix can save at most. Change one thing. Measure again, the same way.
"""


def markdown(kept: Progress, lessons: Catalog, day: datetime.date) -> str:
    """The whole report."""
    parts = learnt.learnt(kept, lessons, learnt.card_of)
    reached = standing.standing(lessons, standing.done(kept))
    return "\n".join([f"# {TITLE}", "", *_sum(reached, parts, day), "", *_lessons(parts), "## The habit", "", HABIT])


def body(kept: Progress, lessons: Catalog, day: datetime.date) -> str:
    """The report without its title, for a screen that has one."""
    return markdown(kept, lessons, day).partition("\n")[2]


def _sum(reached: Standing, parts: Sequence[Learnt], day: datetime.date) -> Iterator[str]:
    sentences = [f"{reached.points} of {reached.max_points} points.", f"{standing.in_words(reached)}."]
    came_true, made = (sum(each.predictions[i] for each in parts) for i in (0, 1))
    if made:
        sentences.append(_predictions(came_true, made))
    if spent := sum(each.spent_s for each in parts):
        sentences.append(f"Time spent: {duration_in_words(spent)}.")
    yield f"{day.day} {day:%B %Y}. {' '.join(sentences)}"
    able = [each for each in parts if each.reached.complete]
    yield from ("", "## What I can do now", "")
    if able:
        yield from (f"- {_capital(each.lesson.promise.removeprefix('You can '))}" for each in able)
    else:
        yield "No lesson is finished yet. What is finished will stand here; what was begun stands below."
    later = [each for each in parts if not each.reached.begun]
    if later:
        yield from ("", f"Not begun yet: {'; '.join(f'{each.lesson.number} {each.lesson.title}' for each in later)}.")


def _lessons(parts: Sequence[Learnt]) -> Iterator[str]:
    for each in parts:
        if each.reached.begun or each.checks:
            yield from (f"## {each.lesson.number} {each.lesson.title}", "", _in_numbers(each), "")
            yield from _points(each)
            if each.reached.complete:
                yield from _to_take_along(each)


def _in_numbers(each: Learnt) -> str:
    reached = each.reached
    sentences = [f"{reached.points} of {reached.lesson.points} points."]
    if reached.exercises:
        sentences.append(f"{reached.exercises_passed} of {reached.exercises} exercises passed")
        if reached.quiz_points is not None:
            sentences[-1] += f", quiz {reached.quiz_points} of {reached.quiz_max_points}"
        if each.checks:
            sentences[-1] += f", {each.checks} check{'' if each.checks == 1 else 's'}"
        sentences[-1] += "."
    if each.spent_s:
        sentences.append(f"Time spent: {duration_in_words(each.spent_s)}.")
    return " ".join(sentences)


def _points(each: Learnt) -> Iterator[str]:
    lines = []
    if each.predictions[1]:
        lines.append(_predictions(*each.predictions))
    for understood, words in ((True, "Made and understood"), (False, "Still to understand")):
        made = [mistake for mistake in each.mistakes if mistake.understood is understood]
        if made:
            lines.append(f"{words}: {'; '.join(map(_mistake, made))}.")
    if each.wrong_answers:
        lines.append("Answered wrong in the quiz: " + " ".join(f"“{_one_line(name)}”" for name in each.wrong_answers))
    if each.looked_first:
        lines.append(f"Looked at the solution first: {', '.join(step.title for step in each.looked_first)}.")
    if each.open:
        lines.append(f"Still open: {', '.join(step.title for step in each.open)}.")
    if lines:
        yield from (f"- {line}" for line in lines)
        yield ""


def _to_take_along(each: Learnt) -> Iterator[str]:
    recap = next((step.text for step in each.lesson.steps if step.kind == "recap"), "")
    if recap:
        yield from ("To take along:", "", recap, "")


def _mistake(mistake: Mistake) -> str:
    times = f", {mistake.times} times" if mistake.times > 1 else ""
    return f"{mistake.in_words} (“{mistake.card.title}”{times})" if mistake.card else f"{mistake.in_words}{times}"


def _predictions(came_true: int, made: int) -> str:
    return f"{came_true} of {made} prediction{'' if made == 1 else 's'} came true."


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def report(out: Path | None, *, force: bool) -> int:
    """Print the report, or write it to a file."""
    from course import catalog, progress
    from course.transfer import refuse_to_replace
    from course.workspace import write_atomically

    with progress.at_home() as kept:
        if kept.notice:
            print(f"profile-first: {kept.notice}", file=sys.stderr)
        text = markdown(kept, catalog.load(), datetime.date.today())
    if out is None:
        from course.report import Ink

        print(Ink(sys.stdout).text(text), end="")
        return 0
    if not force:
        refuse_to_replace(out, f"# {TITLE}")
    write_atomically(out, text)
    print(f"The report is {out}.")
    return 0
