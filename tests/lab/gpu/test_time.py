"""Launching is not working: the clock, waiting, events and streams."""

import copy
import datetime
import io
import os
import pickle
import subprocess
import sys
import threading
import time
import timeit

import pytest
import torch

import lab.gpu
from lab import observe
from lab.gpu.clock import real_s
from lab.gpu.device import clock, timeline
from lab.workloads.sizing import gpu_seconds, matmul_edge

pytestmark = pytest.mark.gpu


def chain(length=10):
    """Matrix products that keep any GPU busy for some milliseconds each, and a call that launches them."""
    size = 512 if lab.gpu.use().kind == "simulated" else matmul_edge()
    a = torch.randn(size, size, device="cuda") / size**0.5
    x = a
    torch.cuda.synchronize()
    return lambda: [x @ a for _ in range(length)][-1]


def test_an_unsynchronised_timer_reads_less_than_a_fifth_of_a_synchronised_one():
    work = chain(20)
    work()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    work()
    unsynchronised = time.perf_counter() - begin
    torch.cuda.synchronize()
    assert unsynchronised < (time.perf_counter() - begin) / 5


def test_a_loaded_machine_changes_neither_reading():
    if lab.gpu.use().kind == "real":
        pytest.skip("a real GPU doesn't tell each kernel's duration here")
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        work = chain(20)
        observe.start()
        begin = time.perf_counter()
        work()
        unsynchronised = time.perf_counter() - begin
        torch.cuda.synchronize()
        synchronised = time.perf_counter() - begin
        kernels = [event for event in observe.finish() if event["what"] == "launch"]
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert unsynchronised < synchronised / 5
    assert synchronised == pytest.approx(sum(event["end_s"] - event["begin_s"] for event in kernels), rel=0.1)


def test_a_synchronised_timer_reads_the_sum_of_the_kernels():
    if lab.gpu.use().kind == "real":
        pytest.skip("a real GPU doesn't tell each kernel's duration here")
    work = chain(20)
    observe.start()
    begin = time.perf_counter()
    work()
    torch.cuda.synchronize()
    elapsed = time.perf_counter() - begin
    kernels = [event for event in observe.finish() if event["what"] == "launch"]
    assert len(kernels) == 20
    assert elapsed == pytest.approx(sum(event["end_s"] - event["begin_s"] for event in kernels), rel=0.1)


@pytest.mark.parametrize(
    "wait",
    [
        lambda y: torch.cuda.synchronize(),
        lambda y: torch.cuda.synchronize("cuda"),
        lambda y: torch.accelerator.synchronize(),
        lambda y: torch.cuda.current_stream().synchronize(),
        lambda y: y[0, 0].item(),
        lambda y: y.sum().tolist(),
        lambda y: y.cpu(),
        lambda y: y.to("cpu"),
        lambda y: repr(y),
        lambda y: bool(y[0, 0] > 0),
        lambda y: float(y[0, 0]),
        lambda y: int(y[0, 0]),
        lambda y: f"{y[0, 0]:.3f}",
        lambda y: y.nonzero(),
        lambda y: y[y > 0],
        lambda y: torch.allclose(y, y),
        lambda y: torch.equal(y, y),
        lambda y: torch.save(y, io.BytesIO()),
        lambda y: torch.tensor([1.0], device="cuda"),
        lambda y: torch.ones(4).to("cuda"),
        lambda y: torch.ones(2**20).to("cuda"),
        lambda y: y[[0, 1]],
        lambda y: y[:4, :4].copy_(torch.ones(4, 4)),
    ],
)
def test_what_needs_a_result_waits_for_it(wait):
    y = chain(10)()
    assert not torch.cuda.current_stream().query()
    wait(y)
    assert torch.cuda.current_stream().query()


@pytest.mark.parametrize(
    "go_on",
    [
        lambda y: y + 1,
        lambda y: y.sum(),
        lambda y: y.view(-1),
        lambda y: y.shape,
        lambda y: y.detach(),
        lambda y: torch.zeros(4, device="cuda"),
        lambda y: torch.ones(4).pin_memory().to("cuda", non_blocking=True),
        lambda y: torch.ones(4).to("cuda", non_blocking=True),
        lambda y: y.to("cpu", non_blocking=True),
        lambda y: y.half(),
        lambda y: copy.deepcopy(y),
        lambda y: torch.ones(4, device="cuda").to(y),
        lambda y: y[0],
        lambda y: y.__setitem__(y > 0, 0.0),
    ],
)
def test_what_needs_no_result_goes_on_at_once(go_on):
    y = chain(20)()
    go_on(y)
    assert not torch.cuda.current_stream().query()


def test_events_measure_milliseconds_on_the_gpu():
    work = chain(20)
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin = time.perf_counter()
    start.record()
    work()
    end.record()
    end.synchronize()
    elapsed_ms = (time.perf_counter() - begin) * 1000
    assert start.elapsed_time(end) == pytest.approx(elapsed_ms, rel=0.2)


def test_events_refuse_what_they_cannot_answer():
    with pytest.raises((ValueError, RuntimeError), match="enable_timing"):
        torch.cuda.Event().elapsed_time(torch.cuda.Event())
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    with pytest.raises((ValueError, RuntimeError), match="recorded"):
        start.elapsed_time(end)
    work = chain(20)
    start.record()
    work()
    end.record()
    assert not end.query()
    with pytest.raises(RuntimeError, match=r"completed|not ready"):
        start.elapsed_time(end)


def test_streams_overlap_and_wait_for_one_another():
    work = chain(10)
    one, other = torch.cuda.Stream(), torch.cuda.Stream()
    with torch.cuda.stream(one):
        work()
    assert not one.query()
    assert other.query()
    other.wait_stream(one)
    with torch.cuda.stream(other):
        torch.ones(1, device="cuda").add_(1)
    assert not other.query()
    other.synchronize()
    assert one.query()


def test_timeit_and_benchmark_timer_use_the_same_clock():
    from torch.utils import benchmark

    work = chain(10)
    work()
    torch.cuda.synchronize()

    def synchronised():
        work()
        torch.cuda.synchronize()

    begin = time.perf_counter()
    synchronised()
    by_clock = time.perf_counter() - begin
    by_timeit = min(timeit.repeat(synchronised, number=1, repeat=3))
    assert timeit.timeit(synchronised, number=1) == pytest.approx(by_clock, rel=0.2)
    assert timeit.Timer(synchronised).timeit(1) == pytest.approx(by_clock, rel=0.2)
    by_timer = benchmark.Timer("work()", globals={"work": work}).timeit(3).median
    assert by_timer == pytest.approx(by_timeit, rel=0.3)


def test_all_clocks_agree():
    before = time.perf_counter(), time.perf_counter_ns(), time.time(), time.monotonic()
    chain(20)()
    torch.cuda.synchronize()
    after = time.perf_counter(), time.perf_counter_ns(), time.time(), time.monotonic()
    elapsed = [(b - a) * scale for a, b, scale in zip(before, after, (1, 1e-9, 1, 1), strict=True)]
    assert elapsed == pytest.approx([elapsed[0]] * 4, rel=0.05)


def test_the_calendar_and_the_systems_clocks_count_the_same_wait():
    before = time.perf_counter(), time.clock_gettime(time.CLOCK_MONOTONIC), datetime.datetime.now().timestamp()
    chain(20)()
    torch.cuda.synchronize()
    after = time.perf_counter(), time.clock_gettime(time.CLOCK_MONOTONIC), datetime.datetime.now().timestamp()
    elapsed = [b - a for a, b in zip(before, after, strict=True)]
    assert elapsed == pytest.approx([elapsed[0]] * 3, rel=0.05)


def spend_cpu_time(seconds: float) -> None:
    until = os.times().user + seconds
    while os.times().user < until:
        sum(range(1000))


def test_each_thread_counts_its_own_processor_time():
    spend_cpu_time(0.2)
    of_this_thread, read = time.thread_time(), []

    def reading() -> None:
        read.append(time.thread_time())
        spend_cpu_time(0.05)
        read.append(time.thread_time())

    thread = threading.Thread(target=reading)
    thread.start()
    thread.join()
    assert read[0] < of_this_thread
    assert read[1] > read[0]


def test_a_forked_process_begins_to_count_its_processor_time_at_zero():
    if lab.gpu.use().kind == "real":
        pytest.skip("nothing is left out of a real GPU's time")
    clock.leave_out(real_s() - 100)
    child = os.fork()
    if child == 0:
        spend_cpu_time(0.05)
        os._exit(not (time.process_time() > 0.02 and time.thread_time() > 0.02))
    assert os.waitpid(child, 0)[1] == 0


def test_a_time_of_the_calendar_is_still_pickled_and_compared():
    now = datetime.datetime.now(datetime.timezone.utc)
    assert pickle.loads(pickle.dumps(now)) == now
    assert type(now) is datetime.datetime


def real_s_of_a_wait(seconds: float) -> float:
    """How much real time a wait for the simulated GPU takes that is so long by its timeline."""
    if lab.gpu.use().kind == "real":
        pytest.skip("waits for a real GPU are real")
    torch.cuda.synchronize()
    timeline.hold(timeline.stream, clock.now_s() + seconds)
    real, begin = real_s(), time.perf_counter()
    torch.cuda.synchronize()
    assert time.perf_counter() - begin > 0.9 * seconds
    return real_s() - real


def test_a_wait_for_the_simulated_gpu_takes_no_real_time_where_nobody_could_use_it():
    assert real_s_of_a_wait(20.0) < 10.0


def test_a_wait_is_a_real_one_where_another_thread_lives_in_real_time():
    over = threading.Event()
    other = threading.Thread(target=over.wait)
    other.start()
    waited_s = real_s_of_a_wait(0.3)
    over.set()
    other.join()
    assert waited_s > 0.25


def test_a_wait_is_a_real_one_where_a_child_process_lives_in_real_time():
    with subprocess.Popen(["sleep", "60"]) as child:
        waited_s = real_s_of_a_wait(0.3)
        child.kill()
    assert waited_s > 0.25


def test_a_wait_for_a_drive_counts_whether_or_not_it_takes_real_time():
    begin = time.perf_counter()
    lab.gpu.wait(0.05)
    assert 0.049 <= time.perf_counter() - begin < 0.5


def test_sleeping_counts_on_the_labs_clock():
    begin = time.perf_counter()
    time.sleep(0.05)  # the case itself: real waiting is real time
    assert time.perf_counter() - begin >= 0.049


def test_half_precision_multiplies_several_times_faster():
    if lab.gpu.use().kind == "real":
        pytest.skip("depends on the real GPU's tensor cores")
    seconds = {}
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        a = torch.randn(512, 512, device="cuda").to(dtype)
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(5):
            a @ a
        torch.cuda.synchronize()
        seconds[dtype] = time.perf_counter() - begin
    assert seconds[torch.float32] > 3 * seconds[torch.float16]
    assert seconds[torch.float32] > 3 * seconds[torch.bfloat16]


@pytest.mark.parametrize("say", ["set_float32_matmul_precision", "allow_tf32"])
def test_fp32_matrices_may_use_tensor_cores_where_one_says_so(say):
    if lab.gpu.use().kind == "real":
        pytest.skip("depends on the real GPU's tensor cores")
    a = torch.randn(512, 512, device="cuda")
    plain_s = gpu_seconds(lambda: a @ a)
    if say == "allow_tf32":
        torch.backends.cuda.matmul.allow_tf32 = True
    else:
        torch.set_float32_matmul_precision("high")
    assert gpu_seconds(lambda: a @ a) < 0.7 * plain_s


def test_pinned_copies_are_faster_and_can_be_asynchronous():
    host = torch.randn(2**20)
    pinned = host.pin_memory()
    assert pinned.is_pinned()
    assert not host.is_pinned()
    torch.cuda._sleep(500_000_000)  # longer than a busy machine keeps the processor from this process
    pinned.to("cuda", non_blocking=True)
    assert not torch.cuda.current_stream().query()
    torch.cuda.synchronize()
    host.to("cuda")
    assert torch.cuda.current_stream().query()


def test_each_thread_has_a_current_stream_of_its_own():
    seen = []
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        thread = threading.Thread(target=lambda: seen.append(torch.cuda.current_stream()))
        thread.start()
        thread.join()
        assert torch.cuda.current_stream() == side
    assert seen == [torch.cuda.default_stream()]


def test_a_thread_that_reads_does_not_move_another_threads_tensors():
    a = torch.ones(4, device="cuda")
    work = chain(30)
    work()
    reader = threading.Thread(target=lambda: a.cpu())
    reader.start()
    devices = {a.half().device.type for _ in range(200)}
    reader.join()
    assert devices == {"cuda"}


def test_no_clock_runs_backwards_in_any_thread():
    steps = []
    done = threading.Event()

    def watch():
        last = time.perf_counter()
        while not done.is_set():
            now = time.perf_counter()
            steps.append(now - last)
            last = now

    watcher = threading.Thread(target=watch)
    watcher.start()
    for _ in range(20):
        chain(3)()
        torch.cuda.synchronize()
    done.set()
    watcher.join()
    assert min(steps) >= 0


def test_streams_share_the_gpu_that_computes():
    if lab.gpu.use().kind == "real":
        pytest.skip("small kernels may share a real GPU")
    work = chain(5)
    begin = time.perf_counter()
    work()
    torch.cuda.synchronize()
    one = time.perf_counter() - begin
    begin = time.perf_counter()
    for stream in (torch.cuda.Stream(), torch.cuda.Stream()):
        with torch.cuda.stream(stream):
            work()
    torch.cuda.synchronize()
    assert time.perf_counter() - begin == pytest.approx(2 * one, rel=0.2)


def test_generic_streams_and_events_are_those_of_the_gpu():
    start, end = (torch.Event("cuda", enable_timing=True) for _ in range(2))
    work = chain(5)
    start.record()
    work()
    end.record()
    end.synchronize()
    assert start.elapsed_time(end) > 1
    assert torch.get_device_module() is torch.cuda
    assert torch.Stream(device="cuda").query()


def test_a_full_launch_queue_blocks_the_host():
    if lab.gpu.use().kind == "real":
        pytest.skip("the depth of a real queue isn't documented")
    a = torch.ones(256, 256, device="cuda")
    b = [a @ a for _ in range(1500)]
    left_s = observe.gpu_left_s()
    one = (2 * 256**3) / 25e9
    assert len(b) == 1500
    assert left_s < 1100 * one
