"""Copies from the host to the GPU."""

from __future__ import annotations

from functools import wraps
from typing import Any

from lab.gpu.copies import host_waits_for
from lab.observe import log
from lab.observe.calls import inside, silently
from lab.observe.host_reads import is_non_blocking


def install(tensor: Any) -> None:
    """Write down copies from the host, each with whether the host waits for it and for all that was queued before."""
    original_to, original_cuda, original_copy = tensor.to, tensor.cuda, tensor.copy_

    def copied(call: str, source: Any, non_blocking: bool) -> None:
        size = source.numel() * source.element_size()
        waits = host_waits_for(size, to_gpu=True, pinned=source.is_pinned(), non_blocking=non_blocking)
        log.record("copy_to_gpu", call=call, bytes=size, blocking=waits)

    @wraps(original_to)
    def to(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not log.observing or inside.call or self.is_cuda:
            return original_to(self, *args, **kwargs)
        result = silently(original_to, self, *args, **kwargs)
        if result.is_cuda:
            copied("Tensor.to", self, is_non_blocking(args, kwargs))
        return result

    @wraps(original_cuda)
    def cuda(self: Any, device: Any = None, non_blocking: bool = False, **kwargs: Any) -> Any:
        if not log.observing or inside.call or self.is_cuda:
            return original_cuda(self, device, non_blocking, **kwargs)
        result = silently(original_cuda, self, device, non_blocking, **kwargs)
        copied("Tensor.cuda", self, bool(non_blocking))
        return result

    @wraps(original_copy)
    def copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
        if not log.observing or inside.call or not self.is_cuda or getattr(src, "is_cuda", True):
            return original_copy(self, src, non_blocking)
        result = silently(original_copy, self, src, non_blocking)
        copied("Tensor.copy_", src, bool(non_blocking))
        return result

    tensor.to, tensor.cuda, tensor.copy_ = to, cuda, copy_
