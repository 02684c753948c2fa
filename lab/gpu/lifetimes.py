"""Tells when a storage has gone."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import torch

watched: dict[int, weakref.ref[torch.UntypedStorage]] = {}  # by id: two of the same storage are equal


def when_gone(storage: torch.UntypedStorage, gone: Callable[[], None]) -> None:
    """Call `gone` once when the storage has gone, wherever that is noticed: it may only take a note.

    PyTorch keeps a storage's Python object for as long as the storage lives. But torch 2.8 can't tell that to the
    garbage collector, which lets go of an object in a cycle while tensors still use the storage. Then the storage has
    other owners than the object, and is watched on.
    """
    key: Any = storage._cdata

    def let_go(reference: weakref.ref[torch.UntypedStorage]) -> None:
        del watched[id(reference)]
        if torch._C._storage_Use_Count(key) > 1:
            watch(torch.UntypedStorage._new_with_weak_ptr(key))
        else:
            gone()

    def watch(storage: torch.UntypedStorage) -> None:
        reference = weakref.ref(storage, let_go)
        watched[id(reference)] = reference

    watch(storage)
