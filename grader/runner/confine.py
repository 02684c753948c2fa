"""Landlock: which files a process and all that it starts may read and write, and whom they may signal."""

from __future__ import annotations

import ctypes
import os
import stat
import struct
import sys
from collections.abc import Iterable

from grader.runner.kernel import PR_SET_NO_NEW_PRIVS, libc, prctl, syscall

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_CREATE_RULESET_VERSION = 1
_RULE_PATH_BENEATH = 1
_SCOPE_ABSTRACT_SOCKETS, _SCOPE_SIGNAL = 1 << 0, 1 << 1
_FIRST_ABI_WITH_SIGNALS = 6
FIRST_ABI_WITH_FILES = 3
"""Earlier ones can't keep a file from being truncated."""

# https://docs.kernel.org/userspace-api/landlock.html
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_ALL_OF_ABI_3 = (1 << 15) - 1
_IOCTL_DEV = 1 << 15  # since ABI 5
_BIND_TCP, _CONNECT_TCP = 1, 2  # since ABI 4
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | 1 << 14 | _IOCTL_DEV
"""What can be allowed on something that is no folder."""


def landlock_abi() -> int:
    """The version of Landlock that the kernel offers; 0 for none."""
    if sys.platform != "linux":
        return 0
    return max(0, int(libc().syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _CREATE_RULESET_VERSION)))


def keep_signals_inside() -> bool:
    """From now on no process outside can be signalled from here: not the warm process, not the app, not the shell."""
    if landlock_abi() < _FIRST_ABI_WITH_SIGNALS:
        return False
    try:
        _restrict(struct.pack("QQQ", 0, 0, _SCOPE_SIGNAL), [])
    except OSError:
        return False
    return True


def keep_files_inside(read: Iterable[str], write: Iterable[str]) -> None:
    """From now on only these files and folders can be opened, and no TCP port; signals as above. Raises OSError."""
    abi = landlock_abi()
    if abi < FIRST_ABI_WITH_FILES:
        raise OSError(f"Landlock's version is {abi}; {FIRST_ABI_WITH_FILES} is needed")
    files = _ALL_OF_ABI_3 | (_IOCTL_DEV if abi >= 5 else 0)
    network = _BIND_TCP | _CONNECT_TCP if abi >= 4 else 0
    scopes = _SCOPE_ABSTRACT_SOCKETS | _SCOPE_SIGNAL if abi >= _FIRST_ABI_WITH_SIGNALS else 0
    rules = [(path, _READ) for path in read] + [(path, files) for path in write]
    _restrict(struct.pack("QQQ", files, network, scopes), rules)


def _restrict(handled: bytes, rules: Iterable[tuple[str, int]]) -> None:
    ruleset = syscall(_CREATE_RULESET, handled, ctypes.c_size_t(len(handled)), 0)
    try:
        for path, allowed in rules:
            _allow(ruleset, path, allowed)
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        syscall(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, allowed: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return  # what isn't there needs no rule
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            allowed &= _OF_FILES
        syscall(_ADD_RULE, ruleset, _RULE_PATH_BENEATH, struct.pack("=Qi", allowed, place), 0)
    finally:
        os.close(place)
