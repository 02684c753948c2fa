"""The process that has torch imported, as its parent sees it: started, listened to, and ended for certain."""

from __future__ import annotations

import os
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from time import monotonic
from typing import IO

import msgspec

from grader.errors import Cancelled
from grader.runner.bubblewrap import bubblewrap
from grader.runner.cancellation import Cancellation
from grader.runner.descendants import descendants, end_others, kill, marked
from grader.runner.protocol import Channel, News, Order, Ready, Unable, read_news
from grader.runner.sandbox import IN_BUBBLEWRAP, KEPT_VARIABLES, NAMESPACES
from grader.verdict import Gpu
from lab.language import N_, VARIABLE, _, current

MARK = "PROFILE_FIRST_RUNNER"  # in the environment of everything that a warm process starts
PACKAGES = Path(__file__).parents[2]
GIVEN_VARIABLES = (*KEPT_VARIABLES, "PATH", "PYTHON", "LANG", "LC_", "LD_LIBRARY_PATH", "VIRTUAL_ENV")
"""What of the environment other people's code may come near: an instructor's has tokens in it."""
NEEDS_NAMESPACES = N_(
    "Other people's code can't be kept apart here: this user can't make namespaces, and bubblewrap isn't there to. "
    "Install bubblewrap, or see what 'profile-first doctor' says of user namespaces."
)
START_LIMIT_S = 180.0  # importing torch from a cold disk on a busy machine
STOP_LIMIT_S = 15.0  # then it's taken to be stuck


class Lost(Exception):
    """The warm process ended or doesn't answer."""


class WarmProcess:
    """Obeys one runner, and ends when that runner is gone."""

    def __init__(
        self,
        equipment: str,
        environment: Mapping[str, str],
        fresh: bool,
        shut_in: bool = False,
        bubble: str | None = None,
    ) -> None:
        ours, theirs = socket.socketpair()
        self.channel = Channel(ours)
        self.errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        self.ready_gpu: Gpu | None = None
        self.shut_in = shut_in
        self.bubble = bubble
        self.layers_inside: list[str] = []
        """What keeps a run apart within this process."""
        self.runs = tempfile.mkdtemp(prefix="profile-first-")
        """Where the folders of its runs are."""
        self.mark = secrets.token_hex(16)
        options = ["--control", str(theirs.fileno()), "--equipment", equipment, *(["--fresh"] if fresh else [])]
        options += ["--shut-in"] if shut_in else []
        own_folder = {"TMPDIR": self.runs} if shut_in else {}
        if bubble is not None:
            own_folder[IN_BUBBLEWRAP] = "yes"
        around = bubblewrap(bubble, self.runs) if bubble is not None else []
        given = {name: value for name, value in os.environ.items() if not shut_in or name.startswith(GIVEN_VARIABLES)}
        quiet = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "KINETO_LOG_LEVEL": "99"}
        self.process = subprocess.Popen(
            [*around, sys.executable, "-m", "grader.runner.zygote", *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self.errors,
            pass_fds=[theirs.fileno()],
            cwd=PACKAGES,  # not the learner's folder, where a torch.py might lie
            env={**given, **quiet, **environment, **own_folder, MARK: self.mark, VARIABLE: current()},
            start_new_session=True,
        )
        theirs.close()

    def alive(self) -> bool:
        return self.process.poll() is None

    def wait_ready(self, stops: list[Cancellation]) -> Gpu:
        """Wait until it can start a run; tells the GPU that runs will have."""
        give_up_s = monotonic() + START_LIMIT_S
        while self.ready_gpu is None:
            if any(stop.cancelled for stop in stops):
                raise Cancelled(_("Cancelled before it started."))
            watched = [self.channel.fileno(), *(stop.fileno() for stop in stops)]
            arrived, _write, _error = select.select(watched, [], [], max(0.0, give_up_s - monotonic()))
            if not arrived:
                raise Lost(
                    _(
                        "PyTorch did not start within {limit_s:.0f} seconds. Is the machine very busy?",
                        limit_s=START_LIMIT_S,
                    )
                )
            if self.channel.fileno() in arrived:
                self._hear_start()
        return self.ready_gpu

    def _hear_start(self) -> None:
        for news in self.news():
            if isinstance(news, Unable):
                raise Lost(news.message)
            if isinstance(news, Ready):
                self.ready_gpu = news.gpu
                self.layers_inside = news.layers
                if self.shut_in and self.bubble is None and NAMESPACES not in news.layers:
                    raise Lost(_(NEEDS_NAMESPACES))

    def send(self, order: Order, files: list[int] | None = None) -> None:
        try:
            self.channel.send(order, files)
        except OSError:
            raise Lost(_("The process that runs your code is gone.")) from None

    def news(self) -> Iterator[News]:
        """What it has told since the last time; waits if that is nothing."""
        received = self.channel.receive()
        if received is None:
            raise Lost(
                _("The process that runs your code ended unexpectedly.{last_words}", last_words=self.last_words())
            )
        for line in received[0]:
            try:
                yield read_news(line)
            except msgspec.DecodeError:
                raise Lost(_("The process that runs your code answered with something unreadable.")) from None

    def last_words(self) -> str:
        """The end of what the warm process wrote to its stderr."""
        self.errors.seek(0)
        lines = self.errors.read()[-4000:].decode(errors="replace").strip().splitlines()
        return _(" Its last words: {lines}", lines=lines[-1]) if lines else ""

    def end(self) -> None:
        """Hang up, upon which it ends its run and then itself; kill it if it doesn't."""
        if self.ready_gpu is None:  # nothing runs yet, and it can't hear while it imports torch
            self.kill()
            return
        self.channel.close()
        try:
            self.process.wait(timeout=STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            self.kill()
        self.errors.close()
        shutil.rmtree(self.runs, ignore_errors=True)

    def kill(self) -> None:
        """Kill it and whatever it has started, also what it can no longer look after itself."""
        self.channel.close()
        if self.alive():
            kill(self.process.pid, signal.SIGSTOP)
            left = descendants(self.process.pid)
            end_others(lambda: left)
        self.process.kill()
        self.process.wait()
        end_others(lambda: marked(MARK, self.mark))
        self.errors.close()
        shutil.rmtree(self.runs, ignore_errors=True)
