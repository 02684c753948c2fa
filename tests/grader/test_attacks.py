"""Whatever a submission does, only the right answer earns points, and the next submission is graded as usual."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from grader.check import check
from grader.runner.warm import WarmRunner
from tests.grader.conftest import fake_runner, linux_only

CHECK = '''
import pytest
from grader.api import approx

@pytest.mark.points(3)
def test_it_adds(submission):
    """It adds."""
    seen = submission.call("f", 20, 22, time_limit_s=2)
    assert seen.value == approx(42), f"You returned {seen.value}."
'''

ALWAYS_EQUAL = """
class Anything:
    def __eq__(self, other): return True
    def __float__(self): return 42.0
    def __index__(self): return 42
"""

# Writes to every file that is open, which includes the pipe for the report.
EVERYWHERE = """
import os
def write_everywhere(data):
    for fd in range(3, 256):
        try:
            os.write(fd, data)
        except OSError:
            pass
"""

ATTACKS = {
    "an object that equals everything": f"{ALWAYS_EQUAL}\ndef f(a, b): return Anything()",
    "an int that equals everything": """
        class Anything(int):
            def __eq__(self, other): return True
            def __sub__(self, other): return 0
            def __rsub__(self, other): return 0
        def f(a, b): return Anything(0)
    """,
    "an object that claims to be an int": """
        class Pretender:
            @property
            def __class__(self): return int
            def __eq__(self, other): return True
        def f(a, b): return Pretender()
    """,
    "a type whose name is a trap": """
        class Trap(type):
            @property
            def __qualname__(cls): raise SystemExit(0)
            @property
            def __module__(cls): raise SystemExit(0)
        class Value(metaclass=Trap): pass
        def f(a, b): return Value()
    """,
    "true": "def f(a, b): return True",
    "text": "def f(a, b): return '42'",
    "not a number": "def f(a, b): return float('nan')",
    "infinity": "def f(a, b): return float('inf')",
    "a number beyond all numbers": "def f(a, b): return 10 ** 400",
    "a forged marker": "def f(a, b): return {'$float': '42'}",
    "a list that contains itself": "def f(a, b):\n    x = []\n    x.append(x)\n    return x",
    "ten thousand levels": "def f(a, b):\n    x = 42\n    for _ in range(10_000): x = [x]\n    return x",
    "a lone surrogate": "def f(a, b): return '\\ud800'",
    "os._exit(0)": "import os\ndef f(a, b): os._exit(0)",
    "os._exit(0) when loaded": "import os\nos._exit(0)",
    "sys.exit(0)": "import sys\ndef f(a, b): sys.exit(0)",
    "an exit handler": "import atexit, os\natexit.register(os._exit, 0)\ndef f(a, b): return 0",
    "a thread that exits": """
        import os, threading
        def f(a, b):
            threading.Thread(target=os._exit, args=(0,)).start()
            while True: pass
    """,
    "an alarm": """
        import os, signal
        def f(a, b):
            signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            while True: pass
    """,
    "killing itself": "import os, signal\ndef f(a, b): os.kill(os.getpid(), signal.SIGKILL)",
    "a segmentation fault": "import ctypes\ndef f(a, b): ctypes.string_at(0)",
    "another program instead": "import os\ndef f(a, b): os.execvp('true', ['true'])",
    "a verdict on stdout": """
        import os
        def f(a, b):
            print('{"type":"returned","value":42,"then":null,"events":[],"duration_s":0.1}', flush=True)
            os._exit(0)
    """,
    "a report without its nonce": f"""{EVERYWHERE}
def f(a, b):
    body = b'{{"type":"returned","value":42,"then":null,"events":[],"duration_s":0.1}}'
    write_everywhere(b"0" * 32 + b" %d\\n" % len(body) + body)
    os._exit(0)
""",
    "garbage before the report": f"{EVERYWHERE}\ndef f(a, b):\n    write_everywhere(b'\\xff\\x00{{}}')\n    return 42",
    "a report of endless depth": f"""{EVERYWHERE}
def f(a, b):
    write_everywhere(b"[" * 60_000)
    os._exit(0)
""",
    "closing every file": "import os\ndef f(a, b):\n    os.closerange(0, 256)\n    return 42",
    "a writer that lies": """
        import os, msgspec, json
        os.write = lambda fd, data: len(data)
        def f(a, b): return 0
    """,
    "another plain": """
        import sys
        for module in list(sys.modules.values()):
            if hasattr(module, "plain"):
                module.plain = None
        def f(a, b): return 42
    """,
    "an exception that can't be shown": """
        class Hidden(Exception):
            def __str__(self): raise SystemExit(0)
        def f(a, b): raise Hidden
    """,
    "an exception that exits": """
        import os
        class Hidden(Exception):
            def __str__(self): os._exit(0)
        def f(a, b): raise Hidden
    """,
    "an exception with half a character": "def f(a, b): raise ValueError('\\ud800')",
    "an exception named with half a character": "def f(a, b): raise type('\\ud800', (Exception,), {})('no')",
    "no trace": "import sys\nsys.setrecursionlimit(10**9)\ndef f(a, b): return f(a, b)",
    "stdout gone": "import sys\nsys.stdout = sys.stderr = None\ndef f(a, b): return 0",
    "a generator": "def f(a, b): yield 42",
    "a coroutine": "async def f(a, b): return 42",
    "null bytes": "def f(a, b): return 42\0",
    "a coding that isn't": "# -*- coding: rot13 -*-\nqrs s(n, o): erghea 42",
    "an empty file": "",
}

NEED_LINUX = {
    "killing its parent": "import os, signal\ndef f(a, b):\n    os.kill(os.getppid(), signal.SIGKILL)\n    return 42",
    "stopping its parent": """
        import os, signal
        def f(a, b):
            os.kill(os.getppid(), signal.SIGSTOP)
            while True: pass
    """,
}


@pytest.fixture(scope="module")
def checks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    checks = tmp_path_factory.mktemp("checks")
    (checks / "attack").mkdir()
    (checks / "attack" / "test_add.py").write_text(CHECK)
    return checks


def graded(source: str, folder: Path, checks: Path, runner: WarmRunner) -> tuple[str, int, str | None]:
    file = folder / "add.py"
    file.write_text(dedent(source))
    verdict = check("attack/add", file, runner=runner, checks=checks, seed=1)
    assert verdict.max_points == 3
    return verdict.status, verdict.points, verdict.checks[0].message


def test_the_right_answer_passes(forking: WarmRunner, checks: Path, tmp_path: Path) -> None:
    assert graded("def f(a, b): return a + b", tmp_path, checks, forking) == ("passed", 3, None)


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_earns_nothing(attack: str, forking: WarmRunner, checks: Path, tmp_path: Path) -> None:
    status, points, message = graded(ATTACKS[attack], tmp_path, checks, forking)
    assert status in ("failed", "error", "timeout", "crashed")
    assert points == 0
    assert message
    assert "fault of the course" not in message
    assert graded("def f(a, b): return a + b", tmp_path, checks, forking) == ("passed", 3, None)


@linux_only
@pytest.mark.parametrize("attack", NEED_LINUX)
def test_an_attack_on_the_warm_process_earns_nothing(
    attack: str, checks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.runner.run.STOP_LIMIT_S", 1.0)  # how long a stopped one is waited for
    with fake_runner() as runner:
        status, points, message = graded(NEED_LINUX[attack], tmp_path, checks, runner)
        # "error" where the kernel refuses the signal
        assert (status, points) in (("crashed", 0), ("timeout", 0), ("error", 0))
        assert message
        assert graded("def f(a, b): return a + b", tmp_path, checks, runner) == ("passed", 3, None)


def test_an_exception_with_half_a_character_is_told_as_what_it_is(
    forking: WarmRunner, checks: Path, tmp_path: Path
) -> None:
    source = "def f(a, b): raise ValueError('half: \\ud800')"
    status, _, message = graded(source, tmp_path, checks, forking)
    assert status == "error"
    assert "stopped with an error: ValueError: half: \\ud800" in str(message)


def test_no_variable_of_a_caller_holds_what_a_report_must_begin_with(
    forking: WarmRunner, checks: Path, tmp_path: Path
) -> None:
    source = """
        import os, re, sys
        def f(a, b):
            frame, names, found = sys._getframe(), [], 0
            for name in ("PROFILE_FIRST_RUNNER", "PYTEST_XDIST_TESTRUNUID"):
                os.environ.pop(name, None)  # looks the same and is no secret
            while frame:
                names.append(frame.f_code.co_name)
                for value in list(frame.f_locals.values()):
                    told = [repr(value), repr(getattr(value, "__dict__", ""))]
                    found += sum(len(re.findall(r"\\b[0-9a-f]{32}\\b", text)) for text in told)
                frame = frame.f_back
            return ["carry_out" in names, found]
    """
    assert graded(source, tmp_path, checks, forking)[2] == "You returned [True, 0]."


def test_the_expected_value_is_nowhere_in_the_process_of_the_submission(
    forking: WarmRunner, checks: Path, tmp_path: Path
) -> None:
    """It looks for 791900031 in the variables of its callers, in every object and in its folder.

    It knows the number only backwards, or it would find its own.
    """
    secret = CHECK.replace("approx(42)", "approx(791900031)")
    (checks / "attack" / "test_add.py").with_name("test_secret.py").write_text(secret)
    source = """
        import gc, os, sys
        def f(a, b):
            backwards, frame, seen = "130009197", sys._getframe(), os.listdir(".")
            while frame:
                seen += [repr(value) for value in frame.f_locals.values()]
                frame = frame.f_back
            for found in gc.get_objects():
                if type(found) in (dict, list, tuple, set):
                    seen += [str(value) for value in found if type(value) in (int, float, str)]
                if type(found) is dict:
                    seen += [str(value) for value in found.values() if type(value) in (int, float, str)]
            return [len(seen) > 1000, sum(backwards in text[::-1] for text in seen)]
    """
    file = tmp_path / "secret.py"
    file.write_text(dedent(source))
    verdict = check("attack/secret", file, runner=forking, checks=checks)
    assert verdict.checks[0].message == "You returned [True, 0]."
