"""Checks one submission: runs the checks of its exercise, or grades its quiz answers, and returns the verdict."""

from __future__ import annotations

import difflib
import hashlib
import importlib.metadata
import math
import os
import re
import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from grader.errors import CheckFault, GraderError, SeedOutOfRange, SubmissionNotFound, UnknownExercise
from grader.notebook import SUFFIX, NotebookUnreadable, read_notebook
from grader.runner.cancellation import Cancellation
from grader.runner.warm import WarmRunner
from grader.seeds import SEEDS
from grader.source import Source, Unreadable, max_bytes, read_source
from grader.verdict import CheckResult, Gpu, Status, Verdict
from lab.language import _, current

if TYPE_CHECKING:
    from grader.api import Seen

CHECKS = Path(__file__).with_name("checks")


def exercise_ids(checks: Path = CHECKS) -> list[str]:
    """The ids of all exercises that have checks."""
    return sorted(f"{file.parent.name}/{file.stem.removeprefix('test_')}" for file in checks.glob("*/test_*.py"))


def exercises_of(path: Path, checks: Path = CHECKS) -> list[str]:
    """The exercises that a file is a submission for; none where it doesn't tell.

    It is the end of the path that tells, `<lesson>/<exercise>.py`. A notebook says it in its metadata, and since
    notebooks are downloaded to other folders, its name alone will do.
    """
    from grader.quiz import EXERCISES, quiz_ids

    absolute = path.absolute()
    wanted = f"{absolute.parent.name}/{absolute.stem}"
    if path.suffix == ".toml":
        return [wanted] if wanted in quiz_ids() else []
    # A copy of the course for students may have no checks.
    known = exercise_ids(checks) or [f"{file.parent.name}/{file.stem}" for file in sorted(EXERCISES.glob("*/*.py"))]
    if path.suffix == ".py":
        return [wanted] if wanted in known else []
    if path.suffix != SUFFIX:
        return []
    known = [*known, *quiz_ids()]
    try:
        said = read_notebook(_read(path), path.name).exercises
    except (NotebookUnreadable, SubmissionNotFound):
        said = ()
    if found := [exercise for exercise in said if exercise in known]:
        return found
    if wanted in known:
        return [wanted]
    # Browsers and people add to a file's name: "time_on_the_gpu (1).ipynb", "time_on_the_gpu-ada.ipynb".
    named = [each for each in known if re.match(rf"{each.partition('/')[2]}(?![a-z0-9_])", path.name)]
    return named if len(named) == 1 else []


def check(
    exercise: str,
    path: Path,
    *,
    seed: int | None = None,
    runner: WarmRunner | None,
    cancellation: Cancellation | None = None,
    on_output: Callable[[str], None] | None = None,
    on_seen: Callable[[Seen], None] | None = None,
    checks: Path = CHECKS,
    longest_run_s: float = math.inf,
) -> Verdict:
    """The verdict on a file as a submission for an exercise (`<lesson>/<exercise>`, or `<lesson>/quiz`).

    A quiz needs no runner, since none of its answers is run. `on_seen` is told what the lab saw of each run;
    `longest_run_s` stops one earlier than its check would.

    Raises UnknownExercise, GradedByInstructor, SubmissionNotFound, SeedOutOfRange, CheckFault, Cancelled or
    RunnerUnavailable; whatever the file contains and does, there is a verdict.
    """
    from grader.quiz import EXERCISES, grade_quiz, graded_by_instructor, is_quiz, quiz_ids, withheld

    began_s = monotonic()
    seed = secrets.randbelow(SEEDS) if seed is None else seed
    if type(seed) is not int or not 0 <= seed < SEEDS:
        raise SeedOutOfRange(
            _(
                "{seed} can't be the seed of a verdict. A seed is a whole number from 0 to {most}.",
                seed=seed,
                most=SEEDS - 1,
            )
        )
    file = checks.joinpath(*_lesson_and_name(exercise, "test_{}.py"))
    if not is_quiz(exercise) and not file.is_file():
        if withheld() and (EXERCISES / f"{exercise}.py").is_file():
            raise graded_by_instructor(exercise)
        raise UnknownExercise(_unknown(exercise, [*exercise_ids(checks), *quiz_ids()]))
    data = _read(path)
    digest = hashlib.sha256(data).hexdigest()
    status: Status
    gpu: Gpu | None = None
    program_s = 0.0
    if is_quiz(exercise):
        status, results = grade_quiz(exercise, data, notebook=path.suffix == SUFFIX, language=current())
    elif runner is None:
        raise GraderError("An exercise can only be checked with a runner.")
    else:
        status, results, gpu, program_s = _run_checks(
            file, path, data, seed, runner, cancellation, on_output, on_seen, longest_run_s
        )
    return Verdict(
        exercise=exercise,
        status=status,
        points=sum(result.points for result in results),
        max_points=sum(result.max_points for result in results),
        checks=results,
        gpu=gpu,
        seed=seed,
        duration_s=round(monotonic() - began_s, 3),
        source_sha256=digest,
        version=course_version(),
        program_s=round(program_s, 3),
        language=current(),
    )


def course_version() -> str:
    try:
        return importlib.metadata.version("profile-first")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def _lesson_and_name(exercise: str, form: str) -> tuple[str, str]:
    lesson, _slash, name = exercise.partition("/")
    if not lesson.isidentifier() or not name.isidentifier():
        raise UnknownExercise(
            _("{exercise!r} is not an exercise. An exercise is called <lesson>/<exercise>.", exercise=exercise)
        )
    return lesson, form.format(name)


def _unknown(exercise: str, known: list[str]) -> str:
    near = difflib.get_close_matches(exercise, known, n=1)
    return _("There is no exercise {exercise!r}.", exercise=exercise) + (
        _(" Did you mean {near!r}?", near=near[0]) if near else ""
    )


def _read(path: Path) -> bytes:
    try:
        if not path.is_file():
            raise SubmissionNotFound(_("There is no file {path}.", path=path))
        with path.open("rb") as file:
            return file.read(max_bytes(path) + 1)
    except OSError as error:
        raise SubmissionNotFound(_("{path} can't be read: {reason}.", path=path, reason=error.strerror)) from error


def _run_checks(
    file: Path,
    path: Path,
    data: bytes,
    seed: int,
    runner: WarmRunner,
    cancellation: Cancellation | None,
    on_output: Callable[[str], None] | None,
    on_seen: Callable[[Seen], None] | None,
    longest_run_s: float,
) -> tuple[Status, list[CheckResult], Gpu | None, float]:
    from grader.api import SubmissionFailed
    from grader.plugin import PointsPlugin, Submission

    try:
        source, unreadable = read_source(path, data), None
    except Unreadable as error:
        source, unreadable = Source("", path.name), str(error)
    submission = Submission(str(path.absolute()), source, seed, runner, cancellation, on_output, on_seen, longest_run_s)
    if unreadable is not None:
        submission.give_up(SubmissionFailed("error", unreadable))
    plugin = PointsPlugin(submission)
    exit_code = _run_pytest(file, plugin)
    if plugin.interrupted:
        raise KeyboardInterrupt
    if plugin.stopped_by is not None:
        raise plugin.stopped_by
    results = list(plugin.results.values())
    if plugin.faults or not results or exit_code not in (0, 1):
        faults = "; ".join(plugin.faults) or (f"pytest ended with {exit_code}" if results else "there are none")
        raise CheckFault(f"The checks of {file.parent.name}/{file.stem} are broken: {faults}")
    status: Status = plugin.status or ("passed" if all(result.passed for result in results) else "failed")
    return status, results, submission.gpu or runner.gpu, submission.program_s


def _run_pytest(file: Path, plugin: object) -> int:
    """Run one file of checks, untouched by whatever pytest configuration is around; returns pytest's exit code."""
    import pytest

    import grader.plugin

    arguments = [
        str(file),
        *("-c", os.devnull, "--rootdir", str(file.parent), "--noconftest", "--import-mode=importlib"),
        *("--assert=plain", "--capture=no", "--strict-markers"),
        *("-p", "no:cacheprovider", "-p", "no:faulthandler", "-p", "no:terminal", "-p", "no:logging"),
        *("-p", "no:junitxml", "-p", "no:pastebin", "-p", "no:doctest", "-p", "no:warnings", "-p", "no:debugging"),
        *("-p", "no:unraisableexception", "-p", "no:threadexception"),
    ]
    environment = _without("PYTEST_ADDOPTS", "PYTEST_PLUGINS", PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    with environment, _asserts_as_written():
        try:
            return int(pytest.main(arguments, plugins=[grader.plugin, plugin]))
        finally:
            _forget_module(file)


@contextmanager
def _asserts_as_written() -> Iterator[None]:
    """Within another pytest session (our own tests), keep its hook from rewriting the asserts of the checks."""
    hooks = [finder for finder in sys.meta_path if type(finder).__name__ == "AssertionRewritingHook"]
    for hook in hooks:
        sys.meta_path.remove(hook)
    try:
        yield
    finally:
        sys.meta_path[:0] = hooks


def _forget_module(file: Path) -> None:
    """Let the next run load these checks anew, and never take another file's of the same name for them."""
    for name, module in list(sys.modules.items()):
        if getattr(module, "__file__", None) == str(file):
            del sys.modules[name]


@contextmanager
def _without(*names: str, **instead: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in (*names, *instead)}
    for name in names:
        os.environ.pop(name, None)
    os.environ.update(instead)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
