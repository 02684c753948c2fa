"""Runs each op that touches the simulated GPU on the CPU and puts its kernels on the timeline."""

from __future__ import annotations

import threading
import warnings
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map
from torch.utils.flop_counter import flop_registry

from lab.gpu import processes, recording, segments
from lab.gpu.clock import real_s
from lab.gpu.copies import host_waits_for
from lab.gpu.costs import copy, kernels_of, size_bytes, tensors_in
from lab.gpu.device import card, clock, memory, timeline
from lab.gpu.residency import storage_key
from lab.gpu.timeline import Work

CPU, CUDA = torch.device("cpu"), torch.device("cuda", 0)
aten = torch.ops.aten

# Ops whose result's size or value the host needs: the host waits for the GPU.
HOST_NEEDS_RESULT = frozenset(
    {
        "aten::_local_scalar_dense",
        "aten::nonzero",
        "aten::masked_select",
        "aten::equal",
        "aten::_unique2",
        "aten::unique_consecutive",
        "aten::unique_dim",
        "aten::repeat_interleave",
        "aten::is_nonzero",
        "aten::allclose",
        "aten::bincount",
        "aten::_linalg_check_errors",
    }
)
INDEXING = frozenset({"aten::index", "aten::index_put", "aten::index_put_", "aten::_index_put_impl_"})
# Ops that take index or scalar tensors from the CPU, as PyTorch allows.
MAY_MIX_DEVICES = INDEXING | frozenset(
    {
        "aten::copy_",
        "aten::_to_copy",
        "aten::_pack_padded_sequence",
        "aten::_pack_padded_sequence_backward",
    }
)
# An LSTM's layer on the CPU, where not every processor can do it in fp16.
ONE_LAYER = frozenset({"aten::mkldnn_rnn_layer", "aten::mkldnn_rnn_layer_backward"})
NOTHING: AbstractContextManager[None] = nullcontext()

sync_debug_mode = 0  # torch.cuda.set_sync_debug_mode


class Said(threading.local):
    """What this thread's Python code has said about devices."""

    factories = 0  # entered Python functions that make a tensor
    cpu = 0  # entered Python functions that were told to use the CPU


said = Said()


class in_python:  # noqa: N801 - used like a function
    """Python code makes a tensor: where it says nothing, it means the CPU."""

    def __enter__(self) -> None:
        said.factories += 1

    def __exit__(self, *error: object) -> None:
        said.factories -= 1


class naming_the_cpu:  # noqa: N801 - used like a function
    """Python code names the CPU. C++ names it, too, but there it is what every tensor's options say."""

    def __enter__(self) -> None:
        said.factories += 1
        said.cpu += 1

    def __exit__(self, *error: object) -> None:
        said.factories -= 1
        said.cpu -= 1


class SimulatedGpu(TorchDispatchMode):
    """Sees every op. Ops without GPU tensors pass untouched."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # Nothing is compiled here, and guarding against the compiler would import it: two seconds at the first op.
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        since = real_s()
        kwargs = kwargs or {}
        inputs = list(tensors_in(args))
        if kwargs:
            inputs += tensors_in(kwargs)
        on_gpu = [tensor for tensor in inputs if memory.holds(tensor)]
        target = kwargs.get("device")
        if target is not None:
            target = torch.device(target)
        names_another = target is not None and target.type not in ("cuda", "cpu")
        if names_another or (not on_gpu and (target is None or target.type != "cuda")):
            with recording.passed() if recording.active else NOTHING:
                out = func(*args, **kwargs)
            if (target is not None and target.type == "cpu" and not inputs and not said.factories) or (
                inputs and memory.undecided and all(map(memory.is_undecided, inputs))
            ):
                # A composite op in C++ made it "on its input's device", which C++ takes for the CPU.
                for tensor in tensors_in(out):
                    memory.leave_undecided(tensor)
            return out
        if processes.forked:
            processes.refuse_a_fork()
        if target is not None:
            kwargs = {**kwargs, "device": CPU}
            if "pin_memory" in kwargs and target.type == "cuda":
                kwargs["pin_memory"] = False
        with memory.lock, recording.marker(since - clock.left_out_s) as marked:
            memory.op, memory.has_inputs = func._schema.name, bool(on_gpu)
            memory.differentiable = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in on_gpu)
            try:
                if func is aten._to_copy.default:
                    out, works, wait = to_copy(args[0], kwargs, target)
                elif func is aten.copy_.default:
                    out, works, wait = copy_into(args, kwargs)
                else:
                    out, works, wait = compute(func, args, kwargs, inputs, on_gpu, target)
            finally:
                clock.leave_out(since)
                segments.wait_for_frees()
            name = func._schema.name
            for work in works:
                clock.charge(card.launch_s)
                timeline.launch(work, name, recording.current_marker)
            if marked is not None:
                marked.end_s = clock.now_s()
        timeline.wait_for_queue()
        if wait:
            report_implicit_wait()
            wait_for_gpu("cudaStreamSynchronize")
        return out


def report_implicit_wait() -> None:
    """torch.cuda.set_sync_debug_mode, in PyTorch's words."""
    if sync_debug_mode == 1:
        warnings.warn("called a synchronizing CUDA operation", stacklevel=3)
    elif sync_debug_mode == 2:
        raise RuntimeError("called a synchronizing CUDA operation")


def wait_for_gpu(runtime: str, until_s: float | None = None) -> None:
    """Make the host wait for the current stream, or until a given time on the lab's clock."""
    begin = clock.now_s()
    with recording.marker(begin, runtime) as marked:
        clock.sleep_until(timeline.done_at_s(timeline.stream) if until_s is None else until_s)
        if marked is not None:
            marked.end_s = clock.now_s()


def host_waits(seconds: float) -> None:
    """Make the host wait for something that has nothing to do with the GPU."""
    with recording.marker(clock.now_s()) as marked:
        clock.spend(seconds)
        if marked is not None:
            marked.end_s = clock.now_s()


def compute(
    func: Any,
    args: Any,
    kwargs: Any,
    inputs: list[torch.Tensor],
    on_gpu: list[torch.Tensor],
    target: torch.device | None,
) -> tuple[Any, list[Work], bool]:
    name = func._schema.name
    to_cpu = target is not None and target.type == "cpu" and said.cpu > 0
    if target is None and name not in MAY_MIX_DEVICES and len(on_gpu) != len(inputs):
        refuse_mixed_devices(inputs, scalars_too=name == "aten::stack")
    refuse_indices_on_the_gpu(name, args)
    memory.refuse_what_cannot_fit(func, args, kwargs, inputs)
    out = in_single_precision(func, args, kwargs) if multiplies_half(func, inputs) else func(*args, **kwargs)
    if name == "aten::_local_scalar_dense":
        return out, [copy(card, "Device", "Pageable", on_gpu[0].element_size())], True
    if not to_cpu:
        for tensor in tensors_in(out[:1] if name == "aten::_pack_padded_sequence" else out):  # batch_sizes: on the CPU
            memory.place(tensor)
    if func._schema.is_mutable:
        for tensor in tensors_in(out):
            memory.follow_resize(tensor)
    works = kernels_of(card, func, args, kwargs, inputs, out)
    wait = name in HOST_NEEDS_RESULT
    if name in INDEXING:
        # A mask's number of elements is a value; indices from the CPU are copied over first.
        sent = [tensor for tensor in inputs[1:] if not memory.holds(tensor) and tensor.dim() > 0]
        works[:0] = [copy(card, "Pageable", "Device", size_bytes((tensor,))) for tensor in sent]
        masks = any(tensor.dtype in (torch.bool, torch.uint8) for tensor in inputs[1:])
        wait = bool(sent) or (masks and not fills_a_mask(args))
    return out, works, wait


def fills_a_mask(args: Any) -> bool:
    """x[mask] = 0: one mask and one value of the CPU is masked_fill (canDispatchToMaskedFill), which counts nothing."""
    if len(args) < 3:
        return False
    indices = [index for index in args[1] if index is not None]
    return len(indices) == 1 and args[2].numel() == 1 and not memory.holds(args[2])


def multiplies_half(func: Any, inputs: list[torch.Tensor]) -> bool:
    """Whether fp16 is multiplied with fp16. Mixed types are left as they are, for PyTorch to refuse."""
    return (
        (func._overloadpacket in flop_registry or func._schema.name in ONE_LAYER)
        and not func._schema.is_mutable
        and all(tensor.dtype is torch.float16 or not tensor.is_floating_point() for tensor in inputs)
    )


def in_single_precision(func: Any, args: Any, kwargs: Any) -> Any:
    """Multiply fp16 matrices in fp32 and round the result, as tensor cores accumulate; CPUs are slow at fp16."""

    def single(value: Any) -> Any:
        return value.float() if isinstance(value, torch.Tensor) and value.dtype is torch.float16 else value

    def half(value: Any) -> Any:
        return value.half() if isinstance(value, torch.Tensor) and value.dtype is torch.float32 else value

    out = func(*tree_map(single, args), **tree_map(single, kwargs))
    return tree_map(half, out)


def to_copy(source: torch.Tensor, kwargs: dict[str, Any], target: torch.device | None) -> tuple[Any, list[Work], bool]:
    """aten::_to_copy: another device, another dtype, or both.

    C++ names the CPU as the device wherever it copies a tensor's options, so only Tensor.to means it.
    """
    from_gpu = memory.holds(source)
    to_gpu = (from_gpu and not said.cpu) or (target is not None and target.type == "cuda")
    non_blocking = bool(kwargs.get("non_blocking"))
    out = aten._to_copy.default(source, **kwargs)
    if storage_key(out) is not None and storage_key(out) == storage_key(source):
        out = source.clone()
    works: list[Work] = []
    if to_gpu:
        memory.place(out)
    elif non_blocking:
        memory.pin(out)  # as PyTorch does, so that the copy can be asynchronous
    if from_gpu and to_gpu:
        works = kernels_of(card, aten._to_copy.default, (source,), {}, [source], out)
        return out, works, False
    work, wait = host_copy(source, out, from_gpu, non_blocking)
    return out, [work], wait


def copy_into(args: Any, kwargs: Any) -> tuple[Any, list[Work], bool]:
    """aten::copy_(target, source, non_blocking)."""
    target, source = args[0], args[1]
    if memory.is_undecided(target) and memory.holds(source):
        memory.place(target)
    from_gpu, to_gpu = memory.holds(source), memory.holds(target)
    out = aten.copy_.default(*args, **kwargs)
    if from_gpu and to_gpu:
        return out, [copy(card, "Device", "Device", size_bytes((target,)))], False
    non_blocking = bool(args[2] if len(args) > 2 else kwargs.get("non_blocking", False))
    work, wait = host_copy(source, target, from_gpu, non_blocking)
    return out, [work], wait


def host_copy(source: torch.Tensor, target: torch.Tensor, from_gpu: bool, non_blocking: bool) -> tuple[Work, bool]:
    """A copy over the bus, and whether the host waits for it."""
    host = target if from_gpu else source
    kind = "Pinned" if memory.is_pinned(host) else "Pageable"
    size = size_bytes((source,))
    work = copy(card, "Device", kind, size) if from_gpu else copy(card, kind, "Device", size)
    return work, host_waits_for(size, to_gpu=not from_gpu, pinned=kind == "Pinned", non_blocking=non_blocking)


def refuse_indices_on_the_gpu(name: str, args: Any) -> None:
    """A tensor on the CPU takes its indices from the CPU; PyTorch's own error."""
    if name in INDEXING and not memory.holds(args[0]):
        raise RuntimeError("indices should be either on cpu or on the same device as the indexed tensor (cpu)")


def refuse_mixed_devices(inputs: list[torch.Tensor], scalars_too: bool = False) -> None:
    """PyTorch's own error, unless the tensors left on the CPU are scalars or nobody has named their device."""
    for tensor in inputs:
        if memory.is_undecided(tensor):
            memory.place(tensor)
    if any(not memory.holds(tensor) and (scalars_too or tensor.dim() > 0) for tensor in inputs):
        raise RuntimeError(
            "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
        )
