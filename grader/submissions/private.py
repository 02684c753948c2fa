"""A folder in which archives are opened, and which goes with this process; also when that is killed."""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import tempfile
from pathlib import Path

PREFIX = "profile-first-opened-"
_LOCK = ".in-use"


def private_folder() -> Path:
    """A new one. What processes that were killed have left of theirs is removed."""
    _remove_those_left()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))  # only its owner may look into it
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with contextlib.suppress(ImportError, OSError):
        import fcntl

        # Locked before it has its name, so that nobody finds it unlocked; the kernel takes the lock off when this ends.
        lock = os.open(folder / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        (folder / "lock").rename(folder / _LOCK)
    return folder


def _remove_those_left() -> None:
    try:
        import fcntl
    except ImportError:
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)
