"""Keeps this process and all that it starts from signalling anything outside, where the kernel can do that."""

from __future__ import annotations

import ctypes
import os
import struct
import sys

_CREATE_RULESET = 444
_RESTRICT_SELF = 446
_CREATE_RULESET_VERSION = 1
_SCOPE_SIGNAL = 1 << 1
_FIRST_ABI_WITH_SIGNALS = 6
_PR_SET_NO_NEW_PRIVS = 38


def landlock_abi() -> int:
    """The version of Landlock that the kernel offers; 0 for none."""
    if sys.platform != "linux":
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    return max(0, int(libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _CREATE_RULESET_VERSION)))


def keep_signals_inside() -> bool:
    """From now on no process outside can be signalled from here: not the warm process, not the app, not the shell."""
    if landlock_abi() < _FIRST_ABI_WITH_SIGNALS:
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    rules = struct.pack("QQQ", 0, 0, _SCOPE_SIGNAL)  # nothing about files, nothing about the network, signals
    ruleset = int(libc.syscall(_CREATE_RULESET, rules, ctypes.c_size_t(len(rules)), 0))
    if ruleset < 0:
        return False
    try:
        if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
            return False
        return int(libc.syscall(_RESTRICT_SELF, ruleset, 0)) == 0
    finally:
        os.close(ruleset)
