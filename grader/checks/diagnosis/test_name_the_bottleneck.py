"""name_the_bottleneck: input-bound and compute-bound loops are told apart by measuring them."""

import pytest

from grader.api import Seen, mistake, workload
from lab.language import _

ANSWERS = ("input", "compute")
Expected = dict


@pytest.fixture(scope="module")
def loops(submission) -> list[tuple[Expected, Seen]]:
    """Three loops of both kinds, in an order drawn from the seed, each with the right answer.

    Which kind a loop is depends on its own seed and isn't told where the submission runs. The time to read an image
    doesn't tell it either: for one of the input-bound loops it is less than for the compute-bound one.
    """
    wanted = [("input", 32), ("compute", 2), ("input", 2)]
    submission.random.shuffle(wanted)
    loops = []
    seed = submission.seed
    for kind, batch_size in wanted:
        while True:
            loop = workload("training_loop", seed=seed, batch_size=batch_size)
            seed += 1
            expected = submission.expected(loop)
            if expected["bottleneck"] == kind:
                break
        loops.append((expected, loop))
    return [(expected, submission.call("name_the_bottleneck", loop)) for expected, loop in loops]


def check_ran(seen: Seen) -> None:
    assert seen.value in ANSWERS, _('Return "input" or "compute".')
    ran = seen.events("workload", phase="step")
    assert ran, _("The loop never ran. Call train(), or go through train.batches() and train.step() yourself.")


def read_too_early(seen: Seen) -> bool:
    """Whether a clock was read after a step before anyone had waited for the GPU."""
    steps = [event["n"] for event in seen.events("workload", phase="step")]
    seen_later = [event for event in seen.observed if event["what"] in ("clock_read", "wait")]
    firsts = [next((event["what"] for event in seen_later if event["n"] > step), "") for step in steps]
    return "clock_read" in firsts


@pytest.mark.points(1)
def test_answers_with_one_of_the_two_words(loops):
    """The answer is "input" or "compute", after the loop has run."""
    for _needs, seen in loops:
        check_ran(seen)


@pytest.mark.points(3)
def test_names_the_bottleneck_of_each_loop(loops):
    """The bottleneck of each of three loops is named."""
    for _needs, seen in loops:
        check_ran(seen)
    wrong = [(expected, seen) for expected, seen in loops if seen.value != expected["bottleneck"]]
    if not wrong:
        return
    expected, seen = wrong[0]
    kind, values = expected["bottleneck"], {"answer": seen.value, "busy": expected["share_busy"]}

    assert len(wrong) < len(loops), _(
        'You give each loop the other word. One for which you say "{answer}" keeps the GPU '
        "busy {busy:.0%} of the time: turn the answers around.",
        answer=values["answer"],
        busy=values["busy"],
    )
    profiled = bool(seen.events("profiler_start"))
    assert not (kind == "input" and profiled), mistake("gpu_time_counted_twice", **values)
    assert not (kind == "compute" and not profiled and read_too_early(seen)), mistake(
        "unsynchronised_breakdown", **values
    )
    answers = {loop.value for _, loop in loops}
    shares = [needs["share_busy"] for needs, _ in loops]
    assert len(answers) > 1, mistake(
        "same_answer_for_every_loop", answer=seen.value, least=min(shares), most=max(shares)
    )
    assert seen.value == kind, _(
        'The GPU was busy {busy:.0%} of the time in a loop for which you say "{value}".',
        busy=values["busy"],
        value=seen.value,
    )
