"""The app's side of the grader: output while a run goes on, one request after another, and no end without an answer."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from grader.client import Grader
from grader.errors import Cancelled, GraderError, RunnerUnavailable, ServiceDied, SubmissionNotFound, UnknownExercise
from grader.runner.descendants import descendants, is_running
from grader.runner.protocol import Limits
from grader.runner.run import Outcome
from grader.service import MAX_EVENTS, first_events, run_result
from grader.verdict import Gpu
from tests.grader.conftest import ends, linux_only

SERVICE = [sys.executable, "-m", "tests.grader.fake_service"]
LOOP = "import os\nprint('running', os.getpid())\nwhile True: pass"
LIMIT_S = 100

pytestmark = pytest.mark.usefixtures("imports")


@pytest.fixture
def imports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))


@pytest.fixture
async def grader() -> AsyncIterator[Grader]:
    grader = Grader(SERVICE)
    yield grader
    await grader.close()


class Output:
    """What a run has printed so far; can wait for the first of it."""

    def __init__(self) -> None:
        self.text = ""
        self.came = asyncio.Event()

    def __call__(self, text: str) -> None:
        self.text += text
        self.came.set()


def program(folder: Path, source: str, name: str = "program.py") -> Path:
    file = folder / name
    file.write_text(source)
    return file


async def started(grader: Grader, file: Path) -> tuple[asyncio.Task[object], int]:
    """A run that has printed its first line, and its pid."""
    output = Output()
    task: asyncio.Task[object] = asyncio.create_task(grader.run(file, output))
    await asyncio.wait_for(output.came.wait(), LIMIT_S)
    return task, int(output.text.split()[1])


async def test_a_run_comes_back_with_its_output_exit_code_and_events(grader: Grader, tmp_path: Path) -> None:
    output = Output()
    source = "from fake_equipment import record\nprint('hello')\nrecord('wait')\nraise SystemExit(3)"
    result = await grader.run(program(tmp_path, source), output)
    assert (result.status, result.exit_code, output.text) == ("finished", 3, "hello\n")
    assert [event["what"] for event in result.events] == ["wait"]
    assert result.gpu is not None
    assert result.message is None


async def test_the_gpu_is_known_once_the_grader_is_warm(grader: Grader, tmp_path: Path) -> None:
    ready = asyncio.Event()
    grader.on_ready = lambda gpu: ready.set()
    assert grader.gpu is None
    await grader.start()
    await asyncio.wait_for(ready.wait(), LIMIT_S)
    assert grader.gpu is not None
    assert grader.gpu.name == "A fake GPU"


async def test_output_arrives_while_the_run_goes_on_and_a_cancel_stops_it(grader: Grader, tmp_path: Path) -> None:
    task, pid = await started(grader, program(tmp_path, LOOP))
    assert not task.done()
    await grader.cancel()
    result = await asyncio.wait_for(task, LIMIT_S)
    assert result.status == "cancelled"  # type: ignore[attr-defined]
    assert not is_running(pid)


async def test_requests_are_done_one_after_another_and_a_cancel_stops_only_the_first(
    grader: Grader, tmp_path: Path
) -> None:
    first, _ = await started(grader, program(tmp_path, LOOP))
    output = Output()
    second = asyncio.create_task(grader.run(program(tmp_path, "print('second')", "second.py"), output))
    third = asyncio.create_task(grader.check("no/exercise", tmp_path / "program.py"))
    await asyncio.sleep(0)
    await grader.cancel()
    assert (await first).status == "cancelled"  # type: ignore[attr-defined]
    assert (await second).status == "finished"
    assert output.text == "second\n"
    with pytest.raises(UnknownExercise):
        await third


async def test_a_request_that_nobody_waits_for_is_stopped(grader: Grader, tmp_path: Path) -> None:
    task, pid = await started(grader, program(tmp_path, LOOP))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await grader.run(program(tmp_path, "print(1)", "next.py"), Output())).status == "finished"
    assert not is_running(pid)


async def test_a_waiting_request_that_nobody_waits_for_is_never_started(grader: Grader, tmp_path: Path) -> None:
    mark = tmp_path / "it ran"
    first, _ = await started(grader, program(tmp_path, LOOP))
    second = asyncio.create_task(grader.run(program(tmp_path, f"open({str(mark)!r}, 'w')", "second.py"), Output()))
    await asyncio.sleep(0)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    await grader.cancel()
    await first
    await grader.run(program(tmp_path, "print(1)", "third.py"), Output())
    assert not mark.exists()


@pytest.mark.parametrize(
    ("source", "status", "exit_code", "message"),
    [
        ("1 / 0", "finished", 1, None),
        ("import os; os._exit(4)", "finished", 4, "ended its process itself"),
        ("import os; os.kill(os.getpid(), 11)", "crashed", -11, "SIGSEGV"),
        ("while True: print('x' * 999)", "too_much_output", -9, "more than 1 MB"),
        ("def f(:", "finished", 1, None),
    ],
)
async def test_how_a_run_ended_is_told(
    source: str, status: str, exit_code: int, message: str | None, grader: Grader, tmp_path: Path
) -> None:
    result = await grader.run(program(tmp_path, source), Output())
    assert (result.status, result.exit_code) == (status, exit_code)
    assert message in str(result.message) if message else result.message is None


def test_of_very_many_events_the_first_are_passed_on_and_the_last_says_so() -> None:
    events = [{"n": n, "at_s": n / 1000, "what": "launch"} for n in range(MAX_EVENTS + 5)]
    passed_on = first_events(events)
    assert passed_on[:-1] == events[:MAX_EVENTS]
    assert (passed_on[-1]["what"], passed_on[-1]["limit"]) == ("cut_off", MAX_EVENTS)
    assert first_events(events[:MAX_EVENTS]) == events[:MAX_EVENTS]


def test_what_the_lab_says_of_a_run_as_a_whole_is_passed_on_however_much_it_did() -> None:
    events: list[dict[str, object]] = [{"n": n, "at_s": 0.0, "what": "launch"} for n in range(MAX_EVENTS + 5)]
    summaries: list[dict[str, object]] = [
        {"n": 0, "at_s": 0.0, "what": what} for what in ("alive_at_peak", "key_averages")
    ]
    passed_on = first_events([*events, *summaries, *summaries])
    assert [event["what"] for event in passed_on[MAX_EVENTS:]] == ["cut_off", "alive_at_peak", "key_averages"]


def test_a_run_that_did_too_much_to_be_written_down_is_told_that() -> None:
    stopped = Outcome("too_large_report", None, None, "", 2.0, Gpu("simulated", "Test Card"))
    result = run_result(stopped, Limits(report_bytes=64_000_000))
    assert result.status == "crashed"
    assert result.message == "Stopped: what it did takes more than 64 MB to write down. Let it do fewer steps."


async def test_a_file_that_cannot_be_read_is_told(grader: Grader, tmp_path: Path) -> None:
    result = await grader.run(tmp_path / "nothing.py", Output())
    assert result.status == "crashed"
    assert "nothing.py can't be read" in str(result.message)
    (tmp_path / "latin.py").write_bytes(b"'\xe9'")
    assert "isn't UTF-8" in str((await grader.run(tmp_path / "latin.py", Output())).message)


async def test_errors_of_a_check_come_back_as_what_they_are(grader: Grader, tmp_path: Path) -> None:
    with pytest.raises(UnknownExercise, match="no exercise 'a/b'"):
        await grader.check("a/b", program(tmp_path, ""))
    with pytest.raises(SubmissionNotFound):
        await grader.check("synchronize/time_on_the_gpu", tmp_path / "nothing.py")


async def test_a_check_can_be_cancelled(grader: Grader, tmp_path: Path) -> None:
    first, _ = await started(grader, program(tmp_path, LOOP))
    checking = asyncio.create_task(grader.check("synchronize/time_on_the_gpu", program(tmp_path, LOOP, "loop.py")))
    await asyncio.sleep(0)
    await grader.cancel()
    await first
    await grader.cancel()
    with pytest.raises(Cancelled):
        await checking


async def test_a_callers_own_error_comes_back_to_the_caller(grader: Grader, tmp_path: Path) -> None:
    def take(_: str) -> None:
        raise LookupError("the screen is gone")

    with pytest.raises(LookupError):
        await grader.run(program(tmp_path, LOOP), take)
    assert (await grader.run(program(tmp_path, "print(1)"), Output())).status == "finished"


@linux_only
async def test_a_service_that_dies_is_reported_and_started_again(grader: Grader, tmp_path: Path) -> None:
    task, pid = await started(grader, program(tmp_path, LOOP))
    assert grader._process is not None
    grader._process.kill()
    with pytest.raises(ServiceDied, match=r"exit code -9.*starts again"):
        await task
    assert ends(pid)
    assert (await grader.run(program(tmp_path, "print(1)"), Output())).status == "finished"


async def test_a_service_that_cannot_start_says_its_last_words(tmp_path: Path) -> None:
    grader = Grader([sys.executable, "-c", "raise SystemExit('no such module')"])
    with pytest.raises(ServiceDied, match=r"exit code 1\).*no such module"):
        await grader.run(tmp_path / "program.py", Output())
    await grader.close()


async def test_a_service_that_answers_nonsense_is_not_believed(tmp_path: Path) -> None:
    grader = Grader([sys.executable, "-c", "print('hello', flush=True); input()"])
    with pytest.raises(ServiceDied):
        await grader.run(tmp_path / "program.py", Output())
    await grader.close()


async def test_a_lab_that_does_not_start_is_told_with_each_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_EQUIPMENT", "broken")
    grader = Grader(SERVICE)
    for _ in range(2):
        with pytest.raises(RunnerUnavailable, match="on holiday"):
            await grader.run(program(tmp_path, "print(1)"), Output())
    await grader.close()


@linux_only
async def test_closing_leaves_no_process_behind(tmp_path: Path) -> None:
    grader = Grader(SERVICE)
    task, pid = await started(grader, program(tmp_path, LOOP))
    assert grader._process is not None
    processes = [grader._process.pid, *descendants(grader._process.pid)]
    assert pid in processes
    await grader.close()
    assert [pid for pid in processes if is_running(pid)] == []
    result = (await asyncio.gather(task, return_exceptions=True))[0]
    assert isinstance(result, Cancelled) or result.status == "cancelled"  # type: ignore[union-attr]


async def test_a_closed_grader_says_so(tmp_path: Path) -> None:
    grader = Grader(SERVICE)
    await grader.close()
    with pytest.raises(GraderError, match="closed"):
        await grader.run(tmp_path / "program.py", Output())


@linux_only
def test_when_the_app_is_killed_everything_ends(tmp_path: Path) -> None:
    file = program(tmp_path, LOOP)
    app = f"""
import asyncio
from pathlib import Path
from grader.client import Grader
asyncio.run(Grader({SERVICE!r}).run(Path({str(file)!r}), lambda text: print(text, end="", flush=True)))
"""
    with subprocess.Popen([sys.executable, "-c", app], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline().split()[1])
        processes = descendants(process.pid)
        assert pid in processes
        assert len(processes) == 3  # the service, the warm process, the run
        os.kill(process.pid, signal.SIGKILL)
        assert all(ends(pid) for pid in processes)
