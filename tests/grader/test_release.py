"""What students get is the course without what grades them, and works; what Gradescope gets grades."""

from __future__ import annotations

import ast
import base64
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from grader.__main__ import main
from grader.check import exercise_ids
from grader.errors import UnknownExercise
from grader.lint.places import THIS_COURSE
from grader.quiz import Answer, quiz_ids, read_answers
from grader.release import NotReleased, autograder, release
from grader.toml import read_toml

TIME, QUIZ = "synchronize/time_on_the_gpu", "synchronize/quiz"
MINE = "def time_on_the_gpu(work):\n    return 1.0  # mine\n"


@pytest.fixture(scope="module")
def handed_out(tmp_path_factory) -> Path:
    """The course as students get it."""
    folder = tmp_path_factory.mktemp("handed out") / "course"
    release(folder)
    return folder


@pytest.fixture(scope="module")
def without_checks(tmp_path_factory) -> Path:
    """The same for a class that is graded by the instructor alone."""
    folder = tmp_path_factory.mktemp("without checks") / "course"
    release(folder, checks=False)
    return folder


@pytest.fixture(params=["handed_out", "without_checks"])
def either(request) -> Path:
    return request.getfixturevalue(request.param)


def in_folder(folder: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A command where only the released course can be imported."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env={**clean, "PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", **environment},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )


def course(folder: Path, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return in_folder(folder, "-m", "course", *arguments, PROFILE_FIRST_HOME=str(home))


def texts(folder: Path) -> dict[str, str]:
    files = (file for file in folder.rglob("*") if file.is_file() and file.suffix in (".py", ".toml", ".md", ".json"))
    return {file.relative_to(folder).as_posix(): file.read_text(encoding="utf-8") for file in files}


def functions(file: Path) -> Iterator[str]:
    """The functions of a module as text, without how they are indented."""
    text = file.read_text(encoding="utf-8")
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            yield ast.unparse(node)


# What isn't in it


def test_no_solution_is_in_it(either):
    starters = {text for file in THIS_COURSE.exercises.glob("*/*.py") for text in functions(file)}
    solved = {text for file in THIS_COURSE.solutions.glob("*/*.py") for text in functions(file)} - starters
    given = {text for file in either.rglob("*.py") for text in functions(file)}
    assert len(solved) >= len(exercise_ids())
    assert not solved & given


def test_no_answer_to_a_quiz_is_in_it(either):
    for file in THIS_COURSE.solutions.glob("*/quiz.*.toml"):
        answers = read_toml(file.read_text(encoding="utf-8"), dict[str, Answer])
        reasons = [reason for answer in answers.values() for reason in answer.why.values()]
        assert reasons
        assert not [name for name, text in texts(either).items() if any(reason in text for reason in reasons)]


def test_no_test_cheat_or_instructor_s_room_is_in_it(either):
    names = texts(either)
    assert not [name for name in names if name.startswith(("tests/", "grader/batch", "grader/reports", "grader/lint"))]
    assert "solutions/__init__.py" in names
    assert [name for name in names if name.startswith("grader/submissions")] == [
        name for name in sorted(names) if name in ("grader/submissions/__init__.py", "grader/submissions/hand_in.py")
    ]
    known_wrong = {file.read_text(encoding="utf-8") for file in THIS_COURSE.submissions.rglob("*.py")}
    assert not known_wrong & set(names.values())


def test_checks_are_in_it_unless_they_are_declined(handed_out, without_checks):
    assert len(list((handed_out / "grader/checks").glob("*/test_*.py"))) == len(exercise_ids())
    assert not (without_checks / "grader/checks").exists()


def test_nothing_of_this_machine_is_in_it(either):
    paths = [str(THIS_COURSE.root), str(Path.home()), os.environ.get("PROFILE_FIRST_HOME", "no home")]
    assert not [name for name, text in texts(either).items() if any(path in text for path in paths if len(path) > 5)]
    assert not list(either.rglob("__pycache__"))


def test_whatever_its_modules_import_is_in_it(either):
    """Imports within functions too: one that is missing would be found by a student."""
    missing = []
    for file in either.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            for name in names:
                place = either / name.replace(".", "/")
                ours = name.partition(".")[0] in ("course", "exercises", "solutions", "grader", "lab")
                ours = ours and name != "grader.batch.command"  # `grade` isn't offered there, as the next test says
                if ours and not (place.is_dir() or place.with_suffix(".py").is_file()):
                    missing.append(f"{file.relative_to(either)}: {name}")
    assert missing == []


def test_it_doesn_t_offer_to_grade_a_class(either, tmp_path):
    helped = course(either, tmp_path, "--help")
    assert helped.returncode == 0, helped.stderr
    assert "submit" in helped.stdout
    assert "grade what a class" not in helped.stdout
    assert course(either, tmp_path, "grade", "x", "--out", "y").returncode == 2


# What works in it


def test_it_lists_its_lessons_and_hands_out_hints(either, tmp_path):
    listed = course(either, tmp_path, "list")
    assert listed.returncode == 0, listed.stderr
    assert TIME in listed.stdout
    assert course(either, tmp_path, "hint", TIME).returncode == 0


def test_it_lets_students_hand_in(either, tmp_path):
    home = tmp_path / "home"
    file = home / f"workspace/{TIME}.py"
    file.parent.mkdir(parents=True)
    file.write_text(MINE)
    (file.parent / "quiz.toml").write_text('[answers]\nforward_or_copy = "bus"\n')
    packed = course(either, home, "submit", "--out", str(tmp_path / "x.zip"), "--json")
    assert packed.returncode == 0, packed.stderr
    assert [each["exercises"] for each in json.loads(packed.stdout)["files"]] == [[QUIZ], [TIME]]


def test_it_writes_notebooks_and_takes_them_back(either, tmp_path):
    assert course(either, tmp_path, "notebook", "synchronize", "--out", str(tmp_path / "books")).returncode == 0
    books = sorted(map(str, (tmp_path / "books/synchronize").iterdir()))
    packed = course(either, tmp_path, "submit", *books, "--out", str(tmp_path / "x.zip"), "--json")
    assert packed.returncode == 0, packed.stderr
    assert len(json.loads(packed.stdout)["files"]) == 3


def test_a_quiz_is_graded_by_the_instructor(either, tmp_path):
    file = tmp_path / "synchronize/quiz.toml"
    file.parent.mkdir()
    file.write_text('[answers]\nforward_or_copy = "bus"\n')
    checked = course(either, tmp_path, "check", str(file))
    assert checked.returncode == 2
    assert "graded by your instructor" in checked.stderr
    assert "profile-first submit" in checked.stderr


def test_without_checks_an_exercise_is_graded_by_the_instructor(without_checks, tmp_path):
    checked = course(without_checks, tmp_path, "check", str(without_checks / f"exercises/{TIME}.py"))
    assert checked.returncode == 2
    assert f"{TIME} is graded by your instructor" in checked.stderr


@pytest.mark.slow
def test_with_checks_an_exercise_is_checked(handed_out, tmp_path):
    file = tmp_path / f"{TIME}.py"
    file.parent.mkdir()
    file.write_text((THIS_COURSE.solutions / f"{TIME}.py").read_text())
    checked = course(handed_out, tmp_path, "check", str(file), "--json")
    assert checked.returncode == 0, checked.stderr
    assert json.loads(checked.stdout)[0]["points"] == 4


def test_its_readme_says_what_check_does(handed_out, without_checks):
    assert "says what was observed" in (handed_out / "README.md").read_text()
    assert "your instructor grades it" in (without_checks / "README.md").read_text()
    assert os.access(handed_out / "start", os.X_OK)


# Writing it


def test_a_folder_with_something_in_it_is_left_alone(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(NotReleased, match="there already"):
        release(tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_only_what_was_assigned_counts(tmp_path):
    release(tmp_path / "a", assigned=["synchronize", QUIZ])
    points = json.loads((tmp_path / "a/assignment.json").read_text())["points"]
    assert sorted(points) == [each for each in exercise_ids() if each.startswith("synchronize/")]
    with pytest.raises(UnknownExercise, match="no lesson 'sync'"):
        release(tmp_path / "b", assigned=["sync"])


def test_an_installed_copy_says_where_to_release_from(tmp_path):
    from grader.lint.places import Course

    with pytest.raises(NotReleased, match="installed copy"):
        release(tmp_path / "out", course=Course(tmp_path))


def test_the_command_says_what_it_wrote_and_what_it_can_t(tmp_path, capsys):
    assert main(["release"]) == 2
    assert "--out DIR" in capsys.readouterr().err
    assert main(["release", "--gradescope", str(tmp_path / "a.zip"), "--out", str(tmp_path / "course")]) == 0
    assert "without solutions" in capsys.readouterr().out
    assert main(["release", "--gradescope", str(tmp_path / "a.zip")]) == 2
    assert main(["release", "--gradescope", str(tmp_path / "a.tar")]) == 2


# GitHub Classroom


def test_the_workflow_is_one_that_github_takes(handed_out):
    workflow = yaml.safe_load((handed_out / ".github/workflows/classroom.yml").read_text())
    assert list(workflow["on"]) == ["push", "workflow_dispatch"]  # quoted: bare `on` is true in YAML
    assert workflow["permissions"] == {"actions": "read", "checks": "write", "contents": "read"}
    (job,) = workflow["jobs"].values()
    assert job["runs-on"] == "ubuntu-latest"
    for step in job["steps"]:
        assert ("uses" in step) != ("run" in step)
        assert "@v" in step.get("uses", "@v")
    report = job["steps"][-1]
    assert report["with"]["runners"].upper() + "_RESULTS" in report["env"]
    assert {step.get("id") for step in job["steps"]} >= {report["with"]["runners"]}


def classroom(folder: Path, output: Path, *, course_says: str) -> tuple[subprocess.CompletedProcess[str], dict]:
    """Run the workflow's script, with a course that does this when it is asked to check."""
    (folder / "course/__main__.py").write_text(course_says)
    done = in_folder(folder, ".github/classroom.py", GITHUB_OUTPUT=str(output))
    line = output.read_text() if output.exists() else "result="
    return done, json.loads(base64.b64decode(line.partition("=")[2]) or "{}")


@pytest.fixture
def repository(tmp_path) -> Path:
    """A student's repository, with one exercise worked on."""
    folder = tmp_path / "repository"
    release(folder, assigned=[TIME, "synchronize/time_with_events"])
    file = folder / f"work/workspace/{TIME}.py"
    file.parent.mkdir(parents=True)
    file.write_text(MINE)
    return folder


VERDICT = """\
import json
check = {"name": "It waits", "passed": PASSED, "message": "It didn't.", "points": POINTS, "max_points": 4}
print(json.dumps([{"status": STATUS, "points": POINTS, "checks": [check], "duration_s": 1.5}]))
"""


def verdict(points: int, status: str) -> str:
    return (
        VERDICT.replace("PASSED", str(status == "passed"))
        .replace("POINTS", str(points))
        .replace("STATUS", repr(status))
    )


def test_classroom_gets_the_points_of_each_exercise(repository, tmp_path):
    done, results = classroom(repository, tmp_path / "output", course_says=verdict(3, "failed"))
    assert done.returncode == 0, done.stderr
    points = json.loads((repository / "assignment.json").read_text())["points"]
    assert (results["version"], results["status"], results["max_score"]) == (1, "fail", sum(points.values()))
    first, second = results["tests"]
    assert (first["name"], first["score"], first["status"], first["message"]) == (
        TIME,
        3,
        "fail",
        "It waits: It didn't.",
    )
    assert (second["score"], second["message"][:8]) == (0, "There is")


@pytest.mark.parametrize("says", ["", "print('no json')", "import os; os._exit(0)", "print('[]')", "print('[{}]')"])
def test_classroom_gives_nothing_where_there_is_no_verdict(repository, tmp_path, says):
    done, results = classroom(repository, tmp_path / "output", course_says=says)
    assert done.returncode == 0, done.stderr
    assert {test["score"] for test in results["tests"]} == {0}
    assert results["status"] == "fail"


def test_classroom_never_gives_more_than_the_maximum(repository, tmp_path):
    _, results = classroom(repository, tmp_path / "output", course_says=verdict(99, "passed"))
    assert results["tests"][0]["score"] == 4


def test_what_a_message_says_is_no_command_to_github(repository, tmp_path):
    says = verdict(0, "error").replace("It didn't.", "ValueError:\\n::set-output name=result::e30=")
    done, _ = classroom(repository, tmp_path / "output", course_says=says)
    lines = done.stdout.splitlines()
    token = lines[0].removeprefix("::stop-commands::")
    assert len(token) == 32
    assert lines.index("::set-output name=result::e30=") < lines.index(f"::{token}::")


def test_classroom_without_checks_says_what_was_handed_in(tmp_path):
    release(tmp_path / "repository", checks=False)
    file = tmp_path / f"repository/work/workspace/{TIME}.py"
    file.parent.mkdir(parents=True)
    file.write_text(MINE)
    done, results = classroom(tmp_path / "repository", tmp_path / "output", course_says="")
    assert (done.returncode, results) == (0, {})
    assert TIME in done.stdout


# Gradescope


@pytest.fixture(scope="module")
def autograder_zip(tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("gradescope") / "autograder.zip"
    autograder(file, assigned=["synchronize"])
    return file


def test_gradescope_gets_everything_that_grades(autograder_zip):
    with zipfile.ZipFile(autograder_zip) as zipped:
        names = set(zipped.namelist())
        modes = {name: zipped.getinfo(name).external_attr >> 16 for name in ("run_autograder", "setup.sh")}
        points = json.loads(zipped.read("assignment.json"))["points"]
    assert {f"course/solutions/{TIME}.py", "course/grader/autograde.py", "course/pyproject.toml"} <= names
    assert not [name for name in names if "/tests/" in name]
    assert modes == {"run_autograder": 0o755, "setup.sh": 0o755}
    assert sorted(points) == sorted(each for each in [*exercise_ids(), *quiz_ids()] if each.startswith("synchronize/"))


@pytest.fixture
def gradescope(autograder_zip, tmp_path) -> Path:
    """A machine of Gradescope's: /autograder with the unpacked zip in source, and a submission."""
    prefix = tmp_path / "autograder"
    (prefix / "source").mkdir(parents=True)
    (prefix / "submission").mkdir()
    subprocess.run([sys.executable, "-m", "zipfile", "-e", str(autograder_zip), str(prefix / "source")], check=True)
    return prefix


def run_autograder(prefix: Path, **environment: str) -> dict:
    """What Gradescope reads after it has run the script."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    given = {"AUTOGRADER": str(prefix), "PYTHON": sys.executable, **environment}
    subprocess.run(["bash", str(prefix / "source/run_autograder")], env={**clean, **given}, check=False, cwd=prefix)
    results: dict = json.loads((prefix / "results/results.json").read_text())
    return results


@pytest.mark.slow
def test_gradescope_grades_a_quiz_that_was_handed_in(gradescope):
    right = read_answers("synchronize")
    answers = "".join(f'{question} = "{answer.right}"\n' for question, answer in right.items())
    (gradescope / "submission/synchronize_quiz.toml").write_text(f"[answers]\n{answers}")
    (gradescope / "submission/notes.pdf").touch()
    results = run_autograder(gradescope)
    assert results["score"] == len(right)
    assert [test["status"] for test in results["tests"] if "quiz" in test["name"]] == len(right) * ["passed"]
    assert "notes.pdf" in results["output"]


def test_gradescope_gives_nothing_for_nothing(gradescope):
    results = run_autograder(gradescope)
    assert results["score"] == 0
    assert {test["score"] for test in results["tests"]} == {0}


@pytest.mark.slow
def test_gradescope_grades_what_submit_packed(gradescope, tmp_path):
    with zipfile.ZipFile(gradescope / "submission/hand-in.zip", "w") as zipped:
        zipped.write(THIS_COURSE.solutions / f"{TIME}.py", f"{TIME}.py")
    results = run_autograder(gradescope)
    assert results["score"] == 4, results


@pytest.mark.parametrize("python", ["/bin/false", "/nowhere/python"])
def test_an_autograder_that_fails_gives_nothing_and_says_so(gradescope, python):
    (gradescope / "results").mkdir()
    (gradescope / "results/results.json").write_text('{"score": 100}')
    results = run_autograder(gradescope, PYTHON=python)
    assert results["score"] == 0
    assert "no fault" in results["output"]


def test_an_autograder_without_an_assignment_gives_nothing_and_says_so(gradescope):
    (gradescope / "source/assignment.json").unlink()
    results = run_autograder(gradescope)
    assert (results["score"], results["tests"]) == (0, [])
    assert "no fault" in results["output"]


def test_scripts_are_sound_shell():
    for name in ("setup.sh", "run_autograder", "start"):
        script = THIS_COURSE.root / "grader/handout" / name
        assert subprocess.run(["bash", "-n", str(script)], check=False).returncode == 0
        assert os.access(script, os.X_OK)
