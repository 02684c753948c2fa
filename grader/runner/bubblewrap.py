"""The command that starts a program in bubblewrap: no network, no other processes, a system that can't be written."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from grader.runner.sandbox import gpu_devices, readable
from lab.language import _

PACKAGES = Path(__file__).parents[2]
TRY_LIMIT_S = 10.0
NOT_INSTALLED = "not installed"
# What the warm process needs to shut each run in once more, where it is root's.
CAPABILITIES = ("CAP_SYS_ADMIN", "CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP", "CAP_DAC_READ_SEARCH", "CAP_KILL")


def find() -> tuple[str | None, str]:
    """The program, if it is there and works; else why not."""
    program = shutil.which("bwrap")
    if program is None:
        return None, NOT_INSTALLED
    try:
        done = subprocess.run(
            [*bubblewrap(program, "/tmp"), "true"], capture_output=True, text=True, timeout=TRY_LIMIT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, _("{program} fails: {reason}", program=program, reason=error)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        said = lines[-1] if lines else _("exit code {code}", code=done.returncode)
        return None, _("{program} fails: {reason}", program=program, reason=said)
    return program, program


def bubblewrap(program: str, runs: str) -> list[str]:
    """Everything before the command itself; only the folder `runs` can be written."""
    command = [program, "--die-with-parent", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    if os.geteuid() == 0:
        command += [part for capability in CAPABILITIES for part in ("--cap-add", capability)]
    else:
        command += ["--unshare-user"]
    command += ["--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]
    for device in gpu_devices():
        command += ["--dev-bind-try", device, device]
    for place in readable():
        if Path(place).is_symlink():
            command += ["--symlink", str(Path(place).readlink()), place]
        elif not place.startswith("/proc/"):
            command += ["--ro-bind-try", place, place]
    return [*command, "--bind", runs, runs, "--chdir", str(PACKAGES)]
