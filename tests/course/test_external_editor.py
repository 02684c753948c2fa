"""One's own editor, opened at the line of the caret."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from course import progress, workspace
from course.app.app import CourseApp
from course.app.external_editor import EditorError, edit_elsewhere, editor_command
from course.workspace import Workspace
from tests.course.conftest import EXERCISE, STARTER
from tests.course.real_terminal import RealTerminal
from tests.course.test_app import SMALL, editor, go_to, press, until

FILE = Path("/x/my file.py")


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder of programs that do nothing, by the names of editors."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in ("vim", "nvim", "vi", "nano", "emacs", "hx", "micro", "code", "unknown"):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    return folder


@pytest.mark.parametrize(
    ("wanted", "command"),
    [
        ("vim", ["vim", "+call cursor(12,5)", "/x/my file.py"]),
        ("nvim -u NONE", ["nvim", "-u", "NONE", "+call cursor(12,5)", "/x/my file.py"]),
        ("vi", ["vi", "+12", "/x/my file.py"]),
        ("nano", ["nano", "+12,5", "/x/my file.py"]),
        ("emacs -nw", ["emacs", "-nw", "+12:5", "/x/my file.py"]),
        ("hx", ["hx", "/x/my file.py:12:5"]),
        ("micro", ["micro", "+12:5", "/x/my file.py"]),
        ("code", ["code", "--wait", "--goto", "/x/my file.py:12:5"]),
        ("code --wait", ["code", "--wait", "--goto", "/x/my file.py:12:5"]),
        ("unknown", ["unknown", "/x/my file.py"]),
    ],
)
def test_each_editor_is_told_the_place_in_its_way(programs: Path, wanted: str, command: list[str]) -> None:
    assert editor_command({"EDITOR": wanted, "PATH": str(programs)}, FILE, 11, 4) == command


def test_visual_comes_before_editor(programs: Path) -> None:
    environment = {"VISUAL": "nano", "EDITOR": "vim", "PATH": str(programs)}
    assert editor_command(environment, FILE, 0, 0)[0] == "nano"


@pytest.mark.parametrize(
    ("wanted", "said"), [("", "No editor is set"), ("gone -x", "no program gone"), ("vim 'x", "can't be read")]
)
def test_an_editor_that_cannot_be_opened_is_explained(programs: Path, wanted: str, said: str) -> None:
    with pytest.raises(EditorError, match=said):
        editor_command({"EDITOR": wanted, "PATH": str(programs)}, FILE, 0, 0)


def test_an_editor_that_fails_is_told() -> None:
    with pytest.raises(EditorError, match="exit code 3"):
        edit_elsewhere(["sh", "-c", "exit 3"])


async def test_in_the_browser_one_is_told_where_the_file_is(
    app: CourseApp, own: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", "true")
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "ctrl+g")
        assert any(str(own.path(EXERCISE)) in notice.message for notice in app._notifications)


async def test_what_is_unsaved_goes_there_and_what_was_changed_there_is_shown(
    app: CourseApp, own: Workspace, monkeypatch: pytest.MonkeyPatch, programs: Path
) -> None:
    (programs / "unknown").write_text('#!/bin/sh\necho "# theirs" >> "$1"\n')
    monkeypatch.setenv("VISUAL", str(programs / "unknown"))

    @contextlib.contextmanager
    def suspend() -> Iterator[None]:
        yield

    monkeypatch.setattr(app, "suspend", suspend)
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f3", "x", "ctrl+g")
        text = STARTER.replace("return", "xreturn")
        await until(pilot, lambda: editor(app).text == text + "# theirs\n")
        await press(pilot, "ctrl+z")
        assert editor(app).text == text
        await press(pilot, "ctrl+z")
        assert editor(app).text == STARTER


@pytest.mark.slow
def test_in_a_real_terminal_the_editor_has_it_and_the_course_comes_back(home: Path, tmp_path: Path) -> None:
    program = tmp_path / "vim"
    program.write_text(
        "#!/bin/sh\n"
        "printf '\\033[2J\\033[Hthe editor is open at: %s' \"$1\"\n"
        "read line\n"
        'printf \'# %s\\n\' "$line" >> "$2"\n',
        "utf-8",
    )
    program.chmod(0o755)
    with progress.at_home() as kept:
        kept.move_to("synchronize", "time_on_the_gpu")
    terminal = RealTerminal(home, EDITOR=str(program))
    terminal.read_until("F7")
    terminal.press("f3", "\x1b[1;5H", "x", "\x07")  # Ctrl+Home, Ctrl+G
    terminal.read_until("the editor is open at: +call cursor(1,2)")
    terminal.press("from the editor\r")
    terminal.read_until("Read again")
    terminal.press("ctrl+q")
    assert terminal.exit_code() == 0
    terminal.close()
    text = workspace.at_home().open("synchronize/time_on_the_gpu")
    assert text.startswith("x#")
    assert text.endswith("# from the editor\n")
