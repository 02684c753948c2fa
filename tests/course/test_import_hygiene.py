"""What must be fast imports nothing slow: told by module names, not by seconds."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SLOW = {"torch", "numpy", "textual", "pytest", "rich", "markdown_it", "pygments", "tree_sitter"}

NAMES_LOADED = """\
import contextlib, io, json, sys
with contextlib.redirect_stdout(io.StringIO()):
    try:
        {does}
    except SystemExit:
        pass
print(json.dumps(sorted(name for name in sys.modules if "." not in name or name.startswith("grader."))))
"""


LESSONS_ARE_READ_BY = {"grader", "grader.lesson_files"}


def loaded_by(does: str) -> set[str]:
    program = NAMES_LOADED.format(does=does)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def parts_of_the_grader(loaded: set[str]) -> set[str]:
    return {name for name in loaded if name.partition(".")[0] == "grader"}


@pytest.mark.parametrize(
    "does",
    [
        "from course.cli import main; main(['--help'])",
        "from course.cli import main; main(['--version'])",
        "from course.cli import main; main(['check', '--help'])",
        "from course.cli import main; main(['diagnose', '--help'])",
        "from course.cli import main; main(['check', 'no/such'])",
        "import course.catalog, course.workspace, course.progress; course.catalog.load()",
    ],
)
def test_these_load_nothing_slow(does: str, home: Path) -> None:
    assert not loaded_by(does) & SLOW


def test_diagnose_reads_traces_without_torch(tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    trace.write_text('{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 1, "dur": 2}]}')
    loaded = loaded_by(f"from course.cli import main; main(['diagnose', {str(trace)!r}, '--json'])")
    assert "msgspec" in loaded
    assert not loaded & {"torch", "textual", "pytest", "grader"}


def test_list_loads_nothing_slow_and_not_the_grader(home: Path) -> None:
    loaded = loaded_by("from course.cli import main; main(['list'])")
    assert not loaded & SLOW
    assert parts_of_the_grader(loaded) == LESSONS_ARE_READ_BY


def test_the_app_loads_neither_torch_nor_the_editors_grammar_nor_the_grader(home: Path) -> None:
    loaded = loaded_by("import course.app.app, course.app.screens.home, course.app.screens.lesson, course.app.grading")
    assert "textual" in loaded
    assert not loaded & {"torch", "numpy", "pytest", "tree_sitter", "tree_sitter_python", "pygments"}
    assert parts_of_the_grader(loaded) <= LESSONS_ARE_READ_BY


def test_the_client_of_the_grader_loads_neither_torch_nor_pytest() -> None:
    assert not loaded_by("import grader.client") & {"torch", "numpy", "pytest", "textual"}
