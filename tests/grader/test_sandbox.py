"""Other people's code reaches nothing but its own folder, and leaves nothing behind; or it isn't run."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from grader.errors import RunnerUnavailable
from grader.runner import bubblewrap, kernel, sandbox, seccomp
from grader.runner.confine import FIRST_ABI_WITH_FILES, landlock_abi
from grader.runner.protocol import Limits, Returned
from grader.runner.run import Outcome
from grader.runner.warm import WarmRunner
from tests.grader.conftest import HERE, ends, request

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or landlock_abi() < FIRST_ABI_WITH_FILES or not seccomp.supported(),
    reason="needs Landlock and a filter of system calls",
)
SECRET = "an instructor's token"


@pytest.fixture(scope="module", params=["alone", "in bubblewrap"])
def shut(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WarmRunner]:
    # The tests' own folder can't be seen from there.
    equipment = tmp_path_factory.mktemp("equipment")
    (equipment / "fake_equipment.py").write_text((HERE / "fake_equipment.py").read_text())
    environment = {"PYTHONPATH": f"{equipment}:{os.environ.get('PYTHONPATH', bubblewrap.PACKAGES)}"}
    bubble, why = bubblewrap.find()
    if request.param == "alone":
        bubble = None
    elif bubble is None:
        pytest.skip(f"bubblewrap: {why}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SECRET_TOKEN", SECRET)
        patch.setenv("PYTHONPATH", environment["PYTHONPATH"])
        with WarmRunner(equipment="fake_equipment", environment=environment, shut_in=True, bubble=bubble) as runner:
            runner.warm_up()
            yield runner


@pytest.fixture
def run(shut: WarmRunner, tmp_path: Path) -> Callable[..., Outcome]:
    def run(source: str, *arguments: object, limits: Limits | None = None) -> Outcome:
        return shut.run(request(source, tmp_path / "submission.py", *arguments), limits)

    return run


def value(outcome: Outcome) -> object:
    assert isinstance(outcome.report, Returned), (outcome.report, outcome.output, outcome.end)
    return outcome.report.value


def refused(run: Callable[..., Outcome], expression: str, *arguments: object) -> str:
    """The error with which something is refused."""
    return str(
        value(
            run(
                f"""
                import os, sys
                def f(*a):
                    try:
                        return "not refused: " + repr({expression})[:100]
                    except OSError as error:
                        return type(error).__name__ + ": " + str(error.errno)
                """,
                *arguments,
            )
        )
    )


DENIED = ("PermissionError", "OSError: 30", "OSError: 18", "FileNotFoundError")
"""Also: a system that can't be written, and a link to another file system."""


# What it can't reach


@pytest.mark.parametrize("place", ["solutions", "grader/checks", "exercises", "course", "tests", "README.md"])
def test_nothing_that_tells_the_answers_can_be_read(run: Callable[..., Outcome], place: str) -> None:
    path = bubblewrap.PACKAGES / place
    act = "os.listdir(a[0])" if path.is_dir() else "open(a[0]).read()"
    assert refused(run, act, str(path)) in ("FileNotFoundError: 2", "PermissionError: 13")


def test_the_files_of_others_can_not_be_read_listed_or_linked(run: Callable[..., Outcome], tmp_path: Path) -> None:
    (tmp_path / "of_another_student.py").write_text("42")
    for act in (
        f"open({str(tmp_path / 'of_another_student.py')!r}).read()",
        f"os.listdir({str(tmp_path)!r})",
        f"os.link({str(tmp_path / 'of_another_student.py')!r}, 'mine')",
        f"(os.symlink({str(tmp_path / 'of_another_student.py')!r}, 'there'), open('there').read())",
        "open('/etc/passwd').read()",
        f"os.listdir({str(Path.home())!r})",
    ):
        assert refused(run, act).startswith(DENIED), act


@pytest.mark.parametrize("folder", ["/tmp", "/var/tmp", "/srv", str(Path.home()), str(sandbox.PACKAGES), sys.prefix])
def test_nothing_outside_of_its_folder_can_be_written(run: Callable[..., Outcome], folder: str) -> None:
    if not Path(folder).is_dir():
        pytest.skip("not here")
    name = Path(folder) / "left_by_a_submission"
    assert refused(run, "open(a[0], 'w').write('x')", str(name)).startswith(DENIED)
    assert not name.exists()


def test_a_file_outside_can_not_be_emptied(run: Callable[..., Outcome], tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text("kept")
    kept.chmod(0o666)
    assert refused(run, "os.truncate(a[0], 0)", str(kept)).startswith(DENIED)
    assert kept.read_text() == "kept"


@pytest.mark.parametrize("family", ["AF_INET", "AF_INET6", "AF_NETLINK", "AF_PACKET", "AF_VSOCK"])
def test_there_is_no_network(run: Callable[..., Outcome], family: str) -> None:
    made = f"__import__('socket').socket(__import__('socket').{family}, __import__('socket').SOCK_RAW)"
    assert refused(run, made.replace("SOCK_RAW", "SOCK_DGRAM")) == "PermissionError: 1"
    assert refused(run, made) == "PermissionError: 1"


def test_a_socket_of_somebody_else_can_not_be_reached(run: Callable[..., Outcome], tmp_path: Path) -> None:
    for address in (str(tmp_path / "socket"), "\0of somebody else"):
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(address)
            listening.listen()
            connect = "__import__('socket').socket(__import__('socket').AF_UNIX).connect(a[0])"
            assert refused(run, connect, address).startswith(("PermissionError", "ConnectionRefusedError", "FileNot"))


def test_the_instructors_environment_is_not_told(run: Callable[..., Outcome]) -> None:
    source = "import os\ndef f(): return str(dict(os.environ)) + open('/proc/self/environ').read()"
    told = str(value(run(source)))
    assert SECRET not in told
    assert "HOME" in told


def test_no_other_process_is_seen_or_signalled(run: Callable[..., Outcome], shut: WarmRunner) -> None:
    source = """
        import os, signal
        def f(pids):
            seen = [int(name) for name in os.listdir("/proc") if name.isdigit()]
            refused = 0
            for pid in [*pids, os.getppid(), 1]:
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    refused += 1
            try:
                memory = open("/proc/1/mem", "rb").name
            except OSError:
                memory = ""
            return len(seen), refused, memory
    """
    assert shut._warm is not None
    assert value(run(source, [os.getpid(), shut._warm.process.pid])) == [2, 4, ""]


@pytest.mark.parametrize("name", sorted(seccomp.REFUSED))
def test_no_call_leads_into_the_kernel_or_another_process(run: Callable[..., Outcome], name: str) -> None:
    column = 0 if kernel.machine() == "x86_64" else 1
    source = """
        import ctypes
        def f(number):
            libc = ctypes.CDLL(None, use_errno=True)
            return libc.syscall(number, 0, 0, 0, 0, 0), ctypes.get_errno()
    """
    assert value(run(source, seccomp.REFUSED[name][column])) == [-1, 1]


def test_no_namespace_can_be_made_by_any_call(run: Callable[..., Outcome]) -> None:
    source = """
        import ctypes, platform
        def f(flags):
            libc = ctypes.CDLL(None, use_errno=True)
            clone = 56 if platform.machine() == "x86_64" else 220
            pid = libc.syscall(clone, flags | 17, 0, 0, 0, 0)
            if pid == 0:
                import os
                os._exit(0)
            return pid, ctypes.get_errno(), libc.syscall(435, 0, 0), ctypes.get_errno()
    """
    assert value(run(source, kernel.CLONE_NEWUSER)) == [-1, 1, -1, 38]


def test_nothing_can_be_gained_by_a_program_with_more_rights(run: Callable[..., Outcome], shut: WarmRunner) -> None:
    source = "def f(): return open('/proc/self/status').read()"
    status = dict(line.split(":\t", 1) for line in str(value(run(source))).splitlines() if ":\t" in line)
    assert status["NoNewPrivs"] == "1"
    assert status["Seccomp"] == "2"
    # Of all rights, at most that of reading what Landlock allows.
    assert int(status["CapEff"], 16) in (0, 1 << kernel.CAP_DAC_READ_SEARCH)
    assert sandbox.OTHER_USER not in shut.layers or status["Uid"].split()[0] != "0"


# What it can do


def test_it_works_in_a_folder_of_its_own_with_processes_and_shared_memory(run: Callable[..., Outcome]) -> None:
    source = """
        import multiprocessing, os, subprocess, sys, tempfile
        def f():
            with open("mine", "w") as file:
                file.write("x")
            with tempfile.NamedTemporaryFile() as file:
                inside = file.name.startswith(os.getcwd())
            with multiprocessing.Pool(2) as pool:
                squares = pool.map(abs, [-1, -2])
            said = subprocess.run([sys.executable, "-c", "print(1)"], capture_output=True, text=True)
            return os.listdir(), inside, squares, said.stdout, __import__("xml.dom.minidom").__name__
    """
    assert value(run(source)) == [["mine"], True, [1, 2], "1\n", "xml"]


def test_how_it_ended_is_told_as_for_ones_own_code(run: Callable[..., Outcome]) -> None:
    assert run("import os\ndef f(): os._exit(3)").exit_code == 3
    assert run("import os\ndef f(): os.kill(os.getpid(), 11)").exit_code == -11
    assert run("import os\ndef f(): os.kill(os.getpid(), 9)").exit_code == -9
    assert run("def f():\n    while True: pass", limits=Limits(time_s=0.5)).end == "timeout"
    assert run("def f():\n    while True: print('x' * 1000)", limits=Limits(output_bytes=1000)).end == "too_much_output"


def test_where_the_submission_lies_is_not_told_but_its_name_is(run: Callable[..., Outcome], tmp_path: Path) -> None:
    outcome = run("def f(): return __file__")
    assert str(value(outcome)).endswith("/submission.py")
    assert str(tmp_path) not in str(value(outcome))


# What it leaves behind


def test_no_file_of_a_run_is_there_for_the_next_one(run: Callable[..., Outcome], shut: WarmRunner) -> None:
    write = """
        import os
        def f():
            for folder in (".", "/dev/shm"):
                with open(folder + "/left", "w") as file:
                    file.write("x" * 1000)
            return os.getcwd()
    """
    folder = Path(str(value(run(write))))
    assert not folder.exists()
    assert not Path("/dev/shm/left").exists()
    look = "import os\ndef f(): return [os.path.exists(p) for p in ('left', '/dev/shm/left')]"
    assert value(run(look)) == [False, False]
    assert shut._warm is not None
    assert list(Path(shut._warm.runs).iterdir()) == []


def test_no_process_of_a_run_stays(run: Callable[..., Outcome]) -> None:
    source = """
        import os, signal, time
        def f():
            read, write = os.pipe()
            for _ in range(3):
                if os.fork() == 0:
                    os.setsid()
                    if os.fork() == 0:
                        for number in range(1, 30):
                            try:
                                signal.signal(number, signal.SIG_IGN)
                            except (OSError, ValueError):
                                pass
                        os.write(write, b".")
                        time.sleep(600)
                    os._exit(0)
            heard = 0
            while heard < 3:
                heard += len(os.read(read, 3))
            return heard
    """
    before = set(_pids())
    assert value(run(source)) == 3
    assert all(ends(pid, 10) for pid in set(_pids()) - before if _is_ours(pid))


def _pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _is_ours(pid: int) -> bool:
    try:
        return b"fake_equipment" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


# What it may use


def test_forks_without_end_are_stopped(run: Callable[..., Outcome]) -> None:
    source = """
        import os, time
        def f():
            while True:
                try:
                    if os.fork() == 0:
                        time.sleep(60)
                        os._exit(0)
                except OSError:
                    return "refused"
    """
    outcome = run(source)
    assert outcome.end == "too_many_processes" or value(outcome) == "refused"
    assert value(run("def f(): return 1")) == 1


@pytest.mark.parametrize(("processes", "end"), [(4, "timeout"), (40, "too_many_processes")])
def test_what_forks_on_until_its_time_is_over_is_told_of_its_processes_however_far_it_came(
    run: Callable[..., Outcome], processes: int, end: str
) -> None:
    source = """
        import os, time
        def f(processes):
            for _ in range(processes):
                if os.fork() == 0:
                    break
            time.sleep(60)
    """
    assert run(source, processes, limits=Limits(time_s=4)).end == end


def test_memory_that_many_processes_take_is_counted_together(run: Callable[..., Outcome]) -> None:
    source = """
        import os, time
        def f():
            for _ in range(4):
                if os.fork() == 0:
                    taken = bytearray(os.urandom(1000)) * 100_000
                    time.sleep(60)
            time.sleep(60)
    """
    assert run(source, limits=Limits(time_s=30, memory_bytes=300_000_000)).end == "too_much_memory"


def test_what_a_socket_holds_in_the_kernels_memory_has_limits(run: Callable[..., Outcome]) -> None:
    source = """
        import fcntl, os, resource, socket
        def f():
            here, there = socket.socketpair()
            before = here.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
            for option in (socket.SO_SNDBUF, 32):
                try:
                    here.setsockopt(socket.SOL_SOCKET, option, 10_000_000)
                except PermissionError:
                    continue
                return "larger"
            here.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            here.settimeout(1)
            here.send(b"x")
            most = [resource.getrlimit(limit)[1] for limit in (resource.RLIMIT_MSGQUEUE, resource.RLIMIT_SIGPENDING)]
            return [there.recv(1).decode(), here.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) == before, *most]
    """
    held = value(run(source))
    assert isinstance(held, list), held
    assert held[:2] == ["x", True]
    assert max(held[2:]) <= sandbox.MAX_PROCESSES


def test_sockets_of_many_processes_are_counted_together(run: Callable[..., Outcome]) -> None:
    source = """
        import os, socket, time
        def f():
            for _ in range(12):
                if os.fork() == 0:
                    taken = []
                    try:
                        while True:
                            taken.append(socket.socketpair())
                    except OSError:
                        time.sleep(60)
            time.sleep(60)
    """
    assert run(source, limits=Limits(time_s=30)).end == "too_much_memory"


def test_a_folder_takes_no_more_than_its_limit(run: Callable[..., Outcome]) -> None:
    source = """
        def f():
            taken = 0
            try:
                for number in range(100):
                    with open(str(number), "wb") as file:
                        taken += file.write(bytes(1_000_000))
            except OSError as error:
                return taken, error.errno
    """
    taken, error = value(run(source, limits=Limits(file_bytes=5_000_000)))  # type: ignore[misc]
    assert taken < 6_000_000
    assert error == 28


def test_a_folder_takes_no_more_files_than_its_limit(run: Callable[..., Outcome]) -> None:
    source = """
        import os
        def f():
            try:
                for number in range(100_000):
                    os.close(os.open(str(number), os.O_CREAT))
            except OSError as error:
                return number, error.errno
    """
    number, error = value(run(source))  # type: ignore[misc]
    assert number < sandbox.MAX_FILES
    assert error == 28


# Or it isn't run


def test_the_layers_are_told_and_those_that_are_required_are_among_them(shut: WarmRunner) -> None:
    assert {sandbox.LANDLOCK, sandbox.SECCOMP} <= set(shut.layers)
    assert (shut.layers[0] == "bubblewrap") == (shut._bubble is not None)


@pytest.mark.parametrize("broken", ["keep_files_inside", "filter_system_calls"])
def test_nothing_is_run_where_a_required_layer_fails(broken: str, tmp_path: Path) -> None:
    (tmp_path / "broken_equipment.py").write_text(
        dedent(f"""
            from fake_equipment import *
            from grader.runner import sandbox
            def refuse(*_):
                raise OSError("it is switched off")
            sandbox.{broken} = refuse
        """)
    )
    environment = {"PYTHONPATH": f"{tmp_path}:{HERE}:{os.environ.get('PYTHONPATH', bubblewrap.PACKAGES)}"}
    with (
        WarmRunner(equipment="broken_equipment", environment=environment, shut_in=True) as runner,
        pytest.raises(RunnerUnavailable, match=r"can't be kept apart here: it is switched off"),
    ):
        runner.run(request("def f(): return 1", tmp_path / "submission.py"))


def test_nothing_is_run_once_a_layer_is_gone_that_was_there(tmp_path: Path) -> None:
    (tmp_path / "fading_equipment.py").write_text(
        dedent("""
            from fake_equipment import *
            from grader.runner import child, sandbox
            child.enter_namespaces = lambda *_: sandbox.Entered()
        """)
    )
    environment = {"PYTHONPATH": f"{tmp_path}:{HERE}:{os.environ.get('PYTHONPATH', bubblewrap.PACKAGES)}"}
    with WarmRunner(equipment="fading_equipment", environment=environment, shut_in=True) as runner:
        runner.warm_up()
        if sandbox.NAMESPACES not in runner.layers:
            pytest.skip("no namespaces here")
        outcome = runner.run(request("def f(): return 1", tmp_path / "submission.py"))
    assert not isinstance(outcome.report, Returned)
    assert "can't be had any more" in str(outcome.report)


def test_what_lies_in_a_folder_that_is_allowed_can_still_be_hidden(tmp_path: Path) -> None:
    for name in ("a/b/secret/x", "a/b/open/x", "a/c/x", "d/x"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    allowed = sandbox.without([str(tmp_path)], [str(tmp_path / "a/b/secret")])
    assert sorted(allowed) == sorted(str(tmp_path / name) for name in ("a/b/open", "a/c", "d"))
    assert sandbox.without([str(tmp_path / "a/b/secret/x")], [str(tmp_path / "a/b/secret")]) == []


@pytest.mark.slow
def test_a_fresh_process_for_each_run_is_shut_in_before_it_imports_torch(tmp_path: Path) -> None:
    with WarmRunner(shut_in=True, fresh=True) as runner:
        runner.warm_up()
        source = (
            "import os\ndef f():\n    try:\n        return open('/etc/passwd').read()\n    except OSError: return 'no'"
        )
        assert value(runner.run(request(source, tmp_path / "submission.py"))) == "no"
        assert {sandbox.LANDLOCK, sandbox.SECCOMP} <= set(runner.layers)
