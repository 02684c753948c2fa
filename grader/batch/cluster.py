"""Lets the workers of a Dask cluster check a class, with the same results as here.

Each worker keeps a grading process of its own, as a single machine does. A worker that is lost costs nothing: what it
was checking is checked by another one.
"""

from __future__ import annotations

import atexit
import importlib.util
import tempfile
import threading
from pathlib import Path
from typing import Any

import msgspec

from grader.errors import GraderError
from grader.verdict import Verdict
from lab.language import _, current, use

RETRIES = 3
CONNECT_LIMIT_S = 20


class NoCluster(GraderError):
    """The cluster can't be used; the message says why and what to do."""


class Checked(msgspec.Struct, frozen=True):
    """What a worker sends back."""

    verdict: Verdict | None
    layers: list[str]
    course: str
    trouble: str | None = None
    unavailable: bool = False
    """Whether nothing can be run on that worker."""


def checkers(
    address: str, *, jobs: int | None, shut_in: bool, longest_run_s: float | None = None
) -> list[ClusterChecker]:
    """One for each of the cluster's threads, or for so many jobs. Raises NoCluster."""
    if importlib.util.find_spec("distributed") is None:
        raise NoCluster(_("Dask isn't installed: pip install 'profile-first[cluster]', here and on the workers."))
    from distributed import Client  # type: ignore[import-not-found,unused-ignore]

    try:
        client = Client(address, timeout=CONNECT_LIMIT_S, set_as_default=False)
        threads = sum(client.nthreads().values())
    except (OSError, ValueError, TimeoutError) as error:
        raise NoCluster(
            _("There is no Dask scheduler at {address}: {reason}", address=address, reason=str(error)[:200])
        ) from error
    if not threads:
        client.close()
        raise NoCluster(
            _("The scheduler at {address} has no workers yet. Start some, then grade again.", address=address)
        )
    shared = _Shared(client, jobs or threads)
    return [ClusterChecker(shared, shut_in, longest_run_s) for _each in range(jobs or threads)]


class _Shared:
    """The connection, closed with the last of those that use it."""

    def __init__(self, client: Any, users: int) -> None:
        self.client = client
        self._users = users
        self._lock = threading.Lock()

    def leave(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self.client.close()


class ClusterChecker:
    """Has one file after another checked somewhere in the cluster."""

    def __init__(self, shared: _Shared, shut_in: bool, longest_run_s: float | None = None) -> None:
        self._shared = shared
        self._shut_in = shut_in
        self._longest_run_s = longest_run_s
        self._left = False
        self.layers: list[str] = []

    def check(self, exercise: str, path: Path, seed: int) -> Verdict:
        from grader.batch.grade import course_fingerprint
        from grader.batch.grading_process import ProcessLost
        from grader.errors import RunnerUnavailable
        from grader.source import max_bytes

        with path.open("rb") as file:
            data = file.read(max_bytes(path) + 1)
        future = self._shared.client.submit(
            check_here,
            exercise,
            path.name,
            data,
            seed,
            self._shut_in,
            self._longest_run_s,
            current(),
            pure=False,
            retries=RETRIES,
        )
        try:
            answer = msgspec.json.decode(future.result(), type=Checked)
        except msgspec.DecodeError as error:
            raise ProcessLost(_("A worker answered with something unreadable: {reason}", reason=error)) from None
        except Exception as error:  # lost workers, a scheduler that ended
            raise ProcessLost(
                _(
                    "The cluster lost this submission ({kind}: {reason}).",
                    kind=type(error).__name__,
                    reason=str(error)[:200],
                )
            ) from None
        if answer.course != course_fingerprint():
            raise RunnerUnavailable(
                _("The workers have another version of the course. Install the same one everywhere.")
            )
        if answer.unavailable:
            raise RunnerUnavailable(answer.trouble or _("Nothing can be run on a worker."))
        if answer.verdict is None:
            raise GraderError(answer.trouble or _("The worker gave no verdict."))
        self.layers = answer.layers
        return answer.verdict

    def close(self) -> None:
        if not self._left:
            self._left = True
            self._shared.leave()


# On a worker

_own = threading.local()


def check_here(
    exercise: str, name: str, data: bytes, seed: int, shut_in: bool, longest_run_s: float | None, language: str
) -> bytes:
    """Check a file on this worker, in the class's language; the answer is data that can run nothing."""
    use(language)  # for as long as the worker lives: set back, it would be the wrong one for its other threads
    from grader.batch.grade import course_fingerprint
    from grader.batch.grading_process import ProcessLost
    from grader.errors import RunnerUnavailable

    course = course_fingerprint()
    process = _grading_process(shut_in, longest_run_s)
    with tempfile.TemporaryDirectory(prefix="profile-first-") as folder:
        path = Path(folder) / Path(name).name
        path.write_bytes(data)
        try:
            # Not left to what is spoken now: another thread of the worker may check for another class.
            verdict = process.check(exercise, path, seed, language)
            answer = Checked(verdict, process.layers, course)
        except ProcessLost as lost:
            raise RuntimeError(str(lost)) from None  # tried again, here or elsewhere
        except RunnerUnavailable as error:
            answer = Checked(None, [], course, str(error), unavailable=True)
        except GraderError as error:
            answer = Checked(None, process.layers, course, str(error))
    return msgspec.json.encode(answer)


def _grading_process(shut_in: bool, longest_run_s: float | None) -> Any:
    from grader.batch.grading_process import GradingProcess
    from grader.runner import bubblewrap

    asked = shut_in, longest_run_s
    if getattr(_own, "process", None) is None or _own.asked != asked:
        bubble = bubblewrap.find()[0] if shut_in else None
        _own.process = GradingProcess(shut_in=shut_in, bubble=bubble, longest_run_s=longest_run_s)
        _own.asked = asked
        atexit.register(_own.process.close)
    return _own.process
