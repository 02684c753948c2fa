"""The warm process: has torch imported and the GPU in place, and starts a child for each run.

Where forking is safe, a child is a fork of this process. Where it isn't (macOS, a real GPU), this process stays small
and keeps one spare process ready instead. It survives whatever the child does, and leaves nothing of it running.
"""

from __future__ import annotations

import argparse
import gc
import os
import select
import shutil
import signal
import socket
import sys
import tempfile
import warnings
from typing import NoReturn

from grader.errors import GraderError
from grader.runner import sandbox
from grader.runner.child import carry_out
from grader.runner.descendants import adopt_orphans, end_all, end_with_parent, reap
from grader.runner.equipment import Equipment, equipment
from grader.runner.protocol import (
    Channel,
    Ended,
    Limits,
    News,
    Ready,
    Start,
    Started,
    Stop,
    Unable,
    read_news,
    read_order,
)
from grader.runner.sandbox import NotShutIn, enter_namespaces, trial
from lab.language import _, of_environment, use


class Zygote:
    """Waits for orders and for the end of the child, one child at a time."""

    def __init__(self, channel: Channel, module: str, lab: Equipment | None, shut_in: bool) -> None:
        self.channel = channel
        self.module = module
        self.shut_in = shut_in
        self.lab = lab  # None: spares instead of forks
        self.child: int | None = None
        self.folders: list[str] = []
        self.spare_folder: str | None = None
        self.spare: Channel | None = None
        self.spare_pid: int | None = None
        self.spare_ready = False
        self.announced = False
        self.waiting: tuple[Start, list[int]] | None = None  # for the spare to become ready
        self.child_ended, wake = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(self.child_ended, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        self._wake = wake

    def serve(self) -> None:
        if self.lab is None:
            self._start_spare()
        while True:
            watched: list[Channel | int] = [self.channel, self.child_ended]
            if self.spare is not None and not self.spare_ready:
                watched.append(self.spare)
            arrived, _, _ = select.select(watched, [], [])
            if self.child_ended in arrived:
                self._collect()
            if self.spare in arrived and self.spare is not None:
                self._hear_spare(self.spare)
            if self.channel in arrived and not self._obey():
                self._end_everything()
                return

    def _obey(self) -> bool:
        """Carry out the orders that have arrived; False when there is nobody left to serve."""
        received = self.channel.receive()
        if received is None:
            return False
        lines, files = received
        for line in lines:
            order = read_order(line)
            if isinstance(order, Stop):
                self._stop()
            elif self.child is None and self.waiting is None:
                self._start(order, files)
        return True

    def _start(self, start: Start, files: list[int]) -> None:
        self.folders = [start.folder]
        if self.lab is None:
            self.waiting = start, files
            if self.spare_pid is None:
                self._start_spare()
            self._hand_over()
            return
        pid = os.fork()
        if pid == 0:
            self.channel.close()
            os.close(self.child_ended)
            signal.set_wakeup_fd(-1)
            os.close(self._wake)
            carry_out(start, files, self.lab)
        for file in files:
            os.close(file)
        self.child = pid
        self._tell(Started(pid))

    def _stop(self) -> None:
        if self.child is not None:
            self._end_run(self.child, {})
        elif self.waiting is not None:
            self._forget_waiting()
            self._tell(Ended(-signal.SIGKILL))

    def _collect(self) -> None:
        os.read(self.child_ended, 4096)
        ended, _left = reap()
        if self.child in ended and self.child is not None:
            self._end_run(self.child, ended)
        elif self.spare_pid in ended and self.child is not None:
            self.spare_pid = None  # the next run starts another one
        elif self.spare_pid in ended:
            self._forget_waiting()
            self._tell(Unable(_("The process that runs your code ended while it was starting.")))
            self._end_everything()
            sys.exit(1)

    def _end_run(self, child: int, ended: dict[int, int]) -> None:
        try:
            ended = end_all(child, ended, sparing=self.spare_pid)
        except TimeoutError:
            # They fork faster than they die. Ending this process too lets the runner see it and start a fresh one.
            sys.exit(1)
        self.child = None
        if self.shut_in:
            sandbox.empty_shared_memory()
        for folder in self.folders[1:]:
            shutil.rmtree(folder, ignore_errors=True)
        if self.spare_pid in ended:
            self.spare_pid = None  # whatever it was, the next run starts another one
        self._tell(Ended(ended.get(child, -signal.SIGKILL)))

    def _end_everything(self) -> None:
        for pid in (self.child, self.spare_pid):
            if pid is not None:
                end_all(pid)
        for folder in (*self.folders, self.spare_folder):  # the runner removes the first, unless it's gone
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)

    def _forget_waiting(self) -> None:
        if self.waiting is not None:
            for file in self.waiting[1]:
                os.close(file)
            self.waiting = None

    def _tell(self, news: News) -> None:
        try:
            self.channel.send(news)
        except OSError:  # the runner is gone; the next receive says so
            return

    # --- spares -------------------------------------------------------------------------------------------------------

    def _start_spare(self) -> None:
        ours, theirs = socket.socketpair()
        self.spare_folder = tempfile.mkdtemp(prefix="profile-first-") if self.shut_in else None
        pid = os.fork()
        if pid == 0:
            os.set_inheritable(theirs.fileno(), True)
            _become_spare(theirs.fileno(), self.module, self.spare_folder)
        theirs.close()
        self.spare, self.spare_pid, self.spare_ready = Channel(ours), pid, False

    def _hear_spare(self, spare: Channel) -> None:
        received = spare.receive()
        if received is None:
            self.spare = None  # its end will be collected
            spare.close()
            return
        for line in received[0]:
            news = read_news(line)
            if isinstance(news, Unable):
                self._tell(news)
                self._end_everything()
                sys.exit(1)
            self.spare_ready = True
            if not self.announced:
                self.announced = True
                self._tell(news)
            self._hand_over()

    def _hand_over(self) -> None:
        if self.spare is None or self.spare_pid is None or not self.spare_ready or self.waiting is None:
            return
        start, files = self.waiting
        self.spare.send(start, files)
        self._forget_waiting()
        self.child = self.spare_pid
        self.spare.close()
        self.folders = [folder for folder in (start.folder, self.spare_folder) if folder is not None]
        self.spare, self.spare_pid, self.spare_folder = None, None, None
        self._tell(Started(self.child))
        self._start_spare()  # for the next run; it gets ready during this one


def _become_spare(control: int, module: str, folder: str | None) -> NoReturn:
    arguments = ["-m", "grader.runner.zygote", "--control", str(control), "--equipment", module, "--spare"]
    arguments += ["--folder", folder] if folder is not None else []
    try:
        os.execv(sys.executable, [sys.executable, *arguments])
    finally:
        os._exit(1)


def _why(error: Exception) -> str:
    """Why no code can be run here. Errors of our own say it all."""
    ours = isinstance(error, (GraderError, NotShutIn))
    named = f"{type(error).__name__}: {error}"
    return str(error) if ours else _("No code can be run here: {reason}", reason=named)


def serve_as_spare(channel: Channel, module: str, folder: str | None) -> None:
    """Get ready, wait for the one run that this process is for, and become it."""
    end_with_parent()
    layers: list[str] = []
    try:
        if folder is not None:
            # Landlock and the filter hold only for threads that begin afterwards, and CUDA has some.
            entered = enter_namespaces(folder, Limits().file_bytes)
            layers = sandbox.shut_in(folder, entered, real_gpu=True)
        lab = equipment(module)
        gpu = lab.use()
        lab.warm_up()
        gc.collect()
        gc.freeze()
    except Exception as error:
        channel.send(Unable(_why(error)))
        return
    channel.send(Ready(gpu, layers))
    lines: list[bytes] = []
    files: list[int] = []
    while not lines:
        received = channel.receive()
        if received is None:
            return
        lines, more = received
        files += more
    start = read_order(lines[0])
    channel.close()
    if isinstance(start, Start):
        carry_out(start, files, lab, folder)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--control", type=int, required=True, help="the socket to obey")
    arguments.add_argument("--equipment", default="grader.runner.equipment")
    arguments.add_argument("--fresh", action="store_true", help="start a process for each run instead of forking")
    arguments.add_argument("--spare", action="store_true", help="be such a process")
    arguments.add_argument("--folder", help="where such a process is shut in")
    arguments.add_argument("--shut-in", action="store_true", help="refuse to run anything that can't be kept apart")
    options = arguments.parse_args()
    use(of_environment())  # to say why nothing can be run
    channel = Channel(socket.socket(fileno=options.control))
    channel.connection.set_inheritable(False)
    # The profiler leaves a thread that sleeps; newer Pythons warn of any fork beside another thread.
    warnings.filterwarnings("ignore", category=DeprecationWarning, message=".*multi-threaded.*fork")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C in the terminal is the runner's to handle
    if options.spare:
        serve_as_spare(channel, options.equipment, options.folder)
        return
    adopt_orphans()
    lab = None
    if not options.fresh and sys.platform == "linux":
        try:
            lab = equipment(options.equipment)
            gpu = lab.use()
            if gpu.kind == "real":  # CUDA doesn't survive a fork
                channel.connection.set_inheritable(True)
                os.execv(sys.executable, [sys.executable, "-m", "grader.runner.zygote", *sys.argv[1:], "--fresh"])
            lab.warm_up()
            layers = trial(real_gpu=False) if options.shut_in else []
        except Exception as error:
            channel.send(Unable(_why(error)))
            return
        gc.collect()
        gc.freeze()  # a collection in a fork would else copy every page of torch's
        channel.send(Ready(gpu, layers))
    Zygote(channel, options.equipment, lab, options.shut_in).serve()
    os._exit(0)  # torch takes half a second to leave, and there is nothing to clean up


if __name__ == "__main__":
    main()
