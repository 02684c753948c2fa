"""make_loader: the same batches in the same order, in at most half the time."""

import pytest

from grader.api import Seen, mistake, named, workload
from lab.language import _

SPEEDUP = 2.0
READ_WHOLLY = 0.9


@pytest.fixture(scope="module")
def plain(submission) -> dict:
    """An epoch with a plain loader, where the submission doesn't run."""
    return submission.expected(workload("slow_storage"))


@pytest.fixture(scope="module")
def seen(submission, plain) -> Seen:
    """At least two epochs with the loader that came back."""
    return submission.call("make_loader", workload("slow_storage"), then=workload("slow_storage"))


@pytest.fixture(scope="module")
def epochs(seen) -> dict:
    assert seen.then["is_loader"], _(
        "You returned {value}. Return a torch.utils.data.DataLoader.", value=named(seen.value)
    )
    assert seen.then["first"], _("Your loader hands out no batch.")
    return seen.then


def labels_of(batches: list[list[int]]) -> list[int]:
    """The labels of an epoch, in order; each batch ends with the sum of its pixels."""
    return [label for batch in batches for label in batch[:-1]]


def size_of(batches: list[list[int]]) -> int:
    return max((len(batch) - 1 for batch in batches), default=0)


def check_same_batches(epochs: dict, plain: dict) -> None:
    expected = plain["batches"]
    for batches in (epochs["first"], epochs["second"]):
        assert size_of(batches) == size_of(expected), mistake(
            "batch_size_changed", size=size_of(batches), expected=size_of(expected)
        )
        got, wanted = labels_of(batches), labels_of(expected)
        if len(got) < len(wanted):
            assert got != wanted[: len(got)], mistake(
                "last_batch_dropped", missing=len(wanted) - len(got), images=len(wanted)
            )
        assert len(got) == len(wanted), _(
            "{count} images came in an epoch instead of {count2}.", count=len(got), count2=len(wanted)
        )
        assert got == wanted or sorted(got) != sorted(wanted), mistake("batches_shuffled")
        assert batches == expected, _("Some batches hold other images than before. Hand out what the data set holds.")


@pytest.mark.points(1)
def test_returns_a_loader(epochs):
    """A DataLoader is returned, and it hands out batches."""
    assert epochs["second"], _("Your loader hands out no batch in the second epoch.")


@pytest.mark.points(2)
def test_hands_out_the_same_batches(epochs, plain):
    """The same batches come in the same order, in every epoch."""
    check_same_batches(epochs, plain)


@pytest.mark.points(2)
def test_feeds_the_gpu_twice_as_fast(seen, epochs, plain):
    """With them, an epoch takes at most half the time."""
    check_same_batches(epochs, plain)
    images = len(labels_of(plain["batches"]))
    read = sum(waited_s >= READ_WHOLLY * plain["read_s"] for waited_s in epochs["waited_s"])
    assert read == images, _(
        "{images} of {images2} images came without the {read_s:.0f} ms that it takes to read "
        "one from the storage. Leave the storage as it is: read from it earlier, side by "
        "side, or only once.",
        images=images - read,
        images2=images,
        read_s=plain["read_s"] * 1000,
    )
    speedup = plain["epoch_s"] / max(epochs["epoch_s"], 1e-9)
    if speedup >= SPEEDUP:
        return
    loader = seen.value["$loader"]
    workers = loader.get("num_workers", 0)
    values = {"speedup": speedup, "workers": workers}
    assert workers > 1 or not loader.get("pin_memory"), mistake("pinned_memory_alone", **values)
    own_data_set = loader.get("dataset") != "SlowImages"
    dies = own_data_set and workers > 0 and not loader.get("persistent_workers")
    assert not dies, mistake("cache_dies_with_the_workers", **values)
    assert workers > 1, mistake("one_reader", **values)
    start_again = "" if loader.get("persistent_workers") else _(" And let them stay: persistent_workers=True.")
    assert speedup >= SPEEDUP, _(
        "An epoch was {speedup:.1f} times as fast as before, with {workers} workers. It "
        "should be twice as fast. Reading is waiting here, so more workers than processors "
        "still help.{start_again}",
        speedup=speedup,
        workers=workers,
        start_again=start_again,
    )
