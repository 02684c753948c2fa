"""Traces from the simulated GPU are diagnosed as the simulator knows that they should be.

Each program is made of parts that say what they are: loading, bookkeeping after a host read, tiny operators, and so on.
The truth comes from the simulator's own timeline: a device that is idle waits for the part that the host is in.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from torch.profiler import ProfilerActivity, profile, schedule
from torch.utils.data import DataLoader, Dataset

import lab.gpu
from lab.trace import Diagnosis, TraceUnreadable, diagnose
from lab.trace.verdict import BOTTLENECKS

STEPS = 3
TOLERANCE = 0.03
BOTH = [ProfilerActivity.CPU, ProfilerActivity.CUDA]

Part = Callable[["Program"], None]


class Slow(Dataset[torch.Tensor]):
    """Batches that take a while to read."""

    def __init__(self, read_s: float) -> None:
        self.read_s = read_s

    def __len__(self) -> int:
        return 1_000

    def __getitem__(self, index: int) -> torch.Tensor:
        lab.gpu.wait(self.read_s)
        return torch.ones(4)


class Program:
    """Runs parts, step after step, and keeps what the simulator knows about them."""

    def __init__(self, *parts: Part) -> None:
        from lab.gpu.device import clock, timeline

        self.clock, self.timeline = clock, timeline
        self.parts = parts
        self.phases: list[tuple[str, float, float]] = []
        self.launches: list = []
        self.loaders: dict[float, Iterator[torch.Tensor]] = {}
        self.edges = {edge: torch.ones(edge, edge, device="cuda") / edge for edge in (512, 768)}
        self.tiny = torch.ones(8, device="cuda")
        self.host = {mebibytes: torch.ones(mebibytes * 2**18) for mebibytes in (4, 12, 32)}
        self.pinned = torch.ones(32 * 2**18).pin_memory()
        self.side = torch.cuda.Stream()

    @contextmanager
    def phase(self, cause: str) -> Iterator[None]:
        begin = self.clock.now_s()
        yield
        self.phases.append((cause, begin, self.clock.now_s()))

    def step(self) -> None:
        for part in self.parts:
            part(self)

    def diagnosed(self, file: Path) -> tuple[Diagnosis, Counter[str]]:
        """What the trace says, and what the simulator knows, as shares of the window."""
        self.step()
        torch.cuda.synchronize()
        self.timeline.on_launch.append(self.launches.append)
        borders = []
        plan = schedule(wait=0, warmup=1, active=STEPS + 1, repeat=1)
        with profile(
            activities=BOTH, schedule=plan, on_trace_ready=lambda prof: prof.export_chrome_trace(str(file))
        ) as prof:
            for _ in range(STEPS + 2):
                self.step()
                if len(borders) < 2:
                    torch.cuda.synchronize()
                ends = self.clock.now_s()
                prof.step()
                borders.append((ends, self.clock.now_s()))
        without_first_step(file)
        return diagnose(file), self.truth(borders[1][1], borders[-1][0])

    def truth(self, begin: float, end: float) -> Counter[str]:
        ours = [launch for launch in self.launches if begin <= launch.launched_s < end]
        end = max([end, *(launch.end_s for launch in ours)])
        work = [
            ("copies" if launch.work.kind == "memcpy" else "compute", launch.begin_s, launch.end_s)
            for launch in self.launches
        ]
        order = {"compute": 0, "copies": 1}
        cuts = sorted(
            {begin, end, *(time for _, *both in [*work, *self.phases] for time in both if begin < time < end)}
        )
        shares: Counter[str] = Counter()
        for left, right in pairwise(cuts):
            busy = [name for name, since, until in work if since <= left and right <= until]
            causes = [name for name, since, until in self.phases if since <= left and right <= until]
            name = min(busy, key=order.__getitem__) if busy else causes[-1] if causes else "launch"
            shares[name] += (right - left) / (end - begin)
        return shares


def without_first_step(file: Path) -> None:
    """Take away the first step's mark. When it began is known to the profiler only, on a clock that others may stop."""
    trace = json.loads(gzip.decompress(file.read_bytes()))
    steps = [each for each in trace["traceEvents"] if each["name"].startswith("ProfilerStep#")]
    first = min(steps, key=lambda each: each["ts"])["name"]
    trace["traceEvents"] = [each for each in trace["traceEvents"] if each["name"] != first]
    file.write_bytes(gzip.compress(json.dumps(trace).encode()))


def load(milliseconds: float) -> Part:
    """Read a batch in the main process."""

    def part(program: Program) -> None:
        loader = program.loaders.get(milliseconds)
        if loader is None:
            loader = program.loaders[milliseconds] = iter(DataLoader(Slow(milliseconds / 1000), batch_size=None))
        with program.phase("input"):
            next(loader)

    return part


def product(edge: int = 768, times: int = 1) -> Part:
    """Keep the GPU busy: about 36 ms for an edge of 768, 11 ms for 512."""

    def part(program: Program) -> None:
        for _ in range(times):
            program.edges[edge] @ program.edges[edge]

    return part


def read_and_note(milliseconds: float) -> Part:
    """Read a value from the GPU, then do something with it on the host."""

    def part(program: Program) -> None:
        program.tiny.sum().item()
        with program.phase("sync"):
            lab.gpu.wait(milliseconds / 1000)

    return part


def work_on_the_host(milliseconds: float) -> Part:
    """Something that nobody recorded."""

    def part(program: Program) -> None:
        with program.phase("python"):
            lab.gpu.wait(milliseconds / 1000)

    return part


def tiny_operators(times: int) -> Part:
    def part(program: Program) -> None:
        with program.phase("launch"):
            for _ in range(times):
                program.tiny.add_(0)

    return part


def copy(mebibytes: int) -> Part:
    """Copy from pageable memory: 4 MiB take about 10 ms."""

    def part(program: Program) -> None:
        program.host[mebibytes].to("cuda")

    return part


def copy_beside(edge: int) -> Part:
    """Copy from pinned memory on another stream, beside a product; the default stream then waits for it."""

    def part(program: Program) -> None:
        with torch.cuda.stream(program.side):
            program.pinned.to("cuda", non_blocking=True)
        program.edges[edge] @ program.edges[edge]
        torch.cuda.current_stream().wait_stream(program.side)

    return part


def give_memory_back(times: int) -> Part:
    """Take segments from the GPU and give them back, which the cache would avoid."""

    def part(program: Program) -> None:
        with program.phase("allocator"):
            for _ in range(times):
                taken = torch.empty(16 * 2**20, device="cuda")  # a segment of its own
                del taken
                torch.cuda.empty_cache()

    return part


ALONE = {
    "input, a little": ("input", [load(30), product()]),
    "input, half": ("input", [load(60), product(), load(40)]),
    "input, mostly": ("input", [load(400), product()]),
    "input, two loaders": ("input", [load(50), product(), load(90), product(512)]),
    "input, hidden behind the GPU": ("compute", [product(times=3), load(60)]),
    "input, partly hidden": ("input", [product(), load(150)]),
    "copies, small": ("copies", [copy(4), product(512)]),
    "copies, half": ("copies", [copy(12), product()]),
    "copies, large": ("copies", [copy(32), product()]),
    "copies, several": ("copies", [copy(4), copy(4), copy(12), product()]),
    "copies beside the computation": ("compute", [copy_beside(768)]),
    "copies beside too little computation": ("copies", [copy_beside(512)]),
    "sync, a little": ("sync", [product(), product(), read_and_note(15)]),
    "sync, half": ("sync", [product(), read_and_note(36)]),
    "sync, mostly": ("sync", [product(512), read_and_note(90)]),
    "sync, three times a step": (
        "sync",
        [product(512), read_and_note(12), product(512), read_and_note(9), product(512), read_and_note(14)],
    ),
    "sync, nothing after it": ("compute", [product(times=2), read_and_note(0)]),
    "python, a little": ("python", [product(times=2), work_on_the_host(95)]),
    "python, half": ("python", [product(), work_on_the_host(80)]),
    "python, mostly": ("python", [product(512), work_on_the_host(300)]),
    "python, in pieces": ("python", [product(512), work_on_the_host(40), product(512), work_on_the_host(50)]),
    "launch, 300 operators": ("launch", [tiny_operators(300)]),
    "launch, 1500 operators": ("launch", [tiny_operators(1500)]),
    "launch, beside some computation": ("launch", [product(256 * 2), tiny_operators(2000)]),
    "allocator, mostly": ("allocator", [product(512), give_memory_back(60)]),
    "allocator, half": ("allocator", [product(768), give_memory_back(90)]),
    "compute, one product": ("compute", [product()]),
    "compute, many products": ("compute", [product(512, times=8)]),
    "compute, two sizes": ("compute", [product(512), product(768)]),
}
MIXED = {
    "input before sync": ("input", [load(80), product(), read_and_note(30)]),
    "sync before input": ("sync", [load(25), product(), read_and_note(70)]),
    "sync, then input at once": ("input", [product(), read_and_note(0), load(60)]),
    "input before copies": ("input", [load(90), copy(12), product()]),
    "copies before input": ("copies", [load(20), copy(32), product()]),
    "python before input": ("python", [product(512), work_on_the_host(120), load(40)]),
    "input before python": ("input", [product(512), work_on_the_host(50), load(120)]),
    "sync before copies": ("sync", [copy(4), product(), read_and_note(60)]),
    "copies before sync": ("copies", [copy(32), product(), read_and_note(20)]),
    "allocator before input": ("allocator", [load(10), product(512), give_memory_back(90)]),
    "input before allocator": ("input", [load(100), product(512), give_memory_back(30)]),
    "input before launch": ("input", [load(300), tiny_operators(300)]),
    "everything a little": ("input", [load(60), copy(4), product(), read_and_note(20)]),
    "two streams and input": ("input", [load(80), copy_beside(768)]),
    "two streams and sync": ("sync", [copy_beside(768), read_and_note(50)]),
    "five causes": (
        "input",
        [
            load(100),
            copy(12),
            product(512),
            read_and_note(30),
            product(512),
            work_on_the_host(50),
            product(512),
            give_memory_back(20),
        ],
    ),
}
PROGRAMS = ALONE | MIXED


def merged(shares: Counter[str], names: set[str]) -> dict[str, float]:
    """Shares of all causes; short ones of the host's own time are one.

    A process that loses the processor between two operators looks as if it did something else, so without a part that
    does something else the two aren't told apart here.
    """
    merged = Counter(shares)
    if "python" not in names:
        merged["launch"] += merged.pop("python", 0.0)
    return dict(merged)


def test_a_finished_profiler_is_diagnosed_and_gives_its_trace_only_once() -> None:
    matrix = torch.ones(512, 512, device="cuda")
    with profile(activities=BOTH) as prof:
        for _ in range(3):
            matrix @ matrix
        torch.cuda.synchronize()
    told = diagnose(prof)
    assert told.verdict.bottleneck == "compute"
    assert told.devices[0].name == torch.cuda.get_device_name()
    with pytest.raises(TraceUnreadable, match="only once"):
        diagnose(prof)


def test_there_are_enough_programs() -> None:
    assert len(PROGRAMS) >= 40


@pytest.fixture
def undisturbed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the lab's clock count this process's own time, so that others on the machine don't show in the trace."""
    if lab.gpu.use().kind != "simulated":
        pytest.skip("the truth comes from the simulator")
    from lab.gpu import clock
    from lab.gpu.system_clocks import REAL

    offset_s = clock.real_s() - REAL["process_time"]()
    for place in ("lab.gpu.clock.real_s", "lab.gpu.dispatch.real_s"):
        monkeypatch.setattr(place, lambda: REAL["process_time"]() + offset_s)


@pytest.mark.usefixtures("undisturbed")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_known_cause_is_named_with_its_share(tmp_path: Path, name: str) -> None:
    bottleneck, parts = PROGRAMS[name]
    program = Program(*parts)
    told, truth = program.diagnosed(tmp_path / "trace.json.gz")
    assert (told.verdict.bottleneck, told.steps.count, len(told.devices)) == (bottleneck, STEPS, 1)
    names = {cause for cause, *_ in program.phases}
    (device,) = told.devices
    causes = Counter(device.idle)
    causes.update(compute=device.compute_us, copies=device.copies_us)
    shares = merged(Counter({cause: us / device.window_us for cause, us in causes.items()}), names)
    expected = merged(truth, names)
    for cause in shares.keys() | expected.keys():
        assert shares.get(cause, 0.0) == pytest.approx(expected.get(cause, 0.0), abs=TOLERANCE), (
            cause,
            shares,
            expected,
        )


@pytest.mark.usefixtures("undisturbed")
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_events_of_a_run_give_the_verdict_of_its_trace(tmp_path: Path, name: str) -> None:
    from course.run_diagnosis import diagnose_run
    from course.run_view import view
    from lab import observe

    bottleneck, parts = PROGRAMS[name]
    observe.start()
    told, _ = Program(*parts).diagnosed(tmp_path / "trace.json.gz")
    found = diagnose_run(view(observe.finish()), "run")
    shares = {cause: (told.share_of(cause), found.share_of(cause)) for cause in BOTTLENECKS}
    assert found.verdict.bottleneck == bottleneck, shares
    # The run's window has one more step than the trace's: the first, which begins with an idle GPU.
    assert found.verdict.share == pytest.approx(told.verdict.share, abs=0.1), shares
