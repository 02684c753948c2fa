"""Every command that writes a file does so in a folder that is there, and says so where it isn't."""

from __future__ import annotations

from pathlib import Path

import pytest

from course.cli import main
from grader.__main__ import main as grader

COMMANDS = {
    "submit --out": main,
    "report --out": main,
    "progress export": main,
    "diagnose trace.json --html": main,
    "release --gradescope": grader,
}


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the command is given."""
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(("name", "message"), [("none/x.zip", "there is no folder none"), ("here", "is a folder")])
def test_a_file_is_written_in_a_folder_that_is_there(command, name, message, home, empty, capsys):
    Path("here").mkdir()
    with pytest.raises(SystemExit) as ended:
        COMMANDS[command]([*command.split(), name])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
    assert [entry.name for entry in empty.rglob("*")] == ["here"]
