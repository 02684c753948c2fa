"""A submission gets a verdict: points for the checks that passed, and a message for each that didn't."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from grader import mistakes
from grader.check import check
from grader.errors import Cancelled, CheckFault, SeedOutOfRange, SubmissionNotFound, UnknownExercise
from grader.mistakes import Misconception
from grader.runner.cancellation import Cancellation
from grader.runner.warm import WarmRunner
from grader.verdict import CheckResult, Verdict, from_json, to_json

CHECKS = '''
import pytest
from grader.api import Seen, approx, mistake, workload

@pytest.fixture(scope="module")
def seen(submission) -> Seen:
    return submission.call("f", workload("numbers", length=4), time_limit_s=1)

@pytest.mark.points(2)
def test_sum(seen):
    """The sum is right.

    This part is for authors.
    """
    assert seen.value["sum"] == 6, mistake("off", got=seen.value["sum"])

@pytest.mark.points(1)
def test_the_seed_is_used(seen, submission):
    assert seen.value["seed"] == submission.seed, "Use the seed that came with the numbers."
'''

RIGHT = "def f(numbers): return {'sum': sum(numbers['numbers']), 'seed': numbers['seed']}"

Checking = Callable[..., Verdict]


@pytest.fixture
def checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(mistakes, "misconceptions", lambda: {"off": Misconception("Off by {got}.")})
    return write_checks(tmp_path, CHECKS)


def write_checks(folder: Path, source: str) -> Path:
    checks = folder / "checks"
    (checks / "lesson").mkdir(parents=True, exist_ok=True)
    (checks / "lesson" / "test_exercise.py").write_text(source, encoding="utf-8")
    return checks


def submit(folder: Path, source: str | bytes) -> Path:
    file = folder / "exercise.py"
    file.write_bytes(source if isinstance(source, bytes) else dedent(source).encode())
    return file


@pytest.fixture
def graded(forking: WarmRunner, checks: Path, tmp_path: Path) -> Checking:
    def graded(source: str | bytes, **options: int) -> Verdict:
        return check("lesson/exercise", submit(tmp_path, source), runner=forking, checks=checks, **options)

    return graded


def test_a_right_submission_gets_all_points(graded: Checking) -> None:
    verdict = graded(RIGHT, seed=11)
    assert verdict.status == "passed"
    assert verdict.passed
    assert (verdict.points, verdict.max_points) == (3, 3)
    assert verdict.checks == [
        CheckResult("The sum is right.", True, 2, 2),
        CheckResult("The seed is used", True, 1, 1),
    ]
    assert verdict.seed == 11
    assert verdict.gpu is not None
    assert verdict.gpu.name == "A fake GPU"
    assert verdict.source_sha256 == hashlib.sha256(RIGHT.encode()).hexdigest()


def test_a_partly_right_submission_gets_its_points_and_the_mistake(graded: Checking) -> None:
    verdict = graded("def f(numbers): return {'sum': 7, 'seed': numbers['seed']}")
    assert (verdict.status, verdict.points) == ("failed", 1)
    assert verdict.checks[0] == CheckResult("The sum is right.", False, 0, 2, "Off by 7.", "off")
    assert verdict.checks[1].passed


def test_a_plain_message_is_told_without_a_mistake(graded: Checking) -> None:
    verdict = graded("def f(numbers): return {'sum': 6, 'seed': -1}")
    assert verdict.checks[1].message == "Use the seed that came with the numbers."
    assert verdict.checks[1].mistake is None


def test_the_same_seed_gives_the_same_verdict(graded: Checking) -> None:
    source = "import random\ndef f(numbers): return {'sum': random.random(), 'seed': 0}"
    assert graded(source, seed=5).checks == graded(source, seed=5).checks
    assert graded(source, seed=5).checks != graded(source, seed=6).checks


def test_a_seed_is_drawn_and_recorded(graded: Checking) -> None:
    first, second = graded(RIGHT), graded(RIGHT)
    assert first.seed != second.seed
    assert graded(RIGHT, seed=first.seed).checks == first.checks


@pytest.mark.parametrize("seed", [-1, 2**31, 10**30, 1.0, True])
def test_a_seed_that_no_verdict_has_is_wrong_usage(
    seed: int, forking: WarmRunner, checks: Path, tmp_path: Path
) -> None:
    file = tmp_path / "exercise.py"
    file.write_text(RIGHT)
    with pytest.raises(SeedOutOfRange, match="from 0 to 2147483647"):
        check("lesson/exercise", file, seed=seed, runner=forking, checks=checks)


@pytest.mark.parametrize("seed", [0, 2**31 - 1])
def test_the_first_and_the_last_seed_can_be_used(seed: int, graded: Checking) -> None:
    assert graded(RIGHT, seed=seed).status == "passed"


def test_what_is_expected_is_measured_once_and_apart_from_the_submission(forking: WarmRunner, tmp_path: Path) -> None:
    source = """
import pytest
from grader.api import workload

@pytest.mark.points(1)
def test_apart(submission):
    expected = [submission.expected(workload("numbers", length=5)) for _ in range(2)]
    assert expected[0] == expected[1] and expected[0]["sum"] == 10, f"{expected}"
    assert expected[0]["seed"] == submission.seed, "another seed"
    seen = submission.call("f")
    assert seen.value != expected[0]["pid"], "in the same process"
"""
    file = tmp_path / "exercise.py"
    file.write_text("import os\ndef f(): return os.getpid()")
    verdict = check("lesson/exercise", file, runner=forking, checks=write_checks(tmp_path, source))
    assert verdict.status == "passed", verdict


def test_what_can_not_be_measured_is_a_fault_of_the_course(forking: WarmRunner, tmp_path: Path) -> None:
    source = """
import pytest
from grader.api import workload

@pytest.mark.points(1)
def test_apart(submission):
    submission.expected(workload("broken"))
"""
    file = tmp_path / "exercise.py"
    file.write_text("def f(): return 1")
    verdict = check("lesson/exercise", file, runner=forking, checks=write_checks(tmp_path, source))
    assert (verdict.status, verdict.points) == ("error", 0)
    assert "What to expect of broken could not be measured (LookupError: no such thing)." in str(verdict.checks[0])
    assert "fault of the course" in str(verdict.checks[0].message)


def test_a_verdict_survives_json(graded: Checking) -> None:
    verdict = graded(RIGHT)
    assert from_json(to_json(verdict)) == verdict
    assert to_json(verdict).startswith(b'{"schema":1,"exercise":"lesson/exercise","status":"passed",')


@pytest.mark.parametrize(
    ("source", "status", "message"),
    [
        (
            "def f(numbers):\n    return 1 / 0\n",
            "error",
            "`f` stopped with an error: ZeroDivisionError: division by zero\n"
            "  exercise.py, line 2, in f\n    return 1 / 0",
        ),
        ("def f(numbers:\n", "error", "exercise.py isn't valid Python, so it could not be run. SyntaxError: "),
        ("x = 1\nimport nothing\n", "error", "exercise.py stopped with an error while it was being loaded: "),
        (
            "def g(): pass",
            "error",
            "exercise.py has no function `f`. It defines: g. Keep the name that the file came with.",
        ),
        ("f = 3", "error", "`f` in exercise.py is of type int, not a function. Define it with `def`."),
        ("def f(): pass", "error", "`f` can't be called as the task asks (TypeError: too many positional arguments)."),
        (b"\xff\xfe\x00", "error", "exercise.py isn't UTF-8 text (line 1). Save it with the encoding UTF-8."),
        (b"x = 1\nname = '\xe9'", "error", "exercise.py isn't UTF-8 text (line 2)."),
        (b"#" * 1_000_001, "error", "exercise.py is larger than 1 MB."),
        ("def f(numbers):\n    while True: pass", "timeout", "`f` was still running after 1 seconds and was stopped."),
        ("import os\ndef f(numbers): os._exit(0)", "crashed", "Your code ended the process before there was a result"),
        ("def f(numbers): raise SystemExit", "error", "Your code called sys.exit() before there was a result."),
        (
            "import os, signal\ndef f(numbers): os.kill(os.getpid(), signal.SIGKILL)",
            "crashed",
            "Your code was killed by the system, most likely because it used too much memory.",
        ),
        (
            "import os, signal\ndef f(numbers): os.kill(os.getpid(), signal.SIGSEGV)",
            "crashed",
            "Your code crashed Python itself (SIGSEGV).",
        ),
        ("def f(numbers):\n    while True: print('x' * 999)", "crashed", "Your code printed more than 1 MB"),
    ],
)
def test_a_submission_that_brings_no_value_gets_a_reason(
    source: str | bytes, status: str, message: str, graded: Checking
) -> None:
    verdict = graded(source)
    assert (verdict.status, verdict.points, verdict.max_points) == (status, 0, 3)
    for result in verdict.checks:
        assert result.message is not None
        assert result.message.startswith(message)
        assert "Traceback" not in result.message


def test_control_characters_of_a_submission_do_not_reach_the_terminal(graded: Checking) -> None:
    message = graded("def f(numbers): raise ValueError('\\x1b[2J\\x07 \\u202e')").checks[0].message
    assert message is not None
    assert "ValueError: \ufffd[2J\ufffd \ufffd" in message


def test_calls_with_equal_arguments_are_made_once(forking: WarmRunner, tmp_path: Path) -> None:
    checks = write_checks(
        tmp_path,
        '''
import pytest

@pytest.mark.points(1)
def test_once(submission):
    """Once."""
    a, b, c = submission.call("f", 1), submission.call("f", 1), submission.call("f", 2)
    assert a.value == b.value != c.value, f"{a.value} {b.value} {c.value}"
''',
    )
    file = submit(tmp_path, "import uuid\ndef f(x): return str(uuid.uuid4())")
    assert check("lesson/exercise", file, runner=forking, checks=checks).passed


def test_an_endless_loop_is_waited_for_once(forking: WarmRunner, tmp_path: Path) -> None:
    source = """
import pytest

@pytest.mark.points(1)
@pytest.mark.parametrize("number", range(3))
def test_each(submission, number):
    submission.call("f", number, time_limit_s=0.2)
"""
    file, calls = tmp_path / "exercise.py", tmp_path / "calls"
    file.write_text(f"def f(x):\n    open({str(calls)!r}, 'a').write('x')\n    while True: pass")
    verdict = check("lesson/exercise", file, runner=forking, checks=write_checks(tmp_path, source))
    assert verdict.status == "timeout"
    assert len({result.message for result in verdict.checks}) == 1
    assert calls.read_text() == "x"


def test_a_file_can_be_checked_as_a_program(forking: WarmRunner, tmp_path: Path) -> None:
    checks = write_checks(
        tmp_path,
        '''
import pytest

@pytest.mark.points(1)
def test_output(submission):
    """It greets."""
    assert submission.run().stdout == "hello\\n", "It doesn't greet."
''',
    )
    assert check("lesson/exercise", submit(tmp_path, "print('hello')"), runner=forking, checks=checks).passed
    verdict = check("lesson/exercise", submit(tmp_path, "1 / 0"), runner=forking, checks=checks)
    assert verdict.status == "error"
    assert "exit code 1" in str(verdict.checks[0].message)
    assert "ZeroDivisionError" in str(verdict.checks[0].message)


@pytest.mark.parametrize(
    "body",
    [
        "pytest.skip('not today')",
        "pytest.xfail('known')",
        "raise KeyError('x')",
        "raise SystemExit(0)",
        "pytest.exit('over', 0)",
    ],
)
def test_a_check_that_does_not_succeed_earns_nothing(body: str, forking: WarmRunner, tmp_path: Path) -> None:
    checks = write_checks(
        tmp_path,
        f'import pytest\n@pytest.mark.points(1)\ndef test_a():\n    """A."""\n    {body}\n'
        '@pytest.mark.points(1)\ndef test_b():\n    """B."""\n    assert True, "never"\n',
    )
    try:
        verdict = check("lesson/exercise", submit(tmp_path, ""), runner=forking, checks=checks)
    except CheckFault:
        return
    assert not verdict.passed
    assert not verdict.checks[0].passed
    assert verdict.checks[0].message


@pytest.mark.parametrize("mark", ["@pytest.mark.xfail", "@pytest.mark.skip"])
def test_a_check_that_is_expected_to_fail_earns_nothing_by_passing(
    mark: str, forking: WarmRunner, tmp_path: Path
) -> None:
    checks = write_checks(
        tmp_path, f'import pytest\n{mark}\n@pytest.mark.points(1)\ndef test_a():\n    """A."""\n    assert True, "no"\n'
    )
    verdict = check("lesson/exercise", submit(tmp_path, ""), runner=forking, checks=checks)
    assert (verdict.points, verdict.status) == (0, "failed")


def test_a_check_that_fails_while_it_cleans_up_earns_nothing(forking: WarmRunner, tmp_path: Path) -> None:
    checks = write_checks(
        tmp_path,
        """
import pytest

@pytest.fixture
def folder():
    yield
    assert False, "not clean"

@pytest.mark.points(1)
def test_a(folder):
    assert True, "never"
""",
    )
    verdict = check("lesson/exercise", submit(tmp_path, ""), runner=forking, checks=checks)
    assert (verdict.points, verdict.status, verdict.checks[0].message) == (0, "failed", "not clean")


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("def test_a(): pass", "test_a has no @pytest.mark.points"),
        ("import pytest\n@pytest.mark.points(True)\ndef test_a(): pass", "test_a has no @pytest.mark.points"),
        ("import pytest\n@pytest.mark.points(-1)\ndef test_a(): pass", "test_a has no @pytest.mark.points"),
        ("import pytest\n@pytest.mark.points(1.5)\ndef test_a(): pass", "test_a has no @pytest.mark.points"),
        ("1 / 0", "ZeroDivisionError"),
        ("", "there are none"),
    ],
)
def test_broken_checks_are_not_blamed_on_the_submission(
    source: str, complaint: str, forking: WarmRunner, tmp_path: Path
) -> None:
    with pytest.raises(CheckFault, match=complaint):
        check("lesson/exercise", submit(tmp_path, ""), runner=forking, checks=write_checks(tmp_path, source))


def test_what_a_check_stumbles_over_is_told_without_what_a_terminal_would_obey(
    forking: WarmRunner, tmp_path: Path
) -> None:
    source = 'import pytest\n@pytest.mark.points(1)\ndef test_a():\n    raise LookupError("no \\x1b[2J row")\n'
    verdict = check("lesson/exercise", submit(tmp_path, ""), runner=forking, checks=write_checks(tmp_path, source))
    assert "LookupError: no \ufffd[2J row" in str(verdict.checks[0].message)


def test_checks_of_the_same_name_are_not_confused(forking: WarmRunner, tmp_path: Path) -> None:
    template = 'import pytest\n@pytest.mark.points({0})\ndef test_{1}():\n    """{1}"""\n    assert True, "never"\n'
    checks = tmp_path / "checks"
    for lesson, points in (("first", 1), ("second", 2)):
        (checks / lesson).mkdir(parents=True)
        (checks / lesson / "test_same.py").write_text(template.format(points, lesson))
    file = submit(tmp_path, "")
    for lesson, points in (("first", 1), ("second", 2), ("first", 1)):
        verdict = check(f"{lesson}/same", file, runner=forking, checks=checks)
        assert (verdict.checks[0].name, verdict.max_points) == (lesson, points)


def test_a_pytest_configuration_nearby_changes_nothing(
    forking: WarmRunner, checks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --collect-only --nonsense\npython_functions = nothing")
    (checks / "lesson" / "conftest.py").write_text("raise SystemExit(1)")
    monkeypatch.setenv("PYTEST_ADDOPTS", "--nonsense")
    monkeypatch.setenv("PYTEST_PLUGINS", "no_such_plugin")
    monkeypatch.chdir(tmp_path)
    assert check("lesson/exercise", submit(tmp_path, RIGHT), runner=forking, checks=checks).passed


def test_a_cancelled_check_says_so(forking: WarmRunner, checks: Path, tmp_path: Path) -> None:
    cancellation = Cancellation()
    file = submit(tmp_path, "def f(numbers):\n    print('running')\n    while True: pass")
    with pytest.raises(Cancelled):
        check(
            "lesson/exercise",
            file,
            runner=forking,
            checks=checks,
            cancellation=cancellation,
            on_output=lambda _: cancellation.cancel(),
        )


@pytest.mark.parametrize("exercise", ["lesson/nothing", "nothing", "../etc/passwd", "lesson/../x", "", "/", "a/b/c"])
def test_an_unknown_exercise_is_wrong_usage(exercise: str, forking: WarmRunner, checks: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownExercise):
        check(exercise, submit(tmp_path, RIGHT), runner=forking, checks=checks)


def test_a_misspelt_exercise_gets_a_suggestion(forking: WarmRunner, checks: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownExercise, match="Did you mean 'lesson/exercise'"):
        check("lesson/exercize", submit(tmp_path, RIGHT), runner=forking, checks=checks)


def test_a_missing_file_is_wrong_usage(forking: WarmRunner, checks: Path, tmp_path: Path) -> None:
    for path in (tmp_path / "nothing.py", tmp_path):
        with pytest.raises(SubmissionNotFound):
            check("lesson/exercise", path, runner=forking, checks=checks)


def test_the_process_of_the_checks_never_imports_torch(checks: Path, tmp_path: Path) -> None:
    submit(tmp_path, RIGHT.replace("def", "import sys\ndef"))
    program = f"""
import sys
from pathlib import Path
from grader import mistakes
from grader.check import check
from grader.runner.warm import WarmRunner
from tests.grader.conftest import fake_runner
with fake_runner() as runner:
    file, checks = Path({str(tmp_path / "exercise.py")!r}), Path({str(checks)!r})
    verdict = check("lesson/exercise", file, runner=runner, checks=checks)
print(verdict.status, *(name in sys.modules for name in ("pytest", "torch", "numpy", "lab.gpu")))
"""
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["passed", "True", "False", "False", "False"]


@pytest.mark.parametrize("module", ["grader.client", "grader.verdict", "grader.__main__", "grader.service"])
def test_what_the_app_imports_is_light(module: str) -> None:
    heavy = ("torch", "pytest", "textual", "numpy", "lab.gpu")
    program = f"import sys, {module}; print(*(name for name in {heavy} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
