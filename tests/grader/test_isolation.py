"""The layers of isolation are tried out, and what is missing comes with what to do."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from grader import isolation
from grader.isolation import probe


def test_every_layer_is_reported_and_a_missing_one_has_a_fix() -> None:
    layers = probe()
    assert [layer.name for layer in layers] == [
        "bubblewrap",
        "Landlock",
        "seccomp",
        "user namespaces",
        "orphan adoption",
        "resource limits",
    ]
    assert all(layer.detail for layer in layers)
    assert all(layer.available or layer.fix for layer in layers)


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
    layer = probe()[0]
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
