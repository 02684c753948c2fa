"""Makes tensors say where they live: devices in torch's Python surface, for the simulated GPU.

C++ believes that every tensor is on the CPU, so whatever asks or names a device in Python is wrapped here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch

from lab.gpu import dispatch
from lab.gpu.costs import copy
from lab.gpu.device import card, memory, timeline
from lab.gpu.dispatch import CPU, CUDA
from lab.gpu.errors import NotSimulated
from lab.gpu.factories import indexed

aten = torch.ops.aten


def asked_device(args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.device | None:
    """The device that a call of Tensor.to asks for, None if it asks for a dtype only."""
    if kwargs.get("device") is not None:
        return torch.device(indexed(kwargs["device"]))
    first = args[0] if args else kwargs.get("other")
    if isinstance(first, torch.Tensor):
        return first.device
    if isinstance(first, (str, torch.device)) or (isinstance(first, int) and not isinstance(first, bool)):
        return torch.device(indexed(first))
    return None


def install() -> None:
    """Wrap torch's Python surface. For good: there is no way back in this process."""
    tensor: Any = torch.Tensor
    cpu_device: Callable[[torch.Tensor], torch.device] = torch._C.TensorBase.device.__get__
    on_gpu = memory.holds
    tensor.device = property(lambda self: CUDA if on_gpu(self) else cpu_device(self))
    tensor.is_cuda = property(on_gpu)
    tensor.is_cpu = property(lambda self: not on_gpu(self) and cpu_device(self).type == "cpu")
    original_get_device = tensor.get_device
    tensor.get_device = lambda self: 0 if on_gpu(self) else original_get_device(self)
    for name, replacement in (
        ("to", to),
        ("cuda", cuda),
        ("cpu", cpu),
        ("numpy", numpy),
        ("__array__", array),
        ("pin_memory", pin_memory),
        ("is_pinned", is_pinned),
        ("type", tensor_type),
        ("__repr__", representation),
        ("tolist", tolist),
        ("record_stream", record_stream),
        ("new", new),
        ("__deepcopy__", deep_copy),
    ):
        setattr(tensor, name, replacement(getattr(tensor, name)))
    restore_storages()
    refuse_to_share(tensor)
    functions: Any = torch._VF
    torch.dropout = functions.dropout = dropout(torch.dropout)
    setattr(torch, "ctc_loss", ctc_loss(torch.ctc_loss))  # noqa: B010 - not a name that a type checker should follow
    binding: Any = torch._C
    binding._group_tensors_by_device_and_dtype = grouped(binding._group_tensors_by_device_and_dtype)
    module: Any = torch.nn.Module
    module.cuda = lambda self, device=None: self.to(CUDA if device is None else indexed(device))


def to(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def call(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        device = asked_device(args, kwargs)
        if device is not None and device.type == "cpu" and memory.holds(self):
            return to_host(self, args, kwargs)
        if device is not None and device.type == "cuda" and memory.holds(self) and not kwargs.get("copy"):
            # C++ thinks that the tensor is on the CPU and would copy: ask for the dtype alone.
            dtype = asked_dtype(args, kwargs)
            return self if dtype in (None, self.dtype) else original(self, dtype)
        args = tuple(indexed(arg) if isinstance(arg, (str, torch.device)) else arg for arg in args)
        if args and isinstance(args[0], int) and not isinstance(args[0], bool):
            args = (indexed(args[0]), *args[1:])
        if args and isinstance(args[0], torch.Tensor):
            args = (args[0].device, args[0].dtype, *args[1:])
        if kwargs.get("device") is not None:
            kwargs["device"] = indexed(kwargs["device"])
        if device is not None and device.type == "cuda" and not memory.holds(self):
            return moved(self, lambda source: original(source, *args, **kwargs))
        return original(self, *args, **kwargs)

    return call


def asked_dtype(args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.dtype | None:
    for value in (*args, kwargs.get("dtype")):
        if isinstance(value, torch.dtype):
            return value
        if isinstance(value, torch.Tensor):
            return value.dtype
    return None


def to_host(self: torch.Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.Tensor:
    """The copy to the CPU that C++ would leave out, since it sees both sides on the CPU."""
    non_blocking = bool(kwargs.get("non_blocking", False)) or any(arg is True for arg in args[1:2])
    dtype = asked_dtype(args, kwargs)

    def copy_out(source: torch.Tensor) -> torch.Tensor:
        with dispatch.naming_the_cpu():
            copied: torch.Tensor = aten._to_copy.default(source, dtype=dtype, device=CPU, non_blocking=non_blocking)
        return copied

    return moved(self, copy_out)


def moved(tensor: torch.Tensor, copy: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    """The copy on the other device; its gradient comes back to the tensor's own."""
    if tensor.requires_grad and torch.is_grad_enabled():
        copied: torch.Tensor = Move.apply(tensor, copy)
        return copied
    return copy(tensor)


class Move(torch.autograd.Function):
    """A copy between host and GPU for autograd, whose C++ side sees no change of device."""

    @staticmethod
    def forward(ctx: Any, tensor: torch.Tensor, copy: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
        ctx.device, ctx.dtype = tensor.device, tensor.dtype
        return copy(tensor.detach())

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None]:
        return grad.to(ctx.device, ctx.dtype), None


def cuda(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def call(self: torch.Tensor, device: Any = None, non_blocking: bool = False, **kwargs: Any) -> torch.Tensor:
        return self.to(CUDA if device is None else indexed(device), non_blocking=non_blocking, **kwargs)

    return call


def cpu(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def call(self: torch.Tensor, **kwargs: Any) -> torch.Tensor:
        return to_host(self, (CPU,), kwargs) if memory.holds(self) else original(self, **kwargs)

    return call


REFUSES_NUMPY = (
    "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
)


def numpy(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def call(self: torch.Tensor, **kwargs: Any) -> Any:
        if memory.holds(self):
            if not kwargs.get("force"):
                raise TypeError(REFUSES_NUMPY)
            return original(self.detach().cpu())
        return original(self, **kwargs)

    return call


def array(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def call(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if memory.holds(self):
            raise TypeError(REFUSES_NUMPY)
        return original(self, *args, **kwargs)

    return call


def tolist(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def call(self: torch.Tensor) -> Any:
        return original(self.detach().cpu() if memory.holds(self) else self)

    return call


def representation(original: Callable[..., Any]) -> Callable[..., Any]:
    """Printing copies the values to the host once, and waits for them, as on a GPU."""

    @wraps(original)
    def call(self: torch.Tensor, **kwargs: Any) -> str:
        if not memory.holds(self):
            return str(original(self, **kwargs))
        text = original(self.detach().cpu(), **kwargs)
        marks = ", device='cuda:0'"
        if self.grad_fn is not None:
            marks += f", grad_fn=<{type(self.grad_fn).__name__}>"
        elif self.requires_grad:
            marks += ", requires_grad=True"
        return f"{text[:-1]}{marks})"

    return call


def pin_memory(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def call(self: torch.Tensor, device: Any = None) -> torch.Tensor:
        if memory.holds(self):
            raise RuntimeError("cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned")
        if memory.is_pinned(self):
            return self
        pinned = self.detach().clone()
        memory.pin(pinned)
        return pinned

    return call


def is_pinned(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def call(self: torch.Tensor, device: Any = None) -> bool:
        return memory.is_pinned(self)

    return call


def new(original: Callable[..., Any]) -> Callable[..., Any]:
    """The old Tensor.new(sizes) or Tensor.new(data): on the tensor's own device."""

    @wraps(original)
    def call(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        made = original(self, *args, **kwargs)
        return made.to(CUDA) if memory.holds(self) and not memory.holds(made) else made

    return call


def deep_copy(original: Callable[..., Any]) -> Callable[..., Any]:
    """A plain leaf on the GPU is cloned there; the host neither reads it nor waits."""

    @wraps(original)
    def call(self: torch.Tensor, memo: dict[int, Any]) -> Any:
        if type(self) is not torch.Tensor or not self.is_leaf or not memory.holds(self):
            return original(self, memo)
        if id(self) not in memo:
            copied = self.detach().clone().requires_grad_(self.requires_grad)
            if self.grad is not None:
                copied.grad = self.grad.detach().clone()
            memo[id(self)] = copied
        return memo[id(self)]

    return call


def record_stream(original: Callable[..., Any]) -> Callable[..., Any]:
    """Nothing to do: the simulated GPU's memory is given back when the host lets go, in host order."""

    @wraps(original)
    def call(self: torch.Tensor, stream: Any) -> None:
        if not memory.holds(self):
            raise RuntimeError("record_stream is not supported for tensors on the CPU")

    return call


def grouped(original: Callable[..., Any]) -> Callable[..., Any]:
    """How clip_grad_norm_ and optimizers learn where their tensors are. With "cpu" they would copy to the host."""

    @wraps(original)
    def call(tensor_lists: Any, with_indices: bool = False) -> Any:
        groups = original(tensor_lists, with_indices)
        return {
            (next((tensor.device for tensor in lists[0] if tensor is not None), device), dtype): (lists, indices)
            for (device, dtype), (lists, indices) in groups.items()
        }

    return call


def dropout(original: Callable[..., Any]) -> Callable[..., Any]:
    """The GPU's kernel keeps a mask of one byte for each value; on the CPU C++ would keep it in the input's dtype."""

    @wraps(original)
    def call(input: torch.Tensor, p: float, train: bool) -> torch.Tensor:
        if train and 0 < p < 1 and memory.holds(input):
            dropped: torch.Tensor = torch.native_dropout(input, p, True)[0]
            return dropped
        kept: torch.Tensor = original(input, p, train)
        return kept

    return call


def ctc_loss(original: Callable[..., Any]) -> Callable[..., Any]:
    """Its lengths may be on the CPU. C++ brings them to the GPU, unless it takes all for the CPU's."""

    @wraps(original)
    def call(log_probs: torch.Tensor, targets: Any, *lengths: Any, **kwargs: Any) -> torch.Tensor:
        def beside(value: Any) -> Any:
            return value.to(log_probs.device) if isinstance(value, torch.Tensor) else value

        loss: torch.Tensor = original(
            log_probs,
            targets,
            *map(beside, lengths),
            **{name: beside(value) for name, value in kwargs.items()},
        )
        return loss

    return call


def refuse_to_share(tensor: Any) -> None:
    """Another library that is handed a pointer would look for it on a GPU."""
    interface = tensor.__cuda_array_interface__

    def cuda_array_interface(self: torch.Tensor) -> Any:
        if memory.holds(self):
            raise NotSimulated("memory shared with another library (__cuda_array_interface__)")
        return interface.__get__(self)

    def dlpack(original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        def call(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            if memory.holds(self):
                raise NotSimulated("memory shared with another library (DLPack)")
            return original(self, *args, **kwargs)

        return call

    tensor.__cuda_array_interface__ = property(cuda_array_interface)
    tensor.__dlpack__ = dlpack(tensor.__dlpack__)
    exchange: Any = torch.utils.dlpack
    exchange.to_dlpack = dlpack(exchange.to_dlpack)


def restore_storages() -> None:
    """Let torch.save write where a storage lives, and torch.load bring it back there."""

    def tag(storage: Any) -> str | None:
        if storage._cdata not in memory.on_gpu:
            return None
        timeline.launch(copy(card, "Device", "Pageable", storage.nbytes()), "aten::copy_", -1)
        dispatch.wait_for_gpu("cudaStreamSynchronize")
        return "cuda:0"

    def restore(storage: Any, location: str) -> Any:
        if not location.startswith("cuda"):
            return None
        indexed(location)
        memory.place_storage(storage)
        timeline.launch(copy(card, "Pageable", "Device", storage.nbytes()), "aten::copy_", -1)
        return storage

    torch.serialization.register_package(5, tag, restore)  # before PyTorch's own for the CPU, which has 10


def tensor_type(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def call(self: torch.Tensor, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
        if dtype is None:
            name = original(self)
            return name.replace("torch.", "torch.cuda.") if memory.holds(self) else name
        if isinstance(dtype, torch.dtype):
            return original(self, dtype, *args, **kwargs)
        # A tensor type such as "torch.cuda.HalfTensor" or torch.FloatTensor names dtype and device at once.
        name = dtype if isinstance(dtype, str) else f"{dtype.__module__}.{dtype.__name__}"
        wanted = name.replace(".cuda.", ".")
        empty = torch.empty(0).to(torch.device("cpu"))
        scalar_type = original(empty, wanted).dtype
        return self.to(CUDA if ".cuda." in name else CPU, scalar_type)

    return call
