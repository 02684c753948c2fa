"""Numbers that are none, and answers without the work, get an explanation, not "the check itself failed"."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from grader.check import check
from grader.runner.warm import WarmRunner

SOLUTIONS = Path(__file__).parents[2] / "solutions"
NAN = 'float("nan")'

# To be put below an exercise's solution.
ODD = {
    "perf_counter/split_the_loop": {
        "no batch of the loop's": """
            def split_the_loop(loop):
                for _ in range(len(loop.batches)):
                    loop.train(loop._batch)
                return {"loading_s": 0.1, "computing_s": 0.1, "total_s": 0.2}
        """,
    },
    "perf_counter/time_one_batch": {
        "no number": f"""
            def time_one_batch(loop):
                loop.log(loop.train(loop.load()))
                return {NAN}
        """,
    },
    "synchronize/remove_hidden_syncs": {
        "no number in the log": f"""
            right = train
            def train(loop):
                log = loop.log
                loop.log = lambda step, loss: log(step, {NAN})
                return right(loop)
        """,
    },
    "profile_memory/fit_the_budget": {
        "no number": f"""
            right = train_step
            def train_step(*job):
                right(*job)
                return {NAN}
        """,
        "no number for parts of the batch": f"""
            def train_step(model, optimizer, inputs, targets):
                optimizer.zero_grad()
                for x, y in zip(inputs.split(300), targets.split(300)):
                    (cross_entropy(model(x), y) * (len(x) / len(inputs))).backward()
                optimizer.step()
                return {NAN}
        """,
    },
    "diagnosis/speed_up_the_step": {
        "no numbers": f"""
            right = train
            def train(*job):
                return [{NAN} for loss in right(*job)]
        """,
    },
    "diagnosis/two_problems": {
        "no numbers": f"""
            right = both_changes
            def both_changes(model, optimizer, batches, log):
                return [{NAN} for loss in right(model, optimizer, batches, log)]
        """,
        "a loop that fails, and another one": """
            measured = changes
            def changes(job):
                try:
                    job.run(lambda model, optimizer, batches, log: 1 / 0)
                except ZeroDivisionError:
                    pass
                return measured(job)
        """,
    },
}


@pytest.mark.parametrize(("exercise", "how"), [(exercise, how) for exercise, found in ODD.items() for how in found])
def test_an_odd_answer_is_no_fault_of_the_course(exercise: str, how: str, lab_runner: WarmRunner, tmp_path) -> None:
    path = tmp_path / "submission.py"
    path.write_text((SOLUTIONS / f"{exercise}.py").read_text() + dedent(ODD[exercise][how]))
    verdict = check(exercise, path, seed=5, runner=lab_runner)
    for result in verdict.checks:
        assert "fault of the course" not in (result.message or "")
    assert how.startswith("a loop that fails") or verdict.status == "failed"
