"""What reaches into the grader or the lab is found in the source; no honest submission is taken for that."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from grader.batch.reach import NESTED, Reached, reaches
from lab.language import _, speaking

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
HONEST = sorted([*ROOT.glob("solutions/*/*.py"), *ROOT.glob("exercises/*/*.py"), *HERE.glob("submissions/*/*/*.py")])
NOT_TO_BE_FOUND = {"known_reckoned_from_the_sizes.py"}
"""It measures nothing and reaches for nothing: it reckons."""


def reached(source: str, folder: Path) -> Reached:
    path = folder / "time_on_the_gpu.py"
    path.write_text(dedent(source), encoding="utf-8")
    return reaches(path)


def test_no_starter_solution_mistake_or_other_right_answer_is_found() -> None:
    assert len(HONEST) > 300
    found = {path.name: reach for path in HONEST if (reach := reaches(path)) != Reached()}
    assert not found


@pytest.mark.parametrize("cheat", sorted(HERE.glob("cheats/*/*/known_*.py")), ids=lambda path: path.stem)
def test_a_cheat_that_passes_is_found(cheat: Path) -> None:
    assert bool(reaches(cheat).forbidden) == (cheat.name not in NOT_TO_BE_FOUND)


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("import lab.observe", "line 1: it imports lab.observe"),
        ("from lab import observe", "it imports lab"),
        ("from lab.gpu.device import timeline", "it imports lab.gpu.device"),
        ("import lab\nlab.observe.record('x')", "line 2: it uses lab.observe"),
        ("import lab.gpu as g\ng.device.memory.reset()", "it uses lab.gpu.device"),
        ("import grader.api", "it imports grader.api"),
        ("from solutions.synchronize import time_on_the_gpu", "it imports solutions.synchronize"),
        ("def f():\n    from lab.workloads import expect", "it imports lab.workloads"),
        (
            "from lab.workloads import expect\ndef f(): return expect('x', 1)",
            "it uses lab.workloads.expect in a function",
        ),
        ("from lab.workloads import expect as e\nf = lambda: e('x', 1)", "it uses lab.workloads.expect in a function"),
        ("import sys\ndef f(): sys._getframe(1)", "it uses sys._getframe"),
        ("import sys as s\ns._current_frames()", "it uses sys._current_frames"),
        ("from sys import _getframe", "it uses sys._getframe"),
        ("import inspect\ninspect.currentframe()", "it uses inspect.currentframe"),
        ("import gc\ngc.get_objects()", "it uses gc.get_objects"),
        ("from gc import get_referrers as r\nr(1)", "it uses gc.get_referrers"),
        ("import ctypes", "it imports ctypes"),
        ("def f(work): return work.__closure__", "it reads __closure__"),
        ("def f(work): return getattr(work, '__globals__')", "it names __globals__"),
        ("try:\n    1 / 0\nexcept Exception as e:\n    e.__traceback__.tb_frame", "it reads tb_frame"),
        ("object.__subclasses__()", "it reads __subclasses__"),
    ],
)
def test_reaching_in_is_found_with_its_line(source: str, told: str, tmp_path: Path) -> None:
    assert any(told in each for each in reached(source, tmp_path).forbidden), reached(source, tmp_path)


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("import time\ntime.perf_counter = lambda: 0", "line 2: it changes time.perf_counter"),
        ("import torch\ntorch.cuda.synchronize = print", "it changes torch.cuda.synchronize"),
        ("import os\nos.fork()", "it uses os.fork"),
        ("import sys\nsys.modules['time'] = None", "it uses sys.modules"),
        ("exec('print(1)')", "it uses exec"),
        ("def f(x, n): return getattr(x, '__clo' + n)", "with a name that is made while it runs"),
        ("open('/proc/self/maps')", "it names '/proc/self/maps'"),
        ("import subprocess", "it imports subprocess"),
    ],
)
def test_what_may_have_its_reasons_is_only_to_be_looked_at(source: str, told: str, tmp_path: Path) -> None:
    found = reached(source, tmp_path)
    assert not found.forbidden
    assert any(told in each for each in found.look), found


@pytest.mark.parametrize(
    "source",
    [
        "import lab.gpu\nlab.gpu.use()",
        "from lab.gpu import use\nuse()",
        "from lab import gpu\ngpu.use()",
        "from lab.workloads import build\nif __name__ == '__main__':\n    print(build('x', 1))",
        "import torch\ndef f(model): model.training = False\ntorch.backends.cudnn.benchmark = True",
        "import time, functools\nclock = functools.wraps(time.perf_counter)",
        "text = 'f_locals are the variables of a frame'",
        "this is not python",
        "",
    ],
)
def test_ordinary_code_is_left_alone(source: str, tmp_path: Path) -> None:
    assert reached(source, tmp_path).forbidden == ()


def test_in_a_notebook_the_cell_is_named(tmp_path: Path) -> None:
    import nbformat

    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell("x = 1"), nbformat.v4.new_code_cell("y = 2\nimport ctypes")]
    path = tmp_path / "time_on_the_gpu.ipynb"
    nbformat.write(notebook, path)
    assert reaches(path).forbidden == ("cell 2, line 2: it imports ctypes",)


def test_a_cell_that_is_not_python_hides_none_of_the_others(tmp_path: Path) -> None:
    import nbformat

    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell("this is not python"), nbformat.v4.new_code_cell("import ctypes")]
    path = tmp_path / "time_on_the_gpu.ipynb"
    nbformat.write(notebook, path)
    assert reaches(path).forbidden == ("cell 2, line 1: it imports ctypes",)


@pytest.mark.parametrize(
    "source", ["a" + ".b" * 300_000, "a" + "()" * 300_000, "-" * 500_000 + "1", "1" + "+1" * 9_000]
)
def test_what_the_parser_falls_over_costs_nobody_else(source: str, tmp_path: Path) -> None:
    assert reached(source, tmp_path).forbidden == (NESTED,)


def test_a_long_file_is_read_as_a_short_one_is(tmp_path: Path) -> None:
    assert reached("x = 1\n" * 10_000 + "import ctypes", tmp_path).forbidden == ("line 10001: it imports ctypes",)


def test_a_file_full_of_it_is_told_in_a_few_lines(tmp_path: Path) -> None:
    assert len(reached("import ctypes\n" * 1000, tmp_path).forbidden) == 21


def test_what_is_found_in_a_long_file_is_told_in_the_language_of_the_class(tmp_path: Path) -> None:
    with speaking("it"):
        assert reached("x = 1\n" * 10_000 + "import ctypes", tmp_path).forbidden == ("riga 10001: importa ctypes",)
        told = reached("1" + "+1" * 9_000, tmp_path).forbidden
        assert told == (_(NESTED),) != (NESTED,)
