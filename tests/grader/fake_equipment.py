"""A lab without torch for the tests of the runner: the same shape, ready at once."""

from __future__ import annotations

import os
import time
from typing import Any

from grader.verdict import Gpu
from lab.plain import plain as plain

UNLUCKY_SEED = 13

events: list[dict[str, Any]] = []


def use() -> Gpu:
    if os.environ.get("FAKE_EQUIPMENT") == "broken":
        raise RuntimeError("the GPU is on holiday")
    return Gpu(os.environ.get("FAKE_EQUIPMENT_KIND", "simulated"), "A fake GPU")  # type: ignore[arg-type]


def warm_up() -> None:
    if os.environ.get("FAKE_EQUIPMENT") == "slow":
        while True:
            time.sleep(60)


def seed_everything(seed: int) -> None:
    import random

    if seed == UNLUCKY_SEED:
        raise LookupError("the dice are gone")
    random.seed(seed)


def start_observing() -> None:
    events.clear()


def finish_observing() -> list[dict[str, Any]]:
    return list(events)


def record(what: str, **data: Any) -> None:
    """For learner code in tests."""
    events.append({"n": len(events), "at_s": 0.0, "what": what, **data})


def build(name: str, seed: int, params: dict[str, Any]) -> object:
    if name == "broken":
        raise LookupError("no such thing")
    return {"numbers": list(range(params.get("length", 3))), "seed": seed}


def finish_workload(name: str, returned: object, seed: int, params: dict[str, Any]) -> object:
    assert isinstance(returned, list)
    return {"name": name, "sum": sum(returned), "seed": seed}


def expect(name: str, seed: int, params: dict[str, Any]) -> object:
    if name == "broken":
        raise LookupError("no such thing")
    return {"sum": sum(range(params.get("length", 3))), "seed": seed, "pid": os.getpid()}
