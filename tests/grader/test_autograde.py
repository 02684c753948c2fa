"""One student's submission becomes Gradescope's results.json, whatever is in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader.autograde import MOST_FILES, autograde
from grader.errors import GraderError, RunnerUnavailable
from grader.verdict import CheckResult, Verdict

TIME, EVENTS = "synchronize/time_on_the_gpu", "synchronize/time_with_events"


class FakeChecker:
    """Gives as many points as the file says."""

    layers: list[str] = []  # noqa: RUF012

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.seeds: set[int] = set()

    def check(self, exercise: str, path: Path, seed: int) -> Verdict:
        text = path.read_text()
        if text.startswith("trouble"):
            raise RunnerUnavailable("nothing runs here") if "no runner" in text else GraderError("broken")
        self.asked.append(exercise)
        self.seeds.add(seed)
        points = int(text)
        check = CheckResult("It waits", points == 4, points, 4, None if points == 4 else "It didn't.")
        status = "passed" if points == 4 else "failed"
        return Verdict(exercise, status, points, 4, [check], None, seed, 0.1, "00", "1")

    def close(self) -> None:
        pass


@pytest.fixture
def graded(tmp_path: Path):
    """What is written about these files."""

    def graded(files: dict[str, str], assignment: str | None = None) -> tuple[int, dict, FakeChecker]:
        submission = tmp_path / "submission"
        submission.mkdir()
        for name, text in files.items():
            (submission / name).parent.mkdir(parents=True, exist_ok=True)
            (submission / name).write_text(text)
        counts = tmp_path / "assignment.json"
        counts.write_text(assignment or json.dumps({"points": {TIME: 4, EVENTS: 4}}))
        checker = FakeChecker()
        code = autograde(submission, counts, tmp_path / "results/results.json", [checker])
        return code, json.loads((tmp_path / "results/results.json").read_text()), checker

    return graded


def test_each_check_is_a_test_and_the_score_their_sum(graded):
    code, results, _ = graded({"time_on_the_gpu.py": "4", f"my/{EVENTS}.py": "1"})
    assert (code, results["score"]) == (0, 5)
    assert [(test["score"], test["status"]) for test in results["tests"]] == [(4, "passed"), (1, "failed")]


def test_what_wasn_t_handed_in_is_worth_nothing_and_what_can_t_be_told_is_said(graded):
    _, results, _ = graded({f"{TIME}.py": "2", "essay.pdf": "", "perf_counter/time_one_batch.py": "4"})
    assert results["score"] == 2
    assert results["tests"][1]["score"] == 0
    assert "essay.pdf: files of the kind .pdf aren't graded" in results["output"]


def test_the_best_of_the_latest_files_for_an_exercise_counts(graded):
    files = {f"{i}/{TIME}.py": str(i % 4) for i in range(MOST_FILES + 3)}
    _, results, checker = graded(files)
    assert results["score"] == 3
    assert len(checker.asked) == MOST_FILES
    assert "handed in 7 times" in results["output"]


def test_what_the_grader_can_t_grade_costs_that_exercise_alone(graded):
    code, results, _ = graded({f"{TIME}.py": "trouble", f"{EVENTS}.py": "4"})
    assert (code, results["score"]) == (0, 4)


@pytest.mark.parametrize(
    ("files", "assignment"),
    [
        ({f"{TIME}.py": "trouble: no runner"}, None),
        ({f"{TIME}.py": "4"}, "{}"),
        ({f"{TIME}.py": "4"}, "no json"),
        ({f"{TIME}.py": "4"}, '{"points": {"synchronize/time_on_the_gpu": "many"}}'),
    ],
)
def test_an_autograder_that_fails_gives_nothing_and_says_whose_fault_it_isn_t(graded, files, assignment):
    code, results, _ = graded(files, assignment)
    assert (code, results["score"], results["tests"]) == (1, 0, [])
    assert "no fault of your submission" in results["output"]
