"""Runs each family of workloads once and prints what was measured, as JSON. Run it with `python -m lab.run`."""

import json
import pickle
import tempfile
import time

import torch

from lab import observe
from lab.workloads import FAMILIES, build, expect, finish
from lab.workloads import memory_budget as budgeted
from lab.workloads.six_loops import STEPS

SEEDS = (1, 2, 3)


def seconds(work, runs: int = 1) -> float:
    """The shortest of some runs: what else the machine does only makes them longer."""
    shortest = float("inf")
    for _ in range(runs):
        begin = time.perf_counter()
        work()
        shortest = min(shortest, time.perf_counter() - begin)
    return shortest


def queued_matmuls(seed: int) -> dict:
    torch.cuda.synchronize()
    chain = build("queued_matmuls", seed)
    earlier_s = seconds(torch.cuda.synchronize)
    launched_s, whole_s = [], []
    for _ in range(3):
        begin = time.perf_counter()
        chain()
        launched_s.append(time.perf_counter() - begin)
        torch.cuda.synchronize()
        whole_s.append(time.perf_counter() - begin)
    return {
        **expect("queued_matmuls", seed),
        "earlier_s": earlier_s,
        "launched_s": min(launched_s),
        "whole_s": min(whole_s),
    }


def training_step(seed: int) -> dict:
    step = build("training_step", seed)
    return {"calls_s": [seconds(step) for _ in range(9)], **expect("training_step", seed)}


def parts_of_a_loop(seed: int) -> dict:
    loop = build("parts_of_a_loop", seed)
    batch = loop.load()
    epoch = iter(loop.batches)
    loads_s = [seconds(lambda: next(epoch)) for _ in range(len(loop.batches))]
    loss = loop.train(batch)
    times = {
        "load_s": seconds(loop.load),
        "loads_s": loads_s,
        "log_s": seconds(lambda: loop.log(loss)),
        "taken_s": seconds(lambda: loop.train(batch), runs=3),
    }
    return times | expect("parts_of_a_loop", seed)


def queued_parts(seed: int) -> dict:
    torch.cuda.synchronize()
    parts = build("queued_parts", seed)
    queued_s = seconds(lambda: [part() for part in parts])
    still_busy = not torch.cuda.current_stream().query()
    torch.cuda.synchronize()
    taken_s = [seconds(lambda part=part: (part(), torch.cuda.synchronize()), runs=3) for part in parts]
    return {"queued_s": queued_s, "still_busy": still_busy, "taken_s": taken_s, "gpu_s": expect("queued_parts", seed)}


def watched_training(seed: int) -> dict:
    losses = {}
    for breaks in (False, True):
        training = build("watched_training", seed, breaks=breaks)
        kept = [training.step(images.cuda(), labels.cuda()) for images, labels in training.batches]
        losses[breaks] = [loss.item() for loss in kept]
    pinned = all(images.is_pinned() and images.nbytes > 64 * 1024 for images, _ in training.batches)
    return {"same": losses[False], "broken": losses[True], "pinned": pinned, **expect("watched_training", seed)}


def profiled_model(seed: int) -> dict:
    measures = ("self_device_time_total", "device_time_total", "cpu_time_total", "device_time")
    operators, again = (
        [row for row in make("profiled_model", seed).key_averages() if row.key.startswith("aten::")]
        for make in (build, expect)
    )
    on_top = {name: max(operators, key=lambda row, name=name: getattr(row, name)).key for name in measures}
    spent = [{row.key: (row.count, row.self_device_time_total) for row in rows} for rows in (operators, again)]
    return on_top | {"spent": spent}


def labelled_step(seed: int) -> dict:
    training = build("labelled_step", seed)
    weights = expect("labelled_step", seed)["weights"]
    with torch.profiler.profile() as prof:
        for images, labels in training.batches:
            with torch.profiler.record_function("forward"):
                loss = torch.nn.functional.cross_entropy(training.model(images.to("cuda")), labels.to("cuda"))
            training.optimizer.zero_grad()
            loss.backward()
            training.optimizer.step()
    return {"weights": weights, **finish("labelled_step", prof, seed)}


def regions_profile(seed: int) -> dict:
    rows = [row for row in build("regions_profile", seed).key_averages() if row.cpu_time_total > 0]
    regions = [row for row in rows if row.key in ("encoder", "decoder", "head")]
    measures = ("device_time_total", "cpu_time_total")
    on_top = {name: max(regions, key=lambda row, name=name: getattr(row, name)).key for name in measures}
    waits = sum(row.self_cpu_time_total for row in rows if row.key.endswith("Synchronize"))
    return on_top | {"waiting": waits / sum(row.self_cpu_time_total for row in rows)}


def layers_by_shape(seed: int) -> dict:
    network = build("layers_by_shape", seed)
    with torch.profiler.profile(record_shapes=True) as prof:
        network(network.batch)
    rows = [row for row in prof.key_averages(group_by_input_shape=True) if row.key == "aten::addmm"]
    spent_ms = sorted(row.self_device_time_total / 1000 for row in rows)
    return {"layers": expect("layers_by_shape", seed), "spent_ms": spent_ms}


def steps_with_a_peak(seed: int) -> dict:
    torch.cuda.empty_cache()
    expected = expect("steps_with_a_peak", seed)
    torch.cuda.reset_peak_memory_stats()
    step = build("steps_with_a_peak", seed)
    before = torch.cuda.max_memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    step()
    after = torch.cuda.max_memory_allocated()
    return {"before": before, "after": after, "kept": torch.cuda.memory_allocated(), **expected}


def training_loop(seed: int) -> dict:
    shares = {}
    for name, slow_reads in (("slow", True), ("quick", False)):
        train = build("training_loop", seed, slow_reads=slow_reads)
        torch.cuda.synchronize()
        reading_s = seconds(lambda loop=train: list(loop.loader), runs=3)
        whole_s = seconds(lambda loop=train: (loop(), torch.cuda.synchronize()), runs=3)
        expected = expect("training_loop", seed, slow_reads=slow_reads)
        shares[name] = {**expected, "reading": reading_s / whole_s}
    return shares


def slow_storage(seed: int) -> dict:
    images = build("slow_storage", seed)
    again = pickle.loads(pickle.dumps(images))
    same = all(torch.equal(images[i][0], again[i][0]) and images[i][1] == again[i][1] for i in (0, len(images) - 1))
    loader = torch.utils.data.DataLoader(images, batch_size=4, num_workers=4)
    told = {"count": len(images), "same": same, "label": images[0][1], "plain": expect("slow_storage", seed)}
    return told | finish("slow_storage", loader, seed)


def hungry_layers(seed: int) -> dict:
    return expect("hungry_layers", seed)


def traced_loop(seed: int) -> dict:
    folder = tempfile.mkdtemp()
    train = build("traced_loop", seed, folder=folder)
    with torch.profiler.profile() as prof:
        trained = [train.step(batch) for batch in train.batches()]
    prof.export_chrome_trace(f"{folder}/whole.json.gz")
    return {
        "trained": len(trained),
        "traces": finish("traced_loop", None, seed, folder=folder)["traces"],
        **expect("traced_loop", seed),
    }


def memory_budget(seed: int) -> dict:
    before_bytes = torch.cuda.memory_allocated()
    expected = expect("memory_budget", seed)
    expected["peak_bytes"] -= before_bytes
    before_bytes = torch.cuda.memory_allocated()
    inputs = build("memory_budget", seed, part="inputs")
    model, optimizer, targets = (build("memory_budget", seed, part=part) for part in ("model", "optimizer", "targets"))
    loss = torch.nn.functional.cross_entropy(model(inputs), targets)
    loss.backward()
    optimizer.step()
    weights = sum(parameter.numel() * parameter.element_size() for parameter in model.parameters())
    plain = finish("memory_budget", loss, seed)
    plain["peak_bytes"] -= before_bytes
    return {"weights": weights, "plain": plain, "more_for_libraries": more_for_libraries(seed), **expected}


def more_for_libraries(seed: int) -> dict:
    """By how much the peak and the budget rise where libraries keep as much as cuBLAS does on some GPUs."""
    keep, kept = budgeted.load_libraries, []

    def load_libraries() -> int:
        kept.append(torch.empty(32 * 2**20, dtype=torch.uint8, device="cuda"))
        return 32 * 2**20

    without = expect("memory_budget", seed)
    budgeted.load_libraries = load_libraries
    more = expect("memory_budget", seed)
    budgeted.load_libraries = keep
    return {key: more[key] - without[key] for key in ("peak_bytes", "budget_bytes")}


def six_loops(seed: int) -> dict:
    facts = {}
    for loop in expect("six_loops", seed):
        train = build("six_loops", loop["seed"])
        observe.start()
        train()
        kernels = sum(event["what"] == "launch" and event["kind"] == "kernel" for event in observe.finish())
        facts[loop["kind"]] = expect("six_loops", loop["seed"], measure=True) | {"launched": kernels / STEPS}
    return facts


def compute_bound(seed: int) -> dict:
    model, loss_of, optimizer, batches = (
        build("compute_bound", seed, part=part) for part in ("model", "loss_of", "optimizer", "batches")
    )
    losses = []
    begin = time.perf_counter()
    for inputs, targets in batches:
        with torch.autocast("cuda", dtype=torch.bfloat16):
            losses.append(loss_of(model(inputs), targets))
        losses[-1].backward()
        optimizer.step()
        optimizer.zero_grad()
    halved = finish("compute_bound", [loss.detach() for loss in losses], seed)
    return {"halved": halved, "halved_s": time.perf_counter() - begin, "plain": expect("compute_bound", seed)}


def two_problems(seed: int) -> dict:
    def without_both(model, optimizer, batches, log) -> list:
        losses = []
        for images, labels in batches:
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        log(torch.stack(losses).tolist())
        return losses

    job = build("two_problems", seed)
    clocked_s = [seconds(lambda: (job.run(without_both), torch.cuda.synchronize())) for _ in range(2)]
    return {"clocked_s": clocked_s, "ran": finish("two_problems", None, seed), "plain": expect("two_problems", seed)}


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(json.dumps({family: [globals()[family](seed) for seed in SEEDS] for family in FAMILIES}))
