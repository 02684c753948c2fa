"""What the exercises measure: small pieces of PyTorch work, each made from a seed."""

from __future__ import annotations

import gc
import importlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

# Each family is a module with build(seed, **params); with finish(returned, seed, **params) where it has a second half;
# and with expect(seed, **params), which says what a right answer is compared with: what build() makes doesn't know it.
FAMILIES: Mapping[str, str] = MappingProxyType(
    {
        "queued_matmuls": "lab.workloads.queued_matmuls",
        "parts_of_a_loop": "lab.workloads.parts_of_a_loop",
        "queued_parts": "lab.workloads.queued_parts",
        "watched_training": "lab.workloads.watched_training",
        "training_step": "lab.workloads.training_step",
        "profiled_model": "lab.workloads.profiled_model",
        "regions_profile": "lab.workloads.regions_profile",
        "layers_by_shape": "lab.workloads.layers_by_shape",
        "labelled_step": "lab.workloads.labelled_step",
        "steps_with_a_peak": "lab.workloads.steps_with_a_peak",
        "training_loop": "lab.workloads.training_loop",
        "slow_storage": "lab.workloads.slow_storage",
        "hungry_layers": "lab.workloads.hungry_layers",
        "traced_loop": "lab.workloads.traced_loop",
        "memory_budget": "lab.workloads.memory_budget",
        "six_loops": "lab.workloads.six_loops",
        "compute_bound": "lab.workloads.compute_bound",
        "two_problems": "lab.workloads.two_problems",
    }
)


class UnknownWorkload(LookupError):
    """No family of workloads has this name, or the family has no second half."""


def build(name: str, seed: int, **params: Any) -> object:
    """Make the argument for a function that measures: something to call, a finished profiler, a data set."""
    built: object = _family(name).build(seed, **params)
    # A garbage collection that walks through all of torch takes longer than what is to be measured. Now it needn't.
    gc.freeze()
    return built


def finish(name: str, returned: object, seed: int, **params: Any) -> object:
    """Go on with what the function returned, in the same process: train with its loader, show its profiler's rows."""
    family = _family(name)
    if not hasattr(family, "finish"):
        raise UnknownWorkload(f"The workload {name!r} has nothing to finish; only build() it.")
    return family.finish(returned, seed, **params)


def expect(name: str, seed: int, **params: Any) -> object:
    """Measure what build() makes of the same seed: plain numbers to compare an answer with.

    For a process of its own, without the code that gives the answer.
    """
    family = _family(name)
    gc.freeze()
    return family.expect(seed, **params)


def import_all() -> None:
    """Import every family now, before anything is built or measured."""
    for name in FAMILIES:
        _family(name)


def _family(name: str) -> Any:
    if name not in FAMILIES:
        raise UnknownWorkload(f"There is no workload {name!r}. Known: {', '.join(sorted(FAMILIES))}.")
    return importlib.import_module(FAMILIES[name])
