"""A Dask cluster gives the results that one machine gives, also when a worker is lost on the way."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.batch.cluster import NoCluster, checkers
from grader.batch.grade import Progress, Settings, grade
from grader.batch.ledger import Ledger
from grader.batch.records import Attempt, Result

distributed = pytest.importorskip("distributed")

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
EXERCISES = ("synchronize/time_on_the_gpu", "torch_profiler/schedule_and_export", "perf_counter/split_the_loop")


@pytest.fixture
def cluster() -> Iterator[Any]:
    """Two workers of one thread, each in a process of its own."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs="ERROR"
    ) as cluster:
        yield cluster


def attempts() -> list[Attempt]:
    """Right, unfinished and wrong answers."""
    found = []
    for exercise in EXERCISES:
        wrong = sorted((HERE / "submissions" / exercise).glob("*.py"))[:2]
        for number, path in enumerate(
            (ROOT / "solutions" / f"{exercise}.py", ROOT / "exercises" / f"{exercise}.py", *wrong)
        ):
            found.append(Attempt(f"student{number}", exercise, str(path), f"{number}/{exercise}.py"))
    return found


def said(results: list[Result]) -> list[Any]:
    """What is said of each submission, without times."""
    found = []
    for result in results:
        assert result.verdict is not None, result.trouble
        found.append(
            (result.attempt.shown, result.verdict.status, result.verdict.points, result.seed, result.isolation)
        )
        for check in result.verdict.checks:
            found.append((check.name, check.passed, check.mistake))
    return found


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker_says_the_same_as_one_machine(cluster: Any, tmp_path: Path) -> None:
    killed: list[int] = []

    def kill_one(progress: Progress) -> None:
        if progress.done == 3 and not killed:
            worker = next(iter(cluster.workers.values()))
            killed.append(worker.process.pid)
            os.kill(worker.process.pid, signal.SIGKILL)

    with Ledger(tmp_path / "cluster", 5) as ledger:
        there = checkers(cluster.scheduler_address, jobs=None, shut_in=False)
        assert len(there) == 2
        on_cluster = grade(attempts(), ledger, Settings(jobs=2), checkers=there, tell=kill_one)
    with Ledger(tmp_path / "here", 5) as ledger:
        here = grade(attempts(), ledger, Settings(jobs=2, shut_in=False))
    assert killed
    assert json.dumps(said(on_cluster)) == json.dumps(said(here))


def test_a_scheduler_that_is_not_there_is_told() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("grader.batch.cluster.CONNECT_LIMIT_S", 0.5)
        with pytest.raises(NoCluster, match="There is no Dask scheduler at tcp:"):
            checkers("tcp://127.0.0.1:9", jobs=None, shut_in=True)
