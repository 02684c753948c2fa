"""Which runs are kept, and which one another is compared with."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from course.app.runs import KEPT_IN_ALL, KEPT_OF_A_FILE, SeenRun, SeenRuns
from tests.course.test_run_view import launch, waits

EVENTS = [launch(0, 0, 10), waits(10, 10), launch(20, 20, 30)]


@pytest.fixture
def runs() -> SeenRuns:
    return SeenRuns()


def ran(runs: SeenRuns, kind: Any = "run", key: str = "a.py") -> SeenRun:
    return runs.keep(key, kind, key, SimpleNamespace(kind="simulated", name="Card"), EVENTS)


def test_a_run_is_compared_with_the_one_before_it_of_the_same_file(runs: SeenRuns) -> None:
    first = ran(runs)
    assert runs.before(first) is None
    ran(runs, key="b.py")
    second = ran(runs)
    assert runs.before(second) is first
    assert (first.title, second.title) == ("a.py, run 1", "a.py, run 2")
    assert runs.last is second


def test_a_run_is_rather_compared_with_a_run_than_with_a_check(runs: SeenRuns) -> None:
    first, check, second = ran(runs), ran(runs, "check"), ran(runs)
    assert runs.before(second) is first
    assert runs.before(check) is first  # better than nothing
    assert runs.before(ran(runs, "check")) is check


def test_a_pinned_run_is_the_one_before_all_others_and_is_never_forgotten(runs: SeenRuns) -> None:
    first = ran(runs)
    assert runs.pin(first)
    others = [ran(runs) for _ in range(KEPT_OF_A_FILE + 3)]
    assert all(runs.before(each) is first for each in others)
    assert first in runs.others(others[-1])
    assert not runs.pin(first)
    assert runs.before(others[-1]) is others[-2]


def test_the_oldest_runs_are_forgotten(runs: SeenRuns) -> None:
    seen = [ran(runs) for _ in range(KEPT_OF_A_FILE + 2)]
    assert len(runs.others(seen[-1])) == KEPT_OF_A_FILE - 1
    for number in range(KEPT_IN_ALL + 2):
        last = ran(runs, key=f"{number}.py")
    assert runs.last is last
    assert runs.others(seen[-1]) == []
    assert len(runs) == KEPT_IN_ALL


def test_a_run_is_read_once_and_its_events_are_let_go(runs: SeenRuns) -> None:
    seen = ran(runs)
    (shown,) = seen.choices()
    assert seen.choices()[0] is shown
    assert shown.view.busy_s == pytest.approx(0.02)
    assert shown.diagnosis.verdict.bottleneck == "sync"
    assert not seen._events
