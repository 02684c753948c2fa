"""Whoever doesn't measure doesn't pass, also with all that the process of a submission knows.

The cheats lie in cheats/<lesson>/<exercise>/<name>.py. A submission runs in the process that observes it, with its
rights. Known, and not prevented until it runs in a sandbox that is observed from outside (those that are tried are
called known_<name>.py, and say why):

* Measuring by other means than the task's is measuring: `lab.gpu.device.timeline.left_s()` before and after the work
  tells what the GPU was given to do. That passes, and may.
* The workload can be built again from its seed, which the callers' variables hold, and measured by `lab.workloads`'s
  own `expect`, or reckoned up from the sizes in its closures and the data sheet of the simulated GPU.
* Events can be forged, and so can a whole report (the pipe for it and the nonce are files of the process). That is
  worth no more than returning the same value with forged events: the numbers in it have to be right as well.
* What the lab's own modules do and hold can be changed: the allocator's counters, what slow storage notes of its own
  waiting, the second half of a workload. Changing torch's functions, or what was handed over, isn't enough.
"""

from __future__ import annotations

import ast
from pathlib import Path
from textwrap import dedent

import msgspec
import pytest

from grader.check import check, exercise_ids
from grader.runner.protocol import Argument, BuiltArgument, Call, Expect, Returned
from grader.runner.warm import WarmRunner
from grader.verdict import Verdict

SEEDS = (3, 20261130)

CHEATS = Path(__file__).with_name("cheats")


def cheats(known: bool) -> list[str]:
    """The cheats that don't pass, or those that are known to, as <lesson>/<exercise>/<name>."""
    names = [file.relative_to(CHEATS).with_suffix("").as_posix() for file in CHEATS.glob("*/*/*.py")]
    return sorted(name for name in names if Path(name).name.startswith("known_") == known)


def verdict_on(cheat: str, seed: int, runner: WarmRunner) -> Verdict:
    exercise = cheat.rpartition("/")[0]
    return check(exercise, CHEATS / f"{cheat}.py", seed=seed, runner=runner)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("cheat", cheats(known=False))
def test_a_cheat_does_not_pass(cheat: str, seed: int, lab_runner: WarmRunner) -> None:
    verdict = verdict_on(cheat, seed, lab_runner)
    assert verdict.status in ("failed", "error", "crashed"), verdict
    assert verdict.points < verdict.max_points
    assert not any("fault of the course" in (result.message or "") for result in verdict.checks), verdict


@pytest.mark.xfail(strict=True, reason="needs a sandbox that is observed from outside")
@pytest.mark.parametrize("cheat", cheats(known=True))
def test_a_known_cheat_does_not_pass(cheat: str, lab_runner: WarmRunner) -> None:
    verdict = verdict_on(cheat, 3, lab_runner)
    assert verdict.status != "passed"


@pytest.mark.parametrize("cheat", cheats(known=True))
def test_a_known_cheat_says_why_nothing_is_done_about_it(cheat: str) -> None:
    assert ast.get_docstring(ast.parse((CHEATS / f"{cheat}.py").read_text(encoding="utf-8")))


@pytest.mark.parametrize("exercise", exercise_ids())
def test_each_exercise_is_cheated_on(exercise: str) -> None:
    assert list((CHEATS / exercise).glob("*.py"))


# Lists each number that can be reached from the argument or from the variables of a caller, and each text.
SEARCH = """
    import sys, types
    def f(argument):
        found, seen, frame = [], set(), sys._getframe()
        waiting = [argument]
        while frame:
            waiting += list(frame.f_locals.values())
            frame = frame.f_back
        while waiting and len(seen) < 20_000:
            value = waiting.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            if type(value) in (int, float, str):
                found.append(value)
            elif isinstance(value, dict):
                waiting += [*value.keys(), *value.values()]
            elif isinstance(value, (list, tuple, set, frozenset)):
                waiting += list(value)
            elif not isinstance(value, (types.ModuleType, type)):
                waiting += [cell.cell_contents for cell in getattr(value, "__closure__", None) or ()]
                waiting += [getattr(value, "__dict__", None) or {}]
                for kind in type(value).__mro__:
                    slots = kind.__dict__.get("__slots__", ())
                    waiting += [getattr(value, name, None) for name in ((slots,) if type(slots) is str else slots)]
        return [number for number in found if type(number) is not str][:20_000], [
            text for text in found if type(text) is str and len(text) < 100][:20_000]
"""


@pytest.mark.parametrize("name", ["queued_matmuls", "training_step", "steps_with_a_peak", "training_loop"])
def test_what_is_expected_is_nowhere_near_the_submission(name: str, tmp_path: Path, lab_runner: WarmRunner) -> None:
    built = BuiltArgument(name, {}, seed=3)
    path = tmp_path / "search.py"
    call = Call(str(path), dedent(SEARCH), "f", [Argument(built=built)], {}, None, seed=4)
    expectation, found = (lab_runner.run(asked).report for asked in (Expect(built), call))
    assert isinstance(expectation, Returned)
    assert isinstance(found, Returned), found
    numbers, texts = found.value
    assert name in texts  # it did look around
    expected = msgspec.to_builtins(expectation.value)
    assert expected
    for key, value in expected.items():
        if isinstance(value, str):
            assert value not in texts, key
        else:
            assert not [number for number in numbers if abs(number - value) < 1e-3 * abs(value)], key
