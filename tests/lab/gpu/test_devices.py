"""Tensors, modules and their devices."""

import copy
import subprocess
import sys

import pytest
import torch
from torch import nn

import lab.gpu
from lab.gpu.errors import NotSimulated

pytestmark = pytest.mark.gpu
CUDA = torch.device("cuda", 0)
RANDOM = 5


@pytest.mark.parametrize("device", ["cuda", "cuda:0", 0, torch.device("cuda"), CUDA])
def test_to_takes_every_way_of_naming_the_gpu(device):
    assert torch.ones(3).to(device).device == CUDA


@pytest.mark.parametrize(
    "make",
    [
        lambda d: torch.zeros(2, 3, device=d),
        lambda d: torch.ones(2, device=d),
        lambda d: torch.full((2,), 3.0, device=d),
        lambda d: torch.empty(2, device=d),
        lambda d: torch.rand(2, device=d),
        lambda d: torch.randn(2, device=d),
        lambda d: torch.randint(0, 9, (2,), device=d),
        lambda d: torch.randperm(4, device=d),
        lambda d: torch.arange(4, device=d),
        lambda d: torch.linspace(0, 1, 4, device=d),
        lambda d: torch.eye(3, device=d),
        lambda d: torch.tensor([1.0, 2.0], device=d),
        lambda d: torch.as_tensor([1.0, 2.0], device=d),
        lambda d: torch.zeros_like(torch.ones(2), device=d),
        lambda d: torch.ones(2).new_zeros(3, device=d),
    ],
)
@pytest.mark.parametrize("device", ["cuda", "cuda:0"])
def test_factories_make_tensors_on_the_gpu(make, device):
    made = make(device)
    assert made.device == CUDA
    assert made.is_cuda
    assert not made.is_cpu
    assert made.get_device() == 0


def test_results_of_gpu_tensors_are_on_the_gpu():
    a = torch.ones(4, 4, device="cuda")
    assert (a @ a + 1).sum().device == CUDA
    assert torch.zeros_like(a).device == CUDA
    assert a.new_ones(2).device == CUDA
    assert a[0].view(2, 2).device == CUDA


def test_cpu_copies_and_leaves_the_original_on_the_gpu():
    a = torch.arange(4.0, device="cuda")
    b = a.cpu()
    assert b.device.type == "cpu"
    assert a.device == CUDA
    b[0] = 7
    assert a[0].item() == 0
    assert a.to("cpu", torch.float64).dtype == torch.float64
    assert torch.equal(a.to(torch.device("cpu")), torch.arange(4.0))


def test_to_the_same_device_is_the_same_tensor():
    a = torch.ones(2, device="cuda")
    assert a.to("cuda") is a
    assert a.cuda() is a
    assert a.to("cuda", torch.float16).dtype == torch.float16


def test_mixing_devices_raises_pytorchs_error():
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        torch.ones(2, device="cuda") + torch.ones(2)


def test_cpu_scalars_may_be_mixed_in():
    assert (torch.ones(2, device="cuda") * torch.tensor(3.0)).tolist() == [3.0, 3.0]


def test_numpy_refuses_a_gpu_tensor_in_pytorchs_words():
    with pytest.raises(TypeError, match="can't convert cuda:0 device type tensor to numpy"):
        torch.ones(2, device="cuda").numpy()


def test_printing_names_the_device():
    assert "device='cuda:0'" in repr(torch.ones(2, device="cuda"))


def test_modules_move_and_train_with_the_same_values_as_on_the_cpu():
    torch.manual_seed(RANDOM)
    net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
    other = copy.deepcopy(net).to("cuda")
    x, y = torch.randn(32, 8), torch.randint(0, 4, (32,))
    losses = {}
    for name, model, device in (("cpu", net, "cpu"), ("cuda", other, "cuda")):
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
        losses[name] = []
        for _ in range(5):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()
            losses[name].append(loss.item())
    assert losses["cuda"] == pytest.approx(losses["cpu"], rel=1e-4)
    assert next(other.parameters()).device == CUDA
    assert next(other.parameters()).grad.device == CUDA
    assert next(other.cpu().parameters()).device.type == "cpu"


def test_gradients_cross_devices():
    weight = torch.ones(3, requires_grad=True)
    (weight.to("cuda") * 2).sum().cpu().backward()
    assert weight.grad.device.type == "cpu"
    assert weight.grad.tolist() == [2.0, 2.0, 2.0]


def test_state_dicts_travel_between_devices(tmp_path):
    net = nn.Linear(3, 2).to("cuda")
    path = tmp_path / "net.pt"
    torch.save({key: value.cpu() for key, value in net.state_dict().items()}, path)
    fresh = nn.Linear(3, 2).to("cuda")
    fresh.load_state_dict(torch.load(path, map_location="cpu"))
    assert fresh.weight.device == CUDA
    assert torch.equal(fresh.weight.cpu(), net.weight.cpu())


def test_boolean_masks_and_indices_work_across_devices():
    a = torch.arange(6.0, device="cuda")
    assert a[a > 2].tolist() == [3.0, 4.0, 5.0]
    assert a[torch.tensor([0, 2])].tolist() == [0.0, 2.0]


def test_the_gpu_says_what_it_is():
    assert torch.cuda.is_available()
    assert torch.cuda.device_count() >= 1
    assert torch.cuda.current_device() == 0
    assert torch.cuda.get_device_name()
    assert torch.cuda.get_device_properties(0).total_memory > 0
    assert torch.cuda.get_device_capability() >= (3, 0)
    assert torch.accelerator.is_available()
    assert torch.accelerator.current_accelerator().type == "cuda"


@pytest.mark.parametrize(("generator", "device"), [("cpu", "cuda"), ("cuda", "cpu")], ids=["the CPU's", "the GPU's"])
@pytest.mark.parametrize("draw", ["rand", "randn", "randperm"])
def test_random_numbers_want_a_generator_of_their_own_device(draw, generator, device):
    with pytest.raises(RuntimeError, match=f"Expected a '{device}' device type for generator but found '{generator}'"):
        getattr(torch, draw)(3, generator=torch.Generator(generator), device=device)


def test_a_scalar_of_the_cpu_may_not_be_stacked():
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        torch.stack([torch.tensor(1.0, device="cuda"), torch.tensor(1.0)])


@pytest.mark.parametrize("call", ["set_device", "get_device_properties", "memory_allocated"])
def test_only_a_gpu_is_a_device_of_cuda(call):
    with pytest.raises(ValueError, match="Expected a cuda device, but got: cpu"):
        getattr(torch.cuda, call)("cpu")


@pytest.mark.parametrize("where", ["cpu", "cuda"])
def test_the_lengths_of_a_ctc_loss_may_be_on_either_device(where):
    scores = torch.randn(10, 2, 5, device="cuda").log_softmax(2)
    lengths = torch.tensor([10, 10], device=where), torch.tensor([3, 3], device=where)
    assert torch.nn.functional.ctc_loss(scores, torch.ones(2, 3, dtype=torch.long, device="cuda"), *lengths).is_cuda


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.sparse_coo_tensor([[0], [1]], [1.0], (2, 2), device="cuda"),
        lambda: torch.sparse_csr_tensor([0, 1], [0], torch.ones(1, device="cuda")),
        lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], device="cuda"),
        lambda: torch.nested.as_nested_tensor([torch.ones(2, device="cuda")], layout=torch.jagged),
        lambda: torch.from_dlpack(torch.ones(2, device="cuda")),
        lambda: torch.ones(2, device="cuda").__cuda_array_interface__,
        lambda: torch.autograd.profiler.emit_nvtx(),
    ],
)
def test_what_is_not_simulated_says_so(call):
    if lab.gpu.use().kind == "real":
        pytest.skip("about the simulated GPU")
    with pytest.raises(NotSimulated, match="The simulated GPU doesn't have"):
        call()


def test_a_spawned_process_is_told_that_it_has_no_simulated_gpu(tmp_path):
    if lab.gpu.use().kind == "real":
        pytest.skip("about the simulated GPU")
    program = tmp_path / "spawns.py"
    program.write_text(
        "import torch, torch.multiprocessing\n"
        "def use(queue):\n"
        "    try:\n"
        "        torch.ones(2).cuda()\n"
        "    except RuntimeError as error:\n"
        "        queue.put(str(error))\n"
        "if __name__ == '__main__':\n"
        "    spawn = torch.multiprocessing.get_context('spawn')\n"
        "    queue = spawn.Queue()\n"
        "    process = spawn.Process(target=use, args=(queue,))\n"
        "    process.start()\n"
        "    print(queue.get())\n"
        "    process.join()\n"
    )
    done = subprocess.run([sys.executable, "-m", "lab.run", program], capture_output=True, text=True, check=False)
    assert "doesn't have CUDA in a spawned process" in done.stdout, done.stderr
