"""Hands the course out: to students without what grades them, and to Gradescope with all of it."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from grader.batch.points import max_points
from grader.check import exercise_ids
from grader.errors import GraderError, UnknownExercise
from grader.lint.places import THIS_COURSE, Course
from grader.quiz import quiz_ids
from lab.language import _
from solutions import WITHHELD

HANDOUT = Path(__file__).with_name("handout")
PACKAGES = ("course", "exercises", "grader", "lab")
INSTRUCTORS = (
    *("grader/__main__.py", "grader/autograde.py", "grader/release.py"),
    *("grader/batch", "grader/handout", "grader/lint", "grader/reports", "grader/submissions"),
)
"""What only who grades a class needs."""
STUDENTS = ("grader/submissions/__init__.py", "grader/submissions/hand_in.py")
"""What students need of it."""
CHECKS = "grader/checks"
_LEFT_BEHIND = ("__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache")
_EXECUTABLE = ("start", "run_autograder", "setup.sh")
WITHHELD_TEXT = "The solutions, and the answers to the quizzes, are with your instructor.\n"
IGNORED = ".venv/\n__pycache__/\n*.egg-info/\nwork/*\n!work/workspace/\nwork/workspace/*/backups/\n"
CLASSROOM = """
On GitHub Classroom, commit `work/workspace/` and push: {what}.
"""


class NotReleased(GraderError):
    """The course can't be written there; the message says what to do."""


def release(out: Path, *, assigned: Sequence[str] = (), checks: bool = True, course: Course = THIS_COURSE) -> list[str]:
    """Write the course for students into a new folder; returns the paths of its files.

    They get the checks unless that is declined: a check is what teaches, and it holds no inputs, which are drawn from
    a seed that the class isn't told. Without them, everything is graded by the instructor.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise NotReleased(_("{out} is there already. Give the name of a new folder, or empty this one.", out=out))
    files = dict(_students_files(course, checks=checks))
    points = _points(assigned, quizzes=False) if checks else {}
    files["assignment.json"] = _assignment(points)
    try:
        for name, data in sorted(files.items()):
            file = out / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
            if file.name in _EXECUTABLE:
                file.chmod(0o755)
    except OSError as error:
        raise NotReleased(
            _(
                "{path} can't be written: {reason}. What is there is incomplete.",
                path=error.filename,
                reason=error.strerror,
            )
        ) from error
    return sorted(files)


def autograder(
    out: Path, *, assigned: Sequence[str] = (), unsafe: bool = False, course: Course = THIS_COURSE
) -> list[str]:
    """Write Gradescope's autograder, with solutions and checks, as a zip archive; returns the paths in it.

    `unsafe` lets it grade where submissions can't be kept apart from the grader.
    """
    if out.exists() or out.suffix != ".zip":
        raise NotReleased(
            _("{out} exists. Give another name.", out=out)
            if out.exists()
            else _("{out} is to be a zip archive: end its name in .zip.", out=out)
        )
    files = {f"course/{name}": data for name, data in _all_files(course)}
    files |= {name: _template(name) for name in ("setup.sh", "run_autograder")}
    files["assignment.json"] = _assignment(_points(assigned, quizzes=True), unsafe=unsafe)
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, content in sorted(files.items()):
            info = zipfile.ZipInfo(name)
            mode = 0o755 if PurePosixPath(name).name in _EXECUTABLE else 0o644
            info.create_system, info.external_attr, info.compress_type = 3, mode << 16, zipfile.ZIP_DEFLATED
            zipped.writestr(info, content)
    try:
        out.write_bytes(data.getvalue())
    except OSError as error:
        raise NotReleased(_("{path} can't be written: {reason}.", path=out, reason=error.strerror)) from error
    return sorted(files)


def _students_files(course: Course, *, checks: bool) -> Iterator[tuple[str, bytes]]:
    for name, data in _all_files(course):
        place = PurePosixPath(name)
        within = [str(place), *map(str, place.parents)]
        hidden = place.parts[0] == "solutions" or any(each in INSTRUCTORS for each in within)
        if name in STUDENTS or not (hidden or (CHECKS in within and not checks)):
            yield name, data
    yield "solutions/__init__.py", (course.solutions / "__init__.py").read_bytes()
    yield f"solutions/{WITHHELD}", WITHHELD_TEXT.encode()
    says = (
        "checks your code and says what was observed; quizzes are graded by your instructor"
        if checks
        else "says that your instructor grades it"
    )
    what = "your exercises are checked, and you see the points" if checks else "that hands them in"
    readme = _template("README.student.md").decode()
    yield "README.md", readme.format(check=says, classroom=CLASSROOM.format(what=what)).rstrip().encode() + b"\n"
    yield "start", _template("start")
    yield ".gitignore", IGNORED.encode()
    yield ".github/workflows/classroom.yml", _template("classroom.yml")
    yield ".github/classroom.py", _template("classroom.py")


def _all_files(course: Course) -> Iterator[tuple[str, bytes]]:
    """The course itself, without tests and whatever programs leave behind."""
    pyproject = course.root / "pyproject.toml"
    if not pyproject.is_file():
        raise NotReleased(
            _(
                "There is no {path}: this is an installed copy of the course. Release it from the folder that it was "
                "installed from.",
                path=pyproject,
            )
        )
    yield "pyproject.toml", pyproject.read_bytes()
    for name in ("README.md", "LICENSE"):
        if (course.root / name).is_file():
            yield name, (course.root / name).read_bytes()
    for package in (*PACKAGES, "solutions"):
        for file in sorted((course.root / package).rglob("*")):
            place = file.relative_to(course.root)
            if file.is_file() and file.suffix != ".pyc" and not any(part in _LEFT_BEHIND for part in place.parts):
                yield place.as_posix(), file.read_bytes()


def _points(assigned: Sequence[str], *, quizzes: bool) -> dict[str, int]:
    """What counts, with its points: the exercises and lessons that were named, or all."""
    known = [*exercise_ids(), *(quiz_ids() if quizzes else ())]
    if not assigned:
        return max_points(known)
    chosen: list[str] = []
    for name in assigned:
        if found := [each for each in known if name.rstrip("/") in (each, each.partition("/")[0])]:
            chosen += found
        elif name not in quiz_ids():  # a quiz may be assigned, and counts where it can be graded
            raise UnknownExercise(_("There is no exercise and no lesson {name!r}.", name=name))
    return max_points(dict.fromkeys(chosen))


def _assignment(points: Mapping[str, int], *, unsafe: bool = False) -> bytes:
    return json.dumps({"points": dict(points), "unsafe": unsafe}, indent=2).encode() + b"\n"


def _template(name: str) -> bytes:
    return (HANDOUT / name).read_bytes()
