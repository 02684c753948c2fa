"""Reads of values from the GPU, and copies from it, for which the host waits."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from lab.language import N_
from lab.observe import log
from lab.observe.calls import inside, waiting

HOST_READS = (
    "item",
    "tolist",
    "cpu",
    "numpy",
    "__array__",
    "__bool__",
    "__float__",
    "__int__",
    "__index__",
    "__complex__",
    "__repr__",
    "__str__",
    "__format__",
    "__contains__",
)
# Their result is on the host, or as large as a value on the GPU says. torch has functions of the same names.
HOST_NEEDS_RESULT = ("equal", "allclose", "is_nonzero", "nonzero", "masked_select", "unique", "bincount")


def install(torch: Any) -> None:
    """Wrap the methods of tensors, and torch's functions of the same names."""
    tensor = torch.Tensor
    for name in (*HOST_READS, *HOST_NEEDS_RESULT):
        setattr(tensor, name, host_read(f"Tensor.{name}", getattr(tensor, name)))
    for name in HOST_NEEDS_RESULT:
        setattr(torch, name, host_read(f"torch.{name}", getattr(torch, name)))
    observe_masks(torch)
    observe_copies_to_the_host(torch)


def host_read(call: str, function: Callable[..., Any]) -> Callable[..., Any]:
    observed = waiting(call, function, ("wait", "host_read"))

    @wraps(function)
    def reading(*args: Any, **kwargs: Any) -> Any:
        if not log.observing or inside.call or not (args and getattr(args[0], "is_cuda", False)):
            return function(*args, **kwargs)
        return observed(*args, **kwargs)

    return reading


def observe_masks(torch: Any) -> None:
    """How many values a mask selects is known only on the GPU."""
    original = torch.Tensor.__getitem__
    selecting = waiting(N_("Tensor.__getitem__ (with a mask)"), original, ("wait", "host_read"))

    @wraps(original)
    def getitem(self: Any, index: Any) -> Any:
        if not log.observing or inside.call or not self.is_cuda:
            return original(self, index)
        parts = index if type(index) is tuple else (index,)
        masked = any(isinstance(part, torch.Tensor) and part.dtype in (torch.bool, torch.uint8) for part in parts)
        return (selecting if masked else original)(self, index)

    torch.Tensor.__getitem__ = getitem


def observe_copies_to_the_host(torch: Any) -> None:
    """Write down what copies to the CPU and waits for it; a copy to pinned memory needn't."""
    tensor = torch.Tensor
    original_to, original_copy, original_setitem = tensor.to, tensor.copy_, tensor.__setitem__
    to_host = waiting("Tensor.to", original_to, ("wait", "host_read"))
    copy_to_host = waiting("Tensor.copy_ (to the CPU)", original_copy, ("wait", "host_read"))
    set_on_host = waiting("Tensor.__setitem__ (to the CPU)", original_setitem, ("wait", "host_read"))

    @wraps(original_to)
    def to(self: Any, *args: Any, **kwargs: Any) -> Any:
        target = kwargs.get("device", args[0] if args else kwargs.get("other"))
        if isinstance(target, torch.Tensor):
            target = target.device
        towards_host = isinstance(target, (str, torch.device)) and torch.device(target).type == "cpu" and self.is_cuda
        # With non_blocking PyTorch copies to memory that it pins for that.
        return (to_host if towards_host and not is_non_blocking(args, kwargs) else original_to)(self, *args, **kwargs)

    @wraps(original_copy)
    def copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
        towards_host = getattr(src, "is_cuda", False) and not self.is_cuda
        waits = towards_host and not (non_blocking and self.is_pinned())
        return (copy_to_host if waits else original_copy)(self, src, non_blocking)

    @wraps(original_setitem)
    def setitem(self: Any, index: Any, value: Any) -> None:
        towards_host = getattr(value, "is_cuda", False) and not self.is_cuda
        (set_on_host if towards_host else original_setitem)(self, index, value)

    tensor.to, tensor.copy_, tensor.__setitem__ = to, copy_, setitem


def is_non_blocking(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether the arguments of Tensor.to ask for it: of its two flags the first one, the second is `copy`."""
    asked = [arg for arg in args if type(arg) is bool]
    return bool(kwargs.get("non_blocking", asked[0] if asked else False))
