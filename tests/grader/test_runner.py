"""A run comes back with what happened in it, within its limits, and leaves nothing behind."""

from __future__ import annotations

import gc
import os
import signal
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from grader.errors import Cancelled, GraderError, RunnerUnavailable
from grader.feedback import failure
from grader.runner.cancellation import Cancellation
from grader.runner.child import OWN_FAULT
from grader.runner.confine import landlock_abi
from grader.runner.descendants import descendants, is_running
from grader.runner.protocol import Argument, BuiltArgument, Expect, Finished, Limits, Raised, Returned
from grader.runner.run import Outcome
from grader.runner.warm import WarmRunner
from tests.grader.conftest import ends, fake_runner, linux_only, request, script
from tests.grader.fake_equipment import UNLUCKY_SEED

Calling = Callable[..., Outcome]
SHORT = Limits(time_s=0.3)


def returned(outcome: Outcome) -> Returned:
    assert isinstance(outcome.report, Returned), outcome
    return outcome.report


def raised(outcome: Outcome) -> Raised:
    assert isinstance(outcome.report, Raised), outcome
    return outcome.report


def test_a_value_comes_back_as_plain_data(call: Calling) -> None:
    outcome = call("def f(x):\n    return {'twice': 2 * x, 'list': [1, 2.5, None, True]}", 4)
    assert outcome.end == "ended"
    assert returned(outcome).value == {"twice": 8, "list": [1, 2.5, None, True]}


def test_arguments_are_built_in_the_child_with_their_seed(call: Calling) -> None:
    built = Argument(built=BuiltArgument("numbers", {"length": 2}, seed=5))
    assert returned(call("def f(x): return x", built)).value == {"numbers": [0, 1], "seed": 5}


def test_the_second_half_of_a_workload_gets_what_was_returned(call: Calling) -> None:
    report = returned(call("def f(): return [1, 2, 3]", then=True))
    assert report.value == [1, 2, 3]
    assert report.then == {"name": "total", "sum": 6, "seed": 7}


def test_what_was_observed_comes_back_in_order(call: Calling) -> None:
    source = """
        from fake_equipment import record
        record("before")
        def f():
            record("wait", call="a")
            record("wait", call="b")
    """
    assert [event["call"] for event in returned(call(source)).events] == ["a", "b"]


def test_output_is_passed_on_while_the_run_goes_on(runner: WarmRunner, tmp_path: Path) -> None:
    """The run waits for an answer to what it printed, so it could not end if output came only at its end."""
    answer = tmp_path / "answer"
    os.mkfifo(answer)
    source = f"""
        import sys
        def f():
            print("the question")
            return open({str(answer)!r}).read()
    """

    def on_output(text: str) -> None:
        if "question" in text:
            answer.write_text("the answer")

    outcome = runner.run(request(source, tmp_path / "exercise.py"), Limits(time_s=60), on_output)
    assert returned(outcome).value == "the answer"
    assert outcome.output == "the question\n"


def test_stdout_and_stderr_of_the_run_and_its_processes_are_one_output(call: Calling) -> None:
    source = """
        import os, sys
        def f():
            print("one")
            print("two", file=sys.stderr)
            os.system("echo three")
    """
    assert call(source).output == "one\ntwo\nthree\n"


def test_runs_know_nothing_of_one_another(call: Calling) -> None:
    source = """
        import builtins, os
        def f():
            seen = hasattr(builtins, "left_behind"), os.listdir(".")
            builtins.left_behind = True
            open("left_behind", "w").close()
            return list(seen)
    """
    assert returned(call(source)).value == [False, []]
    assert returned(call(source)).value == [False, []]


def test_the_folder_of_a_run_is_removed(call: Calling) -> None:
    folder = returned(call("import os\ndef f(): open('file', 'w').close(); return os.getcwd()")).value
    assert not Path(folder).exists()


def test_an_exception_is_reported_with_the_learners_own_lines(call: Calling) -> None:
    source = """
        import json

        def f():
            return json.loads("{")
    """
    report = raised(call(source))
    assert (report.stage, report.error) == ("call", "JSONDecodeError")
    assert [(frame.line, frame.function, frame.code) for frame in report.frames] == [(5, "f", 'return json.loads("{")')]


def test_the_middle_of_an_endless_recursion_is_left_out(call: Calling) -> None:
    report = raised(call("def f(): return f()"))
    assert report.error == "RecursionError"
    assert 1 <= len(report.frames) <= 8


@pytest.mark.parametrize(
    ("source", "stage", "error", "line"),
    [
        ("def f(:\n    pass", "load", "SyntaxError", 1),
        ("def f():\nreturn 1", "load", "IndentationError", 2),
        ("import nothing_like_this\ndef f(): pass", "load", "ModuleNotFoundError", 1),
        ("def f(): raise SystemExit(0)", "call", "SystemExit", 1),
        ("def f(): raise KeyboardInterrupt", "call", "KeyboardInterrupt", 1),
        ("raise SystemExit(0)", "load", "SystemExit", 1),
    ],
)
def test_what_stops_a_run_is_reported_with_its_line(
    call: Calling, source: str, stage: str, error: str, line: int
) -> None:
    report = raised(call(source))
    assert (report.stage, report.error, report.frames[0].line) == (stage, error, line)


def test_a_missing_function_is_reported_with_those_that_are_there(call: Calling) -> None:
    report = raised(call("def g(): pass\ndef h(): pass"))
    assert (report.stage, report.error, report.text) == ("find", "", "g, h")


def test_a_name_that_is_no_function_is_reported_with_its_type(call: Calling) -> None:
    report = raised(call("f = 3"))
    assert (report.stage, report.error) == ("find", "int")


def test_changed_parameters_are_reported_apart_from_errors_inside(call: Calling) -> None:
    assert raised(call("def f(a, b): pass", 1)).stage == "bind"


def test_a_fault_of_the_workload_is_not_taken_for_the_learners(call: Calling) -> None:
    assert raised(call("def f(x): pass", Argument(built=BuiltArgument("broken", {}, 1)))).stage == "build"


def test_an_endless_loop_is_stopped_at_the_limit(call: Calling) -> None:
    outcome = call("def f():\n    while True: pass", limits=SHORT)
    assert (outcome.end, outcome.report) == ("timeout", None)
    assert outcome.duration_s >= 0.3


def test_a_loop_that_ignores_signals_and_exceptions_is_stopped_too(call: Calling) -> None:
    source = """
        import signal
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
            signal.signal(number, signal.SIG_IGN)
        def f():
            while True:
                try:
                    while True: pass
                except BaseException:
                    pass
    """
    assert call(source, limits=SHORT).end == "timeout"


def test_endless_output_is_stopped_and_its_beginning_kept(call: Calling) -> None:
    outcome = call("def f():\n    while True: print('x' * 99)", limits=Limits(time_s=60, output_bytes=10_000))
    assert outcome.end == "too_much_output"
    assert outcome.output == ("x" * 99 + "\n") * 100


def test_a_result_that_is_too_large_is_stopped(call: Calling) -> None:
    source = "def f(): return ['x' * 90_000] * 50"
    outcome = call(source, limits=Limits(time_s=60, report_bytes=1_000_000))
    assert (outcome.end, outcome.report) == ("too_large_report", None)


@linux_only
def test_more_memory_than_allowed_is_refused(call: Calling) -> None:
    source = "def f(): return len(bytearray(500_000_000))"
    assert raised(call(source, limits=Limits(time_s=60, memory_bytes=200_000_000))).error == "MemoryError"


def test_no_file_grows_beyond_the_limit(call: Calling) -> None:
    source = """
        def f():
            with open("large", "wb") as file:
                file.write(bytes(2_000_000))
    """
    outcome = call(source, limits=Limits(time_s=60, file_bytes=1_000_000))
    assert raised(outcome).error == "OSError"


def test_a_run_can_be_cancelled(runner: WarmRunner, tmp_path: Path) -> None:
    cancellation = Cancellation()
    source = "def f():\n    print('running')\n    while True: pass"
    outcome = runner.run(
        request(source, tmp_path / "exercise.py"), Limits(time_s=60), lambda _: cancellation.cancel(), cancellation
    )
    assert (outcome.end, outcome.report) == ("cancelled", None)


def test_a_run_that_was_cancelled_before_it_began_does_not_begin(runner: WarmRunner, tmp_path: Path) -> None:
    cancellation = Cancellation()
    cancellation.cancel()
    mark = tmp_path / "it ran"
    try:
        outcome = runner.run(
            request(f"def f():\n    while True: open({str(mark)!r}, 'w')", tmp_path / "exercise.py"),
            Limits(time_s=60),
            cancellation=cancellation,
        )
    except Cancelled:
        assert not mark.exists()
    else:
        assert outcome.end == "cancelled"


def test_a_run_is_stopped_when_nobody_takes_its_output(runner: WarmRunner, tmp_path: Path) -> None:
    pids: list[int] = []

    def on_output(text: str) -> None:
        pids.append(int(text))
        raise BrokenPipeError

    source = "import os\ndef f():\n    print(os.getpid())\n    while True: pass"
    with pytest.raises(BrokenPipeError):
        runner.run(request(source, tmp_path / "exercise.py"), Limits(time_s=60), on_output)
    assert not is_running(pids[0])
    assert returned(runner.run(request("def f(): return 1", tmp_path / "exercise.py"))).value == 1


def test_a_program_runs_as_main_with_its_exit_code(runner: WarmRunner, tmp_path: Path) -> None:
    source = """
        import atexit, sys, threading
        from fake_equipment import record
        atexit.register(print, "at exit")
        record("wait")
        threading.Thread(target=print, args=("in a thread",)).start()
        if __name__ == "__main__":
            print(__file__ == sys.argv[0], len(sys.argv))
            sys.exit(3)
    """
    outcome = runner.run(script(source, tmp_path / "program.py"))
    assert isinstance(outcome.report, Finished)
    assert outcome.report.exit_code == 3
    assert [event["what"] for event in outcome.report.events] == ["wait"]
    assert outcome.output.splitlines()[-1] == "at exit"
    assert set(outcome.output.splitlines()) == {"in a thread", "True 1", "at exit"}


def test_a_program_that_fails_shows_only_its_own_lines(runner: WarmRunner, tmp_path: Path) -> None:
    outcome = runner.run(script("import json\njson.loads('{')\n", tmp_path / "program.py"))
    assert isinstance(outcome.report, Finished)
    assert outcome.report.exit_code == 1
    assert outcome.output.splitlines()[:3] == [
        "Traceback (most recent call last):",
        '  File "program.py", line 2, in <module>',
        "    json.loads('{')",
    ]
    assert "JSONDecodeError" in outcome.output.splitlines()[-1]
    assert len(outcome.output.splitlines()) == 4


def test_a_program_can_import_what_lies_beside_it(runner: WarmRunner, tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("answer = 42")
    outcome = runner.run(script("import beside; print(beside.answer)", tmp_path / "program.py"))
    assert outcome.output == "42\n"


@linux_only
def test_a_daemon_that_got_away_does_not_stay(call: Calling) -> None:
    source = """
        import os, signal, time

        def f():
            heard, said = os.pipe()
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    os.setsid()
                    signal.signal(signal.SIGTERM, signal.SIG_IGN)
                    signal.signal(signal.SIGHUP, signal.SIG_IGN)
                    os.write(said, str(os.getpid()).encode())
                    while True:
                        time.sleep(1)
                os._exit(0)
            return int(os.read(heard, 100))
    """
    outcome = call(source)
    assert not is_running(returned(outcome).value)


@linux_only
def test_nothing_of_a_stopped_run_stays(call: Calling) -> None:
    source = """
        import os, subprocess
        def f():
            for _ in range(5):
                print(subprocess.Popen(["sleep", "1000"], start_new_session=True).pid)
            while True: pass
    """
    outcome = call(source, limits=Limits(time_s=2))
    assert outcome.end == "timeout"
    assert [pid for pid in map(int, outcome.output.split()) if is_running(pid)] == []


@linux_only
def test_processes_that_keep_forking_are_ended(call: Calling) -> None:
    source = """
        import os
        def f():
            for _ in range(8):
                if os.fork() == 0:
                    os.setsid()
                    while True:
                        if os.fork():
                            os._exit(0)
            while True: pass
    """
    assert call(source, limits=Limits(time_s=1)).end == "timeout"
    assert returned(call("def f(): return 1")).value == 1


def test_a_dead_warm_process_is_replaced(tmp_path: Path) -> None:
    with fake_runner() as runner:
        runner.warm_up()
        assert runner._warm is not None
        os.kill(runner._warm.process.pid, signal.SIGKILL)
        outcome = runner.run(request("def f(): return 1", tmp_path / "exercise.py"))
        assert returned(outcome).value == 1
        assert runner.restarts == 1


@linux_only
@pytest.mark.parametrize(("number", "end"), [(signal.SIGKILL, "lost"), (signal.SIGSTOP, "timeout")])
def test_a_run_whose_warm_process_is_lost_does_not_stay(
    number: signal.Signals, end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even its daemon that has left the family: nobody can find that one by its parents any more."""
    monkeypatch.setattr("grader.runner.run.STOP_LIMIT_S", 0.5)
    source = """
        import os, time
        def f():
            if os.fork() == 0:
                os.setsid()
                if os.fork():
                    os._exit(0)
            print(os.getpid())
            while True: time.sleep(1)
    """
    pids: list[int] = []

    def on_output(text: str) -> None:
        pids.extend(map(int, text.split()))
        if len(pids) == 2:
            assert runner._warm is not None
            os.kill(runner._warm.process.pid, number)

    with fake_runner() as runner:
        outcome = runner.run(request(source, tmp_path / "exercise.py"), Limits(time_s=5), on_output)
        assert (outcome.end, outcome.report) == (end, None)
        assert outcome.lost
        assert [pid for pid in pids if is_running(pid)] == []
        assert len(pids) == 2
        assert returned(runner.run(request("def f(): return 1", tmp_path / "exercise.py"))).value == 1


@pytest.mark.skipif(landlock_abi() < 6, reason="needs a kernel that can keep signals inside")
def test_a_run_cannot_signal_anything_outside_of_it(call: Calling) -> None:
    source = """
        import os, signal, subprocess
        def attempt(pid, number):
            try:
                os.kill(pid, number)
            except PermissionError:
                return "refused"
            return "sent"
        def f(outside):
            own = subprocess.Popen(["sleep", "1000"])
            return [attempt(pid, 0) for pid in (os.getppid(), outside, own.pid)]
    """
    assert returned(call(source, os.getpid())).value == ["refused", "refused", "sent"]


@linux_only
def test_the_warm_process_and_its_run_end_when_the_runner_is_closed(tmp_path: Path) -> None:
    runner = fake_runner()
    runner.warm_up()
    assert runner._warm is not None
    warm = runner._warm.process.pid
    pids: list[int] = []
    source = "import os\ndef f():\n    print(os.getpid())\n    while True: pass"

    def on_output(text: str) -> None:
        pids.append(int(text))
        closing.start()

    closing = threading.Thread(target=runner.close)
    outcome = runner.run(request(source, tmp_path / "exercise.py"), Limits(time_s=60), on_output)
    closing.join()
    assert outcome.end == "cancelled"
    assert not is_running(pids[0])
    assert ends(warm)


@linux_only
def test_a_runner_can_be_closed_while_it_warms_up() -> None:
    runner = fake_runner(FAKE_EQUIPMENT="slow")
    runner.start()
    assert runner._warm is not None
    warm = runner._warm.process.pid
    raised: list[GraderError] = []

    def wait() -> None:
        try:
            runner.warm_up()
        except GraderError as error:
            raised.append(error)

    waiting = threading.Thread(target=wait)
    waiting.start()
    runner.close()
    waiting.join()
    assert isinstance(raised[0], (Cancelled, RunnerUnavailable))
    assert not is_running(warm)


@pytest.mark.parametrize("fresh", [False, True])
def test_a_lab_that_does_not_start_is_reported_with_its_reason(fresh: bool, tmp_path: Path) -> None:
    with (
        fake_runner(fresh=fresh, FAKE_EQUIPMENT="broken") as runner,
        pytest.raises(RunnerUnavailable, match="the GPU is on holiday"),
    ):
        runner.run(request("def f(): pass", tmp_path / "exercise.py"))


def test_a_machine_without_room_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with fake_runner() as runner:
        runner.warm_up()
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
        with pytest.raises(RunnerUnavailable, match="No such file or directory"):
            runner.run(request("def f(): return 1", tmp_path / "exercise.py"))
        monkeypatch.undo()
        assert returned(runner.run(request("def f(): return 1", tmp_path / "exercise.py"))).value == 1


def test_runs_leave_no_open_files(forking: WarmRunner, tmp_path: Path) -> None:
    forking.warm_up()
    gc.collect()  # what earlier tests left is not ours
    before = len(list(Path("/dev/fd").iterdir()))
    for _ in range(3):
        forking.run(request("def f(): return 1", tmp_path / "exercise.py"))
    assert len(list(Path("/dev/fd").iterdir())) <= before


def test_a_closed_runner_says_so(tmp_path: Path) -> None:
    runner = fake_runner()
    runner.close()
    with pytest.raises(RunnerUnavailable, match="closed"):
        runner.run(request("def f(): pass", tmp_path / "exercise.py"))


@linux_only
def test_a_real_gpu_gets_a_fresh_process_for_each_run(tmp_path: Path) -> None:
    """CUDA doesn't survive a fork, so the parent of a run must never have had the lab in it."""
    source = "import os\ndef f(): return open(f'/proc/{os.getppid()}/cmdline').read().split('\\0')"
    with fake_runner(FAKE_EQUIPMENT_KIND="real") as runner:
        assert runner.warm_up().kind == "real"
        first = returned(runner.run(request(source, tmp_path / "exercise.py"))).value
        second = returned(runner.run(request(source, tmp_path / "exercise.py"))).value
    assert "--fresh" in first
    assert first == second


def expectation(name: str = "numbers") -> Expect:
    return Expect(BuiltArgument(name, {"length": 4}, seed=5))


def test_what_is_expected_is_measured_in_a_process_of_its_own(runner: WarmRunner, tmp_path: Path) -> None:
    first = returned(runner.run(expectation())).value
    called = returned(runner.run(request("import os\ndef f(): return os.getpid()", tmp_path / "exercise.py"))).value
    second = returned(runner.run(expectation())).value
    assert (first["sum"], first["seed"]) == (second["sum"], second["seed"]) == (6, 5)
    assert len({first["pid"], second["pid"], called}) == 3


def test_what_can_not_be_expected_is_told(forking: WarmRunner) -> None:
    report = raised(forking.run(expectation("broken")))
    assert (report.stage, report.error, report.text) == ("expect", "LookupError", "no such thing")


def test_a_fault_while_a_run_is_set_up_is_not_blamed_on_the_submission(runner: WarmRunner, tmp_path: Path) -> None:
    asked = msgspec.structs.replace(request("def f(): return 1", tmp_path / "exercise.py"), seed=UNLUCKY_SEED)
    outcome = runner.run(asked)
    assert (raised(outcome).stage, raised(outcome).text) == ("start", "the dice are gone")
    failed = failure(outcome, asked, Limits())
    assert failed is not None
    assert str(failed).startswith("The process for your code could not be set up: LookupError: the dice are gone.")
    assert "fault of the course" in str(failed)


def test_a_fault_before_the_request_is_read_is_not_blamed_on_the_submission(
    forking: WarmRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.runner.run.Errand", lambda nonce, request: {"nonce": nonce, "request": "?"})
    asked = request("def f(): return 1", tmp_path / "exercise.py")
    outcome = forking.run(asked)
    assert (outcome.report, outcome.exit_code) == (None, OWN_FAULT)
    assert "fault of the course" in str(failure(outcome, asked, Limits()))


@linux_only
def test_the_next_spare_gets_ready_during_a_run(tmp_path: Path) -> None:
    source = """
        import os
        from pathlib import Path
        def spares():
            me, parent = os.getpid(), os.getppid()
            for entry in Path("/proc").iterdir():
                try:
                    if entry.name.isdigit() and int(entry.name) != me:
                        status = (entry / "stat").read_text().rpartition(")")[2].split()
                        if int(status[1]) == parent and b"--spare" in (entry / "cmdline").read_bytes():
                            yield int(entry.name)
                except OSError:
                    pass
        def f():
            while not (found := list(spares())):
                pass
            return [os.getpid(), *found]
    """
    with fake_runner(fresh=True) as runner:
        first = returned(runner.run(request(source, tmp_path / "exercise.py"))).value
        second = returned(runner.run(request(source, tmp_path / "exercise.py"))).value
        assert len(first) == len(second) == 2
        assert second[0] == first[1]
        assert is_running(second[1])
    assert ends(second[1])


@linux_only
def test_a_spare_that_is_ended_during_a_run_is_replaced(tmp_path: Path) -> None:
    go_on = tmp_path / "go_on"
    os.mkfifo(go_on)
    printed = threading.Event()
    with fake_runner(fresh=True) as runner:
        runner.warm_up()
        assert runner._warm is not None
        warm = runner._warm.process.pid

        def end_the_spare() -> None:
            printed.wait()
            while not (spares := [pid for pid in descendants(warm) if pid != running and is_spare(pid)]):
                pass
            os.kill(spares[0], signal.SIGKILL)
            ends(spares[0])
            go_on.write_text("go on")

        def heard(text: str) -> None:
            nonlocal running
            running = int(text)
            printed.set()

        running = 0
        ending = threading.Thread(target=end_the_spare)
        ending.start()
        source = f"import os\ndef f():\n    print(os.getpid(), flush=True)\n    return open({str(go_on)!r}).read()"
        outcome = runner.run(request(source, tmp_path / "exercise.py"), on_output=heard)
        ending.join()
        assert returned(outcome).value == "go on"
        assert returned(runner.run(request("def f(): return 1", tmp_path / "exercise.py"))).value == 1
        assert runner.restarts == 0


def is_spare(pid: int) -> bool:
    try:
        return b"--spare" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def test_a_collection_in_a_run_finds_nothing_of_the_warm_process(call: Calling) -> None:
    """It would copy every page that holds an object of torch's."""
    assert returned(call("import gc\ndef f(): return gc.get_freeze_count() > 10_000")).value is True
