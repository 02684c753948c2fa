"""DataLoader with and without workers and pinned memory, autocast, what isn't simulated."""

import time

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

import lab.gpu

pytestmark = pytest.mark.gpu


class Slow(Dataset):
    """Each item takes a while to come, as from slow storage."""

    def __len__(self):
        return 32

    def __getitem__(self, index):
        time.sleep(0.02)  # the case itself
        return torch.full((8,), float(index))


def epochs(**options):
    """The sums of two epochs, and how long the second took: the first one starts the workers."""
    loader = DataLoader(Slow(), batch_size=8, **options)
    totals, seconds = [], 0.0
    for _ in range(2):
        begin = time.perf_counter()
        total = torch.zeros(8, device="cuda")
        for batch in loader:
            total += batch.to("cuda", non_blocking=True).sum(0)
        totals.append(total.cpu().tolist())
        seconds = time.perf_counter() - begin
    return totals, seconds


def test_workers_load_the_same_batches_side_by_side():
    alone, alone_s = epochs()
    helped, helped_s = epochs(num_workers=4, persistent_workers=True)
    assert alone == helped == [[float(sum(range(32)))] * 8] * 2
    assert helped_s < alone_s


def test_a_pinning_loader_gives_pinned_batches():
    for batch in DataLoader(Slow(), batch_size=8, pin_memory=True):
        assert batch.is_pinned()
        assert batch.to("cuda", non_blocking=True).is_cuda
    for batch in DataLoader(Slow(), batch_size=8, pin_memory=True, num_workers=2):
        assert batch.is_pinned()


class OnGpu(Slow):
    def __getitem__(self, index):
        return torch.ones(2).to("cuda")


def test_workers_must_not_touch_the_gpu():
    with pytest.raises(RuntimeError, match="Cannot re-initialize CUDA in forked subprocess"):
        next(iter(DataLoader(OnGpu(), batch_size=2, num_workers=1)))


def test_nvtx_marks_are_allowed():
    torch.cuda.nvtx.range_push("step")
    torch.cuda.nvtx.range_pop()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_autocast_computes_matmuls_in_half_precision(dtype):
    net = nn.Linear(16, 16).to("cuda")
    x = torch.randn(4, 16, device="cuda")
    with torch.autocast("cuda", dtype=dtype):
        inside = net(x)
    assert inside.dtype == dtype
    assert net(x).dtype == torch.float32


def test_autocast_leaves_the_cpu_as_it_was_afterwards():
    with torch.autocast("cuda"):
        pass
    assert not torch.is_autocast_enabled("cpu")
    assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.float32


def test_the_grad_scaler_trains():
    net = nn.Linear(8, 1).to("cuda")
    scaler = torch.amp.GradScaler("cuda", init_scale=128)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    before = net.weight.detach().clone()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = net(torch.ones(4, 8, device="cuda")).sum()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    assert not torch.equal(net.weight, before)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: torch.compile(nn.Linear(2, 2)), "torch.compile"),
        (lambda: torch.cuda.CUDAGraph(), "torch.cuda.CUDAGraph"),
        (lambda: torch.cuda.utilization(), "torch.cuda.utilization"),
        (lambda: torch.cuda.cudart(), "torch.cuda.cudart"),
        (lambda: torch.cuda.profiler.start(), "torch.cuda.profiler.start"),
        (lambda: torch.export.export(nn.Linear(2, 2), (torch.ones(1, 2),)), "torch.export.export"),
        (lambda: nn.DataParallel(nn.Linear(2, 2)), "torch.nn.DataParallel"),
        (lambda: torch.distributed.init_process_group("nccl"), "NCCL"),
        (lambda: torch.cuda.FloatTensor(2), "torch.cuda.FloatTensor"),
        (lambda: torch.eye(2).to_sparse().to("cuda"), "sparse"),
        (lambda: torch.cuda._compile_kernel("", "f"), "torch.cuda._compile_kernel"),
    ],
)
def test_what_is_not_simulated_says_so_by_name(call, named):
    if lab.gpu.use().kind == "real":
        pytest.skip("about the simulated GPU")
    with pytest.raises(RuntimeError, match="simulated GPU doesn't have") as caught:
        call()
    assert named in str(caught.value)
