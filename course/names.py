"""What a learner calls an exercise or a file, found out."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING

from lab.language import _

if TYPE_CHECKING:
    from course.catalog import Catalog, Step
    from course.workspace import Workspace


class WrongUsage(Exception):
    """What was asked for can't be done; the message says why and what to do."""


def graded_step(name: str, lessons: Catalog) -> Step:
    """The exercise or quiz of this name, `<lesson>/<exercise>`."""
    step = lessons.step(name)
    if step is not None and step.graded:
        return step
    if whole := lessons.lesson(name.rstrip("/")):
        raise WrongUsage(
            _("{name!r} is a lesson. Name one of its exercises: {graded}.", name=name, graded=_listed(whole.graded))
        )
    raise WrongUsage(_("there is no exercise {name!r}. {nearest}", name=name, nearest=_did_you_mean(name, lessons)))


def exercise_step(name: str, lessons: Catalog, of_a_quiz: str) -> Step:
    """The exercise of this name; `of_a_quiz` says why it can't be a quiz, which is `{name}` in it."""
    step = graded_step(name, lessons)
    if step.kind != "exercise":
        raise WrongUsage(_(of_a_quiz, name=name))
    return step


def to_check(
    what: str, lessons: Catalog, own: Workspace, exercise: str | None = None, *, begin: bool = False
) -> list[tuple[str, Path]]:
    """The exercises that are meant by a name or a path, each with the file to check.

    `exercise` is the one that was said where the file doesn't tell; `begin` begins one that wasn't begun.
    """
    path = Path(what)
    if path.suffix in (".py", ".toml", ".ipynb") or path.is_file():
        if not path.is_file():
            raise WrongUsage(_("there is no file {what!r}.", what=what))
        found = [exercise] if exercise is not None else exercises_in(path, lessons)
        if not found:
            raise WrongUsage(
                _(
                    "{what} doesn't say which exercise it is: its path should end in "
                    "<lesson>/<exercise>.py or .ipynb. {nearest} --exercise names it.",
                    what=what,
                    nearest=_did_you_mean(f"{path.absolute().parent.name}/{path.stem}", lessons),
                )
            )
        return [(each, path) for each in found]
    step = graded_step(what, lessons)
    if exercise is not None and exercise != step.id:
        raise WrongUsage(
            _("{what} is another exercise than {exercise}. Leave --exercise out.", what=what, exercise=exercise)
        )
    file = own.answers_path(step.lesson) if step.kind == "quiz" else own.path(step.id)
    if begin and not file.exists():
        if step.kind == "exercise":
            own.open(step.id)
        else:
            own.save_answers(step.lesson, {})
    if not file.exists():
        raise WrongUsage(
            _(
                "you haven't begun {id} yet: there is no {file}. Open the course with "
                "'profile-first', or give the path of a file.",
                id=step.id,
                file=file,
            )
        )
    return [(step.id, file)]


def exercises_in(path: Path, lessons: Catalog) -> list[str]:
    """The exercises of the course that a file is for, as far as it tells."""
    if path.suffix == ".ipynb":
        from grader.check import exercises_of

        return [each for each in exercises_of(path) if lessons.step(each)]
    step = lessons.step(f"{path.absolute().parent.name}/{path.stem}")
    return [step.id] if step is not None and step.graded else []


def is_own(path: Path, exercise: str, own: Workspace) -> bool:
    """Whether a file is the learner's own copy of the exercise, whose points count."""
    lesson, _slash, name = exercise.partition("/")
    ours = own.answers_path(lesson) if name == "quiz" else own.path(exercise)
    return path.absolute() == ours.absolute()


def _listed(steps: tuple[Step, ...]) -> str:
    return _(" or ").join(step.id for step in steps)


def _did_you_mean(name: str, lessons: Catalog) -> str:
    known = [step.id for step in lessons.graded()]
    near = difflib.get_close_matches(name, known, n=2, cutoff=0.7)
    near = near or [each for each in known if each.endswith(f"/{name.split('/')[-1]}")]
    return (
        _("Did you mean {list}?", list=_(" or ").join(near)) if near else _("'profile-first list' shows all exercises.")
    )
