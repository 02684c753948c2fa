"""Finds out, by trying each, which layers keep learner code apart here.

One's own code runs with one's own rights: in a session whose processes are all ended, with Landlock against signals,
with limits of memory and file size. What a class hands in is shut in by all of the layers that there are.
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

from grader.runner import bubblewrap
from grader.runner.confine import landlock_abi
from grader.runner.kernel import PR_SET_SECCOMP
from grader.runner.sandbox import NAMESPACES
from lab.language import N_, _

TRY_LIMIT_S = 10.0
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
    return [_classes(), _bubblewrap(), _landlock(), _seccomp(), _user_namespaces(), _subreaper(), _rlimits()]


def _classes() -> Layer:
    """Whether the submissions of others can be graded here, by doing to a process what is done to each of theirs."""
    name = _("other people's code")
    if sys.platform != "linux":
        return _linux_only(name)
    bubble = bubblewrap.find()[0]
    works, said = _in_packages(_SHUT_IN_TRY)
    layers = said.split(", ") if works else []
    if works and (bubble is not None or NAMESPACES in layers):
        told = ", ".join([*(["bubblewrap"] if bubble is not None else []), *map(_, layers)])
        return Layer(
            name,
            True,
            _("kept apart when a class is graded, by {layers}; your own runs and checks have your rights", layers=told),
        )
    why = _("neither namespaces nor bubblewrap") if works else said
    return Layer(
        name,
        False,
        _("can't be kept apart, so a class isn't graded here: {why}", why=why),
        _(
            "See below for what is missing. Check only files that you would run yourself, or grade in a virtual "
            "machine."
        ),
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
    return done.returncode == 0, lines[-1] if lines else _("exit code {code}", code=done.returncode)


def _bubblewrap() -> Layer:
    name = "bubblewrap"
    if sys.platform != "linux":
        return _linux_only(name)
    program, why = bubblewrap.find()
    if program is not None:
        return Layer(
            name, True, _("used when a class is graded: {program}, around all of a class's runs", program=program)
        )
    if why == bubblewrap.NOT_INSTALLED:
        fix = _("Install it: apt install bubblewrap, dnf install bubblewrap, or the like.")
        return Layer(name, False, _(why), fix)
    return Layer(name, False, why, _("Allow unprivileged user namespaces (see below)."))


def _landlock() -> Layer:
    name = "Landlock"
    if sys.platform != "linux":
        return _linux_only(name)
    version = landlock_abi()
    if not version:
        fix = _("Needs Linux 5.13 or newer with `landlock` among the kernel's lsm= modules.")
        return Layer(name, False, _("the kernel doesn't offer it"), fix)
    works = _in_packages(_SIGNAL_TRY)[0]
    if not works:
        too_old = _("ABI {version}: too old to keep signals inside a run", version=version)
        return Layer(name, False, too_old, _("Needs Linux 6.12 or newer."))
    return Layer(
        name,
        True,
        _(
            "used: keeps a run from signalling others, and a class's runs from all files (ABI {version})",
            version=version,
        ),
    )


def _seccomp() -> Layer:
    name = "seccomp"
    if sys.platform != "linux":
        return _linux_only(name)
    libc = ctypes.CDLL(None, use_errno=True)
    # Without a filter this fails with EFAULT where filters are supported, and with EINVAL where they aren't.
    libc.prctl(PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, None, 0, 0)
    if ctypes.get_errno() == _EFAULT:
        return Layer(name, True, _("used when a class is graded: system call filters are supported"))
    return Layer(name, False, _("no system call filters"), _("Needs a kernel built with CONFIG_SECCOMP_FILTER."))


def _user_namespaces() -> Layer:
    name = _("user namespaces")
    if sys.platform != "linux":
        return _linux_only(name)
    program = shutil.which("unshare")
    if program is None:
        return Layer(name, False, _("the command `unshare` is missing"), _("Install util-linux."))
    works, why = _run([program, "--user", "--map-root-user", "--net", "--pid", "--fork", "true"])
    if works:
        return Layer(name, True, _("used when a class is graded: a user, network and pid namespace can be made"))
    return Layer(
        name,
        False,
        why,
        _(
            "Set kernel.unprivileged_userns_clone=1 (Debian) or kernel.apparmor_restrict_unprivileged_userns=0 "
            "(Ubuntu), or install bubblewrap from your distribution."
        ),
    )


def _subreaper() -> Layer:
    name = _("orphan adoption")
    if sys.platform != "linux":
        return _linux_only(name)
    code = "from grader.runner.descendants import adopt_orphans; raise SystemExit(not adopt_orphans())"
    works, why = _in_packages(code)
    if works:
        return Layer(name, True, _("used: processes that a run leaves behind are found and ended"))
    return Layer(name, False, why, _("Needs Linux 3.4 or newer; only a run's process group is ended."))


def _rlimits() -> Layer:
    name = _("resource limits")
    if os.name != "posix":
        return Layer(name, False, _("not available on this system"), _("Use Linux, macOS, or WSL on Windows."))
    failed = [_(limit) for limit, code in _LIMIT_TRIES.items() if not _tried(code)]
    enforced = [_(limit) for limit in _LIMIT_TRIES if _(limit) not in failed]
    used = _("used: {limits}", limits=", ".join(enforced))
    if not failed:
        return Layer(name, True, used)
    detail = _("not enforced: {limits}", limits=", ".join(failed)) + (f"; {used}" if enforced else "")
    return Layer(name, bool(enforced), detail, _("Time, output and the process group are limited all the same."))


_SHUT_IN_TRY = """
import sys
from grader.runner.sandbox import trial
try:
    sys.stderr.write(", ".join(trial(real_gpu=False)))
except Exception as error:
    sys.exit(str(error))
"""

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
    N_("memory"): (
        "import resource\n"
        "resource.setrlimit(resource.RLIMIT_DATA, (100_000_000,) * 2)\n"
        "try:\n    b = bytearray(400_000_000)\nexcept MemoryError:\n    raise SystemExit(0)\nraise SystemExit(1)"
    ),
    N_("file size"): (
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
    return Layer(name, False, _("only on Linux"), _("Grade other people's work on Linux, or in WSL on Windows."))
