"""Which tensors on the simulated GPU are parameters, buffers, gradients, or the optimizer's state."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

from lab.observe import allocations


def install(torch: Any) -> None:
    """Learn it where PyTorch itself is told: modules from what is registered, optimizers from what they step over."""
    from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

    module = torch.nn.Module
    register_parameter, register_buffer, apply = module.register_parameter, module.register_buffer, module._apply

    @wraps(register_parameter)
    def registering_parameter(self: Any, name: str, param: Any) -> None:
        register_parameter(self, name, param)
        if param is not None:
            mark_all((param,), "parameter")

    @wraps(register_buffer)
    def registering_buffer(self: Any, name: str, tensor: Any, *args: Any, **kwargs: Any) -> None:
        register_buffer(self, name, tensor, *args, **kwargs)
        if tensor is not None:
            mark_all((tensor,), "buffer")

    @wraps(apply)
    def applying(self: Any, *args: Any, **kwargs: Any) -> Any:
        done = apply(self, *args, **kwargs)
        mark_all(self._parameters.values(), "parameter")
        mark_all(self._buffers.values(), "buffer")
        return done

    module.register_parameter, module.register_buffer, module._apply = (
        registering_parameter,
        registering_buffer,
        applying,
    )
    register_optimizer_step_pre_hook(before_a_step)
    register_optimizer_step_post_hook(after_a_step)


def before_a_step(optimizer: Any, args: Any, kwargs: Any) -> None:
    stepped = [param for group in optimizer.param_groups for param in group["params"]]
    mark_all(stepped, "parameter")
    mark_all((param.grad for param in stepped), "gradient")


def after_a_step(optimizer: Any, args: Any, kwargs: Any) -> None:
    mark_all((value for state in optimizer.state.values() for value in state.values()), "optimizer_state")


def left_out_of_the_clock(marking: Callable[[Iterable[Any], str], None]) -> Callable[[Iterable[Any], str], None]:
    """What the observer does takes none of the learner's time."""

    @wraps(marking)
    def timeless(tensors: Iterable[Any], role: str) -> None:
        from lab.gpu.clock import real_s
        from lab.gpu.device import clock

        since_s = real_s()
        try:
            marking(tensors, role)
        finally:
            clock.leave_out(since_s)

    return timeless


@left_out_of_the_clock
def mark_all(tensors: Iterable[Any], role: str) -> None:
    """Mark those that are tensors on the simulated GPU."""
    import torch

    from lab.gpu.device import memory
    from lab.gpu.residency import storage_key

    for tensor in tensors:
        if isinstance(tensor, torch.Tensor):
            key = storage_key(tensor)
            block = memory.on_gpu.get(key) if key is not None else None
            if block is not None:
                allocations.mark(block.address, role)
