"""torch.cuda and torch.accelerator for the simulated GPU."""

from __future__ import annotations

import types
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch

from lab.gpu import dispatch, segments, streams
from lab.gpu.costs import PREFIX
from lab.gpu.device import card, clock, memory, timeline
from lab.gpu.errors import NotSimulated, refusing
from lab.gpu.factories import indexed
from lab.gpu.timeline import Work


@dataclass(frozen=True)
class Properties:
    """What torch.cuda.get_device_properties returns, as far as a data sheet can say."""

    name: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int
    warp_size: int = 32
    max_threads_per_multi_processor: int = 2048
    is_integrated: int = 0
    is_multi_gpu_board: int = 0
    L2_cache_size: int = 4 * 2**20
    gcnArchName: str = ""  # noqa: N815 - PyTorch's name
    regs_per_multiprocessor: int = 65536
    shared_memory_per_block: int = 48 * 2**10
    shared_memory_per_multiprocessor: int = 96 * 2**10
    uuid: str = "00000000-0000-0000-0000-000000000000"


# Python functions of torch.cuda that work on top of those replaced here.
WORK_AS_THEY_ARE = frozenset(
    {
        "FloatTensor",
        "is_initialized",
        "init",
        "is_bf16_supported",
        "is_tf32_supported",
        "memory_stats",
        "memory_stats_as_nested_dict",
        "memory_allocated",
        "max_memory_allocated",
        "memory_reserved",
        "max_memory_reserved",
        "memory_cached",
        "max_memory_cached",
        "memory_summary",
        "memory_snapshot",
        "reset_max_memory_allocated",
        "reset_max_memory_cached",
        "OutOfMemoryError",
        "CudaError",
        "DeferredCudaCallError",
        "StreamContext",
        "device",
        "device_of",
        "amp",
        "check_error",
        "get_gencode_flags",
        "get_arch_list",
        "has_half",
        "has_magma",
        "default_generators",
    }
)


class TensorType(type):
    """torch.cuda.FloatTensor and its kin: old names for a dtype on the GPU, still used with isinstance."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, torch.Tensor) and value.type() == f"torch.cuda.{cls.__name__}"

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        raise NotSimulated(f"the old constructor torch.cuda.{cls.__name__} (use torch.tensor or torch.empty)")


def of_the_gpu(device: Any) -> None:
    """Refuse another device than the GPU as PyTorch does."""
    asked = indexed(device)
    if isinstance(asked, torch.device) and asked.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {asked}")


def get_device_properties(device: Any = None) -> Properties:
    of_the_gpu(device)
    return Properties(card.name, *card.capability, card.memory_bytes, card.multiprocessors)


def set_device(device: Any) -> None:
    of_the_gpu(device)


def set_per_process_memory_fraction(fraction: float, device: Any = None) -> None:
    """Let PyTorch take no more than this share of the GPU's memory. Beyond it allocations fail."""
    of_the_gpu(device)
    if not isinstance(fraction, float):
        raise TypeError("Invalid type for fraction argument, must be `float`")
    if not 0 <= fraction <= 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    memory.allocator.allowed_bytes = int(fraction * card.memory_bytes)


def get_per_process_memory_fraction(device: Any = None) -> float:
    of_the_gpu(device)
    allowed = memory.allocator.allowed_bytes
    return 1.0 if allowed is None else allowed / card.memory_bytes


def get_rng_state(device: Any = "cuda") -> torch.Tensor:
    return torch.get_rng_state()


def set_rng_state(new_state: torch.Tensor, device: Any = "cuda") -> None:
    torch.set_rng_state(new_state)


def set_sync_debug_mode(debug_mode: int | str) -> None:
    """What an implicit wait does: nothing ("default", 0), a warning ("warn", 1), an error ("error", 2)."""
    modes = ("default", "warn", "error")
    if isinstance(debug_mode, str):
        if debug_mode not in modes:
            raise RuntimeError("invalid value of debug_mode, expected one of `default`, `warn`, `error`")
        debug_mode = modes.index(debug_mode)
    if debug_mode not in range(3):
        raise RuntimeError("invalid value of debug_mode, expected one of 0,1,2")
    dispatch.sync_debug_mode = debug_mode


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Free and total bytes."""
    return card.memory_bytes - memory.allocator.reserved_bytes, card.memory_bytes


def reset_peak_memory_stats(device: Any = None) -> None:
    memory.allocator.reset_peaks()


REPLACED: dict[str, Any] = {
    "is_available": lambda: True,
    "device_count": lambda: 1,
    "current_device": lambda: 0,
    "set_device": set_device,
    "get_device_name": lambda device=None: get_device_properties(device).name,
    "get_device_capability": lambda device=None: card.capability,
    "get_device_properties": get_device_properties,
    "can_device_access_peer": lambda device, peer_device: False,
    "mem_get_info": mem_get_info,
    "set_per_process_memory_fraction": set_per_process_memory_fraction,
    "get_per_process_memory_fraction": get_per_process_memory_fraction,
    "empty_cache": segments.empty_cache,
    "reset_peak_memory_stats": reset_peak_memory_stats,
    "reset_accumulated_memory_stats": lambda device=None: memory.allocator.reset_accumulated(),
    "manual_seed": lambda seed: torch.default_generator.manual_seed(seed),
    "manual_seed_all": lambda seed: torch.default_generator.manual_seed(seed),
    "seed": lambda: torch.default_generator.seed(),
    "seed_all": lambda: torch.default_generator.seed(),
    "initial_seed": lambda: torch.default_generator.initial_seed(),
    "get_rng_state": get_rng_state,
    "set_rng_state": set_rng_state,
    "get_rng_state_all": lambda: [torch.get_rng_state()],
    "set_rng_state_all": lambda new_states: torch.set_rng_state(new_states[0]),
    "set_sync_debug_mode": set_sync_debug_mode,
    "get_sync_debug_mode": lambda: dispatch.sync_debug_mode,
    "is_current_stream_capturing": lambda: False,
    "ipc_collect": lambda: None,
    "Stream": streams.Stream,
    "Event": streams.Event,
    "stream": streams.stream,
    "current_stream": streams.current_stream,
    "default_stream": streams.default_stream,
    "set_stream": streams.set_stream,
    "synchronize": streams.synchronize,
}


def install() -> None:
    """Put the simulated GPU behind torch.cuda and torch.accelerator, for good."""
    # Autograd starts its threads at the first backward, one for each device that it knows then, and refuses to work in
    # a fork of a process with such threads. Now it knows none yet, and for its eyes all stays on the CPU.
    torch.ones(1, requires_grad=True).sum().backward()
    if hasattr(torch._C, "_ensureCUDADeviceGuardSet"):
        torch._C._ensureCUDADeviceGuardSet()
    cuda = torch.cuda
    cuda._lazy_init = lambda: None
    cuda._initialized = True
    cuda._is_in_bad_fork = lambda: False
    cuda._exchange_device = lambda device: 0
    cuda._maybe_exchange_device = lambda device: 0
    for name, value in {
        "_cuda_memoryStats": lambda device: memory.allocator.nested_statistics(),
        "_cuda_getDevice": lambda: 0,
        "_cuda_getAllocatorBackend": lambda: "native",
        "_cuda_isInBadFork": lambda: False,
    }.items():
        setattr(torch._C, name, value)
    for name, value in REPLACED.items():
        setattr(cuda, name, value)
        if hasattr(cuda.memory, name):
            setattr(cuda.memory, name, value)
    setattr(torch, "Stream", streams.AnyStream)  # noqa: B010 - not names that a type checker should follow
    setattr(torch, "Event", streams.AnyEvent)  # noqa: B010
    torch.backends.cuda.is_built = lambda: True
    torch.backends.cudnn.is_acceptable = lambda tensor: False
    refuse_the_rest(cuda, "torch.cuda")
    cuda.cudart = refusing("torch.cuda.cudart")
    cuda.profiler.start = refusing("torch.cuda.profiler.start")
    cuda.profiler.stop = refusing("torch.cuda.profiler.stop")
    cuda._sleep = spin
    cuda._compile_kernel = refusing("torch.cuda._compile_kernel")
    for kind in ("Float", "Double", "Half", "BFloat16", "Byte", "Char", "Short", "Int", "Long", "Bool"):
        setattr(cuda, f"{kind}Tensor", TensorType(f"{kind}Tensor", (), {"__module__": "torch.cuda"}))
    module_of = torch.get_device_module

    def get_device_module(device: Any = None) -> Any:
        return cuda if device is None or torch.device(indexed(device)).type == "cuda" else module_of(device)

    setattr(torch, "get_device_module", get_device_module)  # noqa: B010
    install_nvtx()
    install_accelerator()


def spin(cycles: int) -> None:
    """torch.cuda._sleep: keep the current stream busy for that many cycles, at 1 GHz."""
    clock.charge(card.launch_s)
    timeline.launch(Work("kernel", f"{PREFIX}spin_kernel", cycles / 1e9), "torch.cuda._sleep", -1)


def install_nvtx() -> None:
    """NVTX marks are notes for Nsight. Without Nsight they have no effect on a GPU either."""
    nvtx = torch.cuda.nvtx
    nvtx.range_push = lambda msg: 0
    nvtx.range_pop = lambda: 0
    nvtx.range_start = lambda msg: 0
    nvtx.range_end = lambda range_id: None
    nvtx.mark = lambda msg: None


def refuse_the_rest(module: types.ModuleType, prefix: str) -> None:
    """Every public function that isn't simulated says so, rather than reach for a driver that isn't there."""
    for name in module.__all__:
        value = getattr(module, name, None)
        known = name in REPLACED or name in WORK_AS_THEY_ARE
        if known or not callable(value) or name.endswith(("Tensor", "Storage")) or isinstance(value, types.ModuleType):
            continue
        setattr(module, name, refusing(f"{prefix}.{name}", value))


def install_accelerator() -> None:
    accelerator = torch.accelerator
    allocator = memory.allocator

    def statistic(name: str, which: str) -> Callable[..., int]:
        return lambda device_index=None: getattr(allocator.statistics[name]["all"], which)

    replaced: dict[str, Any] = {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "current_accelerator": lambda check_available=False: torch.device("cuda"),
        "current_device_index": lambda: 0,
        "current_device_idx": lambda: 0,
        "set_device_index": set_device,
        "set_device_idx": set_device,
        "device_index": lambda device: nullcontext(),
        "current_stream": streams.current_stream,
        "set_stream": streams.set_stream,
        "synchronize": streams.synchronize,
        "empty_cache": segments.empty_cache,
        "memory_allocated": statistic("allocated_bytes", "current"),
        "max_memory_allocated": statistic("allocated_bytes", "peak"),
        "memory_reserved": statistic("reserved_bytes", "current"),
        "max_memory_reserved": statistic("reserved_bytes", "peak"),
        "memory_stats": lambda device_index=None: torch.cuda.memory_stats(),
        "reset_peak_memory_stats": reset_peak_memory_stats,
        "get_memory_info": mem_get_info,
    }
    for name, value in replaced.items():
        if hasattr(accelerator, name):
            setattr(accelerator, name, value)
        if hasattr(accelerator, "memory") and hasattr(accelerator.memory, name):
            setattr(accelerator.memory, name, value)
