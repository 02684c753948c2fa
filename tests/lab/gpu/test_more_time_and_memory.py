"""Debugging waits, histories of memory, checkpointing, mixed precision in detail."""

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
    assert any(frame["filename"].endswith("test_more_time_and_memory.py") for frame in alloc["frames"])
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


HALF_INSIDE = {
    "linear": lambda x: nn.functional.linear(x, x),
    "matmul": lambda x: x @ x,
    "conv1d": lambda x: nn.functional.conv1d(x[None], x[:, :, None]),
    "bmm": lambda x: torch.bmm(x[None], x[None]),
    "addmm": lambda x: torch.addmm(x, x, x),
    "einsum": lambda x: torch.einsum("ij,jk->ik", x, x),
}
SINGLE_INSIDE = {
    "softmax": lambda h: h.softmax(-1),
    "log_softmax": lambda h: h.log_softmax(-1),
    "layer_norm": lambda h: nn.functional.layer_norm(h, h.shape[-1:]),
    "sum": lambda h: h.sum(),
    "cross_entropy": lambda h: nn.functional.cross_entropy(h, torch.zeros(4, dtype=torch.long, device="cuda")),
    "mse_loss": lambda h: nn.functional.mse_loss(h, h),
    "exp": lambda h: h.exp(),
    "pow": lambda h: h.pow(2),
    "cumsum": lambda h: h.cumsum(0),
    "norm": lambda h: h.norm(),
}


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("op", HALF_INSIDE)
def test_autocast_rounds_what_tensor_cores_do(op, dtype):
    x = torch.randn(4, 4, device="cuda")
    with torch.autocast("cuda", dtype=dtype):
        assert HALF_INSIDE[op](x).dtype == dtype


@pytest.mark.parametrize("op", SINGLE_INSIDE)
def test_autocast_keeps_in_fp32_what_needs_it(op):
    h = torch.randn(4, 4, device="cuda").half()
    with torch.autocast("cuda", dtype=torch.float16):
        assert SINGLE_INSIDE[op](h).dtype == torch.float32


@pytest.mark.parametrize("op", ["relu", "add", "gelu"])
def test_autocast_leaves_the_rest_as_it_comes(op):
    h = torch.randn(4, 4, device="cuda").half()
    compute = {"relu": torch.relu, "add": lambda value: value + value, "gelu": nn.functional.gelu}[op]
    with torch.autocast("cuda", dtype=torch.float16):
        assert compute(h).dtype == torch.float16


def test_half_precision_writes_where_it_is_told():
    a = torch.ones(4, 4, device="cuda").half()
    out = torch.empty(4, 4, device="cuda", dtype=torch.float16)
    torch.mm(a, a, out=out)
    assert out.tolist() == [[4.0] * 4] * 4


def test_mixing_precisions_raises_pytorchs_error():
    a = torch.ones(4, 4, device="cuda")
    with pytest.raises(RuntimeError, match="dtype"):
        torch.mm(a, a.half())
    with pytest.raises(RuntimeError, match="dtype"):
        nn.Linear(4, 4).half().cuda()(a)


def test_half_precision_rounds_what_fp32_computes():
    torch.manual_seed(0)
    a = torch.randn(64, 64)
    on_gpu = (a.half().cuda() @ a.half().cuda()).float().cpu()
    assert torch.allclose(on_gpu, a @ a, rtol=2e-2, atol=5e-2)


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


def test_autocast_is_half_precision_by_default_and_can_be_disabled():
    x = torch.randn(4, 4, device="cuda")
    with torch.autocast("cuda"):
        assert (x @ x).dtype == torch.float16
        with torch.autocast("cuda", enabled=False):
            assert (x @ x).dtype == torch.float32
        assert (x @ x).dtype == torch.float16


def test_autocast_for_the_cpu_is_another_matter():
    with torch.autocast("cpu"):
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.bfloat16
    h = torch.ones(2, 2).bfloat16()
    with torch.autocast("cpu"):
        assert h.exp().dtype == torch.bfloat16


def test_half_precision_activations_need_less_memory():
    net = nn.Sequential(*[nn.Sequential(nn.Linear(512, 512), nn.ReLU()) for _ in range(6)]).to("cuda")
    x = torch.randn(2048, 512, device="cuda")

    def step():
        net(x).float().sum().backward()
        net.zero_grad()

    def in_half():
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = net(x).sum()
        loss.backward()
        net.zero_grad()

    assert peak(in_half) < 0.8 * peak(step)


def test_the_scaler_skips_a_step_that_overflowed_and_lowers_its_scale():
    net = nn.Linear(4, 1).to("cuda")
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda", init_scale=2.0**16)
    before = net.weight.detach().clone()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = net(torch.full((4, 4), 100.0, device="cuda")).sum()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    assert torch.equal(net.weight, before)
    assert scaler.get_scale() == 2.0**15


def test_unscaling_gives_gradients_to_clip():
    net = nn.Linear(4, 1).to("cuda")
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda", init_scale=128.0)
    scaler.scale(net(torch.ones(2, 4, device="cuda")).sum()).backward()
    scaler.unscale_(optimizer)
    assert net.weight.grad.tolist() == [[2.0] * 4]
    with pytest.raises(RuntimeError, match="unscale_"):
        scaler.unscale_(optimizer)
