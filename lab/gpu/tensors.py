"""Makes tensors say where they live: devices in torch's Python surface, for the simulated GPU.

C++ believes that every tensor is on the CPU, so whatever asks or names a device in Python is wrapped here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch.utils._device import DeviceContext, _device_constructors

from lab.gpu import dispatch
from lab.gpu.costs import copy
from lab.gpu.device import card, memory, timeline
from lab.gpu.dispatch import CPU, CUDA

aten = torch.ops.aten
LIKE = ("empty_like", "zeros_like", "ones_like", "full_like", "rand_like", "randn_like", "randint_like")
NEW = ("new_empty", "new_zeros", "new_ones", "new_full", "new_empty_strided")


def indexed(device: Any) -> Any:
    """The device with an index where it is a GPU: C++ refuses a bare "cuda" on builds without CUDA.

    Raises RuntimeError in CUDA's words for a GPU that isn't there.
    """
    if isinstance(device, bool) or not isinstance(device, (str, int, torch.device)):
        return device
    asked = torch.device("cuda", device) if isinstance(device, int) else torch.device(device)
    if asked.type != "cuda":
        return asked
    if asked.index not in (None, 0):
        raise torch.AcceleratorError(
            "CUDA error: invalid device ordinal\nThe simulated GPU is the only one: use cuda or cuda:0."
        )
    return CUDA


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
    _device_constructors()  # remembers the original functions, before they are wrapped
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
        ("new_tensor", new_tensor),
        ("record_stream", record_stream),
    ):
        setattr(tensor, name, replacement(getattr(tensor, name)))
    restore_storages()
    original_init = DeviceContext.__init__

    def remembering_an_index(self: Any, device: Any) -> None:
        original_init(self, indexed(device))

    setattr(DeviceContext, "__init__", remembering_an_index)  # noqa: B010
    for name in NEW:
        setattr(tensor, name, naming_a_device(getattr(tensor, name)))
    constructors: set[Callable[..., Any]] = _device_constructors()
    for function in constructors:
        name = getattr(function, "__name__", "")
        if getattr(torch, name, None) is function:
            setattr(torch, name, naming_a_device(function))
    for name in LIKE:
        setattr(torch, name, naming_a_device(getattr(torch, name)))
    for name in ("tensor", "as_tensor", "asarray"):
        setattr(torch, name, making_from_data(getattr(torch, name)))
    setattr(torch, "Generator", Generator)  # noqa: B010 - not a name that a type checker should follow
    module: Any = torch.nn.Module
    module.cuda = lambda self, device=None: self.to(CUDA if device is None else indexed(device))


def naming_a_device(function: Callable[..., Any]) -> Callable[..., Any]:
    """A factory that takes "cuda" with or without an index."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs.get("device") is not None:
            kwargs["device"] = indexed(kwargs["device"])
        pinned = kwargs.pop("pin_memory", False)  # there is no real pinned memory here
        dispatch.in_python_factory += 1
        try:
            made = function(*args, **kwargs)
        finally:
            dispatch.in_python_factory -= 1
        if pinned:
            memory.pin(made)
        return made

    return call


def making_from_data(function: Callable[..., Any]) -> Callable[..., Any]:
    """torch.tensor and its kin: made on the CPU, then copied, since C++ builds the data before any dispatch."""

    @wraps(function)
    def call(data: Any, *args: Any, device: Any = None, requires_grad: bool = False, **kwargs: Any) -> Any:
        if device is None and torch._C._len_torch_function_stack():
            device = torch.get_default_device()
        device = indexed(device)
        if device is not None and device.type == "cuda":
            kwargs["device"] = CPU  # also where torch.set_default_device would say otherwise
        if isinstance(data, torch.Tensor) and device is None:
            made = function(data, *args, **kwargs)
        elif device is not None and device.type == "cuda":
            made = function(data, *args, **kwargs).to(CUDA)
        elif device is not None and isinstance(data, torch.Tensor):
            made = function(data.to(device), *args, **kwargs)
        else:
            made = function(data, *args, **({} if device is None else {"device": device}), **kwargs)
        return made.requires_grad_() if requires_grad else made

    return call


class Generator(torch.Generator):
    """A generator for the simulated GPU draws the numbers that the CPU's would draw."""

    def __new__(cls, device: Any = "cpu") -> Generator:
        indexed(device)
        return super().__new__(cls, "cpu")  # type: ignore[call-arg]


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
        dispatch.towards_host = True
        try:
            copied: torch.Tensor = aten._to_copy.default(source, dtype=dtype, device=CPU, non_blocking=non_blocking)
        finally:
            dispatch.towards_host = False
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


def new_tensor(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def call(self: torch.Tensor, data: Any, *args: Any, device: Any = None, **kwargs: Any) -> torch.Tensor:
        made: torch.Tensor = original(self, data, *args, device=CPU, **kwargs)
        wanted = self.device if device is None else indexed(device)
        return made if wanted.type == "cpu" else made.detach().to(wanted).requires_grad_(made.requires_grad)

    return call


def record_stream(original: Callable[..., Any]) -> Callable[..., Any]:
    """Nothing to do: the simulated GPU's memory is given back when the host lets go, in host order."""

    @wraps(original)
    def call(self: torch.Tensor, stream: Any) -> None:
        if not memory.holds(self):
            raise RuntimeError("record_stream is not supported for tensors on the CPU")

    return call


def restore_storages() -> None:
    """Let torch.save write where a storage lives, and torch.load bring it back there."""

    def tag(storage: Any) -> str | None:
        return "cuda:0" if storage._cdata in memory.on_gpu else None

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
        return original(self, dtype, *args, **kwargs)

    return call
