"""bottleneck: six loops, each limited by something else, are told apart by measuring them."""

import pytest

from grader.api import Seen, mistake, named, workload
from lab.language import _

WORDS = ("input", "copies", "sync", "launch", "compute", "memory")
# What people say of a loop that is limited by something else. The first that is found gets its explanation.
CONFUSED = {
    ("copies", "compute"): "copies_counted_as_kernels",
    ("memory", "compute"): "busy_so_compute",
    ("compute", "sync"): "wait_for_a_busy_gpu",
    ("memory", "sync"): "wait_for_a_busy_gpu",
    ("copies", "input"): "copies_blamed_on_the_loader",
    ("sync", "launch"): "gaps_after_host_reads",
    ("sync", "input"): "gaps_after_host_reads",
    ("sync", "compute"): "gaps_after_host_reads",
    ("launch", "input"): "gaps_without_late_data",
    ("launch", "sync"): "gaps_without_late_data",
    ("launch", "compute"): "many_kernels_taken_for_much_work",
}


@pytest.fixture(scope="module")
def loops(submission) -> list[tuple[dict, Seen]]:
    """Six loops in an order drawn from the seed, each with what limits it, which isn't told where they run."""
    drawn = submission.expected(workload("six_loops"))
    return [(loop, submission.call("bottleneck", workload("six_loops", seed=loop["seed"]))) for loop in drawn]


def check_ran(seen: Seen) -> None:
    assert seen.value in WORDS, _(
        "You returned {what}. Return one of {list}.",
        what=named(seen.value) if type(seen.value) is not str else repr(seen.value[:40]),
        list=", ".join(WORDS),
    )
    ran = seen.events("workload", phase="step")
    assert ran, _("The loop never ran. Call train(), or go through train.batches() and train.step() yourself.")


@pytest.mark.points(1)
def test_answers_with_one_of_the_six_words(loops):
    """The answer is one of the six words, after the loop has run."""
    for _needs, seen in loops:
        check_ran(seen)


@pytest.mark.points(5)
def test_names_what_limits_each_of_six_loops(loops, submission):
    """What limits it is named for each of six loops."""
    for _needs, seen in loops:
        check_ran(seen)
    facts = {
        loop["kind"]: submission.expected(workload("six_loops", seed=loop["seed"], measure=True))
        for loop, seen in loops
        if seen.value != loop["kind"]
    }
    if not facts:
        return
    answers = {loop["kind"]: seen.value for loop, seen in loops}
    shares = [shown["busy"] for shown in facts.values()]
    assert len(set(answers.values())) > 1, mistake(
        "same_answer_for_every_loop", answer=answers["input"], least=min(shares), most=max(shares)
    )
    for (kind, answer), known in CONFUSED.items():
        assert answers[kind] != answer, mistake(known, answer=answer, **facts.get(kind, {}))
    kind, shown = next(iter(facts.items()))
    assert not facts, _(
        '{count} of 6 loops got another word. In one for which you say "{answers}", kernels '
        "took {busy:.0%} of the time, copies to the GPU {copying:.0%}, the loader "
        "{loading:.0%}; each step read {reads:.0f} values and launched {kernels:.0f} kernels.",
        count=len(facts),
        answers=answers[kind],
        busy=shown["busy"],
        copying=shown["copying"],
        loading=shown["loading"],
        reads=shown["reads"],
        kernels=shown["kernels"],
    )
