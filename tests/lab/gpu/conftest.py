"""Runs each test of this folder in a process of its own: the GPU in use changes a process for good."""

from __future__ import annotations

import importlib
import os
import traceback
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def warm_torch() -> None:
    """Pay for importing torch and for the first profile once, before the forks. Never touches CUDA."""
    os.environ["KINETO_LOG_LEVEL"] = "99"
    os.environ["TORCH_CPP_LOG_LEVEL"] = "ERROR"
    import torch

    torch.set_num_threads(1)
    importlib.import_module("torch._dynamo")
    # Ask for a GPU without initialising CUDA, which a fork doesn't survive.
    os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"
    if torch.cuda.is_available():
        return  # a profile could initialise it, too
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as prof:
        torch.ones(1)
    prof.key_averages()


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[None]:
    original = pyfuncitem.obj
    pyfuncitem.obj = in_a_fork(original)
    try:
        return (yield)
    finally:
        pyfuncitem.obj = original


def in_a_fork(test):  # type: ignore[no-untyped-def]
    def run(**arguments: object) -> None:
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            with os.fdopen(writer, "w") as out:
                out.write(outcome(test, arguments))
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as lines:
            told = lines.read()
        _, status = os.waitpid(child, 0)
        if told.startswith("skipped "):
            pytest.skip(told.removeprefix("skipped "))
        if told != "passed":
            pytest.fail(told or f"the test's process died with status {status}", pytrace=False)

    return run


def outcome(test, arguments: dict[str, object]) -> str:  # type: ignore[no-untyped-def]
    try:
        import lab.gpu

        lab.gpu.use()
        test(**arguments)
    except pytest.skip.Exception as skipped:
        return f"skipped {skipped}"
    except BaseException:
        return traceback.format_exc()
    return "passed"
