"""The runner with the real lab: the GPU is in place, and only what learner code does is observed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.client import Grader
from grader.errors import RunnerUnavailable
from grader.runner.protocol import Finished, Limits, Raised, Returned
from grader.runner.run import Outcome
from grader.runner.warm import WarmRunner
from tests.grader.conftest import request, script

SIMULATED = {"PROFILE_FIRST_GPU": "simulated"}
SOLUTIONS = Path(__file__).parents[2] / "solutions"


@pytest.fixture(scope="module")
def lab() -> Iterator[WarmRunner]:
    with WarmRunner(environment=SIMULATED) as runner:
        yield runner


@pytest.fixture
def call(lab: WarmRunner, tmp_path: Path) -> Callable[..., Returned]:
    def call(source: str, limits: Limits | None = None) -> Returned:
        outcome: Outcome = lab.run(request(source, tmp_path / "exercise.py"), limits)
        assert isinstance(outcome.report, Returned), outcome
        return outcome.report

    return call


async def test_the_app_gets_a_verdict_and_what_was_seen_from_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROFILE_FIRST_GPU", "simulated")
    grader = Grader()
    events: list[dict[str, Any]] = []
    file = SOLUTIONS / "synchronize" / "time_on_the_gpu.py"
    verdict = await grader.check("synchronize/time_on_the_gpu", file, seed=3, on_events=events.extend)
    await grader.close()
    assert (verdict.status, verdict.points) == ("passed", verdict.max_points)
    assert verdict.seed == 3
    assert verdict.gpu is not None
    assert verdict.gpu.kind == "simulated"
    assert {"launch", "wait"} <= kinds(events)
    assert [event["n"] for event in events] == list(range(len(events)))  # one run, not several


def test_a_fresh_process_has_the_gpu_in_place_too(tmp_path: Path) -> None:
    source = "import torch\ndef f(): return torch.ones(3, device='cuda').sum().item()"
    with WarmRunner(environment=SIMULATED, fresh=True) as runner:
        outcome = runner.run(request(source, tmp_path / "exercise.py"))
    assert isinstance(outcome.report, Returned), outcome
    assert outcome.report.value == 3.0
    assert [event["call"] for event in outcome.report.events if event["what"] == "host_read"] == ["Tensor.item"]


def kinds(events: list[dict[str, Any]]) -> set[str]:
    return {event["what"] for event in events}


def test_the_gpu_is_in_place(call: Callable[..., Returned]) -> None:
    source = """
        import torch
        def f():
            x = torch.ones(4, 4, device="cuda") @ torch.ones(4, 4, device="cuda")
            return [torch.cuda.is_available(), str(x.device), x.sum().item()]
    """
    assert call(source).value == [True, "cuda:0", 64.0]


def test_nothing_is_observed_but_what_the_learner_does(call: Callable[..., Returned]) -> None:
    assert call("def f(): return 1").events == []


def test_returning_a_tensor_is_not_reading_it(call: Callable[..., Returned]) -> None:
    report = call("import torch\ndef f(): return torch.ones(2, 3, device='cuda')")
    assert report.value["$tensor"]["shape"] == [2, 3]
    assert report.value["$tensor"]["device"] == "cuda:0"
    assert "launch" in kinds(report.events)
    assert not {"host_read", "wait"} & kinds(report.events)


def test_returning_a_profile_is_not_waiting(call: Callable[..., Returned]) -> None:
    source = """
        import torch
        from torch.profiler import ProfilerActivity, profile
        a = torch.ones(64, 64, device="cuda")
        def f():
            with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
                a @ a
            return profiler
    """
    report = call(source)
    told = report.value["$profile"]
    assert told["activities"] == ["CPU", "CUDA"]
    assert {row["key"] for row in told["rows"]} >= {"aten::mm"}
    assert any(row["is_kernel"] and row["self_device_us"] > 0 for row in told["rows"])
    assert [event["what"] for event in report.events].count("profiler_stop") == 1
    assert "host_read" not in kinds(report.events)


def test_a_run_starts_on_an_idle_gpu_without_memory_in_use(call: Callable[..., Returned]) -> None:
    source = """
        import torch
        def f():
            before = torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated()
            torch.ones(1000, 1000, device="cuda")
            return list(before)
    """
    assert call(source).value == [0, 0]
    assert call(source).value == [0, 0]


def test_limits_are_in_real_time_whatever_the_learner_does_to_the_clock(lab: WarmRunner, tmp_path: Path) -> None:
    source = """
        import time
        time.monotonic = time.perf_counter = time.time = lambda: 0.0
        time.sleep = lambda _: None
        def f():
            while True: pass
    """
    outcome = lab.run(request(source, tmp_path / "exercise.py"), Limits(time_s=0.5))
    assert outcome.end == "timeout"
    assert outcome.duration_s >= 0.5


def test_a_loader_with_workers_runs_and_leaves_none_of_them(lab: WarmRunner, tmp_path: Path) -> None:
    source = """
        import torch
        from torch.utils.data import DataLoader, Dataset

        class Numbers(Dataset):
            def __len__(self): return 8
            def __getitem__(self, i): return torch.tensor(float(i))

        if __name__ == "__main__":
            for batch in DataLoader(Numbers(), batch_size=4, num_workers=2):
                print(batch.sum().item())
    """
    outcome = lab.run(script(source, tmp_path / "program.py"), Limits(time_s=60))
    assert isinstance(outcome.report, Finished), outcome
    assert outcome.output == "6.0\n22.0\n"


def test_an_exception_in_a_worker_is_told_by_the_learners_lines(lab: WarmRunner, tmp_path: Path) -> None:
    source = """
        from torch.utils.data import DataLoader

        class Numbers:
            def __len__(self): return 8
            def __getitem__(self, i):
                return (0, 1)[i + 5]

        def f():
            return list(DataLoader(Numbers(), num_workers=1))

        if __name__ == "__main__":
            f()
    """
    called = lab.run(request(source, tmp_path / "exercise.py"), Limits(time_s=60)).report
    assert isinstance(called, Raised)
    assert called.error == "IndexError"
    assert called.text == "tuple index out of range (in DataLoader worker process 0)"
    assert [(frame.line, frame.function) for frame in called.frames] == [(10, "f"), (7, "__getitem__")]
    assert called.frames[-1].code == "return (0, 1)[i + 5]"
    lines = lab.run(script(source, tmp_path / "program.py"), Limits(time_s=60)).output.splitlines()
    assert lines[-3:] == [
        '  File "program.py", line 7, in __getitem__',
        "    return (0, 1)[i + 5]",
        "IndexError: tuple index out of range (in DataLoader worker process 0)",
    ]
    assert len(lines) == 8  # three frames of two lines


def test_learner_profiles_print_no_errors_of_the_profiler(lab: WarmRunner, tmp_path: Path) -> None:
    source = "import torch\nwith torch.profiler.profile():\n    torch.ones(3).sum()\n"
    outcome = lab.run(script(source, tmp_path / "program.py"), Limits(time_s=60))
    assert outcome.output == ""


@pytest.mark.parametrize("fresh", [False, True])
@pytest.mark.parametrize(
    ("choice", "words"), [("foo", "PROFILE_FIRST_GPU is 'foo'; it can be"), ("real", "PROFILE_FIRST_GPU=real, but")]
)
def test_a_gpu_that_can_not_be_had_is_told_in_the_words_of_the_lab(choice: str, words: str, fresh: bool) -> None:
    if choice == "real" and torch_has_a_gpu():
        pytest.skip("there is one")
    gpu = {"PROFILE_FIRST_GPU": choice}
    with WarmRunner(environment=gpu, fresh=fresh) as runner, pytest.raises(RunnerUnavailable) as raised:
        runner.warm_up()
    assert str(raised.value).startswith(words)


def torch_has_a_gpu() -> bool:
    code = "import torch; raise SystemExit(not torch.cuda.is_available())"
    return subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
