"""Who follows docs/adding-an-exercise.md has an exercise that the lint accepts, once the last file is there."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from grader.check import check as grade
from grader.lint import THIS_COURSE, Course, lint
from grader.runner.warm import WarmRunner
from grader.tasks import file_of
from grader.verdict import Verdict

DOC = (THIS_COURSE.root / "docs" / "adding-an-exercise.md").read_text(encoding="utf-8")
NAME = "count_the_reads"


def translated(misconception: str, language: str) -> str:
    """The page's mistake as it stands for its translation: with a title, without card and source."""
    lines = [line for line in misconception.splitlines() if not line.startswith(("card", "source"))]
    said = "\n".join([*lines, 'title = "reads"'])
    return said.replace("?", "\u202f?").replace(": ", "\u00a0: ") if language == "fr" else said


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
    for told in THIS_COURSE.misconceptions.parent.glob("misconceptions.*toml"):
        shutil.copy(told, copy.misconceptions.parent)
    return copy


def test_the_checks_of_the_page_grade_what_calls_the_step(tmp_path: Path, lab_runner: WarmRunner) -> None:
    starter, check = blocks("python")
    checks = tmp_path / "checks" / "synchronize"
    checks.mkdir(parents=True)
    (checks / f"test_{NAME}.py").write_text(
        f"import pytest\nfrom grader.api import mistake, workload\n\n{check}", "utf-8"
    )
    submission = tmp_path / f"{NAME}.py"

    def graded(source: str) -> Verdict:
        submission.write_text(source, "utf-8")
        return grade(f"synchronize/{NAME}", submission, seed=7, runner=lab_runner, checks=checks.parent)

    assert graded(starter).status == "failed"
    right = starter.replace("    return 0\n", "    for _ in range(5):\n        step()\n    return 5\n")
    verdict = graded(right)
    assert verdict.status == "passed", verdict


def test_the_steps_of_the_page_lead_to_an_exercise_without_complaints(course: Course) -> None:
    (starter, check), (step, misconception, about), (section, _) = map(blocks, ("python", "toml", "markdown"))
    lesson = course.lessons / "2_synchronize"
    submissions = course.submissions / "synchronize" / NAME

    course.starter(f"synchronize/{NAME}").write_text(starter, "utf-8")
    course.solution(f"synchronize/{NAME}").write_text(starter, "utf-8")
    assert lint(course)
    course.checks_of(f"synchronize/{NAME}").write_text(f"import pytest\n\n{check}", "utf-8")
    assert lint(course)
    order = lesson / "lesson.toml"
    order.write_text(order.read_text("utf-8").replace("[[steps]]\nquiz", f"{step}\n[[steps]]\nquiz"), "utf-8")
    two_more = "\n### Hint\n\nA second one.\n\n### Hint\n\nA third one.\n\n"
    for text in sorted(lesson.glob("??.md")):
        before, quiz, after = re.split(r"^(## .*\{#quiz\}$)", text.read_text("utf-8"), flags=re.MULTILINE)
        # The page's brief stands for its translation, which keeps to its language's spaces.
        brief = section.replace("?", "\u202f?") if text.stem == "fr" else section
        text.write_text(f"{before}{brief}{two_more}{quiz}{after}", "utf-8")
    assert lint(course)
    course.misconceptions.write_text(f"{course.misconceptions.read_text('utf-8')}\n{misconception}", "utf-8")
    for language in ("it", "fr"):
        tasks = file_of(course.exercises, "synchronize", language)
        title = section.partition("\n")[0]
        tasks.write_text(f"{tasks.read_text('utf-8')}\n{title}\n\n`{NAME}`\n", "utf-8")
        told = course.misconceptions.with_suffix(f".{language}.toml")
        assert lint(course)
        told.write_text(f"{told.read_text('utf-8')}\n{translated(misconception, language)}", "utf-8")
    submissions.mkdir(parents=True)
    (submissions / "exercise.toml").write_text(about, "utf-8")
    assert lint(course)
    for name in ("reads_of_one_step", "right_one_way", "right_another_way"):
        (submissions / f"{name}.py").write_text(starter, "utf-8")
    assert lint(course) == []
