"""train: the same result, the same log and the same guard, without a wait in every step."""

from collections import Counter

import pytest

from grader.api import Seen, SubmissionFailed, approx, mistake, named, workload
from lab.language import N_, _

TRAINING = workload("watched_training")
BROKEN = workload("watched_training", breaks=True)
KEYS = ["lowest_loss", "mean_loss", "waits"]
BATCH_COPIES, SET_UP = 2, -2
NEAR = 2e-3  # sums in another order, on whatever GPU

# What waits in every step, if it is the only kind that is left.
KINDS = {
    "synchronize_in_every_step": {
        "torch.cuda.synchronize",
        "torch.accelerator.synchronize",
        "torch.cuda.Stream.synchronize",
        "torch.cuda.Event.synchronize",
    },
    "blocking_copy_in_every_step": {N_("Tensor.to (to the GPU)"), "Tensor.cuda", "Tensor.copy_"},
    "unread_text_waits": {"Tensor.__format__", "Tensor.__repr__", "Tensor.__str__"},
    "branch_on_a_gpu_value": {
        *("Tensor.__bool__", "Tensor.__contains__"),
        *("torch.equal", "torch.allclose", "torch.is_nonzero", "Tensor.equal", "Tensor.allclose", "Tensor.is_nonzero"),
    },
    "another_read_for_item": {
        *(N_("Tensor.copy_ (to the CPU)"), N_("Tensor.__setitem__ (to the CPU)")),
        *("Tensor.cpu", "Tensor.to", "Tensor.tolist", "Tensor.numpy", "Tensor.__array__"),
        *("Tensor.__float__", "Tensor.__int__", "Tensor.__index__", "Tensor.nonzero"),
    },
}


@pytest.fixture(scope="module")
def expected(submission) -> dict:
    """The loss of each step and the steps to be logged, where the submission doesn't run."""
    return submission.expected(TRAINING)


@pytest.fixture(scope="module")
def trained(submission, expected) -> Seen:
    seen = submission.call("train", TRAINING)
    steps = seen.events("workload", phase="step")
    count = len(expected["losses"])
    assert len(steps) == count, _(
        "loop.step() was called {count} times. Train once on each of {count2} batches.", count=len(steps), count2=count
    )
    assert type(seen.value) is dict, _("You returned {value}. Return a dictionary.", value=named(seen.value))
    assert sorted(seen.value) == KEYS, _('The keys should be "mean_loss", "lowest_loss" and "waits", nothing else.')
    for key, value in seen.value.items():
        assert type(value) in (int, float), _('Under "{key}" is {value}, not a number.', key=key, value=named(value))
    return seen


@pytest.fixture(scope="module")
def waits(trained) -> list[tuple[int, str]]:
    """Each wait: the step in which it was, and the call that waited.

    For the copies of the first batch and what comes after them it is -1, for what is set up before that SET_UP.
    """
    first_step = trained.events("workload", phase="step")[0]["n"]
    copies = [event["n"] for event in trained.events("copy_to_gpu") if event["n"] < first_step]
    loop_begins = copies[-BATCH_COPIES] if len(copies) >= BATCH_COPIES else first_step
    found, step = [], SET_UP
    for event in trained.observed:
        if event["n"] == loop_begins:
            step = -1
        if event["what"] == "workload" and event["phase"] == "step":
            step = event["step"]
        elif event["what"] == "wait":
            found.append((step, event["call"]))
        elif event["what"] == "copy_to_gpu" and event["blocking"]:
            # The batch of the next step; Tensor.to is also what goes the other way.
            found.append((step, "Tensor.to (to the GPU)" if event["call"] == "Tensor.to" else event["call"]))
    return found


def counted(calls: list[str]) -> str:
    by_call = Counter(calls).most_common()
    return ", ".join(_("{number} by {call}", number=number, call=_(call)) for call, number in by_call)


def check_waits_only_where_it_logs(waits: list[tuple[int, str]], expected: dict) -> None:
    last = len(expected["losses"]) - 1
    steps = {step for step, _call in waits if 0 <= step < last}
    if len(steps) <= len(expected["logged"]):
        return
    calls = [call for step, call in waits if 0 <= step < last and step not in expected["logged"]]
    values = {"waiting": len(steps), "steps": last + 1, "calls": counted(calls)}
    for mistake_id, kind in KINDS.items():
        assert not set(calls) <= kind, mistake(mistake_id, **values)
    assert len(steps) <= len(expected["logged"]), mistake("waits_in_every_step", **values)


@pytest.mark.points(1)
def test_gives_the_same_result(trained, expected):
    """The mean and the lowest loss are those of the loop as it was."""
    losses = expected["losses"]
    for key, right in (("mean_loss", sum(losses) / len(losses)), ("lowest_loss", min(losses))):
        value = trained.value[key]
        assert value == approx(right, rel=NEAR), _(
            "Your {key} is {value:.5g}. As the loop was, it was {right:.5g}.", key=key, value=value, right=right
        )


@pytest.mark.points(4)
def test_waits_only_in_steps_that_log(waits, expected):
    """The host waits only in steps that log, and after the last one."""
    check_waits_only_where_it_logs(waits, expected)


@pytest.mark.points(1)
def test_logs_as_before(trained, expected):
    """The loss of every eighth step is logged."""
    logged = {event["step"]: event["loss"] for event in trained.events("workload", phase="log")}
    wanted = {step: expected["losses"][step] for step in expected["logged"]}
    missing = sorted(set(wanted) - set(logged))
    assert not missing, mistake("logging_dropped", missing=", ".join(map(str, missing)), wanted=len(wanted))
    for step, loss in wanted.items():
        assert logged[step] is not None, _("What you log as the loss of step {step} isn't a finite number.", step=step)
        assert logged[step] == approx(loss, rel=NEAR), _(
            "You log {logged:.5g} as the loss of step {step}. It was {loss:.5g}.",
            logged=logged[step],
            step=step,
            loss=loss,
        )


@pytest.mark.points(1)
def test_still_stops_when_the_loss_is_no_number(submission, trained):
    """A loss that isn't a number still ends the training with an exception."""
    try:
        seen = submission.call("train", BROKEN)
    except SubmissionFailed as failed:
        if failed.status == "error":  # an exception: as it should be
            return
        raise
    value = seen.value.get("mean_loss") if type(seen.value) is dict else seen.value
    returned = "nan" if value == {"$float": "nan"} else str(value)
    raise AssertionError(mistake("guard_dropped", returned=returned))


@pytest.mark.points(1)
def test_keeps_no_graphs(trained, expected):
    """No step's graph is kept for longer than the step."""
    graphs = trained.events("workload", phase="step")[-1]["graphs"]
    assert graphs <= len(expected["losses"]) / 2, mistake("graphs_kept", graphs=graphs, steps=len(expected["losses"]))


@pytest.mark.points(2)
def test_counts_the_waits_that_are_left(trained, waits, expected):
    """The number of waits is the number of those that are left."""
    check_waits_only_where_it_logs(waits, expected)
    said, calls = trained.value["waits"], [call for _, call in waits]
    set_up = sum(step == SET_UP for step, _ in waits)  # count or not
    assert said in range(len(calls) - set_up, len(calls) + 1), mistake(
        "waits_miscounted", said=said, seen=len(calls), calls=counted(calls)
    )
