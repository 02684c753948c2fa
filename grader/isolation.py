"""Finds out, by trying each, which layers keep learner code apart here, and which could.

Used today: an own session whose processes are all ended, Landlock against signals, limits of memory and file size.
The other layers are only looked for. So a checked file runs with the rights of whoever checks it.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec

from grader.runner.confine import landlock_abi

TRY_LIMIT_S = 10.0
NOT_USED = "available, not used yet"
_PR_SET_SECCOMP = 22
_SECCOMP_MODE_FILTER = 2
_EFAULT = 14


class Layer(msgspec.Struct, frozen=True):
    """One means of isolation: whether it works here, whether it is used, and what to do if it doesn't work."""

    name: str
    available: bool
    detail: str
    fix: str | None = None


def probe() -> list[Layer]:
    """Try every layer, strongest first."""
    return [_rights(), _bubblewrap(), _landlock(), _seccomp(), _user_namespaces(), _subreaper(), _rlimits()]


def _rights() -> Layer:
    """What no layer keeps from a checked file today."""
    return Layer(
        "files and network",
        False,
        "not kept apart yet: a checked file runs with your rights, can read and write your files, and has your network",
        "Check only files that you would run yourself, or check in a container or virtual machine.",
    )


def _run(command: list[str]) -> tuple[bool, str]:
    """Whether a command succeeds, and the last line that it wrote to stderr."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TRY_LIMIT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return False, str(error)
    lines = done.stderr.strip().splitlines()
    return done.returncode == 0, lines[-1] if lines else f"exit code {done.returncode}"


def _bubblewrap() -> Layer:
    name = "bubblewrap"
    if sys.platform != "linux":
        return _linux_only(name)
    program = shutil.which("bwrap")
    if program is None:
        return Layer(
            name, False, "not installed", "Install it: apt install bubblewrap, dnf install bubblewrap, or the like."
        )
    command = [program, "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]
    works, why = _run([*command, "true"])
    if works:
        return Layer(name, True, f"{NOT_USED}: {program} starts a program without network in namespaces of its own")
    return Layer(name, False, f"{program} fails: {why}", "Allow unprivileged user namespaces (see below).")


def _landlock() -> Layer:
    name = "Landlock"
    if sys.platform != "linux":
        return _linux_only(name)
    version = landlock_abi()
    if not version:
        fix = "Needs Linux 5.13 or newer with `landlock` among the kernel's lsm= modules."
        return Layer(name, False, "the kernel doesn't offer it", fix)
    works, _ = _in_packages(_SIGNAL_TRY)
    if not works:
        return Layer(name, False, f"ABI {version}: too old to keep signals inside a run", "Needs Linux 6.12 or newer.")
    return Layer(name, True, f"used: keeps a run from signalling other processes (ABI {version}); not for files yet")


def _seccomp() -> Layer:
    name = "seccomp"
    if sys.platform != "linux":
        return _linux_only(name)
    libc = ctypes.CDLL(None, use_errno=True)
    # Without a filter this fails with EFAULT where filters are supported, and with EINVAL where they aren't.
    libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, None, 0, 0)
    if ctypes.get_errno() == _EFAULT:
        return Layer(name, True, f"{NOT_USED}: system call filters are supported")
    return Layer(name, False, "no system call filters", "Needs a kernel built with CONFIG_SECCOMP_FILTER.")


def _user_namespaces() -> Layer:
    name = "user namespaces"
    if sys.platform != "linux":
        return _linux_only(name)
    program = shutil.which("unshare")
    if program is None:
        return Layer(name, False, "the command `unshare` is missing", "Install util-linux.")
    works, why = _run([program, "--user", "--map-root-user", "--net", "--pid", "--fork", "true"])
    if works:
        return Layer(name, True, f"{NOT_USED}: a user, network and pid namespace can be made")
    return Layer(
        name,
        False,
        why,
        "Set kernel.unprivileged_userns_clone=1 (Debian) or kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu), "
        "or install bubblewrap from your distribution.",
    )


def _subreaper() -> Layer:
    name = "orphan adoption"
    if sys.platform != "linux":
        return _linux_only(name)
    code = "from grader.runner.descendants import adopt_orphans; raise SystemExit(not adopt_orphans())"
    works, why = _in_packages(code)
    if works:
        return Layer(name, True, "used: processes that a run leaves behind are found and ended")
    return Layer(name, False, why, "Needs Linux 3.4 or newer; only a run's process group is ended.")


def _rlimits() -> Layer:
    name = "resource limits"
    if os.name != "posix":
        return Layer(name, False, "not available on this system", "Use Linux, macOS, or WSL on Windows.")
    failed = [limit for limit, code in _LIMIT_TRIES.items() if not _tried(code)]
    if not failed:
        return Layer(name, True, f"used: {', '.join(_LIMIT_TRIES)}")
    enforced = [limit for limit in _LIMIT_TRIES if limit not in failed]
    detail = f"not enforced: {', '.join(failed)}" + (f"; used: {', '.join(enforced)}" if enforced else "")
    return Layer(name, bool(enforced), detail, "Time, output and the process group are limited all the same.")


_SIGNAL_TRY = """
import os
from grader.runner.confine import keep_signals_inside
parent = os.getppid()
keep_signals_inside()
try:
    os.kill(parent, 0)
except PermissionError:
    raise SystemExit(0)
raise SystemExit(1)
"""

# Each exits with 0 if the limit stopped it.
_LIMIT_TRIES = {
    "memory": (
        "import resource\n"
        "resource.setrlimit(resource.RLIMIT_DATA, (100_000_000,) * 2)\n"
        "try:\n    b = bytearray(400_000_000)\nexcept MemoryError:\n    raise SystemExit(0)\nraise SystemExit(1)"
    ),
    "file size": (
        "import os, resource, signal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000,) * 2)\n"
        "try:\n    f = open('big', 'wb', 0); f.write(bytes(2000)); f.write(bytes(2000))\n"
        "except OSError:\n    raise SystemExit(0)\nraise SystemExit(1)"
    ),
}


def _tried(code: str) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "attempt.py"
        program.write_text(f"import os\nos.chdir({folder!r})\n{code}\n", encoding="utf-8")
        return _run([sys.executable, "-I", "-S", str(program)])[0]


def _in_packages(code: str) -> tuple[bool, str]:
    root = str(Path(__file__).parents[1])
    return _run([sys.executable, "-c", f"import sys; sys.path.insert(0, {root!r})\n{code}"])


def _linux_only(name: str) -> Layer:
    return Layer(name, False, "only on Linux", "Grade other people's work on Linux, or in WSL on Windows.")
