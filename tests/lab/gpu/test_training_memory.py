"""Implicit waits, side streams, the history of memory, and what training keeps in it."""

import pickle

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

pytestmark = pytest.mark.gpu
MIB = 2**20


def test_sync_debug_mode_warns_and_raises_at_an_implicit_wait():
    a = torch.ones(2, device="cuda")
    torch.cuda.set_sync_debug_mode("warn")
    with pytest.warns(UserWarning, match="called a synchronizing CUDA operation"):
        a.sum().item()
    torch.cuda.set_sync_debug_mode("error")
    with pytest.raises(RuntimeError, match="called a synchronizing CUDA operation"):
        a.nonzero()
    torch.cuda.synchronize()
    torch.cuda.set_sync_debug_mode("default")
    assert torch.cuda.get_sync_debug_mode() == 0
    assert a.sum().item() == 2


def test_an_event_holds_back_another_stream():
    side = torch.cuda.Stream()
    a = torch.randn(512, 512, device="cuda")
    torch.cuda.synchronize()
    for _ in range(5):
        a @ a
    event = torch.cuda.Event()
    event.record()
    side.wait_event(event)
    with torch.cuda.stream(side):
        torch.ones(1, device="cuda")
    assert not side.query()
    torch.cuda.synchronize()
    assert side.query()
    assert event.query()


def test_a_copy_on_a_side_stream_overlaps_with_compute():
    host = torch.randn(2 * MIB).pin_memory()
    a = torch.randn(512, 512, device="cuda")
    side = torch.cuda.Stream()
    torch.cuda.synchronize()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    ends = {}
    for name, stream in (("behind", torch.cuda.current_stream()), ("beside", side)):
        start.record()
        for _ in range(3):
            a @ a
        with torch.cuda.stream(stream):
            copied = host.to("cuda", non_blocking=True)
        torch.cuda.current_stream().wait_stream(side)
        end.record()
        torch.cuda.synchronize()
        copied.record_stream(torch.cuda.current_stream())
        ends[name] = start.elapsed_time(end)
    assert ends["beside"] < ends["behind"]


def test_the_memory_history_is_what_pytorchs_viewer_reads(tmp_path):
    torch.cuda.memory._record_memory_history()
    a = torch.empty(3 * MIB, dtype=torch.uint8, device="cuda")
    del a
    path = tmp_path / "snapshot.pickle"
    torch.cuda.memory._dump_snapshot(str(path))
    torch.cuda.memory._record_memory_history(enabled=None)
    snapshot = pickle.loads(path.read_bytes())
    actions = [(entry["action"], entry["size"]) for entry in snapshot["device_traces"][0]]
    assert ("alloc", 3 * MIB) in actions
    assert ("free_completed", 3 * MIB) in actions
    alloc = next(e for e in snapshot["device_traces"][0] if e["action"] == "alloc" and e["size"] == 3 * MIB)
    assert any(frame["filename"].endswith("test_training_memory.py") for frame in alloc["frames"])
    for segment in snapshot["segments"]:
        assert segment["total_size"] == sum(block["size"] for block in segment["blocks"])


def test_the_snapshot_draws_in_pytorchs_own_tools():
    from torch.cuda import _memory_viz

    torch.cuda.memory._record_memory_history()
    keep = torch.empty(3 * MIB, dtype=torch.uint8, device="cuda")
    snapshot = torch.cuda.memory._snapshot()
    assert "3.0MiB" in _memory_viz.segsum(snapshot) or "Total Allocated" in _memory_viz.segsum(snapshot)
    assert "<html" in _memory_viz.trace_plot(snapshot).lower() or "memory" in _memory_viz.trace_plot(snapshot).lower()
    del keep


def peak(step):
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    step()
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated() - before


def blocks():
    torch.manual_seed(0)
    return nn.ModuleList([nn.Sequential(nn.Linear(128, 512), nn.GELU(), nn.Linear(512, 128)) for _ in range(6)]).to(
        "cuda"
    )


def test_checkpointing_lowers_the_peak_and_keeps_the_gradients():
    x = torch.randn(1024, 128, device="cuda")
    grads, peaks = [], []
    for use in (False, True):
        net = blocks()

        def step(net=net, use=use):
            h = x
            for block in net:
                h = checkpoint(block, h, use_reentrant=False) if use else block(h)
            h.sum().backward()

        peaks.append(peak(step))
        grads.append(net[0][0].weight.grad.cpu())
    assert peaks[1] < 0.6 * peaks[0]
    assert torch.allclose(*grads, rtol=1e-3, atol=1e-3)


def test_set_to_none_frees_the_gradients():
    net = nn.Linear(1024, 1024).to("cuda")
    net(torch.ones(1, 1024, device="cuda")).sum().backward()
    with_grads = torch.cuda.memory_allocated()
    net.zero_grad(set_to_none=True)
    assert with_grads - torch.cuda.memory_allocated() >= 4 * MIB


def test_adam_keeps_two_values_per_parameter():
    net = nn.Linear(1024, 1024, bias=False).to("cuda")
    optimizer = torch.optim.AdamW(net.parameters())
    net(torch.ones(1, 1024, device="cuda")).sum().backward()
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    optimizer.step()
    assert torch.cuda.memory_allocated() - before == 8 * MIB


def test_keeping_losses_keeps_their_graphs():
    net = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1)).to("cuda")
    x = torch.randn(512, 256, device="cuda")
    net(x).sum()
    before = torch.cuda.memory_allocated()
    kept = [net(x).mean() for _ in range(4)]
    with_graphs = torch.cuda.memory_allocated() - before
    kept = [loss.detach() for loss in kept]
    assert with_graphs > 10 * (torch.cuda.memory_allocated() - before)


def test_dropout_keeps_a_mask_of_one_byte_for_each_value():
    x = torch.ones(2**20, device="cuda", requires_grad=True)
    before = torch.cuda.memory_allocated()
    y = torch.nn.functional.dropout(x, 0.5)
    assert torch.cuda.memory_allocated() - before == (4 + 1) * 2**20
    y.sum().backward()
    assert set(x.grad.unique().tolist()) <= {0.0, 2.0}
