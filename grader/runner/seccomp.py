"""A filter of system calls: no sockets but those between processes, no way into other processes or namespaces."""

from __future__ import annotations

import ctypes
import errno
import socket
import struct

from grader.runner.kernel import (
    CLONE_NEWIPC,
    CLONE_NEWNET,
    CLONE_NEWNS,
    CLONE_NEWPID,
    CLONE_NEWUSER,
    CLONE_NEWUTS,
    PR_SET_NO_NEW_PRIVS,
    PR_SET_SECCOMP,
    machine,
    prctl,
)

# Numbers: arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h of Linux.
REFUSED = {
    # name: (x86_64, aarch64)
    # into other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    # into other namespaces and file systems
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    # memory that is in nobody's address space, where no limit counts it
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    # into the kernel
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "personality": (135, 92),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "syslog": (103, 116),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
}
_SOCKET, _CLONE, _CLONE3 = (41, 198), (56, 220), (435, 435)
_SETSOCKOPT = (54, 208)
_SO_SNDBUF, _SO_SNDBUFFORCE = 7, 32
_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_NEW_NAMESPACES = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET
_X32 = 0x40000000

# include/uapi/linux/seccomp.h, include/uapi/linux/filter.h
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_MODE_FILTER = 2
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _FIRST_ARGUMENT_AT = 0, 4, 16
_SECOND_ARGUMENT_AT, _THIRD_ARGUMENT_AT = 24, 32


def program(architecture: str) -> bytes:
    """The filter for a machine, as instructions of the kernel's packet filter."""
    column, audit_number = _ARCHITECTURES[architecture]
    refuse = _step(_RETURN, _ERRNO | errno.EPERM)
    steps = [_step(_LOAD, _ARCHITECTURE_AT), _step(_EQUAL, audit_number, 1, 0), _step(_RETURN, _KILL)]
    steps.append(_step(_LOAD, _NUMBER_AT))
    if architecture == "x86_64":  # the same calls by other numbers
        steps += [_step(_AT_LEAST, _X32, 0, 1), _step(_RETURN, _KILL)]
    for numbers in REFUSED.values():
        steps += [_step(_EQUAL, numbers[column], 0, 1), refuse]
    # Its flags lie in memory, where no filter can see them; glibc falls back to clone.
    steps += [_step(_EQUAL, _CLONE3[column], 0, 1), _step(_RETURN, _ERRNO | errno.ENOSYS)]
    steps += [
        _step(_EQUAL, _CLONE[column], 0, 4),
        _step(_LOAD, _FIRST_ARGUMENT_AT),
        _step(_ANY_BIT, _NEW_NAMESPACES, 0, 1),
        refuse,
        _step(_RETURN, _ALLOW),
    ]
    # What a socket holds lies in the kernel's memory: no more than by default.
    steps += [
        _step(_EQUAL, _SETSOCKOPT[column], 0, 7),
        _step(_LOAD, _SECOND_ARGUMENT_AT),
        _step(_EQUAL, socket.SOL_SOCKET, 0, 4),
        _step(_LOAD, _THIRD_ARGUMENT_AT),
        _step(_EQUAL, _SO_SNDBUF, 1, 0),
        _step(_EQUAL, _SO_SNDBUFFORCE, 0, 1),
        refuse,
        _step(_RETURN, _ALLOW),
    ]
    steps += [
        _step(_EQUAL, _SOCKET[column], 0, 3),
        _step(_LOAD, _FIRST_ARGUMENT_AT),
        _step(_EQUAL, socket.AF_UNIX, 1, 0),
        refuse,
    ]
    steps.append(_step(_RETURN, _ALLOW))
    return b"".join(steps)


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def supported() -> bool:
    return machine() in _ARCHITECTURES


def filter_system_calls() -> None:
    """From now on this process and all that it starts can't make these calls. Raises OSError."""
    if not supported():
        raise OSError(f"no filter of system calls for {machine() or 'this system'}")
    steps = ctypes.create_string_buffer(program(machine()))
    length = (len(steps) - 1) // 8
    filters = struct.pack("@HP", length, ctypes.addressof(steps))
    buffer = ctypes.create_string_buffer(filters, len(filters))
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    prctl(PR_SET_SECCOMP, _MODE_FILTER, ctypes.addressof(buffer))
