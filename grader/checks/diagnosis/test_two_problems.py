"""changes: two problems of a loop are fixed one at a time, and each change is measured before and after."""

from dataclasses import dataclass

import pytest

from grader.api import Seen, approx, mistake, named, workload
from lab.language import _

SPEEDUP = 1.5  # of the loop without both problems; about 10 on an idle machine, and which calls it makes is known
KEYS = {"change", "before_s", "after_s"}


@dataclass(frozen=True)
class Run:
    """A run of some loop, as the lab saw it."""

    calls: float  # of the model, per step
    reads: float  # of values by the host, or lines of the log, per step, before the last step is launched
    logged: int
    recorded: bool
    run_s: float
    at_most_s: float  # from the end of the run before to the beginning of the next one
    losses: list
    change: float  # of the weights, as one number

    @property
    def problems(self) -> tuple[bool, bool]:
        return self.calls > 2, self.reads > 0.5


@pytest.fixture(scope="module")
def plain(submission) -> dict:
    """The loop as it is, where the submission doesn't run."""
    return submission.expected(workload("two_problems"))


@pytest.fixture(scope="module")
def seen(submission, plain) -> Seen:
    """The measurements that came back, with the runs that they come from."""
    return submission.call("changes", workload("two_problems"), then=workload("two_problems"))


@pytest.fixture(scope="module")
def runs(seen, plain) -> list[Run]:
    ends = seen.events("workload", phase="ran")
    assert ends, _("No loop was run to its end. Call job.run(loop) for each loop that you measure.")
    begun = seen.events("workload", phase="run")
    begins = [[event for event in begun if event["n"] < end["n"]][-1] for end in ends]  # a loop may have failed
    steps = len(plain["losses"])
    nexts = [event["at_s"] for event in (*begins[1:], *seen.events("workload", phase="finished"))]
    befores = [0.0, *(event["at_s"] for event in ends[:-1])]
    recording = [
        (start["n"], stop["n"])
        for start, stop in zip(seen.events("profiler_start"), seen.events("profiler_stop"), strict=False)
    ]
    runs = []
    for begin, end, before_s, next_s, told in zip(begins, ends, befores, nexts, seen.then, strict=True):
        inside = [event for event in seen.observed if begin["n"] < event["n"] < end["n"]]
        forwards = [event["n"] for event in inside if event.get("phase") == "forward"]
        last = max(forwards, default=0)
        lines = [event for event in inside if event.get("phase") == "log"]
        reads = sum(event["what"] == "host_read" and event["n"] < last for event in inside)
        runs.append(
            Run(
                calls=len(forwards) / steps,
                reads=max(reads, len(lines) - 1) / steps,
                logged=sum(event["values"] for event in lines),
                recorded=any(start < begin["n"] < stop for start, stop in recording),
                run_s=told["run_s"],
                at_most_s=next_s - before_s,
                losses=told["losses"],
                change=told["change"],
            )
        )
    return runs


def entries(seen: Seen) -> list[dict]:
    told = seen.value
    assert type(told) is list, _("You returned {told}. Return a list of two dictionaries.", told=named(told))
    assert len(told) == 2, _(
        "You returned a list of {count}. Return two dictionaries, one for each change.", count=len(told)
    )
    for entry in told:
        assert type(entry) is dict and set(entry) >= KEYS, _('Each needs "change", "before_s" and "after_s".')  # noqa: PT018
        assert type(entry["change"]) is str, _('Say in "change" what you did, as text.')
        for key in ("before_s", "after_s"):
            assert type(entry[key]) in (int, float), _(
                '"{key}" is {entry}. It should be seconds.', key=key, entry=named(entry[key])
            )
    return told


def check_fixed(runs: list[Run], plain: dict) -> None:
    """In the last run both problems are gone, and every run trains and logs as before."""
    expected = plain["losses"]
    for run in runs:
        assert run.logged >= len(expected), mistake("values_not_logged", logged=run.logged, steps=len(expected))
        right = [loss == approx(wanted, rel=1e-3) for loss, wanted in zip(run.losses, expected, strict=False)]
        assert len(run.losses) == len(expected), _(
            "A loop returned {count} losses for {count2} steps. Return one for each step.",
            count=len(run.losses),
            count2=len(expected),
        )
        at = right.index(False) if False in right else 0
        reported = run.losses[at] if type(run.losses[at]) is float else float("nan")
        assert all(right), mistake("results_not_the_same", step=at + 1, reported=reported, expected=expected[at])
        assert run.calls >= 1, _(
            "A loop called the model {calls:.1f} times per step. Train on every batch.", calls=run.calls
        )
        assert run.change == approx(plain["change"], rel=0.01), _(
            "In one of your runs the weights don't change as in the loop as it is. Train in each of them."
        )
    last = runs[-1]
    assert last.problems == (False, False), mistake("problem_left", calls=last.calls, reads=last.reads)
    speedup = plain["run_s"] / last.run_s
    assert speedup >= SPEEDUP, _(
        "Your last loop is {speedup:.1f} times as fast. Without both problems it is much faster.", speedup=speedup
    )


def kinds(runs: list[Run], plain: dict) -> list[list[Run]]:
    """The runs with both problems, with one, and with none."""
    check_fixed(runs, plain)
    both, none = [[run for run in runs if run.problems == (left, left)] for left in (True, False)]
    one = [run for run in runs if sum(run.problems) == 1]
    assert both, _("The loop as it is was never run. Measure it first.")
    assert one, mistake("two_changes_at_once")
    assert len({run.problems for run in one}) == 1, _("You measured each change alone, but not one after the other.")
    return [both, one, none]


@pytest.mark.points(1)
def test_hands_in_two_changes(seen):
    """Two changes are handed in, each with its seconds before and after."""
    entries(seen)


@pytest.mark.points(2)
def test_fixes_both_problems(seen, runs, plain):
    """The last loop has neither problem, and all losses are the same and logged."""
    check_fixed(runs, plain)


@pytest.mark.points(2)
def test_changes_one_thing_at_a_time(seen, runs, plain):
    """The loop was run as it is, with one change, and with both."""
    kinds(runs, plain)


@pytest.mark.points(3)
def test_hands_in_what_was_measured(seen, runs, plain):
    """The numbers are those of these runs."""
    told = entries(seen)
    unrecorded = [[run for run in group if not run.recorded] for group in kinds(runs, plain)]
    assert all(unrecorded), mistake("measured_while_recording")

    def fits(reported: float, group: list[Run]) -> bool:
        return any(0.9 * run.run_s <= reported <= 1.1 * run.at_most_s for run in group)

    both, one, none = unrecorded
    numbers = [(told[0]["before_s"], both), (told[0]["after_s"], one), (told[1]["before_s"], one)]
    numbers.append((told[1]["after_s"], none))
    for reported, group in numbers:
        run_s = group[0].run_s
        assert not fits(reported / 1000, group) or fits(reported, group), mistake(
            "milliseconds_for_seconds", reported=float(reported), expected=run_s
        )
    original = not fits(told[1]["before_s"], one) and fits(told[1]["before_s"], both)
    assert not original, mistake(
        "compared_with_the_original", before_ms=told[1]["before_s"] * 1000, right_ms=one[0].run_s * 1000
    )
    names = (_("The first before_s"), _("The first after_s"), _("The second before_s"), _("The second after_s"))
    for (reported, group), name in zip(numbers, names, strict=True):
        assert fits(reported, group), _(
            "{name} is {reported:.1f} ms; the lab measured {run_s:.1f} ms for that loop. Read "
            "the clock right before and after job.run(loop), and wait for the GPU.",
            name=name,
            reported=reported * 1000,
            run_s=group[0].run_s * 1000,
        )
