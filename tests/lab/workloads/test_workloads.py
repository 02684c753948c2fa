"""The workloads are what the exercises say of them, on whatever machine they run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import mean, median
from typing import Any

import pytest

from lab.workloads import FAMILIES, UnknownWorkload, build, finish

MEASURE = Path(__file__).with_name("measure_workloads.py")


@pytest.fixture(scope="module")
def measured() -> dict[str, list[dict[str, Any]]]:
    """For each family what was measured with three seeds, in a process of its own."""
    quiet = {"OMP_NUM_THREADS": "1", "PROFILE_FIRST_GPU": "simulated", "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-m", "lab.run", str(MEASURE)]
    done = subprocess.run(command, env={**os.environ, **quiet}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_each_family_is_measured_here(measured: dict[str, list[dict[str, Any]]]) -> None:
    assert sorted(measured) == sorted(FAMILIES)


def test_a_chain_of_products_comes_after_much_longer_earlier_work(measured: dict[str, list[dict[str, Any]]]) -> None:
    for seen in measured["queued_matmuls"]:
        assert seen["earlier_s"] > 2 * seen["gpu_s"]


def test_a_chain_of_products_is_launched_long_before_it_is_done(measured: dict[str, list[dict[str, Any]]]) -> None:
    for seen in measured["queued_matmuls"]:
        assert seen["launched_s"] < seen["gpu_s"] / 5
        assert 0.9 * seen["gpu_s"] < seen["whole_s"] < 1.5 * seen["gpu_s"]


def test_the_first_training_step_is_by_far_the_slowest(measured: dict[str, list[dict[str, Any]]]) -> None:
    for seen in measured["training_step"]:
        first, *later = seen["calls_s"]
        assert first > 3 * median(later)


def test_what_is_expected_of_training_steps_is_what_they_take(measured: dict[str, list[dict[str, Any]]]) -> None:
    for seen in measured["training_step"]:
        first, *later = seen["calls_s"]
        assert first == pytest.approx(seen["choosing_s"] + seen["step_s"], rel=0.25)
        assert median(later) == pytest.approx(seen["step_s"], rel=0.25)
        assert max(later) - min(later) == pytest.approx(seen["evaluating_s"], rel=0.4)


def test_neither_mean_nor_fastest_of_the_later_steps_is_near_their_median(
    measured: dict[str, list[dict[str, Any]]],
) -> None:
    for seen in measured["training_step"]:
        later = seen["calls_s"][1:]
        for first in range(len(later) - 4):
            assert min(later[first:]) < 0.93 * median(later[first:]) < 0.86 * mean(later[first:])


def test_some_later_training_steps_are_slow_too(measured: dict[str, list[dict[str, Any]]]) -> None:
    for seen in measured["training_step"]:
        later = seen["calls_s"][1:]
        assert 1 <= sum(seconds > 1.5 * median(later) for seconds in later) < len(later) / 2


def test_each_part_of_a_loop_is_told_by_its_time(measured: dict[str, list[dict[str, Any]]]) -> None:
    for seen in measured["parts_of_a_loop"]:
        train_s = seen["taken_s"]
        assert train_s == pytest.approx(seen["train_s"], rel=0.25)
        assert 1.15 * train_s < seen["log_s"] < 3.3 * train_s
        assert seen["load_s"] > 1.15 * (train_s + seen["log_s"])


def test_the_first_batch_of_a_loop_takes_nearly_half_of_all_loading(measured: dict[str, list[dict[str, Any]]]) -> None:
    for seen in measured["parts_of_a_loop"]:
        first, *others = seen["loads_s"]
        assert 0.7 < first / sum(others) < 1
        assert first + sum(others) == pytest.approx(seen["epoch_loads_s"], rel=0.2)


def test_parts_are_queued_while_the_gpu_is_busy_and_take_different_times(
    measured: dict[str, list[dict[str, Any]]],
) -> None:
    for seen in measured["queued_parts"]:
        assert seen["still_busy"]
        assert seen["queued_s"] < sum(seen["gpu_s"]) / 5
        assert seen["taken_s"] == pytest.approx(seen["gpu_s"], rel=0.25)
        short, middle, long = sorted(seen["gpu_s"])
        assert middle > 2 * short
        assert long > 2 * middle


def test_the_losses_of_a_watched_training_are_those_that_are_expected(
    measured: dict[str, list[dict[str, Any]]],
) -> None:
    for seen in measured["watched_training"]:
        assert seen["same"] == pytest.approx(seen["losses"])
        assert min(seen["losses"]) != seen["losses"][-1]
        assert min(seen["losses"]) < 0.9 * mean(seen["losses"])
        assert seen["pinned"]


def test_a_training_that_breaks_does_so_in_a_step_that_is_not_logged(measured: dict[str, list[dict[str, Any]]]) -> None:
    for seen in measured["watched_training"]:
        broken = [step for step, loss in enumerate(seen["broken"]) if loss != loss]
        assert broken == list(range(broken[0], len(seen["broken"])))
        assert broken[0] not in seen["logged"]


def test_every_other_measure_puts_another_operator_on_top(measured: dict[str, list[dict[str, Any]]]) -> None:
    for seen in measured["profiled_model"]:
        others = {seen["device_time_total"], seen["cpu_time_total"], seen["device_time"]}
        assert len(others) == 3
        assert seen["self_device_time_total"] not in others


def test_the_seed_decides_which_operator_is_the_hottest(measured: dict[str, list[dict[str, Any]]]) -> None:
    assert len({seen["self_device_time_total"] for seen in measured["profiled_model"]}) > 1


def test_a_profile_of_the_same_seed_has_the_same_gpu_times(measured: dict[str, list[dict[str, Any]]]) -> None:
    for seen in measured["profiled_model"]:
        first, again = seen["spent"]
        assert first.keys() == again.keys()
        for key, (count, self_us) in first.items():
            assert again[key] == [count, pytest.approx(self_us, rel=0.02)]


def test_kernels_are_told_apart_by_their_phase_and_by_the_label_around_them(
    measured: dict[str, list[dict[str, Any]]],
) -> None:
    for seen in measured["labelled_step"]:
        under = {(work["phase"], *work["labels"]) for work in seen["work"]}
        assert under == {("data", "forward"), ("forward", "forward"), ("backward",), ("optimizer",)}
        assert [label["name"] for label in seen["labels"]] == ["forward"] * seen["calls"]
        assert len(set(seen["weights"])) == seen["calls"] + 1


def test_the_region_that_is_large_on_the_gpu_is_not_the_one_in_which_the_cpu_waits(
    measured: dict[str, list[dict[str, Any]]],
) -> None:
    for seen in measured["regions_profile"]:
        assert seen["device_time_total"] != seen["cpu_time_total"]
        assert seen["waiting"] > 0.5


def test_every_other_way_to_choose_a_layer_names_another_one(measured: dict[str, list[dict[str, Any]]]) -> None:
    for seen in measured["layers_by_shape"]:
        layers = seen["layers"]
        costliest = max(layers, key=lambda layer: layer["gpu_ms"])
        longest_call = max(layers, key=lambda layer: layer["gpu_ms"] / layer["calls"])
        others = {longest_call["name"]} | {
            max(layers, key=lambda layer, by=by: layer[by])["name"] for by in ("calls", "weights")
        }
        assert len(others | {costliest["name"]}) == 4
        assert sorted(layer["gpu_ms"] for layer in layers)[-2] < 0.8 * costliest["gpu_ms"]


def test_a_layers_time_is_found_in_the_row_of_its_shapes(measured: dict[str, list[dict[str, Any]]]) -> None:
    for seen in measured["layers_by_shape"]:
        timed_ms = sorted(layer["gpu_ms"] for layer in seen["layers"])
        # Timed are also the gaps between short calls, which are long where the machine is busy.
        for spent, timed in zip(seen["spent_ms"], timed_ms, strict=True):
            assert spent <= 1.1 * timed + 0.5
        assert seen["spent_ms"][-1] == pytest.approx(timed_ms[-1], rel=0.1, abs=2)


def test_the_peak_of_a_step_is_known_and_hidden_by_an_earlier_one(measured: dict[str, list[dict[str, Any]]]) -> None:
    for seen in measured["steps_with_a_peak"]:
        assert seen["after"] == pytest.approx(seen["peak_bytes"], rel=0.04)
        assert seen["before"] == pytest.approx(seen["earlier_peak_bytes"], rel=0.04)
        assert seen["before"] > 1.3 * seen["after"]
        assert seen["kept"] == pytest.approx(seen["kept_bytes"], rel=0.04)
        assert 0.1 * seen["after"] < seen["kept"] < 0.5 * seen["after"]


def test_loops_are_bound_by_what_they_say(measured: dict[str, list[dict[str, Any]]]) -> None:
    for seen in measured["training_loop"]:
        assert (seen["slow"]["bottleneck"], seen["quick"]["bottleneck"]) == ("input", "compute")
        assert 1 / 3 < seen["slow"]["share_busy"] < 0.5 < seen["quick"]["share_busy"]
        assert seen["slow"]["reading"] > 0.7
        assert seen["quick"]["reading"] < 0.5


def test_the_images_on_slow_storage_are_the_same_for_the_same_seed(measured: dict[str, list[dict[str, Any]]]) -> None:
    assert all(seen["same"] for seen in measured["slow_storage"])
    assert len({seen["label"] for seen in measured["slow_storage"]}) == len(measured["slow_storage"])


def test_the_last_batch_from_slow_storage_is_smaller(measured: dict[str, list[dict[str, Any]]]) -> None:
    for seen in measured["slow_storage"]:
        *full, last = [len(batch) - 1 for batch in seen["plain"]["batches"]]
        assert set(full) == {4}
        assert last == seen["count"] - 4 * len(full) < 4


def test_workers_hand_out_the_same_batches_from_slow_storage(measured: dict[str, list[dict[str, Any]]]) -> None:
    for seen in measured["slow_storage"]:
        assert seen["first"] == seen["second"] == seen["plain"]["batches"]


def test_each_image_is_waited_for_whichever_process_reads_it(measured: dict[str, list[dict[str, Any]]]) -> None:
    for seen in measured["slow_storage"]:
        assert len(seen["waited_s"]) == seen["count"]
        assert min(seen["waited_s"]) >= seen["plain"]["read_s"]


def test_every_other_look_at_layers_puts_another_one_on_top(measured: dict[str, list[dict[str, Any]]]) -> None:
    for seen in measured["hungry_layers"]:
        on_top = {way: max(sizes, key=sizes.get) for way, sizes in seen.items()}
        assert len(set(on_top.values())) == len(on_top)
        first, *_, last = seen["kept"]
        assert on_top["kept"] not in (first, last)
        assert sorted(seen["kept"].values())[-2] < 0.9 * max(seen["kept"].values())


def test_a_trace_of_the_whole_loop_holds_each_of_its_steps(measured: dict[str, list[dict[str, Any]]]) -> None:
    for seen in measured["traced_loop"]:
        (trace,) = seen["traces"]
        assert trace["steps"] == seen["trained"] == seen["steps"]
        assert trace["kernels"] >= 5 * seen["steps"]


def test_a_budget_leaves_room_for_the_workspaces_of_libraries(measured: dict[str, list[dict[str, Any]]]) -> None:
    for seen in measured["memory_budget"]:
        assert seen["more_for_libraries"]["peak_bytes"] == pytest.approx(32 * 2**20)
        assert seen["more_for_libraries"]["budget_bytes"] == pytest.approx(32 * 2**20)


def test_the_plain_step_with_a_budget_does_what_is_expected_of_it(measured: dict[str, list[dict[str, Any]]]) -> None:
    for seen in measured["memory_budget"]:
        assert seen["plain"]["peak_bytes"] == pytest.approx(seen["peak_bytes"], rel=0.02)
        assert seen["plain"]["loss"] == pytest.approx(seen["loss"])
        for done, wanted in zip(seen["plain"]["changes"], seen["changes"], strict=True):
            assert done["along"] == pytest.approx(wanted["along"], rel=1e-3, abs=1e-4 * wanted["norm"])


def test_a_budgets_memory_is_mostly_activations_and_its_batch_has_no_equal_parts(
    measured: dict[str, list[dict[str, Any]]],
) -> None:
    for seen in measured["memory_budget"]:
        assert 2 * seen["weights"] < 0.25 * seen["peak_bytes"]
        assert all(seen["rows"] % parts for parts in range(2, 32))


def test_each_of_six_loops_is_limited_by_what_it_says(measured: dict[str, list[dict[str, Any]]]) -> None:
    for seen in measured["six_loops"]:
        assert set(seen) == {"input", "copies", "sync", "launch", "compute", "memory"}
        for kind, facts in seen.items():
            assert (facts["busy"] > 0.75) == (kind in ("compute", "memory")), kind
            assert (facts["loading"] > 0.4) == (kind == "input"), kind
            assert (facts["copying"] > 0.4) == (kind == "copies"), kind
            assert (facts["reads"] > 2) == (kind == "sync"), kind
            assert (facts["kernel_us"] < 20) == (kind == "launch"), kind
            assert facts["kernels"] == facts["launched"], kind
        # On a real GPU a product takes up to eight times as long beside the rest.
        assert seen["memory"]["products"] < 0.02 < 0.7 < seen["compute"]["products"]


def test_a_compute_bound_loop_is_twice_as_fast_in_16_bits_with_the_same_losses(
    measured: dict[str, list[dict[str, Any]]],
) -> None:
    for seen in measured["compute_bound"]:
        losses = seen["plain"]["losses"]
        assert losses[0] > losses[-1]
        assert seen["halved"]["losses"] == pytest.approx(losses, abs=0.002 * (losses[0] - losses[-1]))
        assert seen["plain"]["loop_s"] > 2 * seen["halved_s"]


def test_a_loop_without_its_two_problems_is_far_faster_and_trains_the_same(
    measured: dict[str, list[dict[str, Any]]],
) -> None:
    for seen in measured["two_problems"]:
        for ran, clocked_s in zip(seen["ran"], seen["clocked_s"], strict=True):
            assert ran["losses"] == pytest.approx(seen["plain"]["losses"], rel=1e-4)
            assert 0.9 * ran["run_s"] < clocked_s
            assert seen["plain"]["run_s"] > 3 * ran["run_s"]


def test_a_second_half_measures_what_the_first_one_expects(measured: dict[str, list[dict[str, Any]]]) -> None:
    for seen in measured["compute_bound"]:
        assert seen["halved"]["moved"] == pytest.approx(seen["plain"]["moved"], rel=0.1)
    for seen in measured["two_problems"]:
        for ran in seen["ran"]:
            assert ran["change"] == pytest.approx(seen["plain"]["change"], rel=0.001)


def test_an_unknown_workload_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownWorkload, match="queued_matmuls"):
        build("no_such_workload", seed=1)


def test_a_workload_without_a_second_half_says_so() -> None:
    with pytest.raises(UnknownWorkload, match="nothing to finish"):
        finish("training_step", None, seed=1)
