"""name_the_bottleneck: input-bound and compute-bound loops are told apart by measuring them."""

import pytest

from grader.api import Seen, mistake, workload

LOOPS = 3


@pytest.fixture(scope="module")
def loops(submission) -> list[tuple[str, Seen]]:
    """Loops of both kinds in an order drawn from the seed, each with the right answer."""
    kinds = ["input", "compute", submission.random.choice(["input", "compute"])]
    submission.random.shuffle(kinds)
    return [
        (kind, submission.call("name_the_bottleneck", named_loop(submission.seed + number, kind)))
        for number, kind in enumerate(kinds)
    ]


def named_loop(seed: int, kind: str):
    return workload("training_loop", seed=seed, slow_reads=kind == "input")


def share_busy(seen: Seen) -> float:
    """The part of the loop's time in which the GPU works."""
    steps = seen.events("workload", phase="step")
    assert steps, "The loop never ran. Call train(), or go through train.batches() and train.step() yourself."
    return steps[0]["share_busy"]


@pytest.mark.points(1)
def test_answers_with_one_of_the_two_words(loops):
    """The answer is "input" or "compute", after the loop has run."""
    for _, seen in loops:
        assert seen.value in ("input", "compute"), 'Return "input" or "compute".'
        share_busy(seen)


@pytest.mark.points(3)
def test_names_the_bottleneck_of_each_loop(loops):
    """The bottleneck of each of three loops is named."""
    wrong = [(kind, seen) for kind, seen in loops if seen.value != kind]
    if not wrong:
        return
    kind, seen = wrong[0]
    assert seen.value in ("input", "compute"), 'Return "input" or "compute".'
    values = {"answer": seen.value, "busy": share_busy(seen)}

    profiled = bool(seen.events("profiler_start"))
    assert not (kind == "input" and profiled), mistake("gpu_time_counted_twice", **values)
    read_clock = bool(seen.events("clock_read"))
    assert not (kind == "compute" and read_clock and not profiled), mistake("unsynchronised_breakdown", **values)
    answers = {loop.value for _, loop in loops}
    shares = [share_busy(loop) for _, loop in loops]
    assert len(answers) > 1, mistake(
        "same_answer_for_every_loop", answer=seen.value, least=min(shares), most=max(shares)
    )
    assert seen.value == kind, (
        f'The GPU was busy {values["busy"]:.0%} of the time in a loop for which you say "{seen.value}".'
    )
