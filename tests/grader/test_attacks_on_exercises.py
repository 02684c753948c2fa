"""Whoever doesn't measure doesn't pass, also with all that the process of a submission knows.

A submission runs in the process that observes it, with its rights. Known, and not prevented until it runs in a
sandbox that is observed from outside (those that are tried below are under KNOWN):

* Measuring by other means than the task's is measuring: `lab.gpu.device.timeline.left_s()` before and after the work
  tells what the GPU was given to do. That passes, and may.
* The workload can be built again from its seed, which the callers' variables hold, and measured by `lab.workloads`'s
  own `expect`, or reckoned up from the sizes in its closures and the data sheet of the simulated GPU.
* Events can be forged, and so can a whole report (the pipe for it and the nonce are files of the process). That is
  worth no more than returning the same value with forged events: the numbers in it have to be right as well.
* What slow storage notes of its own waiting can be forged together with its waiting.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import msgspec
import pytest

from grader.check import check
from grader.runner.protocol import Argument, BuiltArgument, Call, Expect, Returned
from grader.runner.warm import WarmRunner

SEEDS = (3, 20261130)

# What the lab would see of a submission that times eight calls.
TIMED_CALLS = """
    from lab import observe
    def forge(first_s, others_s):
        observe.events.clear()
        at = 100.0
        def event(what, **data):
            observe.events.append({"n": len(observe.events), "at_s": at, "what": what, **data})
        for call, seconds in enumerate([first_s, *others_s]):
            event("clock_read", call="time.perf_counter", value_s=at)
            event("workload", phase="begin", call=call)
            at += seconds
            event("workload", phase="end", call=call)
            event("clock_read", call="time.perf_counter", value_s=at)
"""

CHEATS = {
    "synchronize/time_on_the_gpu": {
        "an attribute": "def time_on_the_gpu(work):\n    work()\n    return work.gpu_s",
        "an attribute of its own": "def time_on_the_gpu(work):\n    work.gpu_s = 0.1\n    work()\n    return 0.1",
        "so much for each product": """
            def time_on_the_gpu(work):
                cells = [cell.cell_contents for cell in work.__closure__]
                inner = next(cell for cell in cells if callable(cell))
                lists = [c.cell_contents for c in inner.__closure__ if isinstance(c.cell_contents, list)]
                work()
                return len(lists[0]) * 0.00137
        """,
        "forged events": """
            from lab import observe
            def time_on_the_gpu(work):
                observe.events.clear()
                observe.record("workload", phase="begin", gpu_s=0.1)
                observe.record("workload", phase="end")
                return 0.1
        """,
        "another plain": """
            import lab.plain
            def time_on_the_gpu(work):
                work()
                lab.plain.plain = lambda value: 0.1
                return None
        """,
        "a forged report": """
            import os, sys
            def time_on_the_gpu(work):
                body = (b'{"type":"returned","value":0.1,"then":null,"duration_s":0.1,"events":['
                        b'{"n":0,"at_s":0,"what":"workload","phase":"begin"},'
                        b'{"n":1,"at_s":0,"what":"workload","phase":"end"}]}')
                nonce = b""
                for fd in range(3, 64):
                    try:
                        os.set_blocking(fd, False)
                        data = os.read(fd, 100)
                        nonce = data if len(data) == 32 else nonce
                    except OSError:
                        pass
                for fd in range(3, 64):
                    try:
                        os.write(fd, nonce + b" %d\\n" % len(body) + body)
                    except OSError:
                        pass
                os._exit(0)
        """,
    },
    "profile_memory/peak_of_a_step": {
        "an attribute": "def peak_of_a_step(step):\n    step()\n    return step.peak_bytes",
        "half of the older peak": """
            import torch
            def peak_of_a_step(step):
                older = torch.cuda.max_memory_allocated()
                step()
                return older // 2
        """,
        "so much for each row": """
            def peak_of_a_step(step):
                step()
                return len(step.inputs) * 4096 * 5
        """,
        "reserved, on a clean slate": """
            import torch
            def peak_of_a_step(step):
                torch.cuda.empty_cache()
                torch.cuda.reset_peak_memory_stats()
                step()
                return torch.cuda.max_memory_reserved()
        """,
    },
    "perf_counter/warm_up_and_repeat": {
        "forged events": f"""
            {TIMED_CALLS}
            def time_step(step):
                forge(0.4, [0.02, 0.02, 0.021, 0.08, 0.019, 0.02, 0.021])
                return {{"first_s": 0.4, "median_s": 0.02, "spread_s": 0.061}}
        """,
        "no spread": """
            import time, statistics
            def time_step(step):
                times = []
                for _ in range(10):
                    begin = time.perf_counter()
                    step()
                    times.append(time.perf_counter() - begin)
                return {"first_s": times[0], "median_s": statistics.median(times[1:]), "spread_s": 0.0}
        """,
        "the quartiles' spread": """
            import time, statistics
            def time_step(step):
                times = []
                for _ in range(10):
                    begin = time.perf_counter()
                    step()
                    times.append(time.perf_counter() - begin)
                first, _, third = statistics.quantiles(times[1:], n=4)
                return {"first_s": times[0], "median_s": statistics.median(times[1:]), "spread_s": third - first}
        """,
        "the fastest for the median": """
            import time
            def time_step(step):
                times = []
                for _ in range(10):
                    begin = time.perf_counter()
                    step()
                    times.append(time.perf_counter() - begin)
                later = times[1:]
                return {"first_s": times[0], "median_s": min(later), "spread_s": max(later) - min(later)}
        """,
    },
    "perf_counter/time_one_batch": {
        "a share of the logging": """
            def time_one_batch(loop):
                loop.log(loop.train(loop.load()))
                return loop._log_s / 2
        """,
        "forged events": """
            from lab import observe
            def time_one_batch(loop):
                loop.log(loop.train(loop.load()))
                observe.events.clear()
                for part, seconds in (("load", 0.3), ("train", 0.04), ("log", 0.1)):
                    observe.record("workload", part=part, phase="begin")
                    observe.record("workload", part=part, phase="end")
                    observe.events[-1]["at_s"] = observe.events[-2]["at_s"] + seconds
                return 0.04
        """,
    },
    "perf_counter/split_the_loop": {
        "a total that fits": """
            import time
            def split_the_loop(loop):
                computing = 0.0
                for batch in loop.batches:
                    begin = time.perf_counter()
                    loop.train(batch)
                    computing += time.perf_counter() - begin
                return {"loading_s": 0.001, "computing_s": computing, "total_s": computing + 0.001}
        """,
        "no time to load": """
            import time
            def split_the_loop(loop):
                loop.batches.load_s = loop.batches.first_s = 0.001
                loading = computing = 0.0
                start = mark = time.perf_counter()
                for batch in loop.batches:
                    loaded = time.perf_counter()
                    loop.train(batch)
                    loading, mark, end = loading + loaded - mark, time.perf_counter(), time.perf_counter()
                    computing += end - loaded
                return {"loading_s": loading, "computing_s": computing, "total_s": mark - start}
        """,
    },
    "synchronize/time_with_events": {
        "so much for each product": """
            def time_the_parts(parts):
                lengths = []
                for part in parts:
                    part()
                    inner = next(c.cell_contents for c in part.__closure__ if callable(c.cell_contents))
                    lengths += [len(c.cell_contents) for c in inner.__closure__ if isinstance(c.cell_contents, list)]
                return [length * 0.00137 for length in lengths]
        """,
    },
    "synchronize/remove_hidden_syncs": {
        "no steps": """
            def train(loop):
                loop.step = lambda images, labels: None
                return {"mean_loss": 1.0, "lowest_loss": 0.5, "waits": 1}
        """,
        "the first loss for all of them": """
            def train(loop):
                losses = [loop.step(images.cuda(non_blocking=True), labels.cuda(non_blocking=True)).detach()
                          for images, labels in loop.batches]
                first = losses[0].item()
                assert first == first
                for step in (0, 8, 16):
                    loop.log(step, first)
                return {"mean_loss": first, "lowest_loss": first, "waits": 1}
        """,
    },
    "torch_profiler/profile_one_step": {
        "something of the same name": """
            import torch
            from torch.profiler import profile, record_function
            def profile_one_step(step):
                x = torch.randn(256, 256, device="cuda")
                step()
                torch.cuda.synchronize()
                with profile() as prof:
                    with record_function("train_step"):
                        x @ x
                return prof
        """,
        "something of the same name beside a step that isn't whole": """
            import torch
            from torch.profiler import profile, record_function
            def profile_one_step(step):
                x = torch.randn(256, 256, device="cuda")
                step()
                torch.cuda.synchronize()
                step.train = lambda length: (x @ x).sum()
                with profile() as prof:
                    step()
                return prof
        """,
        "a table of its own": """
            import torch
            from types import SimpleNamespace as Row
            from torch.profiler import profile
            class Forged(profile):
                def key_averages(self, *args, **kwargs):
                    numbers = dict(cpu_time_total=1.0, self_cpu_time_total=1.0, device_time_total=2e4,
                                   self_device_memory_usage=0, self_cpu_memory_usage=0, count=1)
                    kernel, cpu = torch.autograd.DeviceType.CUDA, torch.autograd.DeviceType.CPU
                    return [Row(key="train_step", device_type=cpu, self_device_time_total=0.0, **numbers),
                            Row(key="gemm", device_type=kernel, self_device_time_total=2e5, **numbers)]
            def profile_one_step(step):
                step()
                torch.cuda.synchronize()
                with Forged() as prof:
                    step.train = lambda length: torch.zeros(())
                    step()
                return prof
        """,
    },
    "key_averages/hottest_operator": {
        "a profile of its own": """
            import lab.workloads.profiled_model as module
            def hottest_operator(prof):
                for seed in range(100):
                    module.built[seed] = prof
                return "aten::add"
        """,
    },
    "diagnosis/name_the_bottleneck": {
        "an attribute": """
            def name_the_bottleneck(train):
                train()
                return "input" if train.share_busy < 0.7 else "compute"
        """,
        "an attribute of the data set": """
            def name_the_bottleneck(train):
                train()
                return "input" if train.loader.dataset.read_s > 0.01 else "compute"
        """,
        **{
            f"whether it reads an image for more than {milliseconds} ms": f"""
            def name_the_bottleneck(train):
                train()
                read = train.loader.dataset.read
                return "input" if read.__closure__[0].cell_contents > {milliseconds / 1000} else "compute"
        """
            for milliseconds in (1.5, 2.0, 2.5, 3.0, 7.0)
        },
        "the batch size": """
            def name_the_bottleneck(train):
                train()
                return "input" if train.loader.batch_size > 8 else "compute"
        """,
    },
    "diagnosis/feed_the_gpu": {
        "no time to read": """
            from torch.utils.data import DataLoader
            def make_loader(dataset):
                dataset.read_s = 0
                return DataLoader(dataset, batch_size=4)
        """,
        "a faster data set": """
            from torch.utils.data import DataLoader
            def make_loader(dataset):
                return DataLoader(type(dataset)(dataset.seed, read_s=0), batch_size=4)
        """,
        "no sleep": """
            import time
            from torch.utils.data import DataLoader
            time.sleep = lambda seconds: None
            def make_loader(dataset):
                return DataLoader(dataset, batch_size=4)
        """,
        "no sleep in the storage either": """
            import lab.workloads.slow_storage as storage
            from torch.utils.data import DataLoader
            storage.sleep = lambda seconds: None
            def make_loader(dataset):
                return DataLoader(dataset, batch_size=4)
        """,
        "another constant": """
            import lab.workloads.slow_storage as storage
            from torch.utils.data import DataLoader
            storage.READ_S = 0.0
            def make_loader(dataset):
                return DataLoader(dataset, batch_size=4)
        """,
        "images without storage": """
            import torch
            from torch.utils.data import DataLoader
            class Images:
                def __init__(self, dataset): self.dataset = dataset
                def __len__(self): return len(self.dataset)
                def __getitem__(self, index):
                    generator = torch.Generator().manual_seed(self.dataset.seed * 1000 + index)
                    image = torch.randint(0, 256, (3, 16, 16), generator=generator).float()
                    return image, int(torch.randint(0, 1000, (), generator=generator))
            def make_loader(dataset):
                return DataLoader(Images(dataset), batch_size=4)
        """,
        "a clock set back": """
            from lab.gpu.device import clock
            from torch.utils.data import DataLoader
            class Images:
                def __init__(self, dataset): self.dataset = dataset
                def __len__(self): return len(self.dataset)
                def __getitem__(self, index):
                    clock.left_out_s += 0.02
                    return self.dataset[index]
            def make_loader(dataset):
                return DataLoader(Images(dataset), batch_size=4)
        """,
    },
}

KNOWN = {
    "the lab's own measurement, with the seed of a caller": (
        "synchronize/time_on_the_gpu",
        """
        import sys
        from lab.workloads import expect
        def time_on_the_gpu(work):
            frame = sys._getframe()
            while "request" not in frame.f_locals:
                frame = frame.f_back
            built = frame.f_locals["request"].arguments[0].built
            work()
            return expect(built.name, built.seed, **built.params)["gpu_s"]
        """,
    ),
    "storage that notes what it doesn't wait": (
        "diagnosis/feed_the_gpu",
        """
        import lab.workloads.slow_storage as storage
        from torch.utils.data import DataLoader
        class Images:
            def __init__(self, dataset): self.dataset = dataset
            def __len__(self): return len(self.dataset)
            def __getitem__(self, index):
                image = self.dataset[index]
                self.dataset.waited_s[index] = 1.0
                return image
        def make_loader(dataset):
            storage.sleep = lambda seconds: None
            return DataLoader(Images(dataset), batch_size=4)
        """,
    ),
}
CASES = [(exercise, cheat) for exercise, cheats in CHEATS.items() for cheat in cheats]


def verdict_on(exercise: str, source: str, seed: int, folder: Path, runner: WarmRunner) -> Any:
    file = folder / "submission.py"
    file.write_text(dedent(source), encoding="utf-8")
    return check(exercise, file, seed=seed, runner=runner)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("exercise", "cheat"), CASES)
def test_a_cheat_does_not_pass(exercise: str, cheat: str, seed: int, tmp_path: Path, lab_runner: WarmRunner) -> None:
    verdict = verdict_on(exercise, CHEATS[exercise][cheat], seed, tmp_path, lab_runner)
    assert verdict.status in ("failed", "error", "crashed"), verdict
    assert verdict.points < verdict.max_points
    assert not any("fault of the course" in (result.message or "") for result in verdict.checks), verdict


@pytest.mark.xfail(strict=True, reason="needs a sandbox that is observed from outside")
@pytest.mark.parametrize("cheat", KNOWN)
def test_a_known_cheat_does_not_pass(cheat: str, tmp_path: Path, lab_runner: WarmRunner) -> None:
    exercise, source = KNOWN[cheat]
    verdict = verdict_on(exercise, source, 3, tmp_path, lab_runner)
    assert verdict.status != "passed"


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
