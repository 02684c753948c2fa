"""Traces of real programs, from public repositories, get the right answer. They aren't part of the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.trace import Diagnosis, compare, diagnose

TRACES = Path(__file__).parents[4] / "shared" / "traces"

pytestmark = pytest.mark.skipif(not TRACES.is_dir(), reason="the traces aren't here")

# File, verdict, and its share. Where no author names the cause, it was checked in the trace by hand: see the comment.
NAMED = [
    # Named by its authors: the DataLoader takes a third, 0 workers.
    ("kineto__resnet50_num_workers_0__worker0.1623143089861", "input", (0.23, 0.35)),
    # Named by its authors: with 4 workers the loader's share is under 1 %; what is left is launching.
    ("kineto__resnet50_num_workers_4__worker0.1623212756351", "launch", (0.15, 0.25)),
    # 1360 hipFree and 1460 hipMalloc in 5 steps; each hipFree waits for the device: 2.95 of 3.27 s of the window.
    ("tracelens__mi300__ddp_resnet18_no_pool__train_resnet18", "allocator", (0.85, 0.95)),
    # 5 gaps of 141 ms in 1096 ms, in each the main thread is in __next__, mostly in scipy's zoom_shift.
    ("tracelens__mi300__google_owlv2-large-patch14-ensemble__1016001", "input", (0.62, 0.66)),
    # 60 kernels of 4.8 us (median) in 4.0 ms; each is launched 14 us before it begins, on an idle GPU.
    ("tracelens__mi300__gaunernst_bert-small-uncased__1016001", "launch", (0.85, 0.92)),
    # 155 kernels of 8 us (median) in 7.5 ms, each begun 16 us after its launch; the longest gap takes 0.5 ms.
    ("tracelens__mi300__Falconsai_nsfw_image_detection__1016002", "launch", (0.69, 0.77)),
    # Half of the kernels are launched 1.7 ms or more before they begin: the queue is never empty for long.
    ("tracelens__mi300__Qwen_Qwen1.5-0.5B-Chat__1016005", "compute", (0.90, 0.93)),
    # 17 ncclDevKernel_Generic take 71.5 ms of 86.6 ms; 30 % is computed at all, so most of it is exposed.
    ("tracelens__mi300__resnet_act_checkpoint", "communication", (0.61, 0.68)),
    # vLLM without graphs: 694 kernels of 6 us (median) in 84 ms; each begins 3 us after its launch.
    ("tracelens__b200__eager_trace", "launch", (0.78, 0.85)),
    # Kernels and launches, but nothing of the host: 10 % idle, and nobody can say why.
    ("tracelens__mi210__gpu_only_trace__gpu_only_trace", "unknown", None),
    # 12 kernels, each begun when the one before is done; the host waits 11.9 ms for them in hipDeviceSynchronize.
    ("tracelens__torch_compile_triton__trace", "compute", (0.97, 1.0)),
    # Graph replay, launched 150 ms ahead or more.
    ("tracelens__inference__vllm_prefilldecode_piecewise__graph_execution", "compute", (0.99, 1.0)),
    # Half of the kernels are launched 77 ms before they begin.
    ("hta__ns_resolution_trace__rank-0.Apr_03_18_51_38.1102", "compute", (0.95, 0.98)),
    # 3646 kernels of 6 us (median) per step of 348 ms, begun 1 to 2 us after their launch; 21 % is in NCCL kernels.
    ("hta__df_index_resolver__df_index_resolver", "launch", (0.36, 0.43)),
    # 931 kernels and 4,800 operators per step of 222 ms; each kernel begins 2 us after its launch.
    ("hta__nccl_parser_config__nccl_data", "launch", (0.69, 0.78)),
    ("hta__cpu_only__rank-34.Jul_15_10_52_41.1074", "unknown", None),
    ("hta__mixed_files__rank_non_gpu", "unknown", None),
    # The first step of a process: one hipLaunchKernel of 6 ms loads the code. Nothing warm was recorded.
    ("hta__amd_trace__mi250_minitoy_train_ROCm6_2_kineto", "unknown", None),
    # One Triton kernel of 1.8 us after 13 s of compiling.
    ("hta__triton_example__triton_example", "unknown", None),
    # 16 s of a process that has just begun: a cudaFree of 5 s, a cudaLaunchKernel of 4 s.
    ("hta__critical_path__simple_add__benchmark_result_493459_1694039959_trace", "unknown", None),
    # 39 steps, told by the optimizer; 261 kernels of 9 us (median) per 25 ms, begun at their launch.
    ("param__linear_kineto", "launch", (0.55, 0.65)),
]


def of(name: str) -> Diagnosis:
    (file,) = TRACES.glob(f"{name}*.json.gz")
    return diagnose(file)


def test_every_given_trace_has_an_expectation() -> None:
    expected = [name for name, *_ in NAMED]
    assert all(any(file.name.startswith(name) for name in expected) for file in TRACES.glob("*.json.gz"))


@pytest.mark.parametrize(("name", "bottleneck", "share"), NAMED, ids=[name for name, *_ in NAMED])
def test_a_real_trace_gets_the_right_answer(name: str, bottleneck: str, share: tuple[float, float] | None) -> None:
    found = of(name)
    assert found.verdict.bottleneck == bottleneck
    if share:
        assert share[0] <= found.verdict.share <= share[1]
    for device in found.devices:
        parts = device.compute_us + device.communication_us + device.copies_us + device.idle_us
        assert parts == pytest.approx(device.window_us, abs=0.5)
        assert sum(device.idle.values()) == pytest.approx(device.idle_us, abs=0.5)


def test_the_function_that_makes_a_batch_expensive_is_named() -> None:
    found = of("tracelens__mi300__google_owlv2")
    assert "zoom_shift" in found.evidence.functions[0].name


def test_a_fix_never_saves_more_than_a_step() -> None:
    # The GPU is two steps behind the host, so the window holds the work of five steps for three steps of the host.
    found = of("tracelens__mi300__resnet_act_checkpoint")
    assert found.steps.median_us == pytest.approx(15_951, abs=1)
    assert found.steps.median_us < found.step_us < 1.2 * found.steps.median_us
    assert found.verdict.saves_at_most_us_per_step < found.step_us


def test_more_workers_helped() -> None:
    told = compare(of("kineto__resnet50_num_workers_0"), of("kineto__resnet50_num_workers_4"))
    assert told.helped is True
    assert told.changes[0].bottleneck == "input"
    assert told.changes[0].after < 0.02 * told.step_after_us < told.changes[0].before


def test_old_ranks_are_read_wherever_they_stand() -> None:
    assert of("hta__cpu_only").rank == 34
    assert of("hta__df_index_resolver").rank == 1
