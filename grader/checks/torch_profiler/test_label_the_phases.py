"""train_step: each phase has a label of its own with all of its work inside, and the step trains as before."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from grader.api import Seen, approx, mistake, named, workload
from lab.language import _

STEPS = workload("labelled_step")
PHASES = ("data", "forward", "backward", "optimizer")
Told = dict[str, Any]


@pytest.fixture(scope="module")
def weights(submission) -> list[float]:
    """What the weights have to be before training and after each batch."""
    return submission.expected(STEPS)["weights"]


@pytest.fixture(scope="module")
def seen(submission, weights) -> Seen:
    return submission.call("profile_steps", STEPS, then=STEPS)


@pytest.fixture(scope="module")
def told(seen) -> Told:
    """What the recorded steps hold."""
    assert "labels" in seen.then, _(
        "profile_steps returned {value}. Leave it as it came: it returns the finished profiler.",
        value=named(seen.value),
    )
    assert recorded_steps(seen), _("No step was recorded. Leave profile_steps as it came.")
    in_profile = Counter(label["name"] for label in seen.then["labels"])
    entered = Counter(event["name"] for event in seen.events("label", phase="entered"))
    for phase in PHASES:
        assert in_profile[phase] <= entered[phase], _(
            'The profile has the label "{phase}" {in_profile} times; your code opened it '
            "{entered} times. Leave the profile's events as they were recorded.",
            phase=phase,
            in_profile=in_profile[phase],
            entered=entered[phase],
        )
    return seen.then


def recorded_steps(seen: Seen) -> list[int]:
    """The forward passes that began while the profiler was on, by their place among all that was seen."""
    starts, stops = (seen.events(f"profiler_{what}") for what in ("start", "stop"))
    if not starts or not stops:
        return []
    return [event["n"] for event in seen.events("workload") if starts[-1]["n"] < event["n"] < stops[-1]["n"]]


def kernels(told: Told, *, phase: str | None = None, outside: bool = False) -> int:
    """How many kernels of this phase, or of all, there were; or only those outside the labels that were asked for."""
    return sum(
        work["kernels"]
        for work in told["work"]
        if phase in (None, work["phase"]) and not (outside and set(work["labels"]) & set(PHASES))
    )


def check_is_labelled(seen: Seen, told: Told) -> None:
    """Whether each phase has its label, once per step."""
    steps, labels = len(recorded_steps(seen)), Counter(label["name"] for label in told["labels"])
    entered = {event["name"] for event in seen.events("label", phase="entered")}
    made = {event["name"] for event in seen.events("label", phase="made")}
    missing = [phase for phase in PHASES if not labels[phase]]
    for phase in missing:
        assert phase not in made - entered, mistake("label_never_entered", label=phase)
    others = [name for name in labels if name not in PHASES]
    for phase in missing:
        varied = [name for name in others if phase in name.lower()]
        assert len(varied) < 2, mistake("label_per_step", label=phase, first=varied[0], second=varied[1])
    left_out = [phase for phase in missing if not any(phase in name.lower() for name in others)]
    assert not left_out or len(others) >= len(missing), mistake(
        "phase_left_out", label=left_out[0], outside=kernels(told, outside=True), kernels=kernels(told)
    )
    assert not missing, _(
        'No label is called "{missing}". Yours are called {list}. Use the names of the task, in small letters.',
        missing=missing[0],
        list=", ".join(map(repr, sorted(labels))),
    )
    for phase in PHASES:
        assert labels[phase] == steps, _(
            'The label "{phase}" was opened {labels} times in {steps} steps. Open it once in each.',
            phase=phase,
            labels=labels[phase],
            steps=steps,
        )


@pytest.mark.points(1)
def test_trains_as_before(seen, weights):
    """The step trains as it did without labels."""
    calls, weight = seen.then["calls"], seen.then["weight"]
    assert 0 < calls < len(weights), _(
        "The model ran {calls} times for {count} batches. Train once on each.", calls=calls, count=len(weights) - 1
    )
    assert weight != approx(weights[0], rel=1e-6), mistake("gradients_cleared_too_late", steps=calls)
    assert weight == approx(weights[calls], rel=1e-3), _(
        "The weights aren't those that the step made before. Put labels around its lines and change nothing else."
    )


@pytest.mark.points(1)
def test_labels_each_phase_once(seen, told):
    """Each phase has its label, once per step."""
    check_is_labelled(seen, told)


@pytest.mark.points(2)
def test_each_label_holds_its_phase(seen, told):
    """Each label holds the work of its phase, all of it and no other."""
    check_is_labelled(seen, told)
    for label in told["labels"]:
        around = [name for name in label["inside"] if name in PHASES]
        assert label["name"] not in PHASES or not around, mistake(
            "labels_nested", inner=label["name"], outer=around[-1] if around else ""
        )
    for phase in PHASES:
        elsewhere: Counter[str] = Counter()
        for work in told["work"]:
            if work["phase"] == phase:
                elsewhere.update({name: work["kernels"] for name in work["labels"] if name in PHASES and name != phase})
        for label, count in elsewhere.items():
            raise AssertionError(mistake("phase_under_another_label", label=label, phase=phase, kernels=count))
    for phase in PHASES:
        outside, of_all = kernels(told, phase=phase, outside=True), kernels(told, phase=phase)
        assert not outside, mistake("work_outside_its_label", outside=outside, kernels=of_all, label=phase)


@pytest.mark.points(1)
def test_does_not_wait_in_the_step(seen, told):
    """The step doesn't wait for the GPU."""
    steps, stop = recorded_steps(seen), seen.events("profiler_stop")[-1]["n"]
    waits = [event for event in seen.events("wait") if steps[0] < event["n"] < stop]  # one is profile_steps's own
    assert len(waits) < len(steps), mistake("synchronised_in_each_phase", waits=len(waits), steps=len(steps))
