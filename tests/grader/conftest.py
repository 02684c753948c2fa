"""Runners, submissions and checks for the tests of the grader."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from grader.runner.protocol import Argument, BuiltArgument, Call, Limits, Script
from grader.runner.run import Outcome
from grader.runner.warm import WarmRunner

HERE = Path(__file__).parent
SEED = 7

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's process control")


def fake_runner(fresh: bool = False, **environment: str) -> WarmRunner:
    return WarmRunner(equipment="fake_equipment", environment={"PYTHONPATH": str(HERE), **environment}, fresh=fresh)


@pytest.fixture(scope="session", params=["fork", "fresh"])
def runner(request: pytest.FixtureRequest) -> Iterator[WarmRunner]:
    """A runner with the fake lab, once with forks of a warm process and once with a fresh process for each run."""
    with fake_runner(fresh=request.param == "fresh") as runner:
        yield runner


@pytest.fixture(scope="session")
def forking() -> Iterator[WarmRunner]:
    """A runner with the fake lab for tests that have nothing to do with how a process is started."""
    with fake_runner() as runner:
        yield runner


@pytest.fixture
def call(runner: WarmRunner, tmp_path: Path) -> Callable[..., Outcome]:
    """Run `f` of some source."""

    def call(source: str, *arguments: object, limits: Limits | None = None, then: bool = False) -> Outcome:
        return runner.run(request(source, tmp_path / "exercise.py", *arguments, then=then), limits)

    return call


def request(source: str, path: Path, *arguments: object, then: bool = False) -> Call:
    return Call(
        path=str(path),
        source=dedent(source),
        function="f",
        arguments=[a if isinstance(a, Argument) else Argument(a) for a in arguments],
        keyword_arguments={},
        then=BuiltArgument("total", {}, SEED) if then else None,
        seed=SEED,
    )


def script(source: str, path: Path) -> Script:
    return Script(str(path), dedent(source))


def ends(pid: int, within_s: float = 60.0) -> bool:
    """Wait for a process to end; Linux only."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([watched], [], [], within_s)[0])
    finally:
        os.close(watched)
