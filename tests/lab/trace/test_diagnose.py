"""The verdict on small traces in which each time is chosen, so that the answer can be worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lab.trace import Diagnosis, TraceUnreadable, compare, compare_ranks, diagnose
from tests.lab.trace.traces import Event, Recorder, as_text, event, input_bound, write

Program = Callable[[Recorder], None]


def played(tmp_path: Path, step: Program, steps: int = 5, name: str = "trace.json", **beside: object) -> Diagnosis:
    """The diagnosis of a program with so many steps."""
    recorder = Recorder()
    for number in range(steps):
        begin = recorder.now
        step(recorder)
        recorder.step(number, begin)
    return diagnose(write(tmp_path / name, recorder.events, **beside))


def waiting_for_data(recorder: Recorder) -> None:
    recorder.load(6_000)
    recorder.launch(4_000)
    recorder.wait()


def waiting_for_workers(recorder: Recorder) -> None:
    recorder.load(6_000, "_MultiProcessingDataLoaderIter")
    recorder.launch(4_000)
    recorder.wait()


def loading_behind_the_gpu(recorder: Recorder) -> None:
    recorder.load(3_000)
    recorder.launch(10_000)
    recorder.launch(10, category="gpu_memcpy", name="Memcpy DtoH (Device -> Pageable)", call="cudaMemcpyAsync")
    recorder.load(9_000)
    recorder.wait()


def launching(recorder: Recorder) -> None:
    for _ in range(100):
        recorder.host("cpu_op", "aten::add", 30)
        recorder.launch(10)


def reading_the_loss(recorder: Recorder) -> None:
    recorder.launch(5_000)
    recorder.wait()
    recorder.nothing(4_900)


def blocking_copy(recorder: Recorder) -> None:
    done = recorder.launch(5_000)
    recorder.launched += 1
    recorder.events.append(
        event(
            "gpu_memcpy",
            "Memcpy DtoH (Device -> Pageable)",
            done,
            2,
            device=0,
            stream=7,
            correlation=recorder.launched,
        )
    )
    recorder.free[0, 7] = done + 2
    recorder.host("cuda_runtime", "cudaMemcpyAsync", done + 10 - recorder.now, correlation=recorder.launched)
    recorder.nothing(5_000)


def copying(recorder: Recorder) -> None:
    recorder.launch(6_000, "Memcpy HtoD (Pageable -> Device)", category="gpu_memcpy", call="cudaMemcpyAsync")
    recorder.launch(4_000)
    recorder.wait()


def communicating(recorder: Recorder) -> None:
    done = recorder.launch(4_000)
    recorder.launch(8_000, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", stream=20, not_before=done - 2_000)
    recorder.wait()


def taking_memory(recorder: Recorder) -> None:
    for _ in range(4):
        recorder.launch(1_000)
        recorder.wait("cudaFree")
        recorder.host("cuda_runtime", "cudaMalloc", 900)


def working_in_python(recorder: Recorder) -> None:
    recorder.launch(2_000)
    recorder.nothing(6_000)


def computing_on_the_host(recorder: Recorder) -> None:
    recorder.launch(2_000)
    recorder.host("cpu_op", "aten::sort", 6_000)


def computing(recorder: Recorder) -> None:
    for _ in range(10):
        recorder.launch(1_000)


def waiting_for_another_stream(recorder: Recorder) -> None:
    done = recorder.launch(2_000)
    recorder.launch(2_000, stream=13, not_before=done + 4_000)
    recorder.wait()


def replaying_a_graph(recorder: Recorder) -> None:
    done = recorder.launch(900, call="cudaGraphLaunch", call_us=20)
    for _ in range(9):  # all nodes have the correlation of the one launch
        recorder.events.append(
            event("kernel", "node", done + 1, 900, device=0, stream=7, correlation=recorder.launched)
        )
        done += 901
    recorder.free[0, 7] = done
    recorder.wait()


@pytest.mark.parametrize(
    ("program", "bottleneck", "share"),
    [
        (waiting_for_data, "input", 0.6),
        (waiting_for_workers, "input", 0.6),
        (loading_behind_the_gpu, "input", 3 / 13),
        (launching, "launch", 0.71),
        (reading_the_loss, "sync", 0.5),
        (blocking_copy, "sync", 0.5),
        (copying, "copies", 0.6),
        (communicating, "communication", 0.6),
        (taking_memory, "allocator", 0.48),
        (working_in_python, "python", 0.667),
        (computing_on_the_host, "python", 0.667),
        (computing, "compute", 1.0),
        (waiting_for_another_stream, "device_wait", 0.5),
        (replaying_a_graph, "compute", 1.0),
    ],
)
def test_each_bottleneck_is_named(tmp_path: Path, program: Program, bottleneck: str, share: float) -> None:
    told = played(tmp_path, program)
    assert (told.verdict.bottleneck, told.warnings) == (bottleneck, ())
    assert told.verdict.share == pytest.approx(share, abs=0.03)
    assert told.steps.count == 5
    assert told.verdict.saves_at_most_us_per_step is not None


def test_loading_that_the_gpu_works_through_costs_nothing(tmp_path: Path) -> None:
    def step(recorder: Recorder) -> None:
        recorder.launch(10_000)
        recorder.load(9_000)
        recorder.wait()

    assert played(tmp_path, step).verdict.bottleneck == "compute"


def test_without_the_wait_the_slower_of_host_and_device_is_what_is_left(tmp_path: Path) -> None:
    def step(recorder: Recorder) -> None:
        recorder.launch(2_000)
        recorder.wait()
        recorder.nothing(8_000)

    verdict = played(tmp_path, step).verdict
    assert verdict.bottleneck == "sync"
    assert verdict.share == pytest.approx(0.8, abs=0.01)
    assert verdict.saves_at_most_us_per_step == pytest.approx(2_000, abs=20)
    assert "But 6 ms per step of that is the CPU's own work after the wait" in verdict.summary


def test_a_wait_that_hides_all_that_follows_it_is_told_without_a_but(tmp_path: Path) -> None:
    told = played(tmp_path, reading_the_loss).verdict
    assert told.bottleneck == "sync"
    assert "But" not in told.summary


def test_a_wait_on_another_thread_that_launches_nothing_is_nobodys_fault(tmp_path: Path) -> None:
    recorder = Recorder()
    for number in range(5):
        begin = recorder.now
        recorder.launch(2_000)
        recorder.events.append(event("cuda_runtime", "cudaStreamSynchronize", begin, 2_100, tid=999))
        recorder.nothing(6_000)
        recorder.step(number, begin)
    assert diagnose(write(tmp_path / "trace.json", recorder.events)).verdict.bottleneck == "python"


def test_backward_on_its_own_thread_counts_as_the_host(tmp_path: Path) -> None:
    recorder = Recorder()
    for number in range(5):
        begin = recorder.now
        recorder.tid = 777
        launching(recorder)
        recorder.tid = 100
        recorder.step(number, begin)
    assert diagnose(write(tmp_path / "trace.json", recorder.events)).verdict.bottleneck == "launch"


def test_idle_streams_beside_a_busy_one_are_no_idle_device(tmp_path: Path) -> None:
    def step(recorder: Recorder) -> None:
        for stream in range(20, 30):
            recorder.launch(1_000, stream=stream, not_before=max(recorder.free.values(), default=0.0))

    assert played(tmp_path, step).devices[0].compute_us == pytest.approx(50_000, rel=0.01)


def test_a_cold_first_step_is_left_out_and_told(tmp_path: Path) -> None:
    first = [True]

    def step(recorder: Recorder) -> None:
        if first.pop() if first else False:
            recorder.host("cuda_runtime", "cudaMalloc", 500_000)
        computing(recorder)
        recorder.wait()

    told = played(tmp_path, step)
    assert (told.verdict.bottleneck, told.steps.count) == ("compute", 4)
    assert "left out as warm-up" in told.warnings[0]


def test_a_first_step_behind_unrecorded_work_is_left_out_and_told(tmp_path: Path) -> None:
    recorder = Recorder()
    recorder.free[0, 7] = recorder.now + 4_500  # still busy when the recording begins
    for number in range(5):
        begin = recorder.now
        recorder.load(3_000)
        recorder.launch(5_000)
        recorder.step(number, begin)
    told = diagnose(write(tmp_path / "trace.json", recorder.events))
    assert (told.verdict.bottleneck, told.steps.count) == ("compute", 4)
    assert "still busy" in told.warnings[0]


def test_work_from_before_the_steps_doesnt_make_a_step_longer(tmp_path: Path) -> None:
    recorder = Recorder()
    for _ in range(3):
        recorder.launch(10_000)
    for number in range(4):
        begin = recorder.now
        recorder.launch(10_000)
        recorder.nothing(9_990)
        recorder.step(number, begin)
    told = diagnose(write(tmp_path / "trace.json", recorder.events))
    assert told.window_us == pytest.approx(70_000, rel=0.01)
    assert told.step_us == pytest.approx(10_000, rel=0.01)


def test_a_last_step_without_its_work_is_left_out_and_told(tmp_path: Path) -> None:
    left = [4]

    def step(recorder: Recorder) -> None:
        if left[0]:
            left[0] -= 1
            computing(recorder)
            recorder.wait()
        else:
            recorder.nothing(10_000)

    told = played(tmp_path, step)
    assert (told.verdict.bottleneck, told.steps.count) == ("compute", 4)
    assert "isn't whole" in told.warnings[0]


@pytest.mark.parametrize("marks", ["optimizer", "loader", "none"])
def test_without_steps_of_the_profiler_others_are_found(tmp_path: Path, marks: str) -> None:
    recorder = Recorder()
    for _ in range(6):
        if marks == "loader":
            recorder.load(6_000)
        else:
            recorder.nothing(6_000)
        recorder.launch(4_000)
        recorder.wait()
        recorder.host("cpu_op", "aten::add", 10)
        if marks == "optimizer":
            recorder.host("user_annotation", "Optimizer.step#SGD.step", 10)
    told = diagnose(write(tmp_path / "trace.json", recorder.events))
    assert told.verdict.bottleneck == {"optimizer": "sync", "loader": "input", "none": "sync"}[marks]
    assert told.steps.count == {"optimizer": 5, "loader": 5, "none": 0}[marks]
    word = {"optimizer": "told by the calls of the optimizer", "loader": "of the DataLoader", "none": "has no steps"}
    assert word[marks] in " ".join(told.warnings)
    assert (told.verdict.saves_at_most_us_per_step is None) == (marks == "none")


def without(events: list[Event], *categories: str) -> list[Event]:
    return [each for each in events if each["cat"] not in categories]


def test_nothing_is_guessed_without_the_host(tmp_path: Path) -> None:
    events = without(input_bound(), "user_annotation", "cpu_op")
    told = diagnose(write(tmp_path / "trace.json", events))
    assert told.verdict.bottleneck == "unknown"
    assert "not what the CPU did" in told.verdict.summary
    assert any("ProfilerActivity.CPU" in each for each in told.record_better)


def test_nothing_is_guessed_without_launches(tmp_path: Path) -> None:
    told = diagnose(write(tmp_path / "trace.json", without(input_bound(), "cuda_runtime")))
    assert told.verdict.bottleneck == "unknown"
    assert "when it was launched" in told.verdict.summary


def test_nothing_is_guessed_without_a_gpu(tmp_path: Path) -> None:
    events = without(input_bound(), "kernel", "gpu_user_annotation")
    told = diagnose(write(tmp_path / "trace.json", events))
    assert (told.verdict.bottleneck, told.devices, told.steps.count) == ("unknown", (), 5)
    assert any("ProfilerActivity.CUDA" in each for each in told.record_better)


def test_a_busy_gpu_needs_no_host_to_be_called_busy(tmp_path: Path) -> None:
    recorder = Recorder()
    computing(recorder)
    computing(recorder)
    told = diagnose(write(tmp_path / "trace.json", without(recorder.events, "user_annotation")))
    assert told.verdict.bottleneck == "compute"


@pytest.mark.parametrize(
    ("kernel", "call"),
    [
        ("kernel", "cuda_runtime"),
        ("Kernel", "Runtime"),
        ("kernel", "cuda_driver"),
        ("kernel", "xpu_runtime"),
        ("kernel", "privateuse1_runtime"),
        ("hpu_op", "xpu_driver"),
    ],
)
def test_categories_of_all_versions_and_makers_are_known(tmp_path: Path, kernel: str, call: str) -> None:
    text = as_text(input_bound()).replace('"kernel"', f'"{kernel}"').replace('"cuda_runtime"', f'"{call}"')
    old = text.replace('"user_annotation"', '"Operator"').replace('"cpu_op"', '"Operator"')
    for version in (text, old):
        (tmp_path / "trace.json").write_text(version)
        told = diagnose(tmp_path / "trace.json")
        assert (told.verdict.bottleneck, told.steps.count) == ("input", 5)


def test_a_quiet_second_device_has_no_say(tmp_path: Path) -> None:
    def step(recorder: Recorder) -> None:
        recorder.launch(2, device=1)
        computing(recorder)

    told = played(tmp_path, step)
    assert [device.device for device in told.devices] == [0, 1]
    assert told.verdict.bottleneck == "compute"
    assert "no say" in " ".join(told.warnings)


def test_two_devices_share_the_verdict(tmp_path: Path) -> None:
    def step(recorder: Recorder) -> None:
        recorder.load(5_000)
        recorder.launch(5_000, device=0)
        recorder.launch(5_000, device=1)
        recorder.wait()

    told = played(tmp_path, step)
    assert (told.verdict.bottleneck, len(told.devices)) == ("input", 2)
    assert told.verdict.share == pytest.approx(0.5, abs=0.02)


def test_the_evidence_names_the_gap_and_the_function(tmp_path: Path) -> None:
    def step(recorder: Recorder) -> None:
        begin = recorder.now
        recorder.load(6_000)
        recorder.events.append(event("python_function", "loader.py(1): decode", begin + 10, 5_900))
        recorder.events.append(event("python_function", "<built-in function resize>", begin + 20, 5_800))
        recorder.launch(4_000)
        recorder.wait()

    shown = played(tmp_path, step).evidence
    assert shown.functions[0].name == "<built-in function resize>"
    assert "num_workers=0" in shown.facts[0]
    assert shown.gaps[0].lasts_us == pytest.approx(6_000, abs=20)
    assert (shown.gaps[0].waited_for, shown.gaps[0].next) == ("input", "gemm")


class FinishedProfiler:
    """What diagnose() needs of a torch.profiler.profile."""

    def __init__(self, text: str | None) -> None:
        self.text = text

    def export_chrome_trace(self, path: str) -> None:
        if self.text is None:
            raise RuntimeError("Trace is already saved.")
        Path(path).write_text(self.text)


def test_a_finished_profiler_is_diagnosed_like_its_file() -> None:
    told = diagnose(FinishedProfiler(as_text(input_bound())))
    assert (told.verdict.bottleneck, told.file) == ("input", "profiler")


def test_a_profiler_without_a_trace_says_where_to_get_it() -> None:
    with pytest.raises(TraceUnreadable, match="give the path of that file"):
        diagnose(FinishedProfiler(None))


def test_anything_else_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="not 42"):
        diagnose(42)


def test_progress_reaches_the_end(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    file = write(tmp_path / "trace.json", input_bound())
    diagnose(file, lambda done, total: seen.append((done, total)))
    assert seen[-1] == (file.stat().st_size, file.stat().st_size)


def test_a_change_that_helped_is_told_with_its_numbers(tmp_path: Path) -> None:
    told = compare(played(tmp_path, waiting_for_data), played(tmp_path, loading_behind_the_gpu))
    assert told.helped is False
    told = compare(played(tmp_path, waiting_for_data), played(tmp_path, lambda recorder: recorder.launch(4_000)))
    assert told.helped is True
    assert told.step_after_us == pytest.approx(4_000, rel=0.01)
    assert (told.changes[0].bottleneck, round(told.changes[0].after)) == ("input", 0)
    told = compare(played(tmp_path, waiting_for_data), played(tmp_path, waiting_for_workers))
    assert (told.helped, told.changes) == (None, ())


def test_without_steps_a_comparison_doesnt_say_that_it_helped(tmp_path: Path) -> None:
    recorder = Recorder()
    computing(recorder)
    bare = diagnose(write(tmp_path / "bare.json", recorder.events))
    told = compare(played(tmp_path, waiting_for_data), bare)
    assert told.helped is None
    assert "bare.json has no steps" in told.summary


def rank(tmp_path: Path, number: int, collective_us: float, load_us: float) -> Diagnosis:
    def step(recorder: Recorder) -> None:
        recorder.load(load_us)
        recorder.launch(4_000)
        recorder.launch(collective_us, "ncclDevKernel_AllReduce")
        recorder.wait()

    return played(tmp_path, step, name=f"rank{number}.json", distributedInfo={"rank": number, "world_size": 3})


def test_the_rank_that_is_shortest_in_collectives_is_the_one_that_is_waited_for(tmp_path: Path) -> None:
    told = compare_ranks([rank(tmp_path, 0, 6_000, 100), rank(tmp_path, 1, 500, 5_600), rank(tmp_path, 2, 5_900, 200)])
    assert told is not None
    assert told.waited_for == 1
    assert "waiting for data" in told.summary
    assert [each.waits_at_most_us_per_step for each in told.ranks] == pytest.approx([5_500, 0, 5_400])


def test_ranks_that_are_alike_hold_nobody_up(tmp_path: Path) -> None:
    told = compare_ranks([rank(tmp_path, 0, 1_000, 100), rank(tmp_path, 1, 1_010, 90)])
    assert told is not None
    assert told.waited_for is None


def test_traces_without_collectives_are_no_ranks(tmp_path: Path) -> None:
    assert compare_ranks([played(tmp_path, waiting_for_data), played(tmp_path, computing)]) is None


def test_a_single_step_of_the_host_advises_repeat(tmp_path: Path) -> None:
    recorder = Recorder()
    begin = recorder.now
    recorder.host("cpu_op", "aten::addmm", 1_000)
    recorder.step(6, begin)
    told = diagnose(write(tmp_path / "trace.json", recorder.events))
    assert any("repeat=1" in each for each in told.record_better)
