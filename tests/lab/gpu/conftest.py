"""Runs each test of this folder in a process of its own, a fork of one that has the GPU in place already.

The GPU in use changes a process for good, and putting the simulated one in place takes most of a second.
"""

from __future__ import annotations

import importlib
import json
import os
import socket
from pathlib import Path
from typing import NoReturn

import pytest
from _pytest.runner import runtestprotocol

HERE = Path(__file__).parent
prepared: Prepared | None = None


class Prepared:
    """A process that forks once for each test it is told to run, and hands back the test's reports."""

    def __init__(self, session: pytest.Session) -> None:
        self.items = {item.nodeid: item for item in session.items}
        self.connection, theirs = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            self.connection.close()
            serve(theirs, self.items)
        theirs.close()
        self.replies = self.connection.makefile()

    def run(self, item: pytest.Item) -> list[pytest.TestReport]:
        self.connection.sendall(f"{item.nodeid}\n".encode())
        told = json.loads(self.replies.readline() or '{"reports": [], "status": "unknown"}')
        hook = item.config.hook
        for data in told["reports"]:
            if isinstance(data["longrepr"], list):
                data["longrepr"] = tuple(data["longrepr"])  # why it was skipped; JSON knows no tuples
        reports = [hook.pytest_report_from_serializable(config=item.config, data=data) for data in told["reports"]]
        if told["status"] != 0:
            died = f"the test's process died with status {told['status']}"
            reports.append(pytest.TestReport(item.nodeid, item.location, {}, "failed", died, "call"))
        return reports

    def end(self) -> None:
        self.replies.close()
        self.connection.close()
        os.waitpid(self.pid, 0)


def serve(connection: socket.socket, items: dict[str, pytest.Item]) -> NoReturn:
    try:
        prepare()
        for line in connection.makefile():
            reader, writer = os.pipe()
            child = os.fork()
            if child == 0:
                connection.close()
                os.close(reader)
                run(items[line.rstrip("\n")], writer)
            os.close(writer)
            with os.fdopen(reader) as lines:
                reports = lines.read()
            _, status = os.waitpid(child, 0)
            connection.sendall(f'{{"reports": {reports or "[]"}, "status": {status}}}\n'.encode())
    finally:
        os._exit(0)


def prepare() -> None:
    """Pay once for importing torch, for the first profile and for the simulated GPU. Never touch CUDA before a fork."""
    os.environ["KINETO_LOG_LEVEL"] = "99"
    os.environ["TORCH_CPP_LOG_LEVEL"] = "ERROR"
    import torch

    torch.set_num_threads(1)
    importlib.import_module("torch._dynamo")
    # Ask for a GPU without initialising CUDA, which a fork doesn't survive.
    os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"
    if os.environ.get("PROFILE_FIRST_GPU") != "simulated" and torch.cuda.is_available():
        return  # each test puts the real one in place for itself
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as prof:
        torch.ones(1)
    prof.key_averages()
    use()


def use() -> None:
    import lab.gpu

    lab.gpu.use()


def run(item: pytest.Item, writer: int) -> NoReturn:
    try:
        use()
        reports = runtestprotocol(item, nextitem=None, log=False)
        hook = item.config.hook
        told = [hook.pytest_report_to_serializable(config=item.config, report=report) for report in reports]
        with os.fdopen(writer, "w") as out:
            out.write(json.dumps(told))
        os._exit(0)
    finally:
        os._exit(1)


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    global prepared
    if HERE not in item.path.parents:
        return None  # pytest asks every conftest.py about every test
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    if prepared is None:
        prepared = Prepared(item.session)
    for report in prepared.run(item):
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    item.session._setupstate.teardown_exact(nextitem)  # fixtures of wider scope that an earlier test had set up here
    return True


def pytest_sessionfinish() -> None:
    if prepared is not None:
        prepared.end()
