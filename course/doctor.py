"""Examines the installation: each finding says what is there, whether that is well, and what to do if it isn't."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from course import folders
from course.report import gpu_in_words
from lab.language import N_, _, passed_on

MIN_PYTHON = (3, 10)
MIN_TORCH = (2, 8)
TESTED_TORCH = ("2.8", "2.13", "2.15")
MIN_TERMINAL, GOOD_TERMINAL = (60, 16), (80, 24)
GPU_LIMIT_S = 180

_WHICH_GPU = """\
import json, lab.gpu
from lab.language import of_environment, use
use(of_environment())
try:
    gpu = lab.gpu.use()
    print(json.dumps({"kind": gpu.kind, "name": gpu.name, "memory_bytes": gpu.memory_bytes}))
except (lab.gpu.GpuUnavailable, ValueError) as error:
    print(json.dumps({"problem": str(error)}))
"""


@dataclass(frozen=True)
class Finding:
    """One thing that was examined; a note is worth knowing, a problem keeps something from working."""

    name: str
    status: Literal["good", "note", "problem"]
    detail: str
    fix: str | None = None


def examine() -> list[Finding]:
    """Examine everything, in the order in which problems should be solved."""
    return [python(), torch(), gpu(), *stored_folders(), terminal(), text_encoding(), *isolation()]


def python(running: tuple[int, ...] = tuple(sys.version_info[:3])) -> Finding:
    detail = _("{version} at {path}", version=".".join(map(str, running)), path=sys.executable)
    if running < MIN_PYTHON:
        return Finding("Python", "problem", detail, _("Install Python 3.10 or newer."))
    return Finding("Python", "good", detail)


def torch(installed: str | None = None) -> Finding:
    """The version of PyTorch, read without importing it."""
    if installed is None:
        try:
            installed = importlib.metadata.version("torch")
        except importlib.metadata.PackageNotFoundError:
            return Finding("torch", "problem", _("not installed"), _("Install it: python -m pip install torch"))
    match = re.match(r"(\d+)\.(\d+)", installed)
    minor = (int(match[1]), int(match[2])) if match else (0, 0)
    tested = ", ".join(TESTED_TORCH)
    if minor < MIN_TORCH:
        return Finding(
            "torch",
            "problem",
            _("{installed} is too old", installed=installed),
            _("Update it: python -m pip install -U torch"),
        )
    if f"{minor[0]}.{minor[1]}" in TESTED_TORCH:
        return Finding("torch", "good", _("{installed}, a tested version", installed=installed))
    return Finding(
        "torch",
        "note",
        _(
            "{installed} isn't a tested version (tested are {tested}); it most likely works",
            installed=installed,
            tested=tested,
        ),
    )


def gpu() -> Finding:
    """The GPU that code runs on, asked in a process of its own since it imports torch."""
    wish = os.environ.get("PROFILE_FIRST_GPU", "auto")
    try:
        done = subprocess.run(
            [sys.executable, "-c", _WHICH_GPU],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=GPU_LIMIT_S,
            check=False,
            cwd=folders.COURSE.parent,
            env=passed_on(),
        )
        answer = json.loads(done.stdout.strip().splitlines()[-1]) if done.returncode == 0 else {}
        last_words = (done.stderr.strip().splitlines() or [_("exit code {code}", code=done.returncode)])[-1]
    except subprocess.TimeoutExpired:
        answer, last_words = {}, _("no answer within {limit_s} seconds", limit_s=GPU_LIMIT_S)
    except (OSError, ValueError, IndexError) as error:
        answer, last_words = {}, str(error)
    if "problem" in answer:
        return Finding("GPU", "problem", answer["problem"], _("Unset PROFILE_FIRST_GPU to use the simulated GPU."))
    if not answer:
        return Finding(
            "GPU",
            "problem",
            _("could not be asked: {last_words}", last_words=last_words),
            _("Install profile-first and torch again."),
        )
    memory = f"{answer['memory_bytes'] / 2**20:.0f} MiB"
    detail = f"{gpu_in_words(answer['kind'], answer['name'])}, {memory} (PROFILE_FIRST_GPU={wish})"
    return Finding("GPU", "good", detail)


def stored_folders() -> Iterator[Finding]:
    """The folder of everything that is stored, and the room that is left."""
    home = folders.home()
    fix = _("Make {home} writable, or set PROFILE_FIRST_HOME to a folder that is.", home=home)
    try:
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=home):
            pass
    except OSError as error:
        yield Finding(
            N_("Your folder"),
            "problem",
            _("{home} can't be written: {reason}", home=home, reason=error.strerror),
            fix,
        )
        return
    free_bytes = shutil.disk_usage(home).free
    if free_bytes < 50 * 2**20:
        detail = _("{home} has only {free_mib:.0f} MiB left", home=home, free_mib=free_bytes / 2**20)
        yield Finding(
            N_("Your folder"), "problem", detail, _("Free some space, or set PROFILE_FIRST_HOME to another disk.")
        )
    else:
        yield Finding(N_("Your folder"), "good", str(home))
    temporary = Path(tempfile.gettempdir())
    if not os.access(temporary, os.W_OK):
        yield Finding(
            N_("Temporary folder"),
            "problem",
            _("{temporary} can't be written", temporary=temporary),
            _("Set TMPDIR to a writable folder."),
        )


def terminal() -> Finding:
    """Size, colours and kind of the terminal."""
    size = shutil.get_terminal_size()
    kind = os.environ.get("TERM", "unset")
    if not sys.stdout.isatty():
        return Finding(N_("Terminal"), "note", _("the output goes to a pipe or a file, so there is none to examine"))
    if os.environ.get("NO_COLOR"):
        colours = _("no colours (NO_COLOR)")
    elif os.environ.get("COLORTERM") in ("truecolor", "24bit"):
        colours = _("16 million colours")
    elif "256" in kind:
        colours = _("256 colours")
    else:
        colours = _("16 colours or unknown")
    inside = _(" in tmux") if os.environ.get("TMUX") else _(" in screen") if os.environ.get("STY") else ""
    detail = f"{size.columns}x{size.lines}, {colours}, TERM={kind}{inside}, {platform.system()}"
    if kind in ("dumb", "unset"):
        return Finding("Terminal", "problem", detail, _("Use a terminal that sets TERM, e.g. xterm-256color."))
    if size.columns < MIN_TERMINAL[0] or size.lines < MIN_TERMINAL[1]:
        return Finding("Terminal", "problem", detail, _("Make the window at least 60 columns wide and 16 rows high."))
    if size.columns < GOOD_TERMINAL[0] or size.lines < GOOD_TERMINAL[1]:
        return Finding("Terminal", "note", detail, _("80x24 or more shows most cards without scrolling."))
    return Finding("Terminal", "good", detail)


def text_encoding() -> Finding:
    """Whether signs such as ✓ can be printed."""
    encoding = (sys.stdout.encoding or "unknown").lower()
    if encoding.replace("-", "") == "utf8":
        return Finding("Text", "good", "UTF-8")
    return Finding(
        N_("Text"),
        "note",
        _("{encoding}, so signs such as ticks are shown in ASCII", encoding=encoding),
        _("Set LANG to a UTF-8 locale."),
    )


def isolation() -> Iterator[Finding]:
    """Isolation of code that is checked: what is used today, and what this system has to offer for more."""
    from grader.isolation import probe

    for layer in probe():
        name = _("Isolation: {layer}", layer=layer.name)
        yield Finding(name, "good" if layer.available else "note", layer.detail, layer.fix)
