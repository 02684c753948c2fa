"""Copies, pickles, files, threads, random numbers: the corners of living on a GPU."""

import copy
import gc
import io
import operator
import pickle
import threading

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - everybody's name for it

pytestmark = pytest.mark.gpu
CUDA = torch.device("cuda", 0)


def test_a_deep_copy_stays_on_the_gpu_with_memory_of_its_own():
    a = torch.arange(4.0, device="cuda")
    before = torch.cuda.memory_allocated()
    b = copy.deepcopy(a)
    b[0] = 9
    assert b.device == CUDA
    assert a[0].item() == 0
    assert torch.cuda.memory_allocated() > before


def test_a_deep_copied_module_stays_on_the_gpu():
    net = copy.deepcopy(nn.Linear(2, 2).to("cuda"))
    assert net.weight.device == CUDA
    assert net.weight.is_leaf


def test_pickling_brings_a_tensor_back_to_the_gpu():
    a = torch.arange(4.0, device="cuda")
    b = pickle.loads(pickle.dumps(a))
    assert b.device == CUDA
    assert torch.equal(a, b)


@pytest.mark.parametrize(("where", "expected"), [("cpu", "cpu"), ("cuda", "cuda"), ("cuda:0", "cuda"), (None, "cuda")])
def test_a_saved_tensor_is_loaded_where_map_location_says(where, expected):
    buffer = io.BytesIO()
    torch.save({"weight": torch.arange(4.0, device="cuda")}, buffer)
    buffer.seek(0)
    loaded = torch.load(buffer, map_location=where)["weight"]
    assert loaded.device.type == expected
    assert loaded.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_map_location_can_bring_a_cpu_tensor_to_the_gpu():
    buffer = io.BytesIO()
    torch.save(torch.ones(2), buffer)
    buffer.seek(0)
    assert torch.load(buffer, map_location="cuda").device == CUDA


def test_lazy_modules_move_before_they_know_their_shape():
    net = nn.Sequential(nn.LazyLinear(4), nn.ReLU()).cuda()
    out = net(torch.ones(2, 3, device="cuda"))
    assert out.device == CUDA
    assert net[0].weight.shape == (4, 3)


def test_optimizer_state_lives_on_the_gpu_and_survives_saving():
    net = nn.Linear(2, 2).to("cuda")
    optimizer = torch.optim.AdamW(net.parameters())
    net(torch.ones(1, 2, device="cuda")).sum().backward()
    optimizer.step()
    assert optimizer.state[net.weight]["exp_avg"].device == CUDA
    buffer = io.BytesIO()
    torch.save(optimizer.state_dict(), buffer)
    buffer.seek(0)
    other = torch.optim.AdamW(net.parameters())
    other.load_state_dict(torch.load(buffer))
    assert other.state[net.weight]["exp_avg"].device == CUDA


def test_a_generator_for_the_gpu_repeats_itself():
    draws = []
    for _ in range(2):
        generator = torch.Generator(device="cuda")
        generator.manual_seed(3)
        draws.append(torch.rand(4, device="cuda", generator=generator).tolist())
    assert draws[0] == draws[1]


@pytest.mark.parametrize("seed", ["manual_seed", "cuda.manual_seed", "cuda.manual_seed_all"])
def test_seeding_repeats_random_numbers_on_the_gpu(seed):
    draws = []
    for _ in range(2):
        operator.attrgetter(seed)(torch)(5)
        draws.append(torch.randn(4, device="cuda").tolist())
    assert draws[0] == draws[1]


def test_the_random_state_can_be_saved_and_restored():
    state = torch.cuda.get_rng_state()
    one = torch.rand(3, device="cuda").tolist()
    torch.cuda.set_rng_state(state)
    assert torch.rand(3, device="cuda").tolist() == one


def test_a_thread_may_use_the_gpu():
    seen = []

    def work():
        a = torch.ones(64, 64).to("cuda")
        seen.append(((a @ a).device, (a @ a)[0, 0].item()))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [(CUDA, 64.0)]


def test_many_threads_may_use_the_gpu_at_once():
    total = []

    def work():
        a = torch.ones(16, 16, device="cuda")
        for _ in range(50):
            a = (a @ a) / 16
        total.append(a.sum().item())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert total == [256.0] * 4


def test_a_default_device_applies_to_factories_and_modules():
    with torch.device("cuda"):
        assert torch.zeros(2).device == CUDA
        assert torch.tensor([1.0]).device == CUDA
        assert nn.Linear(2, 2).weight.device == CUDA
    assert torch.zeros(2).device.type == "cpu"
    torch.set_default_device("cuda")
    assert torch.ones(1).device == CUDA


@pytest.mark.parametrize(
    "compute",
    [
        lambda a: F.one_hot(a.long().flatten(), 9),
        lambda a: torch.cat([a, a]),
        lambda a: torch.stack([a, a]),
        lambda a: torch.where(a > 2, a, torch.zeros_like(a)),
        lambda a: a.sort().values,
        lambda a: a.topk(2).values,
        lambda a: torch.einsum("ij,jk->ik", a, a),
        lambda a: a.scatter_add(0, torch.zeros(2, 3, dtype=torch.long, device="cuda"), torch.ones(2, 3, device="cuda")),
        lambda a: F.dropout(a, 0.5, training=False),
        lambda a: F.pad(a, (1, 1)),
        lambda a: a.cumsum(0),
        lambda a: torch.linalg.norm(a),
        lambda a: F.interpolate(a[None, None], scale_factor=2),
        lambda a: a.masked_fill(a > 1, 0.0),
        lambda a: torch.outer(a[0], a[1]),
        lambda a: a.new_tensor([1.0, 2.0]),
        lambda a: torch.full_like(a, 2.0),
        lambda a: F.scaled_dot_product_attention(a[None, None], a[None, None], a[None, None]),
        lambda a: torch.nn.utils.rnn.pad_sequence([a[0], a[1]]),
        lambda a: a.unique(),
        lambda a: a.quantile(0.3),
        lambda a: a.new(2, 3).fill_(1),
        lambda a: a.type("torch.cuda.DoubleTensor"),
        lambda a: torch.func.vmap(lambda row: row * 2)(a),
        lambda a: torch.func.grad(lambda value: (value * value).sum())(a),
        lambda a: torch.func.jvp(torch.sin, (a,), (a,))[1],
        lambda a: torch.distributions.Normal(a, 1.0).sample(),
        lambda a: torch.fft.rfft(a).abs(),
    ],
)
def test_everyday_ops_compute_on_the_gpu_what_they_compute_on_the_cpu(compute):
    a = torch.arange(9.0).reshape(3, 3)

    def on_cpu_too(value):
        return compute(value)

    got = on_cpu_too(a.to("cuda"))
    assert got.device == CUDA
    assert got.cpu().isfinite().all()


@pytest.mark.parametrize(
    "compute",
    [
        lambda x: x,
        lambda x: x.t(),
        lambda x: torch.einsum("ij,jk->ik", x, x),
        lambda x: torch.fft.rfft(x).abs(),
        lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None], is_causal=True),
        lambda x: x.index_select(0, torch.tensor([0], device="cuda")),
        lambda x: x.as_strided((2, 2), (1, 1)),
        lambda x: x[1:, [0, 2]],
        lambda x: x.sort().values,
        lambda x: F.pad(x, (1, 2)),
        lambda x: x.expand(4, 6, 6).sum(0),
        lambda x: torch.cat([x, x]).prod(),
        lambda x: x.clone().fill_diagonal_(0),
    ],
)
def test_gradients_are_where_their_leaves_are(compute):
    x = torch.randn(6, 6, device="cuda", requires_grad=True)
    y = x.detach().cpu().requires_grad_()
    compute(x).sum().backward()
    assert x.grad.device == CUDA
    if "cuda" not in compute.__code__.co_consts:
        compute(y).sum().backward()
        assert torch.allclose(x.grad.cpu(), y.grad, rtol=1e-4, atol=1e-5)


def test_an_index_on_the_gpu_does_not_fit_a_tensor_on_the_cpu():
    with pytest.raises(RuntimeError, match="indices should be either on cpu or on the same device"):
        torch.ones(3)[torch.tensor([0], device="cuda")]


def test_one_may_ask_for_classes_that_are_not_simulated():
    a = torch.ones(2, device="cuda")
    assert isinstance(a, torch.cuda.FloatTensor)
    assert not isinstance(a.half(), torch.cuda.FloatTensor)
    assert a.type(torch.cuda.HalfTensor).dtype == torch.float16
    net = nn.Linear(3, 2)
    assert not isinstance(net, nn.DataParallel)
    assert torch.func.functional_call(net, dict(net.named_parameters()), (torch.ones(4, 3),)).shape == (4, 2)
    assert not isinstance(a, torch.cuda.CUDAGraph)


def test_other_devices_than_these_two_are_reached():
    assert torch.ones(2, device="cuda").to("meta").device.type == "meta"


def test_the_cpu_can_be_the_default_device_too():
    with torch.device("cpu"):
        assert torch.tensor([1.0]).device.type == "cpu"
        assert torch.tensor([1.0], device="cuda").device == CUDA


def test_packed_sequences_and_lstms_train():
    torch.manual_seed(0)
    net = nn.LSTM(4, 8, batch_first=True).to("cuda")
    packed = nn.utils.rnn.pack_padded_sequence(
        torch.randn(3, 5, 4, device="cuda"), torch.tensor([5, 3, 2]), batch_first=True
    )
    out, _ = net(packed)
    out.data.sum().backward()
    assert net.weight_ih_l0.grad.device == CUDA


def test_gradient_clipping_and_norms_work():
    net = nn.Linear(4, 4).to("cuda")
    net(torch.ones(2, 4, device="cuda")).sum().backward()
    assert nn.utils.clip_grad_norm_(net.parameters(), 0.1).device == CUDA


def test_custom_autograd_functions_see_gpu_tensors():
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            assert x.is_cuda
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            assert grad.is_cuda
            return grad * 2

    x = torch.ones(2, device="cuda", requires_grad=True)
    Double.apply(x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_hooks_see_gpu_tensors():
    net = nn.Linear(2, 2).to("cuda")
    seen = []
    net.register_forward_hook(lambda module, inputs, output: seen.append(output.device))
    net.weight.register_hook(lambda grad: seen.append(grad.device))
    net(torch.ones(1, 2, device="cuda")).sum().backward()
    assert seen == [CUDA, CUDA]


def test_inference_mode_and_no_grad_compute():
    net = nn.Linear(2, 2).to("cuda")
    for mode in (torch.no_grad, torch.inference_mode):
        with mode():
            out = net(torch.ones(1, 2, device="cuda"))
        assert out.device == CUDA
        assert not out.requires_grad


def test_a_tensor_stays_on_the_gpu_when_the_collector_finds_its_storage_in_a_cycle():
    a = torch.arange(4.0, device="cuda")
    allocated = torch.cuda.memory_allocated()
    cycle = [a.untyped_storage()]
    cycle.append(cycle)
    del cycle
    gc.collect()
    assert (a.device, (a + 1).device) == (CUDA, CUDA)
    assert torch.cuda.memory_allocated() == allocated
    del a
    torch.ones(1, device="cuda")
    assert torch.cuda.memory_allocated() < allocated
