"""Allocated, reserved, peak, out of memory."""

import gc
import threading
import time

import pytest
import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile

import lab.gpu

pytestmark = pytest.mark.gpu
MIB = 2**20


def test_a_fresh_process_has_allocated_nothing():
    assert torch.cuda.memory_allocated() == 0
    assert torch.cuda.max_memory_allocated() == 0


def test_allocated_rises_with_tensors_and_falls_when_they_go():
    before = torch.cuda.memory_allocated()
    a = torch.empty(4 * MIB, dtype=torch.uint8, device="cuda")
    assert torch.cuda.memory_allocated() - before == 4 * MIB
    view = a[:100]
    del a
    assert torch.cuda.memory_allocated() - before == 4 * MIB
    del view
    assert torch.cuda.memory_allocated() == before


def test_sizes_are_rounded_to_512_bytes():
    before = torch.cuda.memory_allocated()
    keep = torch.empty(1, device="cuda")
    assert torch.cuda.memory_allocated() - before == 512
    del keep


def test_the_peak_stays_until_it_is_reset():
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    big = torch.empty(32 * MIB, dtype=torch.uint8, device="cuda")
    del big
    assert torch.cuda.max_memory_allocated() - before == 32 * MIB
    torch.cuda.reset_peak_memory_stats()
    assert torch.cuda.max_memory_allocated() == before


def test_reserved_stays_after_a_free_until_the_cache_is_emptied():
    torch.cuda.empty_cache()
    before = torch.cuda.memory_reserved()
    big = torch.empty(64 * MIB, dtype=torch.uint8, device="cuda")
    del big
    assert torch.cuda.memory_reserved() - before == 64 * MIB
    torch.cuda.empty_cache()
    assert torch.cuda.memory_reserved() == before


def test_a_freed_block_is_used_again():
    torch.cuda.empty_cache()
    a = torch.empty(30 * MIB, dtype=torch.uint8, device="cuda")
    reserved = torch.cuda.memory_reserved()
    del a
    b = torch.empty(30 * MIB, dtype=torch.uint8, device="cuda")
    assert torch.cuda.memory_reserved() == reserved
    del b


def test_out_of_memory_speaks_pytorchs_words_and_can_be_survived():
    total = torch.cuda.get_device_properties(0).total_memory
    with pytest.raises(torch.OutOfMemoryError, match=r"CUDA out of memory\. Tried to allocate"):
        torch.empty(2 * total, dtype=torch.uint8, device="cuda")
    assert torch.ones(2, device="cuda").sum().item() == 2


def test_backward_needs_the_activations_and_no_grad_does_not():
    net = nn.Sequential(*[nn.Sequential(nn.Linear(256, 256), nn.ReLU()) for _ in range(8)]).to("cuda")
    x = torch.randn(1024, 256, device="cuda")

    def peak(step):
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        step()
        return torch.cuda.max_memory_allocated() - before

    def without_grad():
        with torch.no_grad():
            net(x)

    assert peak(lambda: net(x).sum().backward()) > 2 * peak(without_grad)


def test_statistics_and_summary_have_pytorchs_form():
    keep = torch.empty(2 * MIB, device="cuda")
    statistics = torch.cuda.memory_stats()
    assert statistics["allocated_bytes.all.current"] == torch.cuda.memory_allocated()
    assert statistics["reserved_bytes.all.current"] == torch.cuda.memory_reserved()
    assert "Allocated memory" in torch.cuda.memory_summary()
    free, total = torch.cuda.mem_get_info()
    assert 0 <= free <= total
    del keep


def test_the_counters_return_to_zero_change_after_training_steps():
    net = nn.Linear(64, 64).to("cuda")
    x = torch.randn(32, 64, device="cuda")
    net(x).sum().backward()
    net.zero_grad()
    before = torch.cuda.memory_allocated()
    for _ in range(5):
        net(x).sum().backward()
        net.zero_grad()
    assert torch.cuda.memory_allocated() == before


def test_the_simulated_card_is_small_enough_to_run_out_of():
    if lab.gpu.use().kind == "real":
        pytest.skip("about the simulated card")
    kept = []

    def fill():
        for _ in range(100):
            kept.append(torch.empty(16 * MIB, dtype=torch.uint8, device="cuda"))

    with pytest.raises(torch.OutOfMemoryError):
        fill()
    assert 1 < len(kept) < 64


def test_memory_that_cannot_fit_is_refused_before_it_is_computed():
    with pytest.raises(torch.OutOfMemoryError):
        torch.zeros(10**12, device="cuda")
    big = torch.ones(6000, 6000, device="cuda") if torch.cuda.mem_get_info()[1] < 2**30 else None
    if big is not None:
        with pytest.raises(torch.OutOfMemoryError):
            torch.cat([big] * 8)


def test_memory_follows_out_and_resize():
    before = torch.cuda.memory_allocated()
    out = torch.empty(0, device="cuda")
    torch.add(torch.ones(1000, 1000, device="cuda"), 1, out=out)
    assert torch.cuda.memory_allocated() - before >= 4_000_000
    other = torch.empty(0, device="cuda").resize_(2**20)
    assert torch.cuda.memory_allocated() - before >= 8_000_000
    del out, other


def test_a_share_of_the_memory_is_all_that_pytorch_may_take():
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction(0.5)
    with pytest.raises(torch.OutOfMemoryError, match="allowed"):
        torch.empty(int(0.6 * total), dtype=torch.uint8, device="cuda")
    torch.empty(int(0.4 * total), dtype=torch.uint8, device="cuda")
    torch.cuda.set_per_process_memory_fraction(1.0)
    torch.empty(int(0.6 * total), dtype=torch.uint8, device="cuda")


@pytest.mark.parametrize(("fraction", "error"), [(2.0, ValueError), (1, TypeError)])
def test_a_share_of_the_memory_is_a_float_up_to_one(fraction, error):
    with pytest.raises(error):
        torch.cuda.set_per_process_memory_fraction(fraction)


def test_memory_from_the_cache_costs_no_call_of_the_driver():
    calls = {}
    for state in ("fresh", "cached", "emptied"):
        if state == "emptied":
            torch.cuda.empty_cache()
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as prof:
            torch.empty(30 * 2**20, dtype=torch.uint8, device="cuda")
        calls[state] = sum(event.name == "cudaMalloc" for event in prof.events())
    assert calls == {"fresh": 1, "cached": 0, "emptied": 1}


def test_emptying_the_cache_waits_for_the_gpu():
    a = torch.randn(1024, 1024, device="cuda")
    torch.empty(30 * 2**20, dtype=torch.uint8, device="cuda")
    torch.cuda.synchronize()
    for _ in range(10):
        a @ a
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as prof:
        torch.cuda.empty_cache()
    assert any(event.name == "cudaFree" for event in prof.events())
    assert torch.cuda.current_stream().query()


class Node:
    """Holds a tensor in a cycle, so that only a garbage collection lets go of it."""

    def __init__(self, mib: int) -> None:
        self.itself = self
        self.tensor = torch.empty(mib * MIB, dtype=torch.uint8, device="cuda")


@pytest.mark.parametrize("step", ["count", "forget_free", "keep_free", "merge", "take_free", "split"])
def test_a_garbage_collection_in_the_midst_of_the_allocators_work_leaves_its_books_in_order(step, monkeypatch):
    if lab.gpu.use().kind == "real":
        pytest.skip("looks into the simulated GPU")
    from lab.gpu.allocator import CachingAllocator
    from lab.gpu.device import memory

    allocator, original = memory.allocator, getattr(CachingAllocator, step)
    gc.disable()
    for work in (
        lambda held: held.pop(),
        lambda held: (held.pop(), torch.cuda.empty_cache()),
        lambda held: torch.add(held[0], 1, out=torch.empty(2, dtype=torch.uint8, device="cuda")),
        lambda held: torch.empty(30 * MIB, dtype=torch.uint8, device="cuda"),
    ):
        nodes, held = [Node(4) for _ in range(9)], [torch.empty(24 * MIB, dtype=torch.uint8, device="cuda")]

        def collecting(self, *args, nodes=nodes):
            if nodes:
                nodes.pop(len(nodes) // 2 if len(nodes) % 2 else 0)
                gc.collect()
            return original(self, *args)

        with monkeypatch.context() as patch:
            patch.setattr(CachingAllocator, step, collecting)
            work(held)
        nodes.clear()
        held.clear()
        gc.collect()
        blocks = allocator.blocks.values()
        assert sum(block.size for block in blocks) == allocator.reserved_bytes
        assert sum(block.size for block in blocks if not block.free) == allocator.allocated_bytes == 0
        kept = sorted(kept for pool in allocator.free_blocks.values() for kept in pool)
        assert kept == sorted((block.size, block.address) for block in blocks if block.free)


def test_a_tensor_on_the_cpu_never_gets_the_place_of_one_that_another_thread_keeps_the_books_from_giving_back():
    if lab.gpu.use().kind == "real":
        pytest.skip("looks into the simulated GPU")
    from lab.gpu.device import memory

    tensor = torch.empty(MIB, device="cuda")
    key, holds, goes_on = tensor.untyped_storage()._cdata, threading.Event(), threading.Event()

    def computing() -> None:
        with memory.lock:
            holds.set()
            goes_on.wait()

    thread = threading.Thread(target=computing)
    thread.start()
    holds.wait()
    del tensor
    assert key not in memory.on_gpu
    goes_on.set()
    thread.join()
    torch.empty(1, device="cuda")
    assert torch.cuda.memory_allocated() == 0


@pytest.mark.parametrize("others", [0, 1])
def test_an_allocation_that_needs_the_cached_memory_waits_for_all_of_the_gpus_work(others):
    if lab.gpu.use().kind == "real":
        pytest.skip("the real one has more memory")
    ended = threading.Event()
    threads = [threading.Thread(target=ended.wait) for _ in range(others)]
    for thread in threads:
        thread.start()
    torch.empty(300 * MIB, dtype=torch.uint8, device="cuda")
    begin = time.perf_counter()
    torch.cuda._sleep(200_000_000)
    torch.ones(400 * MIB, dtype=torch.uint8, device="cuda")
    took = time.perf_counter() - begin
    ended.set()
    assert torch.cuda.memory_reserved() == 400 * MIB
    assert took >= 0.2
