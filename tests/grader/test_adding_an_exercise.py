"""Who follows docs/adding-an-exercise.md has an exercise that the lint accepts, once the last file is there."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from grader.lint import THIS_COURSE, Course, lint

DOC = (THIS_COURSE.root / "docs" / "adding-an-exercise.md").read_text(encoding="utf-8")
NAME = "count_the_reads"


def blocks(language: str) -> list[str]:
    return [body for _, body in re.findall(rf"^(`{{3,}}){language}\n(.*?)^\1$", DOC, re.MULTILINE | re.DOTALL)]


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """A copy of the course, without what its exercises have been measured with."""
    copy = Course(tmp_path)
    for folder in ("exercises", "solutions", "checks", "lessons", "submissions"):
        shutil.copytree(
            getattr(THIS_COURSE, folder), getattr(copy, folder), ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copy(THIS_COURSE.misconceptions, copy.misconceptions)
    return copy


def test_the_steps_of_the_page_lead_to_an_exercise_without_complaints(course: Course) -> None:
    (starter, check), (step, misconception, about), (section, _) = map(blocks, ("python", "toml", "markdown"))
    lesson = course.lessons / "2_synchronize"
    submissions = course.submissions / "synchronize" / NAME

    course.starter(f"synchronize/{NAME}").write_text(starter, "utf-8")
    course.solution(f"synchronize/{NAME}").write_text(starter, "utf-8")
    assert lint(course)
    course.checks_of(f"synchronize/{NAME}").write_text(f"import pytest\n\n{check}", "utf-8")
    assert lint(course)
    order, text = lesson / "lesson.toml", lesson / "en.md"
    order.write_text(order.read_text("utf-8").replace("[[steps]]\nquiz", f"{step}\n[[steps]]\nquiz"), "utf-8")
    two_more = "\n### Hint\n\nA second one.\n\n### Hint\n\nA third one.\n\n"
    before, quiz, after = re.split(r"^(## .*\{#quiz\}$)", text.read_text("utf-8"), flags=re.MULTILINE)
    text.write_text(f"{before}{section}{two_more}{quiz}{after}", "utf-8")
    assert lint(course)
    course.misconceptions.write_text(f"{course.misconceptions.read_text('utf-8')}\n{misconception}", "utf-8")
    submissions.mkdir(parents=True)
    (submissions / "exercise.toml").write_text(about, "utf-8")
    assert lint(course)
    for name in ("reads_of_one_step", "right_one_way", "right_another_way"):
        (submissions / f"{name}.py").write_text(starter, "utf-8")
    assert lint(course) == []
