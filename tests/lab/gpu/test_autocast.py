"""Mixed precision: what is rounded, what is not, what it costs and saves."""

import pytest
import torch
from torch import nn

pytestmark = pytest.mark.gpu


def peak(step):
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    step()
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated() - before


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
