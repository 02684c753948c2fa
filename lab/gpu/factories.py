"""Functions that make tensors, and where: torch.zeros(..., device="cuda") and its kin on the simulated GPU."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch.overrides import _get_current_function_mode_stack
from torch.utils._device import DeviceContext, _device_constructors

from lab.gpu import dispatch
from lab.gpu.device import memory
from lab.gpu.dispatch import CPU, CUDA
from lab.gpu.errors import NotSimulated

LIKE = ("empty_like", "zeros_like", "ones_like", "full_like", "rand_like", "randn_like", "randint_like")
SPARSE = tuple(f"sparse_{kind}_tensor" for kind in ("coo", "csr", "csc", "bsr", "bsc", "compressed"))
NESTED = ("nested_tensor", "as_nested_tensor")
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


def install() -> None:
    """Wrap the factories. For good: there is no way back in this process."""
    constructors: set[Callable[..., Any]] = _device_constructors()  # remembered before they are wrapped
    tensor: Any = torch.Tensor
    for name in NEW:
        setattr(tensor, name, naming_a_device(getattr(tensor, name)))
    tensor.new_tensor = new_tensor(tensor.new_tensor)
    for name in (*LIKE, "normal"):
        setattr(torch, name, naming_a_device(getattr(torch, name)))
    for function in constructors:
        name = getattr(function, "__name__", "")
        if getattr(torch, name, None) is function:
            from_data = name in ("tensor", "as_tensor", "asarray")
            setattr(torch, name, (making_from_data if from_data else naming_a_device)(function))
    for module, names in ((torch, SPARSE), (torch.nested, NESTED)):
        for name in names:
            setattr(module, name, only_on_the_cpu(getattr(module, name), f"{module.__name__}.{name}"))
    setattr(torch, "Generator", Generator)  # noqa: B010 - not a name that a type checker should follow
    original_init = DeviceContext.__init__

    def remembering_an_index(self: Any, device: Any) -> None:
        original_init(self, indexed(device))

    setattr(DeviceContext, "__init__", remembering_an_index)  # noqa: B010


def only_on_the_cpu(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A factory of tensors that are made of several others, which the simulated GPU doesn't have."""

    @wraps(function)
    def call(*args: Any, device: Any = None, **kwargs: Any) -> Any:
        wanted = default_device() if device is None else indexed(device)
        parts = [part for value in args for part in (value if isinstance(value, (list, tuple)) else (value,))]
        on_gpu = any(isinstance(part, torch.Tensor) and memory.holds(part) for part in parts)
        if (wanted is not None and torch.device(wanted).type == "cuda") or (wanted is None and on_gpu):
            raise NotSimulated(f"{name} on the GPU")
        return function(*args, device=device, **kwargs)

    return call


def naming_a_device(function: Callable[..., Any]) -> Callable[..., Any]:
    """A factory that takes "cuda" with or without an index."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        device = kwargs.get("device")
        if device is not None:
            device = kwargs["device"] = indexed(device)
        if kwargs.get("generator") is not None:
            refuse_another_generator(kwargs["generator"], device, args)
        pinned = kwargs.pop("pin_memory", False)  # there is no real pinned memory here
        with dispatch.naming_the_cpu() if device == CPU else dispatch.in_python():
            made = function(*args, **kwargs)
        if pinned:
            memory.pin(made)
        return made

    return call


def refuse_another_generator(generator: torch.Generator, device: Any, args: tuple[Any, ...]) -> None:
    """Random numbers come from a generator of the device that they are for; PyTorch's own error."""
    like = next((arg.device for arg in args if isinstance(arg, torch.Tensor)), None)
    expected = (device or like or default_device() or CPU).type
    if generator.device.type != expected:
        raise RuntimeError(f"Expected a '{expected}' device type for generator but found '{generator.device.type}'")


def making_from_data(function: Callable[..., Any]) -> Callable[..., Any]:
    """torch.tensor and its kin: made on the CPU, then copied, since C++ builds the data before any dispatch."""
    make = naming_a_device(function)

    @wraps(function)
    def call(data: Any, *args: Any, device: Any = None, requires_grad: bool = False, **kwargs: Any) -> Any:
        wanted = default_device() if device is None else indexed(device)
        if wanted is not None and wanted.type == "cuda":
            made = make(data, *args, device=data.device if isinstance(data, torch.Tensor) else CPU, **kwargs).to(CUDA)
        elif wanted is not None and isinstance(data, torch.Tensor):
            made = make(data.to(wanted), *args, device=wanted, **kwargs)
        elif isinstance(data, torch.Tensor):
            made = (
                make(data, *args, device=CPU, **kwargs)
                if not memory.holds(data)
                else same_device(make, data, args, kwargs)
            )
        else:
            made = make(data, *args, device=wanted or CPU, **kwargs)
        return made.requires_grad_() if requires_grad else made

    return call


def same_device(make: Callable[..., Any], data: torch.Tensor, args: Any, kwargs: dict[str, Any]) -> torch.Tensor:
    """torch.tensor(x) and torch.as_tensor(x) of a tensor on the GPU stay there."""
    dtype = kwargs.get("dtype")
    if make.__name__ == "tensor" or kwargs.get("copy"):
        return data.detach().clone().to(dtype or data.dtype)
    return data if dtype is None else data.to(dtype)


def default_device() -> Any:
    """What torch.set_default_device or `with torch.device(...)` says, None if neither does.

    torch.get_default_device would make a tensor to find out, and so come back here.
    """
    for mode in reversed(_get_current_function_mode_stack()) if torch._C._len_torch_function_stack() else ():
        if isinstance(mode, DeviceContext):
            return mode.device
    return None


def new_tensor(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def call(self: torch.Tensor, data: Any, *args: Any, device: Any = None, **kwargs: Any) -> torch.Tensor:
        with dispatch.naming_the_cpu():
            made: torch.Tensor = original(self, data, *args, device=CPU, **kwargs)
        wanted = self.device if device is None else indexed(device)
        return made if wanted.type == "cpu" else made.detach().to(wanted).requires_grad_(made.requires_grad)

    return call


class Generator(torch.Generator):
    """A generator for the simulated GPU draws the numbers that the CPU's would draw."""

    asked: torch.device

    def __new__(cls, device: Any = "cpu") -> Generator:
        made = super().__new__(cls, "cpu")  # type: ignore[call-arg]
        made.asked = torch.device(indexed(device))
        return made

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        return self.asked
