"""What the processes of the runner say to one another: typed JSON, and nothing that could run code.

A run involves three processes. The *runner* (trusted; in the service or the command line) asks the *warm process*
over a socket to start a *child*, handing over three files: the request to read, a pipe for output, one for the report.
Whatever arrives over those two pipes was written by a process with learner code in it, and is data to be checked.
"""

from __future__ import annotations

import math
import socket
from typing import Any, Literal

import msgspec

from grader.verdict import Gpu

MAX_CONTROL_BYTES = 1 << 20
BEGUN = b"begun\n"
"""What a child writes before its report, when from then on it can only fail through the learner's code."""


class Limits(msgspec.Struct, frozen=True):
    """What a run may use before it is stopped."""

    time_s: float = 20.0
    output_bytes: int = 1_000_000
    report_bytes: int = 64_000_000
    memory_bytes: int = 4_000_000_000  # on top of what the warm process has
    file_bytes: int = 500_000_000
    processes: int = 150  # where it is shut in; fewer than the kernel refuses, so that forks without end are stopped


# --- what to run: runner -> child -------------------------------------------------------------------------------------


class BuiltArgument(msgspec.Struct, frozen=True):
    """Stands among plain arguments for an object that lab.workloads builds in the child."""

    name: str
    params: dict[str, Any]
    seed: int


class Argument(msgspec.Struct, frozen=True):
    """One argument: a plain value, or something to build."""

    value: Any = None
    built: BuiltArgument | None = None


class Call(msgspec.Struct, frozen=True, tag="call"):
    """Load the file, call one function of it, and report what it returned."""

    path: str
    source: str
    function: str
    arguments: list[Argument]
    keyword_arguments: dict[str, Argument]
    then: BuiltArgument | None
    seed: int
    cells: list[int] = []  # of a notebook: the lines on which its cells begin


class Script(msgspec.Struct, frozen=True, tag="script"):
    """Run the file as a program."""

    path: str
    source: str
    seed: int | None = None


class Expect(msgspec.Struct, frozen=True, tag="expect"):
    """Measure a workload where no learner code runs, to compare what a submission says of it."""

    workload: BuiltArgument


Request = Call | Script | Expect


class Errand(msgspec.Struct, frozen=True):
    """A request together with what the report must begin with, so that a stray write is not taken for a report."""

    nonce: str
    request: Request


# --- what came of it: child -> runner ---------------------------------------------------------------------------------


class Frame(msgspec.Struct, frozen=True):
    """One line of a traceback in the learner's own file."""

    line: int
    function: str
    code: str


class Returned(msgspec.Struct, frozen=True, tag="returned"):
    value: Any
    then: Any
    events: list[dict[str, Any]]
    duration_s: float


class Finished(msgspec.Struct, frozen=True, tag="finished"):
    """A program came to its end."""

    exit_code: int
    events: list[dict[str, Any]]
    duration_s: float


Stage = Literal["start", "load", "find", "build", "bind", "call", "then", "observe", "expect"]


class Raised(msgspec.Struct, frozen=True, tag="raised"):
    """The run was stopped by an exception, in one of its stages."""

    stage: Stage
    error: str  # the exception's type
    text: str
    frames: list[Frame]


Report = Returned | Finished | Raised

_encoder = msgspec.json.Encoder()
_report_decoder: msgspec.json.Decoder[Report] = msgspec.json.Decoder(Report)


def frame_report(nonce: str, report: Report) -> bytes:
    body = _encoder.encode(report)
    return f"{nonce} {len(body)}\n".encode() + body


def read_report(data: bytes, nonce: str) -> Report | None:
    """The report, or None if the data is anything but exactly one well-formed report."""
    head, newline, body = data.partition(b"\n")
    if not newline or head != f"{nonce} {len(body)}".encode():
        return None
    try:
        report = _report_decoder.decode(body)
    except (msgspec.DecodeError, RecursionError, ValueError):
        return None
    if not isinstance(report, Raised) and not math.isfinite(report.duration_s):
        return None
    return report


# --- how a run is started and ended: runner <-> warm process ----------------------------------------------------------


class Start(msgspec.Struct, frozen=True, tag="start"):
    """Start a child in this folder. Sent with three files: request, output, report."""

    folder: str
    memory_bytes: int
    file_bytes: int
    layers: list[str] | None = None
    """What must keep other people's code apart; None for one's own."""
    real_gpu: bool = False


class Stop(msgspec.Struct, frozen=True, tag="stop"):
    """End the child and all that came from it, now."""


Order = Start | Stop


class Ready(msgspec.Struct, frozen=True, tag="ready"):
    gpu: Gpu
    layers: list[str] = []
    """What keeps other people's code apart, as tried; empty where nobody asked for that."""


class Unable(msgspec.Struct, frozen=True, tag="unable"):
    """The warm process can't do its work (no GPU though one was asked for, torch missing…)."""

    message: str


class Started(msgspec.Struct, frozen=True, tag="started"):
    pid: int


class Ended(msgspec.Struct, frozen=True, tag="ended"):
    """The child has ended, and so has every process that came from it."""

    exit_code: int  # negative: the number of the signal that ended it


News = Ready | Unable | Started | Ended


class Channel:
    """Messages over a stream socket, one JSON object a line, some with files attached."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self._buffer = b""

    def fileno(self) -> int:
        return self.connection.fileno()

    def send(self, message: Order | News, files: list[int] | None = None) -> None:
        line = _encoder.encode(message) + b"\n"
        if files:
            sent = socket.send_fds(self.connection, [line], files)
            line = line[sent:]
        if line:
            self.connection.sendall(line)

    def receive(self) -> tuple[list[bytes], list[int]] | None:
        """The lines and files that have arrived; None when the other side is gone."""
        try:
            data, files, _, _ = socket.recv_fds(self.connection, 65536, 8)
        except ConnectionError:
            return None
        if not data:
            return None
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        if len(self._buffer) > MAX_CONTROL_BYTES:
            return None
        return lines, list(files)

    def close(self) -> None:
        self.connection.close()


def read_order(line: bytes) -> Order:
    return msgspec.json.decode(line, type=Order)


def read_news(line: bytes) -> News:
    return msgspec.json.decode(line, type=News)
