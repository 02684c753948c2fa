"""train_step: the same step in at most 60 % of the memory."""

from math import isfinite

import pytest

from grader.api import Seen, approx, mistake, named, workload
from lab.language import _

MIB = 2**20
ALL_AT_ONCE = 0.9  # of the plain step's peak
SAME = 2e-4  # of a parameter's change; another order of adding up makes 1e-5, 16 bits more than 3e-3


@pytest.fixture(scope="module")
def plain(submission) -> dict:
    """The plain step, where the submission doesn't run."""
    return submission.expected(workload("memory_budget"))


@pytest.fixture(scope="module")
def seen(submission, plain) -> Seen:
    """The submission's step, with what it did to the weights."""
    parts = [workload("memory_budget", part=part) for part in ("model", "optimizer", "inputs", "targets")]
    return submission.call("train_step", *parts, then=workload("memory_budget"))


def phases(seen: Seen, phase: str) -> list[dict]:
    return seen.events("workload", phase=phase)


def rows_of(seen: Seen) -> list[int]:
    return [event["rows"] for event in phases(seen, "forward")]


def ratio(changes: list[dict], expected: list[dict]) -> float:
    """How many times as far as expected the weights moved, in the expected direction."""
    pairs = [
        pair
        for one, other in zip(changes, expected, strict=True)
        for pair in zip(one["along"], other["along"], strict=True)
    ]
    pairs = [(moved, wanted) for moved, wanted in pairs if type(moved) is float and isfinite(moved)]
    return sum(moved * wanted for moved, wanted in pairs) / sum(wanted**2 for _, wanted in pairs) if pairs else 0.0


def difference(changes: list[dict], expected: list[dict]) -> float:
    """The largest difference of a parameter's change, in parts of that change."""
    return max(
        max(
            abs(moved - wanted) / other["norm"] if type(moved) is float and isfinite(moved) else float("inf")
            for moved, wanted in zip(one["along"], other["along"], strict=True)
        )
        for one, other in zip(changes, expected, strict=True)
    )


def check_trains_on_the_whole_batch(seen: Seen, plain: dict) -> None:
    moved = [change["norm"] for change in seen.then["changes"]]
    steps, rows = len(phases(seen, "optimizer_step")), rows_of(seen)
    assert any(moved), mistake("weights_not_trained", steps=steps)
    assert sum(rows) >= plain["rows"], mistake("part_of_the_batch", rows=sum(rows), expected=plain["rows"])
    assert steps <= 1, mistake("optimizer_step_per_part", steps=steps)
    assert steps, _("optimizer.step() was never called. Let it change the weights, once.")
    away = [event for event in phases(seen, "forward") if event["device"] != "cuda"]
    assert not away, _(
        "Your step computes on the CPU. It has to train on the GPU: what backward needs may wait elsewhere."
    )


def check_same_result(seen: Seen, plain: dict) -> None:
    check_trains_on_the_whole_batch(seen, plain)
    changes, expected, rows = seen.then["changes"], plain["changes"], rows_of(seen)
    forwards = [event["n"] for event in phases(seen, "forward")]
    dropped = [event for event in phases(seen, "zero_grad") if forwards[0] < event["n"] < forwards[-1]]
    times, error = ratio(changes, expected), difference(changes, expected)
    parts = len(phases(seen, "gradient"))
    if error > SAME:
        assert not dropped, mistake("gradients_dropped_between_parts", times=len(dropped))
        assert changes[0]["norm"] or not changes[-1]["norm"], mistake("checkpoint_without_gradients")
        assert times < 1.5, mistake("loss_not_divided", times=times, parts=parts)
        low = {event["dtype"] for event in phases(seen, "forward")} - {"float32"}
        assert not low, mistake("sixteen_bits_for_the_budget", dtype=min(low, default=""), error=error)
        assert len(set(rows)) == 1 or times < 0.5, mistake(
            "parts_weighted_alike", rows=max(rows), fewer=min(rows), error=error
        )
    assert error <= SAME, _(
        "Your step changes a weight by {error:.1%} less, more or otherwise than the plain step. It should be the same.",
        error=error,
    )
    loss = seen.then["loss"]
    assert type(loss) is float, _(
        "You returned {what}. Return the loss of the batch.", what=named(seen.value if loss is None else loss)
    )
    assert loss == approx(plain["loss"], rel=1e-3) or len(set(rows)) == 1, mistake(
        "loss_of_one_part", reported=loss, expected=plain["loss"]
    )
    assert loss == approx(plain["loss"], rel=1e-3), _(
        "You return {loss:.4f}; the loss of the whole batch is {loss2:.4f}.", loss=loss, loss2=plain["loss"]
    )


@pytest.mark.points(1)
def test_trains_on_the_whole_batch(seen, plain):
    """All rows of the batch are trained on, with one step of the optimizer."""
    check_trains_on_the_whole_batch(seen, plain)


@pytest.mark.points(2)
def test_has_the_same_result(seen, plain):
    """The weights change as before, and the loss of the whole batch is returned."""
    check_same_result(seen, plain)


@pytest.mark.points(3)
def test_fits_the_budget(seen, plain):
    """The peak of the step falls to 60 % at most."""
    check_same_result(seen, plain)
    peaks = [seen.then["peak_bytes"], *(event["peak_bytes"] for event in seen.events("peak_reset"))]
    peak, budget, rows = max(peaks), plain["budget_bytes"], rows_of(seen)
    if peak <= budget:
        return
    values = {"peak_mib": peak / MIB, "budget_mib": budget / MIB}
    assert not seen.events("cache_emptied"), mistake("cache_emptied_for_the_peak", **values)
    all_at_once = peak > ALL_AT_ONCE * plain["peak_bytes"]  # with half of them at a time there would be less
    again = any(event["in_backward"] for event in phases(seen, "forward"))
    assert not (all_at_once and again), mistake("recomputed_in_one_piece", **values)
    one_backward = len(set(rows)) > 1 and len(phases(seen, "gradient")) == 1
    assert not one_backward, mistake("one_backward_for_all_parts", parts=len(rows), **values)
    assert not all_at_once, mistake("all_activations_at_once", **values)
    assert peak <= budget, _(
        "The peak of your step is {peak_mib:.1f} MiB; the budget is {budget_mib:.1f} MiB. "
        "The way is right: go further, with smaller parts.",
        peak_mib=values["peak_mib"],
        budget_mib=values["budget_mib"],
    )
