"""System calls that Python has no functions for, by their numbers and errors."""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys
from typing import Any

PR_SET_NO_NEW_PRIVS = 38
PR_SET_DUMPABLE = 4
PR_SET_KEEPCAPS = 8
PR_SET_SECCOMP = 22

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 8, 1 << 12, 1 << 14, 1 << 18
_MNT_DETACH = 2
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}

CAP_DAC_READ_SEARCH = 2
_CAPABILITIES_VERSION_3 = 0x20080522
_CAPSET = {"x86_64": 126, "aarch64": 91}


def libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def syscall(number: int, *arguments: Any) -> int:
    """Call the kernel; raises OSError."""
    result = int(libc().syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        raise _error(f"system call {number}")
    return result


def prctl(option: int, *values: int) -> None:
    filled = [*values, 0, 0, 0, 0][:4]
    if libc().prctl(option, *(ctypes.c_ulong(value) for value in filled)) != 0:
        raise _error(f"prctl {option}")


def unshare(flags: int) -> None:
    """Put this process, or with CLONE_NEWPID its next child, into new namespaces."""
    if libc().unshare(flags) != 0:
        raise _error("unshare")


def mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    kind_bytes = None if kind is None else kind.encode()
    if libc().mount(source.encode(), target.encode(), kind_bytes, ctypes.c_ulong(flags), data.encode()) != 0:
        raise _error(f"mount {kind or 'flags'} on {target}")


def change_root(folder: str) -> None:
    """Make a mounted folder the root of this process's mount namespace, and let go of the one before."""
    os.chdir(folder)
    syscall(_PIVOT_ROOT[machine()], b".", b".")
    if libc().umount2(b".", _MNT_DETACH) != 0:
        raise _error("umount2")
    os.chdir("/")


def keep_capabilities(kept: int = 0) -> None:
    """Give up all capabilities but those whose bits are set."""
    number = _CAPSET.get(machine())
    if number is None:
        raise OSError(f"{machine()} isn't known here")
    header = struct.pack("=Ii", _CAPABILITIES_VERSION_3, 0)
    syscall(number, header, struct.pack("=6I", kept, kept, 0, 0, 0, 0))


def machine() -> str:
    return platform.machine() if sys.platform == "linux" else ""


def _error(what: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, f"{what}: {os.strerror(number)}")
