"""What the lab writes down about a program."""

import time

import pytest
import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule

import lab.gpu
from lab import observe

pytestmark = pytest.mark.gpu


def seen(act, *whats):
    observe.start()
    act()
    return [event for event in observe.finish() if event["what"] in whats]


def matmuls(count=10):
    a = torch.randn(256, 256, device="cuda")
    torch.cuda.synchronize()
    return lambda: [a @ a for _ in range(count)][-1]


def test_a_clock_read_says_whether_the_gpu_was_busy():
    work = matmuls(20)

    def act():
        time.perf_counter()
        work()
        time.perf_counter()
        torch.cuda.synchronize()
        time.perf_counter_ns()

    reads = seen(act, "clock_read")
    assert [(event["call"], event["gpu_busy"]) for event in reads] == [
        ("time.perf_counter", False),
        ("time.perf_counter", True),
        ("time.perf_counter_ns", False),
    ]


@pytest.mark.parametrize(
    ("read", "call"),
    [
        (lambda t: t[0, 0].item(), "Tensor.item"),
        (lambda t: t.tolist(), "Tensor.tolist"),
        (lambda t: t.cpu(), "Tensor.cpu"),
        (lambda t: t.to("cpu"), "Tensor.to"),
        (lambda t: bool(t[0, 0] > 0), "Tensor.__bool__"),
        (lambda t: float(t[0, 0]), "Tensor.__float__"),
        (lambda t: f"{t[0, 0]}", "Tensor.__format__"),
        (lambda t: repr(t), "Tensor.__repr__"),
        (lambda t: torch.equal(t, t), "torch.equal"),
        (lambda t: t.allclose(t), "Tensor.allclose"),
        (lambda t: torch.is_nonzero(t[0, 0]), "torch.is_nonzero"),
        (lambda t: t.nonzero(), "Tensor.nonzero"),
        (lambda t: torch.unique(t), "torch.unique"),
        (lambda t: t[torch.isnan(t)], "Tensor.__getitem__ (with a mask)"),
        (lambda t: t[:2, t[0] > 0], "Tensor.__getitem__ (with a mask)"),
        (lambda t: torch.empty(256, 256).copy_(t), "Tensor.copy_ (to the CPU)"),
        (lambda t: torch.empty(256, 256).copy_(t, non_blocking=True), "Tensor.copy_ (to the CPU)"),
        (lambda t: torch.empty(3).__setitem__(1, t[0, 0]), "Tensor.__setitem__ (to the CPU)"),
    ],
)
def test_each_host_read_is_one_event(read, call):
    y = matmuls(3)()
    found = seen(lambda: read(y), "host_read")
    assert [event["call"] for event in found] == [call]


def test_reading_a_cpu_tensor_is_no_host_read():
    assert seen(lambda: torch.ones(1).item(), "host_read", "wait") == []


@pytest.mark.parametrize(
    "act",
    [
        lambda t: t.to("cpu", non_blocking=True),
        lambda t: t.to("cpu", torch.float64, True),
        lambda t: torch.empty(256, 256, pin_memory=True).copy_(t, non_blocking=True),
        lambda t: t[0, :10],
        lambda t: t[torch.zeros(3, dtype=torch.int64, device="cuda")],
        lambda t: t.__setitem__(0, t[1]),
    ],
)
def test_what_the_host_does_not_wait_for_is_no_host_read(act):
    y = matmuls(3)()
    assert seen(lambda: act(y), "host_read", "wait") == []


@pytest.mark.parametrize(
    ("copy", "expected"),
    [
        (lambda t: t.to("cuda"), ("Tensor.to", True)),
        (lambda t: t.to("cuda", non_blocking=True), ("Tensor.to", True)),
        (lambda t: t.pin_memory().to("cuda", non_blocking=True), ("Tensor.to", False)),
        (lambda t: t.pin_memory().to(torch.device("cuda"), torch.float32, True), ("Tensor.to", False)),
        (lambda t: t.cuda(), ("Tensor.cuda", True)),
        (lambda t: t.pin_memory().cuda(non_blocking=True), ("Tensor.cuda", False)),
        (
            lambda t: torch.empty(t.shape, device="cuda").copy_(t.pin_memory(), non_blocking=True),
            ("Tensor.copy_", False),
        ),
        (lambda t: t[:10].to("cuda", non_blocking=True), ("Tensor.to", False)),
    ],
)
def test_a_copy_to_the_gpu_says_whether_the_host_waits_for_it(copy, expected):
    host = torch.ones(256, 256)
    found = seen(lambda: copy(host), "copy_to_gpu", "wait", "host_read")
    assert [(event["call"], event["blocking"]) for event in found] == [expected]


def test_what_stays_where_it_is_is_no_copy_to_the_gpu():
    host, device = torch.ones(3), torch.ones(3, device="cuda")

    def act():
        host.to(torch.float64)
        device.to("cuda")
        device.cuda()
        device.copy_(device)
        host.copy_(host)

    assert seen(act, "copy_to_gpu") == []


@pytest.mark.parametrize(
    ("wait", "call"),
    [
        (lambda: torch.cuda.synchronize(), "torch.cuda.synchronize"),
        (lambda: torch.accelerator.synchronize(), "torch.accelerator.synchronize"),
        (lambda: torch.cuda.current_stream().synchronize(), "torch.cuda.Stream.synchronize"),
    ],
)
def test_each_wait_is_one_event(wait, call):
    work = matmuls(10)

    def act():
        work()
        wait()

    found = seen(act, "wait")
    assert [event["call"] for event in found] == [call]
    assert found[0]["waited_s"] > 0


def test_asking_until_the_gpu_is_done_is_a_wait():
    work, event = matmuls(10), torch.cuda.Event()

    def act():
        work()
        event.record()
        while not event.query():
            pass

    assert [found["call"] for found in seen(act, "wait")] == ["torch.cuda.Event.query"]


def test_asking_now_and_then_whether_the_gpu_is_done_is_no_wait():
    work, event = matmuls(10), torch.cuda.Event()

    def act():
        work()
        event.record()
        event.query()
        observe.record("workload")
        while not event.query():
            observe.record("workload")

    assert seen(act, "wait") == []


def test_clipping_gradients_and_an_optimizers_step_make_nobody_wait():
    layer = torch.nn.Linear(8, 8).to("cuda")
    optimizer = torch.optim.Adam(layer.parameters())
    layer(torch.ones(8, 8, device="cuda")).sum().backward()

    def act():
        norm = torch.nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
        assert norm.is_cuda
        optimizer.step()

    assert seen(act, "wait", "host_read") == []


def test_profilers_and_their_activities_are_seen():
    work = matmuls(2)

    def act():
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True):
            work()

    found = seen(act, "profiler_start", "profiler_stop")
    assert [event["what"] for event in found] == ["profiler_start", "profiler_stop"]
    assert found[0]["activities"] == ["CPU", "CUDA"]
    assert found[0]["record_shapes"]


def test_a_profiler_with_a_schedule_is_prepared_a_step_before_it_starts():
    work = matmuls(2)

    def act():
        with profile(schedule=schedule(wait=1, warmup=1, active=1, repeat=1)) as prof:
            for _ in range(3):
                work()
                prof.step()

    found = [
        event["what"] for event in seen(act, "profiler_prepare", "profiler_start", "profiler_stop", "profiler_step")
    ]
    assert found == [f"profiler_{what}" for what in ("step", "prepare", "step", "start", "step", "stop")]


def test_a_profiler_that_never_starts_is_seen_all_the_same():
    def act():
        with profile(schedule=schedule(wait=1, warmup=1, active=1)):
            pass

    found = seen(act, "profiler_made", "profiler_start")
    assert [(event["what"], event.get("scheduled")) for event in found] == [("profiler_made", True)]


@pytest.mark.parametrize("ending", ["json", "json.gz"])
def test_an_exported_trace_is_seen(ending, tmp_path):
    with profile() as prof:
        matmuls(2)()
    found = seen(lambda: prof.export_chrome_trace(str(tmp_path / f"trace.{ending}")), "trace_export")
    assert [event["written"] for event in found] == [True]


def test_a_trace_that_was_not_written_is_seen_too(tmp_path):
    with profile() as prof:
        matmuls(2)()
    found = seen(lambda: prof.export_chrome_trace(str(tmp_path / "nowhere" / "trace.json")), "trace_export")
    assert [event["written"] for event in found] == [False]


def test_labels_are_seen_when_they_are_made_entered_and_left():
    def act():
        record_function("forgotten")
        with record_function("used"):
            pass

    found = [(event["phase"], event["name"]) for event in seen(act, "label")]
    assert found == [("made", "forgotten"), ("made", "used"), ("entered", "used"), ("left", "used")]


def test_the_profilers_own_clock_reads_and_waits_are_not_the_learners():
    work = matmuls(2)

    def act():
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as prof:
            work()
        prof.key_averages()

    assert seen(act, "clock_read") == []


def test_memory_reads_and_resets_are_seen():
    def act():
        torch.cuda.reset_peak_memory_stats()
        torch.cuda.max_memory_allocated()

    found = seen(act, "peak_reset", "memory_read")
    assert [event["what"] for event in found] == ["peak_reset", "memory_read"]


def test_a_peak_is_written_down_before_it_is_forgotten() -> None:
    def act() -> None:
        big = torch.ones(2**20, device="cuda")
        del big
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()

    emptied, reset = seen(act, "peak_reset", "cache_emptied")
    assert (emptied["what"], reset["what"]) == ("cache_emptied", "peak_reset")
    assert reset["peak_bytes"] >= 4 * 2**20


def test_events_are_numbered_and_in_order():
    work = matmuls(3)
    observe.start()
    work()
    torch.cuda.synchronize()
    events = observe.finish()
    assert [event["n"] for event in events] == list(range(len(events)))


def test_nothing_is_written_down_when_nobody_observes():
    observe.start()
    observe.finish()
    matmuls(1)()
    assert observe.finish() == []


def test_loading_forward_backward_and_optimizer_are_phases_with_their_time():
    model = torch.nn.Linear(8, 8).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = torch.utils.data.DataLoader(torch.randn(4, 8), batch_size=2)

    def act():
        for batch in loader:
            model(batch.cuda()).sum().backward()
            optimizer.step()
            optimizer.zero_grad()

    phases = seen(act, "host_phase")
    kinds = [event["kind"] for event in phases]
    step = ["data", "forward", "backward", "optimizer"]
    assert kinds == [*step, *step, "data"]  # the last finds no more
    assert all(0 < event["lasted_s"] <= event["at_s"] for event in phases)


def test_a_backward_pass_that_fails_is_a_phase_and_raises_as_ever():
    scalar = torch.ones(2, 2, device="cuda", requires_grad=True)

    def act():
        with pytest.raises(RuntimeError, match="scalar outputs"):
            (scalar * 2).backward()

    assert [event["kind"] for event in seen(act, "host_phase")] == ["backward"]


def test_a_launch_says_how_much_is_allocated_and_the_most_since_the_launch_before():
    if lab.gpu.use().kind == "real":
        pytest.skip("launches are seen on the simulated GPU only")
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()

    def act():
        x = torch.ones(256, 256, device="cuda")
        unused = torch.empty(2**20, dtype=torch.uint8, device="cuda")  # no kernel
        del unused
        return torch.relu(x)

    first, second = seen(act, "launch")
    size = 256 * 256 * 4
    assert (first["allocated_bytes"], first["peak_bytes"]) == (before + size, before + size)
    assert (second["allocated_bytes"], second["peak_bytes"]) == (before + 2 * size, before + size + 2**20)
    assert second["peak_bytes"] == torch.cuda.max_memory_allocated()
