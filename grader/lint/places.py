"""Where the parts of a course lie."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Course:
    """The folders of a course below its root."""

    root: Path

    @property
    def exercises(self) -> Path:
        return self.root / "exercises"

    @property
    def solutions(self) -> Path:
        return self.root / "solutions"

    @property
    def checks(self) -> Path:
        return self.root / "grader" / "checks"

    @property
    def misconceptions(self) -> Path:
        return self.root / "grader" / "misconceptions.toml"

    @property
    def lessons(self) -> Path:
        return self.root / "course" / "lessons"

    @property
    def glossary(self) -> Path:
        return self.root / "course" / "glossary"

    @property
    def submissions(self) -> Path:
        """The submissions that show the known mistakes and other right ways. An installed course has none."""
        return self.root / "tests" / "grader" / "submissions"

    def name(self, path: Path) -> str:
        """A file as complaints call it."""
        return path.relative_to(self.root).as_posix()

    def starter(self, exercise: str) -> Path:
        return self.exercises / f"{exercise}.py"

    def solution(self, exercise: str) -> Path:
        return self.solutions / f"{exercise}.py"

    def checks_of(self, exercise: str) -> Path:
        lesson, _, name = exercise.partition("/")
        return self.checks / lesson / f"test_{name}.py"

    def exercise_ids(self) -> list[str]:
        """All that have at least one of their three files."""
        checked = {f"{file.parent.name}/{file.stem.removeprefix('test_')}" for file in self.checks.glob("*/test_*.py")}
        return sorted({*_modules(self.exercises), *_modules(self.solutions), *checked})

    def quiz_lessons(self) -> list[str]:
        """The lessons that have the questions of a quiz, or the answers to one."""
        found = (file for folder in (self.exercises, self.solutions) for file in folder.glob("*/quiz.*.toml"))
        return sorted({file.parent.name for file in found})


THIS_COURSE = Course(Path(__file__).parents[2])


def _modules(folder: Path) -> Iterator[str]:
    return (f"{file.parent.name}/{file.stem}" for file in folder.glob("*/*.py") if not file.stem.startswith("_"))
