"""What the app asks of the grader, so that the app can be tested with another one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from course.report import card_of
from lab.language import current


class RunResult(Protocol):
    """How a run ended."""

    status: Any
    exit_code: Any
    duration_s: Any
    gpu: Any
    message: Any
    events: Any


class Grader(Protocol):
    """Runs and grades the learner's files; requests are done one after another."""

    gpu: Any
    """The GPU in use (`kind`, `name`), once known."""
    on_ready: Callable[[Any], None] | None
    """Called with the GPU when it becomes known."""

    async def start(self) -> None: ...
    async def run(self, path: Path, on_output: Callable[[str], None]) -> Any: ...
    async def check(
        self, exercise: str, path: Path, seed: int | None = None, on_events: Callable[[Any], None] | None = None
    ) -> Any: ...
    async def cancel(self) -> None: ...
    async def close(self) -> None: ...


def real_grader() -> Grader:
    """The grader's own client; its service starts in another process."""
    from grader.client import Grader as Client

    return Client()


def verdict_json(verdict: Any) -> dict[str, Any]:
    """A verdict as the plain JSON that progress keeps."""
    if isinstance(verdict, Mapping):
        return dict(verdict)
    from grader.verdict import to_plain

    return to_plain(verdict)


def explanations(verdict: Mapping[str, Any]) -> list[str]:
    """The cards that explain the failed checks, each once, in the order of the checks."""
    checks: Sequence[Mapping[str, Any]] = verdict["checks"]
    cards = (card_of(check["mistake"]) for check in checks if not check["passed"])
    return list(dict.fromkeys(card for card in cards if card))


@dataclass(frozen=True)
class Kept:
    """An answer that is kept to be handed in: this copy of the course doesn't know whether it is right."""

    name: str
    message: str
    passed: None = None
    points: int = 0
    max_points: int = 0


def quiz_results(lesson: str, answers_file: Path) -> list[Any]:
    """For each question whether it is answered right, and the reason for the answer given."""
    from grader.errors import GradedByInstructor
    from grader.quiz import grade_quiz, read_questions

    try:
        _points, results = grade_quiz(f"{lesson}/quiz", answers_file.read_bytes(), language=current())
    except GradedByInstructor as error:
        return [Kept(question.asks, str(error)) for question in read_questions(lesson, current())]
    return list(results)


def right_answers(lesson: str) -> dict[str, tuple[str, str]]:
    """The right choice of each question and its reason; none where only the instructor has them."""
    from grader.errors import GradedByInstructor
    from grader.quiz import read_answers

    try:
        answers = read_answers(lesson, current())
    except GradedByInstructor:
        return {}
    return {question: (answer.right, answer.why[answer.right]) for question, answer in answers.items()}


def quiz_verdict(lesson: str, answers_file: Path, seed: int) -> dict[str, Any] | None:
    """The grader's verdict on the answers; None where only the instructor can give it.

    No learner code runs for it, so it needs no process of its own.
    """
    from typing import cast

    from grader.check import check
    from grader.errors import GradedByInstructor

    try:
        return verdict_json(check(f"{lesson}/quiz", answers_file, seed=seed, runner=cast(Any, None)))
    except GradedByInstructor:
        return None
