"""What other processes may do with the simulated GPU: nothing, and they are told so."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import sys
from typing import Any

from lab.gpu.errors import refusing

forked = False  # this process came from another one by a fork, and hasn't used the GPU since


def note_the_fork() -> None:
    global forked
    forked = True


os.register_at_fork(after_in_child=note_the_fork)


def refuse_a_fork() -> None:
    """CUDA doesn't survive a fork by multiprocessing (DataLoader workers, for one); PyTorch's own words."""
    global forked
    if multiprocessing.parent_process() is not None:
        raise RuntimeError(
            "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the "
            "'spawn' start method"
        )
    forked = False  # forked by other means: the grader's warm process makes each run so


class Spawned:
    """Stands in for a process that multiprocessing starts from scratch, where the simulated GPU isn't in place."""

    def __init__(self, process: Any) -> None:
        self.process, self._name = process, process._name

    def _bootstrap(self, *arguments: Any, **keywords: Any) -> int:
        torch = sys.modules.get("torch")
        if torch is not None:
            # Without this PyTorch would say that it was compiled without CUDA.
            torch.cuda._lazy_init = refusing("CUDA in a spawned process")
        exit_code: int = self.process._bootstrap(*arguments, **keywords)
        return exit_code


def install() -> None:
    for name in ("multiprocessing.popen_spawn_posix", "multiprocessing.popen_forkserver"):
        popen: Any = importlib.import_module(name).Popen
        popen._launch = launching(popen._launch)


def launching(original: Any) -> Any:
    def launch(self: Any, process: Any) -> None:
        original(self, Spawned(process))

    return launch
