"""Shuts a run of other people's code in: its own processes, network, temporary files, and only files that it needs.

Each layer is the kernel's. Files are kept apart by Landlock, and where namespaces can be made, by private file systems
in memory; processes by a process namespace and Landlock; the network by a network namespace and a filter of system
calls. Where a layer that is required can't be had, nothing is run.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import site
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

from grader.runner import kernel
from grader.runner.confine import keep_files_inside
from grader.runner.descendants import end_with_parent
from grader.runner.seccomp import filter_system_calls
from lab.language import N_

NAMESPACES = N_("namespaces")
LANDLOCK = "Landlock"
SECCOMP = "seccomp"
OTHER_USER = N_("a user of its own")

PACKAGES = Path(__file__).parents[2]
OURS = ("lab", "grader/runner", "grader/__init__.py", "grader/errors.py", "grader/verdict.py", "grader/feedback.py")
"""What a run may still have to import of this project. Not the checks, the solutions or the tests."""
PROJECT = ("course", "exercises", "grader", "lab", "solutions", "tests")
"""Our folders; of these a run sees only what is named above."""
SYSTEM = (
    "/usr",
    "/lib",
    "/lib64",
    "/bin",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/sys/devices/system",
)
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/shm")
GPU_DEVICES = ("nvidia*", "kfd", "dri")
SHARED_MEMORY = "/dev/shm"
MAX_FILES = 10_000
FIRST_USER = 2_000_000_000
"""From here on, numbers of users that nobody has; each run gets one, so that its processes are counted alone."""
MAX_PROCESSES = 200
FAILED = "failed: "
NOBODY = "student"
IN_BUBBLEWRAP = "PROFILE_FIRST_IN_BUBBLEWRAP"
"""Set to "yes" for the warm process there."""
KEPT_VARIABLES = ("CUDA_", "HIP_", "ROCR_", "KINETO_", "MKL_", "OMP_", "PROFILE_FIRST_GPU")


class NotShutIn(Exception):
    """A layer that is required can't be had; the message says which and why."""


class Entered(NamedTuple):
    """The namespaces that a process is in."""

    layers: tuple[str, ...] = ()
    own_processes: bool = False
    """Whether /proc shows only those of the run."""
    read: tuple[str, ...] = ()
    """What can be seen of the system."""


def enter_namespaces(folder: str, memory_bytes: int) -> Entered:
    """Go on in a process that sees no other processes, no network, and has its own `folder` in memory.

    Only that process returns; the one that called waits for its end and ends in the same way. Where no namespaces can
    be made, this does nothing.
    """
    kinds = kernel.CLONE_NEWNS | kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS | kernel.CLONE_NEWPID
    user = None
    try:
        kernel.unshare(kinds)
        user = FIRST_USER + int.from_bytes(os.urandom(3), "big")
    except OSError:
        uid, gid = os.geteuid(), os.getegid()
        try:
            kernel.unshare(kinds | kernel.CLONE_NEWUSER)
        except OSError:
            return Entered()
        _map("setgroups", "deny")
        _map("uid_map", f"{uid} {uid} 1")
        _map("gid_map", f"{gid} {gid} 1")
    tell = _become_the_first_process()
    read = readable()
    own_processes = _make_a_root(folder, memory_bytes, user, read)
    _become_the_run(tell)
    if user is None:
        kernel.keep_capabilities(0)
        return Entered((NAMESPACES,), own_processes, read)
    _change_to(user)
    return Entered((NAMESPACES, OTHER_USER), own_processes, read)


def _map(name: str, content: str) -> None:
    Path(f"/proc/self/{name}").write_text(content)


def _become_the_first_process() -> int:
    """Fork the first process of the new namespace, upon whose end the kernel ends all others, and return there.

    It gets a pipe in which to tell how the run ended.
    """
    told, tell = os.pipe()
    pid = os.fork()
    if pid != 0:
        os.close(tell)
        _let_go_of_files(told)
        os.waitpid(pid, 0)
        status = os.read(told, 16)
        _end_as(os.waitstatus_to_exitcode(int(status)) if status else -signal.SIGKILL)
    end_with_parent()
    os.close(told)
    os.set_inheritable(tell, False)
    return tell


def _become_the_run(tell: int) -> None:
    """Fork the run itself, and return there. The first process can't be signalled by it, and takes in its orphans."""
    pid = os.fork()
    if pid == 0:
        os.close(tell)
        return
    _let_go_of_files(tell)
    while True:
        ended, status = os.waitpid(-1, 0)
        if ended == pid:
            os.write(tell, str(status).encode())
            os._exit(0)


def _let_go_of_files(kept: int) -> None:
    """A process that only waits must not keep pipes open that others read to their end."""
    os.closerange(0, kept)
    os.closerange(kept + 1, 65536)


def _end_as(exit_code: int) -> NoReturn:
    if exit_code < 0:
        with contextlib.suppress(OSError, ValueError):
            signal.signal(-exit_code, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [-exit_code])
        os.kill(os.getpid(), -exit_code)
    os._exit(exit_code & 0xFF)


def _make_a_root(folder: str, memory_bytes: int, user: int | None, read: Sequence[str]) -> bool:
    """Leave the file system for one with nothing in it but what is needed: not even a socket is there to connect to.

    Returns whether /proc shows only the run's own processes, which not every container allows.
    """
    kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    private = kernel.MS_NOSUID | kernel.MS_NODEV
    kernel.mount("tmpfs", folder, "tmpfs", private, "size=1m,mode=755")
    for place in (*read, *DEVICES, *gpu_devices()):
        _show(place, folder)
    own_processes = True
    processes = _made(f"{folder}/proc")
    try:
        kernel.mount("proc", processes, "proc", private | kernel.MS_NOEXEC)
    except OSError:
        own_processes = False
        kernel.mount("/proc", processes, None, kernel.MS_BIND | kernel.MS_REC)
    owner = f",uid={user},gid={user}" if user is not None else ""
    options = f"size={memory_bytes},nr_inodes={MAX_FILES},mode=700{owner}"
    for place in (folder, SHARED_MEMORY):
        kernel.mount("tmpfs", _made(f"{folder}{place}"), "tmpfs", private, options)
    kernel.change_root(folder)
    return own_processes


def _show(place: str, root: str) -> None:
    """Let a file or folder be seen at the same place below another root."""
    target = Path(f"{root}{place}")
    if place.startswith("/proc/") or os.path.lexists(target) or not os.path.lexists(place):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if Path(place).is_symlink():
        target.symlink_to(Path(place).readlink())
        return
    if Path(place).is_dir():
        target.mkdir()
    else:
        target.touch()
    kernel.mount(place, str(target), None, kernel.MS_BIND | kernel.MS_REC)


def _made(folder: str) -> str:
    Path(folder).mkdir(parents=True, exist_ok=True)
    return folder


def _change_to(user: int) -> None:
    """From root to somebody whose processes can be counted; still able to read what Python may have to import."""
    os.setgroups([])
    kernel.prctl(kernel.PR_SET_KEEPCAPS, 1)
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    kernel.keep_capabilities(1 << kernel.CAP_DAC_READ_SEARCH)
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # or nothing of /proc/self could be read
    end_with_parent()  # changing the user forgot it


def shut_in(folder: str, entered: Entered, *, real_gpu: bool) -> list[str]:
    """Limit this process to its folder and to files that Python needs, for good; returns all layers that hold.

    Raises NotShutIn where one that is required can't be had.
    """
    import resource

    kept = {name: value for name, value in os.environ.items() if name.startswith(KEPT_VARIABLES)}
    os.environ.clear()
    os.environ.update(kept, HOME=folder, TMPDIR=folder, PATH=os.defpath, LANG="C.UTF-8", USER=NOBODY, LOGNAME=NOBODY)
    tempfile.tempdir = folder  # which a fork would have inherited from the time before
    if NAMESPACES in entered.layers:
        resource.setrlimit(resource.RLIMIT_NPROC, (MAX_PROCESSES, MAX_PROCESSES))
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))
    for limit in (resource.RLIMIT_MSGQUEUE, resource.RLIMIT_SIGPENDING):  # both lie in the kernel's memory
        most = resource.getrlimit(limit)[1]
        few = MAX_PROCESSES if most == resource.RLIM_INFINITY else min(MAX_PROCESSES, most)
        resource.setrlimit(limit, (few, few))
    processes = "/proc" if entered.own_processes else "/proc/self"
    read = [*(entered.read or readable()), processes]
    try:
        keep_files_inside(read, [folder, *DEVICES, *(gpu_devices() if real_gpu else [])])
        filter_system_calls()
    except OSError as error:
        raise NotShutIn(f"Other people's code can't be kept apart here: {error}.") from error
    return [*entered.layers, LANDLOCK, SECCOMP]


def trial(*, real_gpu: bool) -> list[str]:
    """Shut a process in that does nothing; the layers that held. Raises NotShutIn."""
    folder = tempfile.mkdtemp(prefix="profile-first-")
    heard, say = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            entered = enter_namespaces(folder, 1_000_000)
            os.chdir(folder)
            os.write(say, "\n".join(shut_in(folder, entered, real_gpu=real_gpu)).encode())
        except Exception as error:
            os.write(say, f"{FAILED}{error}".encode()[:4000])
        finally:
            os._exit(0)
    os.close(say)
    with os.fdopen(heard, encoding="utf-8", errors="replace") as answer:
        told = answer.read()
    os.waitpid(pid, 0)
    Path(folder).rmdir()
    if not told or told.startswith(FAILED):
        raise NotShutIn(told.removeprefix(FAILED) or "Other people's code can't be kept apart here: the trial ended.")
    return told.split("\n")


def empty_shared_memory() -> None:
    """Between two runs where only bubblewrap makes a file system of its own: the next one finds nothing."""
    if os.environ.get(IN_BUBBLEWRAP) != "yes":
        return
    for entry in Path(SHARED_MEMORY).iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        with contextlib.suppress(OSError):
            entry.unlink()


def readable() -> tuple[str, ...]:
    """What of the system a run may see: the system's own files, Python with its packages, and the lab."""
    hidden = [str(PACKAGES / part) for part in PROJECT]
    links = [place for place in SYSTEM if Path(place).is_symlink()]
    return (*links, *without([*SYSTEM, *_python()], hidden), *(str(PACKAGES / part) for part in OURS))


def _python() -> list[str]:
    """Where Python and its packages lie."""
    found = {sys.base_prefix, sys.base_exec_prefix, sysconfig.get_paths()["stdlib"], *site.getsitepackages()}
    if site.ENABLE_USER_SITE:
        found.add(site.getusersitepackages())
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    found |= {path for path in given if path and Path(path).resolve() != PACKAGES.resolve()}
    if sys.prefix != sys.base_prefix:
        found |= {str(Path(sys.prefix) / part) for part in ("bin", "pyvenv.cfg")}
    return sorted(found)


def without(places: Sequence[str], hidden: Sequence[str]) -> list[str]:
    """The places, with all that lies beside the hidden ones in place of a folder that holds one.

    Landlock allows a folder with all that is in it, and can't take anything back.
    """
    found: dict[str, None] = {}
    secret = [os.path.realpath(path) for path in hidden]
    waiting = [os.path.realpath(place) for place in places]
    while waiting:
        place = waiting.pop()
        if any(place == path or place.startswith(f"{path}/") for path in secret):
            continue
        if any(path.startswith(f"{place.rstrip('/')}/") for path in secret):
            with contextlib.suppress(OSError), os.scandir(place) as entries:
                waiting += [entry.path for entry in entries if not entry.is_symlink()]
        else:
            found[place] = None
    return [place for place in sorted(found) if not any(str(folder) in found for folder in Path(place).parents)]


def gpu_devices() -> list[str]:
    """The devices of a real GPU, and where its driver looks for them."""
    devices = [str(path) for pattern in GPU_DEVICES for path in Path("/dev").glob(pattern)]
    return [] if not devices else [*devices, "/sys/bus/pci", "/sys/module", "/proc/driver/nvidia"]
