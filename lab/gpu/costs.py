"""How long an op would keep the simulated GPU busy, and with which kernels.

FLOPs come from torch.utils.flop_counter's registry, bytes are those of the op's tensors. Not modelled: caches,
occupancy, tile and wave quantisation, algorithms chosen by cuDNN and cuBLAS, TF32 for convolutions (cuDNN takes it
unless it is forbidden), power limits. A duration is therefore right in its order and in how it scales, not in its
digits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import torch
from torch.utils.flop_counter import flop_registry, sdpa_backward_flop_count, sdpa_flop_count

from lab.gpu.card import Card
from lab.gpu.timeline import Work

HALF = (torch.float16, torch.bfloat16)
PREFIX = "sim_"  # every kernel of the simulated GPU says that it is one

# Ops that only make or describe memory: a GPU launches nothing for them.
LAUNCH_NOTHING = frozenset(
    {
        "aten::empty",
        "aten::empty_like",
        "aten::empty_strided",
        "aten::new_empty",
        "aten::new_empty_strided",
        "aten::_unsafe_view",
        "aten::_reshape_alias",
        "aten::lift_fresh",
        "aten::set_",
        "aten::resize_",
        "aten::record_stream",
        "aten::is_same_size",
        "aten::_has_compatible_shallow_copy_type",
        "aten::_version",
        "aten::sym_size",
        "aten::stride",
    }
)
FILLS = frozenset({"aten::zero_", "aten::fill_", "aten::zeros", "aten::ones", "aten::full", "aten::zeros_like"})
# Ops that read only the rows they look up, not the whole table.
LOOK_UPS = frozenset({"aten::embedding", "aten::index_select", "aten::gather", "aten::index", "aten::select_scatter"})
REDUCTIONS = (
    "sum",
    "mean",
    "max",
    "min",
    "amax",
    "amin",
    "prod",
    "norm",
    "var",
    "std",
    "argmax",
    "argmin",
    "any",
    "all",
)
GEMMS = frozenset(
    {"aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm", "aten::linear", "aten::matmul", "aten::addmv"}
)


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """The tensors among an op's arguments or results, also those in lists."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors_in(item)


def size_bytes(tensors: Iterable[torch.Tensor]) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def kernels_of(
    card: Card, func: Any, args: Sequence[Any], kwargs: dict[str, Any], inputs: list[torch.Tensor], out: Any
) -> list[Work]:
    """The kernels that a GPU would run for one dispatched op; none for views and allocations."""
    name: str = func._schema.name
    if func.is_view or name in LAUNCH_NOTHING:
        return []
    outputs = list(tensors_in(out))
    if name == "aten::convolution_backward":
        return convolution_backward(card, args, inputs, outputs)
    flops = count_flops(func, args, kwargs, out)
    if name in FILLS:
        moved = size_bytes(outputs)
    elif name in LOOK_UPS:
        moved = 2 * size_bytes(outputs) + size_bytes(inputs[1:])
    else:
        moved = size_bytes(inputs) + size_bytes(outputs)
    dtype = dtype_of(inputs or outputs)
    tensor_cores = name in GEMMS and dtype is torch.float32 and multiplies_in_tf32()
    return [kernel(card, kernel_name(name, dtype), flops, moved, dtype, tensor_cores)]


def multiplies_in_tf32() -> bool:
    """Whether torch.set_float32_matmul_precision or one of its kin lets fp32 matrices use tensor cores."""
    try:
        return bool(torch._C._get_cublas_allow_tf32())
    except RuntimeError:  # it was said for the backend alone, in the way that is new in torch 2.9
        return str(torch.backends.cuda.matmul.fp32_precision) == "tf32"


def count_flops(func: Any, args: Sequence[Any], kwargs: dict[str, Any], out: Any) -> int:
    """An op's floating point operations; 0 for ops whose memory traffic takes longer anyway."""
    count = flop_registry.get(func._overloadpacket)
    if count is not None:
        return int(count(*args, **kwargs, out_val=out))
    name = func._schema.name
    # What stands for a GPU's attention and recurrent layers on the CPU isn't in PyTorch's registry.
    if name == "aten::_scaled_dot_product_flash_attention_for_cpu":
        return int(sdpa_flop_count(args[0].shape, args[1].shape, args[2].shape))
    if name == "aten::_scaled_dot_product_flash_attention_for_cpu_backward":
        return int(sdpa_backward_flop_count(args[0].shape, args[1].shape, args[2].shape, args[3].shape))
    if name in ("aten::mkldnn_rnn_layer", "aten::mkldnn_rnn_layer_backward"):
        steps_and_batch = args[0].shape[0] * args[0].shape[1]
        forward: int = 2 * (args[1].numel() + args[2].numel()) * steps_and_batch
        return forward if name.endswith("layer") else 2 * forward
    return 0


def convolution_backward(
    card: Card, args: Sequence[Any], inputs: list[torch.Tensor], outputs: list[torch.Tensor]
) -> list[Work]:
    """Data gradient, weight gradient and bias gradient are kernels of their own."""
    grad, data, weight = inputs[0], inputs[1], inputs[2]
    wants_data, wants_weight, wants_bias = args[-1]
    # As many multiplications as the forward pass, for each of the two (torch.utils.flop_counter.conv_backward_flop).
    transposed = bool(args[7])
    positions = data.shape[2:] if transposed else grad.shape[2:]
    flops = 2 * weight.numel() * data.shape[0]
    for extent in positions:
        flops *= extent
    dtype = dtype_of(inputs)
    kind = "h" if dtype in HALF else "s"
    works = []
    for wanted, name in ((wants_data, f"{kind}dgrad_engine"), (wants_weight, f"{kind}wgrad_engine")):
        if wanted:
            works.append(kernel(card, PREFIX + name, flops, size_bytes((grad, data, weight)), dtype))
    if wants_bias:
        works.append(kernel(card, f"{PREFIX}reduce_kernel_sum", 0, size_bytes((grad,)), dtype))
    return works


def kernel(card: Card, name: str, flops: int, moved_bytes: int, dtype: torch.dtype | None, tf32: bool = False) -> Work:
    rate = card.half_flop_per_s if dtype in HALF else card.tf32_flop_per_s if tf32 else card.fp32_flop_per_s
    duration = card.kernel_floor_s + max(flops / rate, moved_bytes / card.memory_bytes_per_s)
    return Work("kernel", name, duration, moved_bytes, flops, str(dtype).removeprefix("torch.") if dtype else "")


def copy(card: Card, source: str, target: str, size: int) -> Work:
    """A copy between "Pageable" or "Pinned" host memory and "Device", named as CUDA's profiler names it."""
    if source == target == "Device":
        return Work(
            "memcpy", "Memcpy DtoD (Device -> Device)", card.kernel_floor_s + 2 * size / card.memory_bytes_per_s, size
        )
    rate = card.pinned_bytes_per_s if "Pinned" in (source, target) else card.pageable_bytes_per_s
    direction = "DtoH" if source == "Device" else "HtoD"
    return Work("memcpy", f"Memcpy {direction} ({source} -> {target})", card.copy_floor_s + size / rate, size)


def dtype_of(tensors: Sequence[torch.Tensor]) -> torch.dtype | None:
    for tensor in tensors:
        if tensor.is_floating_point():
            return tensor.dtype
    return tensors[0].dtype if tensors else None


def kernel_name(op: str, dtype: torch.dtype | None) -> str:
    """A kernel name of the kind that CUDA libraries have, marked as simulated."""
    base = op.split("::")[1].removeprefix("_")
    letter = "h" if dtype in HALF else "d" if dtype is torch.float64 else "s"
    if op in GEMMS:
        return f"{PREFIX}{letter}gemm_64x64" + (
            "_batched" if "b" in base[:3] and base.startswith(("bmm", "baddbmm")) else ""
        )
    if op == "aten::convolution":
        return f"{PREFIX}implicit_convolve_{letter}gemm"
    if base.startswith(("foreach_", "fused_")):
        return f"{PREFIX}multi_tensor_apply_kernel_{base.split('_', 1)[1].rstrip('_')}"
    if "softmax" in base:
        return f"{PREFIX}{'softmax_warp_backward' if 'backward' in base else 'softmax_warp_forward'}"
    if "layer_norm" in base or "batch_norm" in base:
        return f"{PREFIX}{base}_kernel"
    if base.rstrip("_").split("_")[0] in REDUCTIONS:
        return f"{PREFIX}reduce_kernel_{base.rstrip('_')}"
    if base in ("embedding", "index_select", "gather", "index"):
        return f"{PREFIX}index_kernel_{base}"
    return f"{PREFIX}elementwise_kernel_{base.rstrip('_')}"
