"""A notebook is graded if its code allows; if not, the message says which cell, why, and what to do."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.check import check, exercises_of
from grader.notebook import Notebook, answers_in, read_notebook
from grader.runner.warm import WarmRunner
from grader.source import Source, source_of
from grader.verdict import Verdict

RIGHT = "def f(numbers):\n    return sum(numbers['numbers'])"
CHECKS = """
import pytest
from grader.api import workload

@pytest.mark.points(1)
def test_sum(submission):
    assert submission.call("f", workload("numbers", length=4)).value == 6, "Not the sum."
"""
METADATA = {"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}}


def code(source: str | list[str], **more: Any) -> dict[str, Any]:
    return {"cell_type": "code", "source": source, "metadata": {}, "outputs": [], "execution_count": None, **more}


def markdown(source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "source": source, "metadata": {}}


def notebook(*cells: Any, minor: int = 5, **more: Any) -> dict[str, Any]:
    return {"nbformat": 4, "nbformat_minor": minor, "metadata": METADATA, "cells": list(cells), **more}


Checking = Callable[..., Verdict]


@pytest.fixture
def graded(forking: WarmRunner, tmp_path: Path) -> Checking:
    checks = tmp_path / "checks"
    (checks / "lesson").mkdir(parents=True)
    (checks / "lesson" / "test_exercise.py").write_text(CHECKS, encoding="utf-8")

    def graded(*cells: Any, raw: bytes | None = None, **more: Any) -> Verdict:
        file = tmp_path / "handed in.ipynb"
        file.write_bytes(raw if raw is not None else json.dumps(notebook(*cells, **more)).encode())
        return check("lesson/exercise", file, runner=forking, checks=checks)

    return graded


def message(verdict: Verdict) -> str:
    assert (verdict.status, verdict.points) == ("error", 0)
    return verdict.checks[0].message or ""


@pytest.mark.parametrize("minor", range(6))
def test_a_notebook_of_each_minor_version_is_graded(minor: int, graded: Checking) -> None:
    cell = code(RIGHT.splitlines(keepends=True))
    if minor == 5:
        cell["id"] = "the-cell"
    assert graded(markdown("# Title"), cell, minor=minor).passed


def test_a_notebook_of_version_3_is_graded(graded: Checking) -> None:
    cells = [
        {"cell_type": "heading", "level": 1, "source": ["Title"], "metadata": {}},
        {"cell_type": "code", "input": RIGHT.splitlines(keepends=True), "language": "python", "outputs": []},
    ]
    raw = {"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}, "worksheets": [{"cells": cells}]}
    assert graded(raw=json.dumps(raw).encode()).passed


def test_magics_shell_lines_and_other_languages_are_left_out(graded: Checking) -> None:
    assert graded(
        code("%matplotlib inline\n!nvidia-smi\n%load_ext autoreload"),
        code("%%bash\nrm -r nothing"),
        code("%%time\n" + RIGHT),
        code("f?"),
        code("files = !ls"),
        code("display(f)"),
    ).passed


@pytest.mark.parametrize(
    "change",
    [
        lambda book: book.pop("metadata"),
        lambda book: book.update(metadata=None),
        lambda book: book.update(metadata={"kernelspec": {"name": "conda-env-x-py"}, "language_info": {}}),
        lambda book: book["cells"][0].pop("metadata"),
        lambda book: book["cells"][0].pop("outputs"),
        lambda book: book["cells"][0].update(id="same") or book["cells"].append(copy.deepcopy(book["cells"][0])),
        lambda book: book["cells"][0].update(id="", outputs=[{"output_type": "stream", "text": "?" * 2_000_000}]),
        lambda book: book["cells"][0].update(outputs=["?"], execution_count="x", unknown=1),
        lambda book: book.update(colab={"provenance": []}) or book["cells"][0]["metadata"].update(id="x", colab={}),
        lambda book: book.pop("nbformat_minor"),
        lambda book: book["cells"].insert(0, {"cell_type": "raw", "source": "anything ("}),
        lambda book: book["cells"].insert(0, {"cell_type": "markdown", "source": "", "attachments": {"a.png": 1}}),
    ],
)
def test_a_notebook_that_isnt_valid_in_all_its_parts_is_graded(
    change: Callable[[dict[str, Any]], Any], graded: Checking
) -> None:
    book = notebook(code(RIGHT))
    change(book := copy.deepcopy(book))
    assert graded(raw=json.dumps(book).encode()).passed


def test_code_further_down_may_be_used_by_functions_above(graded: Checking) -> None:
    assert graded(code("def f(numbers):\n    return add(numbers['numbers'])"), code("add = sum")).passed


def test_an_error_is_told_by_its_cell_and_line(graded: Checking) -> None:
    told = message(graded(markdown("# Title"), code("import math"), code("def f(numbers):\n\n    return 1 / 0")))
    assert "handed in.ipynb, cell 3, line 3, in f" in told
    assert "return 1 / 0" in told


def test_a_syntax_error_is_told_by_its_cell_and_line(graded: Checking) -> None:
    assert "handed in.ipynb, cell 2, line 3" in message(graded(code("x = 1"), code(RIGHT + "\n)")))
    assert "cell 2, line 1" in message(graded(code("display(1)"), code(")")))


def test_a_cell_that_stops_with_an_error_ends_only_itself(graded: Checking) -> None:
    assert graded(
        code("print(f(1))", execution_count=2),
        code("from __future__ import annotations\nimport no_such_module"),
        code(RIGHT.replace("numbers)", "numbers: not_defined)"), execution_count=1),
        code("if __name__ == '__main__':\n    work = 1"),
        code("f(work)"),
        code("from google.colab import drive\ndrive.mount('/content')"),
        code("get_ipython().system('ls')"),
        code("pip install torch"),
        code("for x in"),
    ).passed


def test_await_outside_of_a_function_is_run_as_jupyter_does(graded: Checking) -> None:
    cells = [
        code("import asyncio"),
        code("async def later():\n    await asyncio.sleep(0)\n    return sum"),
        code("add = await later()\n\ndef f(numbers):\n    return add(numbers['numbers'])"),
    ]
    assert graded(*cells).passed


def test_half_a_character_is_no_fault_of_the_course(graded: Checking) -> None:
    assert graded(code(f"x = '\ud800'\n{RIGHT}")).passed


def test_cells_out_of_order_are_explained(graded: Checking) -> None:
    told = message(graded(code("x = later"), code("later = 1"), code("def f(numbers):\n    return x")))
    assert "cell 3, line 2, in f" in told
    assert "cell 1, line 1, had stopped before with NameError: name 'later' is not defined" in told
    assert "`later` is only defined in cell 2: move that cell up" in told


def test_what_needs_jupyter_or_colab_is_explained(graded: Checking) -> None:
    told = message(graded(code("files = !ls"), code("def f(numbers):\n    return files")))
    assert "only Jupyter runs it: `files = !ls` (cell 1, line 1)" in told
    told = message(graded(code(f"get_ipython().system('ls')\n{RIGHT}")))
    assert "there only in Jupyter" in told
    told = message(graded(code(f"from google.colab import drive\n{RIGHT}")))
    assert "there only in Colab" in told


def test_a_missing_function_is_told(graded: Checking) -> None:
    assert "has no function `f`" in message(graded(code("def g(): ...")))
    assert "has no function `f`" in message(graded())


WHOLE = json.dumps(notebook(code(RIGHT)))


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b"", "is empty. Save the notebook in Jupyter"),
        (b" \n", "is empty."),
        (WHOLE[: len(WHOLE) // 2].encode(), "ends in the middle"),
        (WHOLE[:-1].encode(), "ends in the middle"),
        (b"def f(numbers):\n    return 6\n", "isn't JSON"),
        (b"<!DOCTYPE html><html></html>", "isn't JSON"),
        (WHOLE.replace('"cells"', '\n<<<<<<< HEAD\n"cells"').encode(), "isn't JSON, as a notebook is (line 2"),
        (b"\xff\xfe\x00", "isn't UTF-8 text"),
        (b"[]", "no notebook"),
        (b"{}", "no list of cells"),
        (b'{"nbformat": 4, "cells": 3}', "no list of cells"),
        (b'{"nbformat": 4, "cells": [3]}', "cell 1 has no text as its source"),
        (b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": 3}]}', "cell 1 has no text as its source"),
        (b'{"nbformat": 5, "cells": []}', "notebook format 5"),
        (b'{"nbformat": 3, "worksheets": 3}', "no list of cells"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a": ' + b"9" * 5000 + b"}", "can't be read as JSON"),
        (json.dumps({**notebook(), "metadata": {"language_info": {"name": "R"}}}).encode(), "is a notebook for R."),
        (json.dumps({**notebook(), "metadata": {"kernelspec": {"language": "julia"}}}).encode(), "for julia."),
    ],
)
def test_what_cant_be_read_as_a_notebook_is_explained(raw: bytes, told: str, graded: Checking) -> None:
    assert told in message(graded(raw=raw))


def test_too_much_is_explained(graded: Checking) -> None:
    assert "Clear its outputs" in message(graded(raw=b" " * 10_000_001))
    assert "The code in handed in.ipynb is larger than 1 MB" in message(graded(code("#" * 1_000_001)))


def read(*cells: Any, **more: Any) -> Notebook:
    return read_notebook(json.dumps(notebook(*cells, **more)).encode(), "x.ipynb")


def test_each_line_of_the_source_has_its_place() -> None:
    source: Source = source_of(read(markdown("a\nb"), code("x = 1\ny = 2"), code("z = 3")), "x.ipynb")
    lines = source.text.split("\n")
    for statement, place in (("x = 1", "cell 2, line 1"), ("y = 2", "cell 2, line 2"), ("z = 3", "cell 3, line 1")):
        assert source.place(lines.index(statement) + 1) == place
    assert source.explained('  File "x.ipynb", line 1, in <module>').startswith("  x.ipynb, cell 1, line 1, in")


# Which exercise it is


def test_a_notebook_says_itself_which_exercises_it_holds(tmp_path: Path) -> None:
    file = tmp_path / "Untitled.ipynb"
    said = {"profile_first": {"exercises": ["synchronize/time_on_the_gpu", "synchronize/quiz", "no/such", 3]}}
    file.write_text(json.dumps(notebook(metadata=said)))
    assert exercises_of(file) == ["synchronize/time_on_the_gpu", "synchronize/quiz"]


@pytest.mark.parametrize(
    ("name", "exercises"),
    [
        ("synchronize/time_on_the_gpu.ipynb", ["synchronize/time_on_the_gpu"]),
        ("time_on_the_gpu.ipynb", ["synchronize/time_on_the_gpu"]),
        ("time_on_the_gpu (1).ipynb", ["synchronize/time_on_the_gpu"]),
        ("time_on_the_gpu-ada.ipynb", ["synchronize/time_on_the_gpu"]),
        ("synchronize/quiz.ipynb", ["synchronize/quiz"]),
        ("quiz.ipynb", []),  # every lesson has one
        ("Untitled.ipynb", []),
        ("time_on_the_gpu.py", []),
    ],
)
def test_otherwise_its_path_or_its_name_says_it(name: str, exercises: list[str], tmp_path: Path) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(notebook()))
    assert exercises_of(file) == exercises


# The quiz


def test_the_answers_are_read_without_running_the_cell() -> None:
    assert answers_in(read(code("answers = {\n    'a': 'x',  # so\n    'b': '',\n}\nprint(answers)"))) == {
        "a": "x",
        "b": "",
    }
    assert answers_in(read(code("answers: dict = {'a': 'x'}"))) == {"a": "x"}
    assert answers_in(read(code("answers = {'a': 'x'}"), code("answers = {'a': 'y'}"))) == {"a": "y"}


def test_the_cell_that_was_written_for_the_answers_comes_first() -> None:
    ours = code("answers = {'a': 'x'}", metadata={"profile_first": {"quiz": "lesson"}})
    assert answers_in(read(ours, code("answers = {'a': 'y'}"))) == {"a": "x"}


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("x = 1", "no cell begins with `answers = {`"),
        ("answers = {'a': }", "cell 1, line 1"),
        ("answers = dict(a='x')", "cell 1, line 1: the answers are read without running"),
        ("answers = ['x']", "write them out as a dictionary"),
        ("answers = " + "(" * 9000, "cell 1"),
        ("answers = " + "-" * 15_000 + "1", "cell 1"),
        ("answers = {'a': '" + "x" * 30_000 + "'}", "too long"),
        ("answers = {[]: 1}", "write them out"),
    ],
)
def test_answers_that_cant_be_read_are_explained(source: str, told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(told)):
        answers_in(read(code(source)))


def test_a_quiz_in_a_notebook_is_graded(tmp_path: Path) -> None:
    from grader.quiz import read_answers

    right = {question: answer.right for question, answer in read_answers("synchronize").items()}
    file = tmp_path / "quiz.ipynb"
    file.write_text(json.dumps(notebook(code(f"answers = {right!r}"))))
    verdict = check("synchronize/quiz", file, runner=None)
    assert (verdict.status, verdict.points) == ("passed", verdict.max_points)
    file.write_text("")
    assert "is empty" in message(check("synchronize/quiz", file, runner=None))
