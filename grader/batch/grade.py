"""Checks everything that a class handed in, on several processes, and keeps each result as it comes."""

from __future__ import annotations

import hashlib
import queue
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import msgspec

import exercises
import lab
import solutions
from grader.batch.grading_process import GradingProcess, ProcessHangs, ProcessLost
from grader.batch.ledger import Ledger
from grader.batch.reach import reaches
from grader.batch.records import Attempt, Result
from grader.check import course_version
from grader.errors import GraderError, RunnerUnavailable
from grader.seeds import SEEDS
from grader.source import max_bytes
from grader.verdict import CheckResult, Verdict
from lab.language import N_, _

ATTEMPTS_AT_A_LOST_PROCESS = 2
News = tuple[int, Result] | BaseException | None
"""A result and its place; why nothing can be checked; or that one of the processes is done."""
REACHES = N_("This submission reaches into the grader or the lab, so it isn't graded: {why}.")


class Checker(Protocol):
    """What checks a file: a process here, or one on another machine."""

    @property
    def layers(self) -> list[str]: ...

    def check(self, exercise: str, path: Path, seed: int) -> Verdict: ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class Settings:
    """How a class is graded."""

    jobs: int
    seed_per_student: bool = False
    regrade: bool = False
    shut_in: bool = True
    bubble: str | None = None
    longest_run_s: float | None = None
    """When each run of a submission is stopped, where its check doesn't stop it earlier."""


@dataclass(frozen=True)
class Task:
    """An attempt that has to be checked."""

    attempt: Attempt
    source_sha256: str
    seed: int


@dataclass(frozen=True)
class Progress:
    """How far a class is."""

    done: int
    of: int
    kept: int
    """How many of them needn't be graded again."""
    result: Result | None = None


def grade(
    attempts: Sequence[Attempt],
    ledger: Ledger,
    settings: Settings,
    *,
    checkers: Sequence[Checker] | None = None,
    tell: Callable[[Progress], None] = lambda _: None,
    stop: threading.Event | None = None,
) -> list[Result]:
    """The results of all attempts in their order; those that the ledger knows already aren't checked again.

    When `stop` is set, what is being checked is given up and only what is done is returned; the ledger has that.
    Raises RunnerUnavailable where nothing can be run, e.g. since submissions can't be kept apart.
    """
    stop = stop or threading.Event()
    course = course_fingerprint()
    if settings.longest_run_s is not None:
        course = f"{course}, {settings.longest_run_s:g} s"
    results: dict[int, Result] = {}
    waiting: queue.SimpleQueue[tuple[int, Task]] = queue.SimpleQueue()
    for number, attempt in enumerate(attempts):
        seed = seed_for(attempt.student, ledger.seed) if settings.seed_per_student else ledger.seed
        try:
            digest = _digest(Path(attempt.file))
        except OSError as error:
            results[number] = _unread(
                attempt,
                seed,
                _("{shown} can't be read any more: {reason}.", shown=attempt.shown, reason=error.strerror),
            )
            continue
        known = None if settings.regrade else ledger.find(attempt, digest, seed, course)
        if known is not None and settings.shut_in and not known.isolation:
            known = None  # it ran with the instructor's rights, so that it could write its own verdict
        if known is not None:
            results[number] = known
        else:
            waiting.put((number, Task(attempt, digest, seed)))
    kept = len(results)
    tell(Progress(kept, len(attempts), kept))
    if kept == len(attempts):
        for checker in checkers or ():
            checker.close()
        return [results[number] for number in range(len(attempts))]
    jobs = min(settings.jobs, len(attempts) - kept)
    checkers = checkers or [
        GradingProcess(shut_in=settings.shut_in, bubble=settings.bubble, longest_run_s=settings.longest_run_s)
        for _each in range(jobs)
    ]
    heard: queue.SimpleQueue[News] = queue.SimpleQueue()
    threads = [
        threading.Thread(target=_work, args=(checker, waiting, heard, stop), name="checker") for checker in checkers
    ]
    for thread in threads:
        thread.start()
    failed: BaseException | None = None
    try:
        ended = 0
        while ended < len(threads):
            news = _next(heard)
            if news is None:
                ended += 1
            elif isinstance(news, BaseException):
                failed = failed or news
                stop.set()
            else:
                number, result = news
                ledger.add(result, course)
                results[number] = result
                tell(Progress(len(results), len(attempts), kept, result))
    except BaseException:  # Ctrl+C, or nobody listens any more
        stop.set()
        for checker in checkers:
            _kill(checker)
        raise
    finally:
        for thread in threads:
            thread.join()
    if failed is not None:
        raise failed
    return [results[number] for number in sorted(results)]


def _next(heard: queue.SimpleQueue[News]) -> News:
    while True:  # with a limit, since only then Ctrl+C is heard
        try:
            return heard.get(timeout=0.5)
        except queue.Empty:
            continue


def _kill(checker: Checker) -> None:
    if isinstance(checker, GradingProcess):
        checker.kill()
    else:
        checker.close()


def _work(
    checker: Checker,
    waiting: queue.SimpleQueue[tuple[int, Task]],
    heard: queue.SimpleQueue[News],
    stop: threading.Event,
) -> None:
    """Check what waits, one after another."""
    try:
        while not stop.is_set():
            try:
                number, task = waiting.get_nowait()
            except queue.Empty:
                break
            result = check_attempt(checker, task)
            if not stop.is_set():
                heard.put((number, result))
    except BaseException as error:
        heard.put(error)
    finally:
        checker.close()
        heard.put(None)


def check_attempt(checker: Checker, task: Task) -> Result:
    """The result of one attempt. Raises RunnerUnavailable where nothing can be run."""
    path, began_s = Path(task.attempt.file), time.monotonic()
    verdict: Verdict | None = None
    trouble: str | None = None
    reached = reaches(path)
    for _again in range(ATTEMPTS_AT_A_LOST_PROCESS):
        try:
            verdict = checker.check(task.attempt.exercise, path, task.seed)
            trouble = _trouble(verdict)
            break
        except ProcessHangs as hangs:
            trouble = str(hangs)
            break
        except ProcessLost as lost:
            trouble = str(lost)
        except RunnerUnavailable:
            raise
        except GraderError as error:
            trouble = str(error)
            break
    if verdict is not None and reached.forbidden:
        verdict = _nothing_for(verdict, reached.forbidden)
    return Result(
        attempt=task.attempt,
        source_sha256=task.source_sha256,
        seed=task.seed,
        course_version=course_version(),
        isolation=checker.layers,
        graded_at_s=time.time(),
        duration_s=round(time.monotonic() - began_s, 3),
        verdict=verdict,
        trouble=trouble,
        look=[*reached.forbidden, *reached.look],
    )


def _trouble(verdict: Verdict) -> str | None:
    """What in a verdict is no fault of the submission's."""
    for check in verdict.checks:
        if check.ours:
            return (check.message or check.name).splitlines()[0]
    return None


def _nothing_for(verdict: Verdict, why: Iterable[str]) -> Verdict:
    message = _(REACHES, why=_("; ").join(why))
    checks = [
        CheckResult(check.name, False, 0, check.max_points, message if number == 0 else None)
        for number, check in enumerate(verdict.checks)
    ]
    return msgspec.structs.replace(verdict, status="error", points=0, checks=checks)


def seed_for(student: str, seed: int) -> int:
    """A student's own seed, the same each time."""
    return int.from_bytes(hashlib.sha256(f"{seed} {student}".encode()).digest()[:8], "big") % SEEDS


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.sha256(file.read(max_bytes(path) + 1)).hexdigest()


def _unread(attempt: Attempt, seed: int, why: str) -> Result:
    return Result(attempt, "", seed, course_version(), [], time.time(), 0.0, None, why)


@lru_cache(maxsize=1)
def course_fingerprint() -> str:
    """What verdicts depend on besides a submission: the checks, the lab, the quizzes."""
    digest = hashlib.sha256(course_version().encode())
    for package in (Path(__file__).parents[1], *(Path(p.__path__[0]) for p in (lab, exercises, solutions))):
        for file in sorted(package.rglob("*")):
            if file.suffix in (".py", ".toml") and "reports" not in file.parts:
                digest.update(str(file.relative_to(package)).encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
