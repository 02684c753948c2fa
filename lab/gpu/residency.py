"""Which storages live on the simulated GPU, and which in pinned memory."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch
from torch.utils._pytree import tree_iter, tree_map

from lab.gpu import lifetimes
from lab.gpu.allocator import Block, CachingAllocator
from lab.gpu.errors import NotSimulated

Result = TypeVar("Result")


@dataclass
class Residency:
    """The storages that live on the simulated GPU, and those that live in pinned host memory."""

    allocator: CachingAllocator
    on_gpu: dict[int, Block] = field(default_factory=dict)
    pinned: set[int] = field(default_factory=set)
    undecided: set[int] = field(default_factory=set)
    # Threads may use the GPU side by side, the books are kept by one of them.
    lock: Any = field(default_factory=threading.RLock)
    at_work: bool = False  # the allocator is, and must not be asked for anything else
    gone: deque[tuple[Block, int]] = field(default_factory=deque)  # not given back yet; bytes on the host
    on_change: list[Callable[[int, int], None]] = field(default_factory=list)  # (change in bytes, bytes on the host)
    on_place: list[Callable[[Block, torch.Tensor | None], None]] = field(default_factory=list)
    op: str = ""  # the op that is computed now, or was last
    differentiable: bool = False  # whether autograd will go back through it
    has_inputs: bool = False  # on the GPU

    def holds(self, tensor: torch.Tensor) -> bool:
        return storage_key(tensor) in self.on_gpu

    def place(self, tensor: torch.Tensor) -> None:
        """Let the tensor's storage live on the GPU until it is freed. Raises torch.OutOfMemoryError."""
        try:
            storage = tensor.untyped_storage()
        except (RuntimeError, NotImplementedError) as error:
            raise NotSimulated(f"{tensor.layout} tensors") from error
        self.place_storage(storage, tensor)

    def place_storage(self, storage: torch.UntypedStorage, tensor: torch.Tensor | None = None) -> None:
        key = storage._cdata
        if key in self.on_gpu:
            return
        size = storage.nbytes()
        block = self.on_gpu[key] = self.undisturbed(lambda: self.allocator.allocate(size))
        lifetimes.when_gone(storage, lambda: self.release(key, size))
        for placed in self.on_place:
            placed(block, tensor)
        for listener in self.on_change:
            listener(block.size, size)

    def follow_resize(self, tensor: torch.Tensor) -> None:
        """Give a storage that an op has enlarged (out=, resize_) the memory that it takes now."""
        storage = tensor.untyped_storage()
        block = self.on_gpu.get(storage._cdata)
        if block is not None and storage.nbytes() > block.size:
            larger = self.undisturbed(lambda: self.allocator.allocate(storage.nbytes()))
            self.on_gpu[storage._cdata] = larger
            for placed in self.on_place:
                placed(larger, tensor)
            for listener in self.on_change:
                listener(larger.size, storage.nbytes())
            self.give_back(block, block.requested)

    def refuse_what_cannot_fit(self, func: Any, args: Any, kwargs: Any, inputs: list[torch.Tensor]) -> None:
        """Raise torch.OutOfMemoryError before the host computes, and fills its own memory with, what has no place."""
        capacity = self.allocator.limit_bytes
        large = sum(tensor.numel() * tensor.element_size() for tensor in inputs) > capacity // 32
        if (inputs and not large) or func._schema.is_mutable or func.is_view:
            return
        if not inputs and not any(isinstance(arg, (list, tuple, int)) for arg in args):
            return
        size = result_bytes(func, args, kwargs)
        if size > capacity - self.allocator.allocated_bytes:
            self.undisturbed(lambda: self.allocator.allocate(size))

    def release_cached(self) -> None:
        self.undisturbed(self.allocator.release_cached)

    def undisturbed(self, work: Callable[[], Result]) -> Result:
        """Let the allocator do one thing at a time: a garbage collection in its midst may let go of more tensors."""
        with self.lock:
            self.take_back()
            inside, self.at_work = self.at_work, True
            try:
                return work()
            finally:
                self.at_work = inside
                self.take_back()

    def release(self, key: int, size: int) -> None:
        """A storage has gone. Called wherever a garbage collection falls, also while the allocator is at work."""
        # Another one may get its place on the host at once, and isn't on the GPU for that.
        self.give_back(self.on_gpu.pop(key), size)

    def give_back(self, block: Block, size: int) -> None:
        """Free the block, now or, while the allocator is at work or another thread keeps the books, afterwards."""
        self.gone.append((block, size))
        if self.lock.acquire(blocking=False):
            try:
                self.take_back()
            finally:
                self.lock.release()

    def take_back(self) -> None:
        while self.gone and not self.at_work:
            block, size = self.gone.popleft()
            freed = block.size
            self.at_work = True
            try:
                self.allocator.free(block)
            finally:
                self.at_work = False
            for listener in self.on_change:
                listener(-freed, -size)

    def pin(self, tensor: torch.Tensor) -> None:
        remember(tensor, self.pinned)

    def leave_undecided(self, tensor: torch.Tensor) -> None:
        """It goes to the GPU if an op uses it together with tensors there, and counts as on the CPU until then."""
        remember(tensor, self.undecided)

    def is_undecided(self, tensor: torch.Tensor) -> bool:
        return storage_key(tensor) in self.undecided

    def is_pinned(self, tensor: torch.Tensor) -> bool:
        return storage_key(tensor) in self.pinned


def result_bytes(func: Any, args: Any, kwargs: Any) -> int:
    """How much memory an op's results take, found without computing them; 0 where PyTorch can't say."""

    def as_meta(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="meta")
        return value

    others = {name: value for name, value in kwargs.items() if name not in ("device", "generator", "pin_memory")}
    if "device" in kwargs:
        others["device"] = torch.device("meta")
    try:
        out = func(*tree_map(as_meta, args), **tree_map(as_meta, others))
    except Exception:  # not every op has a meta kernel, and a wrong call fails better where it is made
        return 0
    return sum(t.numel() * t.element_size() for t in tree_iter(out) if isinstance(t, torch.Tensor))


def remember(tensor: torch.Tensor, keys: set[int]) -> None:
    """Keep the tensor's storage among the keys for as long as it lives."""
    storage = tensor.untyped_storage()
    key: int = storage._cdata
    if key not in keys:
        keys.add(key)
        lifetimes.when_gone(storage, lambda: keys.discard(key))


def storage_key(tensor: torch.Tensor) -> int | None:
    """What identifies a tensor's storage while it lives; None for tensors without one (sparse, fake, lazy)."""
    try:
        key: int = tensor.untyped_storage()._cdata
    except (RuntimeError, NotImplementedError, ValueError):
        return None
    return key
