"""train: the same training, at least 1.5 times as fast."""

from collections import Counter

import pytest

from grader.api import Seen, mistake, named, workload
from lab.language import _

SPEEDUP = 1.5
SCALED = 2.0  # times the loss; a scaler begins with 65536
MOVED = 0.5  # of how far a parameter moves; the kind of float makes less than 1 % of it
SAME = 0.01  # of what the losses fall by; autocast differs by 0.03 %, gradients lost in float16 by 4 % and more


@pytest.fixture(scope="module")
def plain(submission) -> dict:
    """The plain loop, where the submission doesn't run."""
    return submission.expected(workload("compute_bound"))


@pytest.fixture(scope="module")
def seen(submission, plain) -> Seen:
    """The submission's loop, with the losses that it returned."""
    parts = [workload("compute_bound", part=part) for part in ("model", "loss_of", "optimizer", "batches")]
    return submission.call("train", *parts, then=workload("compute_bound"))


def phases(seen: Seen, phase: str) -> list[dict]:
    return seen.events("workload", phase=phase)


def dtypes(seen: Seen) -> set[str]:
    """What the first layer's products were computed in."""
    return {event["dtype"] for event in phases(seen, "forward")}


def check_trains_on_every_batch(seen: Seen, plain: dict) -> None:
    batches, steps = len(plain["losses"]), len(phases(seen, "optimizer_step"))
    rows = sum(event["rows"] for event in phases(seen, "forward"))
    assert steps >= batches, mistake("steps_skipped", steps=steps, batches=batches)
    assert rows >= plain["rows"] * batches, mistake("part_of_the_batch", rows=rows, expected=plain["rows"] * batches)
    away = [event for event in phases(seen, "forward") if event["device"] != "cuda"]
    assert not away, _("Your loop computes on the CPU. It has to train on the GPU: here its products are made faster.")
    losses = seen.then["losses"]
    assert losses, _("You returned {value}. Return the list of losses, one for each batch.", value=named(seen.value))
    assert len(losses) == batches, _(
        "You returned {count} losses for {batches} batches.", count=len(losses), batches=batches
    )
    assert None not in losses, _("Return the losses as numbers, or as tensors with one value each.")


def check_same_losses(seen: Seen, plain: dict) -> None:
    check_trains_on_every_batch(seen, plain)
    low = [dtype for dtype in seen.then["dtypes"] if dtype != "float32"]
    assert not low, mistake("weights_halved", dtype=low[0] if low else "")
    expected = plain["losses"]
    fall = expected[0] - expected[-1]
    losses = seen.then["losses"]
    broken = next((step for step, loss in enumerate(losses, 1) if type(loss) is not float), None)
    assert broken is None, _(
        "The loss of step {broken} is {losses}. Train as before.", broken=broken, losses=named(losses[broken - 1])
    )
    off = max(abs(loss - wanted) / fall for loss, wanted in zip(losses, expected, strict=True))
    stuck = off > SAME and dtypes(seen) != {"float32"} and max(losses) - min(losses) < fall / 20
    assert not stuck, mistake("autocast_around_the_loop", steps=len(losses))
    times = losses[0] / expected[0] if losses else 1.0
    assert times < SCALED, _(
        "Your first loss is {times:.0f} times what it is in the plain loop. Return each loss "
        "as it was before it was scaled up.",
        times=times,
    )
    assert off <= SAME or "float16" not in dtypes(seen), mistake("gradients_lost_in_float16", off=off)
    assert off <= SAME, _(
        "A loss differs by {off:.1%} of what the losses fall by ({fall:.2e}). Train as "
        "before: the same batches, the same steps, and each loss as it was before its step.",
        off=off,
        fall=fall,
    )
    pairs = zip(seen.then["moved"], plain["moved"], strict=True)
    still = [type(moved) is not float or moved < MOVED * wanted for moved, wanted in pairs]
    assert not any(still), _(
        "{still} of the model's {count} parameters move less than before. Train all of them in every step.",
        still=sum(still),
        count=len(still),
    )


def loop_s(seen: Seen) -> float:
    """How long the loop took, and never less than what one stream of the GPU did in it."""
    trained = phases(seen, "trained")[-1]
    streams: Counter[int] = Counter()
    for launch in seen.events("launch"):
        if launch["n"] < trained["n"]:
            streams[launch["stream"]] += launch["end_s"] - launch["begin_s"]
    return max(trained["at_s"], *streams.values(), 1e-9)


@pytest.mark.points(1)
def test_trains_on_every_batch(seen, plain):
    """Every batch is trained on, and its loss is returned."""
    check_trains_on_every_batch(seen, plain)


@pytest.mark.points(2)
def test_has_the_same_losses(seen, plain):
    """The losses are the same within 1 %, and the weights stay in float32."""
    check_same_losses(seen, plain)


@pytest.mark.points(3)
def test_is_faster(seen, plain):
    """With them, the loop is at least 1.5 times as fast."""
    check_same_losses(seen, plain)
    speedup = plain["loop_s"] / loop_s(seen)
    if speedup >= SPEEDUP:
        return
    single = dtypes(seen) == {"float32"}
    around_loss = single and any(event["autocast"] for event in phases(seen, "loss"))
    assert not around_loss, mistake("autocast_around_the_loss", speedup=speedup)
    assert not single, mistake("products_in_float32", speedup=speedup)
    assert speedup >= SPEEDUP, _(
        "Your loop is {speedup:.1f} times as fast as before. It should be 1.5 times as fast.", speedup=speedup
    )
