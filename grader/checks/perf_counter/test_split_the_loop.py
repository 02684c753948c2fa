"""split_the_loop: what loading and computing take in a whole loop, and that they add up to it."""

import pytest

from grader.api import Seen, approx, mistake, named, other_unit, workload
from lab.language import _

LOOP = workload("parts_of_a_loop")
KEYS = ["computing_s", "loading_s", "total_s"]
# Loading all batches but the first takes little more than half as long as loading all.
NEAR = 0.2
ADD_UP = 0.05


@pytest.fixture(scope="module")
def expected(submission) -> dict[str, float]:
    """What the parts take, measured apart."""
    return submission.expected(LOOP)


@pytest.fixture(scope="module")
def seen(submission, expected) -> Seen:
    return submission.call("split_the_loop", LOOP)


def durations_s(seen: Seen, part: str) -> list[float]:
    """How long each call of this part took, by what the loop itself recorded."""
    begins, ends = (seen.events("workload", part=part, phase=phase) for phase in ("begin", "end"))
    return [end["at_s"] - begin["at_s"] for begin, end in zip(begins, ends, strict=False)]


@pytest.fixture(scope="module")
def took(seen, expected) -> dict[str, float]:
    """What the parts took when the submission ran, for one pass through the batches."""
    count = expected["batches"]
    loads_s, trains_s = durations_s(seen, "load"), durations_s(seen, "train")
    assert len(trains_s) >= count, _(
        "{count} of {count2} batches were trained on. Train on all of them.", count=len(trains_s), count2=count
    )
    assert loads_s, _("No batch of the loop's was loaded. Go through loop.batches and train on each.")
    passes = len(loads_s) / count
    return {
        "loading_s": sum(loads_s) / passes,
        "computing_s": sum(trains_s) * count / len(trains_s),
        "first_load_s": loads_s[0],
        "last_load_s": loads_s[-1],
        "last_train_s": trains_s[-1],
    }


@pytest.fixture(scope="module")
def parts(seen, took) -> dict[str, float]:
    """The three numbers that came back."""
    assert seen.clocks() != {"time.process_time"}, mistake("clock_that_stops_while_waiting")
    assert type(seen.value) is dict, _("You returned {value}. Return a dictionary of seconds.", value=named(seen.value))
    assert sorted(seen.value) == KEYS, _('The keys should be "loading_s", "computing_s" and "total_s", nothing else.')
    for key, value in seen.value.items():
        assert type(value) in (int, float), _(
            'Under "{key}" is {value}, not a number of seconds.', key=key, value=named(value)
        )
    loading, expected_s = seen.value["loading_s"], took["loading_s"]
    unit = other_unit(loading, expected_s)
    assert unit is None, mistake("other_unit_than_seconds", reported=float(loading), unit=unit, expected=expected_s)
    return seen.value


def check_parts_are_of_all_batches(parts: dict[str, float], took: dict[str, float]) -> None:
    """No part is that of one batch. All trainings take as long, so there the last one is also their average."""
    loading_is_right = parts["loading_s"] == approx(took["loading_s"], rel=NEAR)
    key, last_s = ("computing_s", took["last_train_s"]) if loading_is_right else ("loading_s", took["last_load_s"])
    assert parts[key] != approx(last_s, rel=NEAR), mistake(
        "only_the_last_batch", key=key, reported_ms=parts[key] * 1000, whole_ms=took[key] * 1000
    )


def check_nothing_is_timed_twice(parts: dict[str, float]) -> None:
    sum_s = parts["loading_s"] + parts["computing_s"]
    assert sum_s <= (1 + ADD_UP) * parts["total_s"] or parts["total_s"] <= 0, mistake(
        "parts_overlap", sum_ms=sum_s * 1000, total_ms=parts["total_s"] * 1000
    )


def check_loading(parts: dict[str, float], took: dict[str, float]) -> None:
    values = {"reported_ms": parts["loading_s"] * 1000, "loading_ms": took["loading_s"] * 1000}
    assert parts["loading_s"] > 0.1 * took["loading_s"], mistake("next_not_timed", **values)
    without_first_s = took["loading_s"] - took["first_load_s"]
    assert parts["loading_s"] != approx(without_first_s, rel=NEAR), mistake(
        "first_batch_not_counted", first_ms=took["first_load_s"] * 1000, **values
    )
    check_parts_are_of_all_batches(parts, took)
    check_nothing_is_timed_twice(parts)
    check_adds_up(parts)
    assert parts["loading_s"] == approx(took["loading_s"], rel=NEAR), _(
        "You report {reported_ms:.0f} ms for loading; all batches took {loading_ms:.0f} ms.",
        reported_ms=values["reported_ms"],
        loading_ms=values["loading_ms"],
    )


def check_adds_up(parts: dict[str, float]) -> None:
    sum_s, total_s = parts["loading_s"] + parts["computing_s"], parts["total_s"]
    assert sum_s >= (1 - ADD_UP) * total_s, mistake(
        "parts_leave_a_gap", sum_ms=sum_s * 1000, total_ms=total_s * 1000, gap_ms=(total_s - sum_s) * 1000
    )


@pytest.mark.points(2)
def test_loading_is_what_the_loop_waits_for_batches(parts, took, expected):
    """Loading is all the time in which the loop waits for batches."""
    check_loading(parts, took)
    assert parts["loading_s"] >= 0.7 * expected["epoch_loads_s"], _(
        "You report {loading_s:.0f} ms for loading. Measured apart from your code, it takes {epoch_loads_s:.0f} ms.",
        loading_s=parts["loading_s"] * 1000,
        epoch_loads_s=expected["epoch_loads_s"] * 1000,
    )


@pytest.mark.points(1)
def test_computing_is_what_training_takes(parts, took, expected):
    """Computing is the training on all batches."""
    check_loading(parts, took)
    computing_s = expected["train_s"] * expected["batches"]
    assert parts["computing_s"] == approx(took["computing_s"], rel=NEAR), _(
        "You report {computing_s:.0f} ms for computing; training took {computing_s2:.0f} ms.",
        computing_s=parts["computing_s"] * 1000,
        computing_s2=took["computing_s"] * 1000,
    )
    assert parts["computing_s"] >= 0.7 * computing_s, _(
        "You report {computing_s:.0f} ms for computing. Measured apart from your code, it takes {computing_s2:.0f} ms.",
        computing_s=parts["computing_s"] * 1000,
        computing_s2=computing_s * 1000,
    )


@pytest.mark.points(2)
def test_parts_add_up_to_the_whole_loop(parts, took):
    """Loading and computing add up to the whole loop."""
    check_loading(parts, took)
    check_nothing_is_timed_twice(parts)
    check_adds_up(parts)
    whole_s = took["loading_s"] + took["computing_s"]
    assert parts["total_s"] >= (1 - ADD_UP) * whole_s, _(
        "You report {total_s:.0f} ms for the whole loop; loading and training took {whole_s:.0f} ms.",
        total_s=parts["total_s"] * 1000,
        whole_s=whole_s * 1000,
    )
