"""The layers of isolation are tried out, and what is missing comes with what to do."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from grader import isolation
from grader.errors import RunnerUnavailable
from grader.isolation import probe
from grader.runner.protocol import Returned
from grader.runner.warm import WarmRunner
from tests.grader.conftest import HERE, linux_only, request


def test_every_layer_is_reported_and_a_missing_one_has_a_fix() -> None:
    layers = probe()
    assert [layer.name for layer in layers] == [
        "other people's code",
        "bubblewrap",
        "Landlock",
        "seccomp",
        "user namespaces",
        "orphan adoption",
        "resource limits",
    ]
    assert all(layer.detail for layer in layers)
    assert all(layer.available or layer.fix for layer in layers)


def test_every_layer_that_works_says_when_it_is_used() -> None:
    used = {layer.name: layer.detail.partition(":")[0] for layer in probe()[1:] if layer.available}
    for name in ("bubblewrap", "seccomp", "user namespaces"):
        assert used.get(name, "used when a class is graded") == "used when a class is graded"
    for name in ("Landlock", "orphan adoption", "resource limits"):
        assert used.get(name, "used") == "used"


@linux_only
def test_whether_a_class_can_be_graded_is_told_by_trying_it() -> None:
    told = probe()[0]
    with WarmRunner(equipment="fake_equipment", environment={"PYTHONPATH": str(HERE)}, shut_in=True) as runner:
        try:
            runner.warm_up()
        except RunnerUnavailable:
            assert not told.available or "bubblewrap" in told.detail
        else:
            assert told.available
            assert all(layer in told.detail for layer in runner.layers)
    assert not told.available or "your own runs and checks have your rights" in told.detail


def test_a_machine_that_can_not_keep_others_apart_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "_in_packages", lambda code: (False, "Landlock's version is 0"))
    told = isolation._classes()
    assert not told.available
    assert told.fix
    if sys.platform == "linux":
        assert "a class isn't graded here: Landlock's version is 0" in told.detail


@linux_only
def test_the_limits_that_are_called_used_are_those_of_a_run(forking: WarmRunner, tmp_path: Path) -> None:
    source = """
        import resource as r
        def f():
            limits = {"memory": r.RLIMIT_DATA, "file size": r.RLIMIT_FSIZE}
            return [name for name, limit in limits.items() if r.getrlimit(limit)[0] != r.RLIM_INFINITY]
    """
    report = forking.run(request(source, tmp_path / "exercise.py")).report
    assert isinstance(report, Returned)
    layer = next(layer for layer in probe() if layer.name == "resource limits")
    assert layer.detail == f"used: {', '.join(report.value)}"


def test_probing_leaves_this_process_as_it_was() -> None:
    import resource

    def state() -> object:
        folder, limits = Path.cwd(), [resource.getrlimit(limit) for limit in range(10)]
        return folder, limits, os.umask(os.umask(0o22))

    before = state()
    probe()
    assert state() == before


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere these layers don't exist")
def test_a_bubblewrap_that_fails_is_not_called_available(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bwrap").write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2\nexit 1\n")
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    layer = next(layer for layer in probe() if layer.name == "bubblewrap")
    assert not layer.available
    assert "No permissions" in layer.detail


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere these layers don't exist")
def test_what_is_not_installed_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    layers = {layer.name: layer for layer in probe()}
    assert not layers["bubblewrap"].available
    assert "apt install bubblewrap" in str(layers["bubblewrap"].fix)
    assert not layers["user namespaces"].available


def test_other_systems_are_told_that_the_layers_are_linuxs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation.sys, "platform", "darwin")
    layers = {layer.name: layer for layer in probe()}
    assert not layers["Landlock"].available
    assert layers["Landlock"].detail == "only on Linux"
