"""The editor as one types in it: indents, brackets, comments, undo, paste, and marks that go with their line."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from rich.style import Style
from textual import events
from textual._xterm_parser import XTermParser
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from course.app.app import CourseApp
from course.app.themes import DARK, LIGHT
from course.app.widgets.editor import Editor
from course.workspace import Workspace
from tests.course.conftest import EXERCISE
from tests.course.test_app import SMALL, editor, go_to, press, until

CODE = "def f(x):\n    y = (x + [1][0])\n    return y\n\n\nprint(f('('))\n"


class EditorApp(App[None]):
    """An editor alone."""

    def __init__(self, text: str, theme: str = DARK.name) -> None:
        super().__init__(ansi_color=theme.startswith("ansi"))
        self.register_theme(DARK)
        self.register_theme(LIGHT)
        self.theme = theme
        self._text = text

    def compose(self) -> ComposeResult:
        yield Editor(id="editor")

    def on_mount(self) -> None:
        self.query_one(Editor).load(self._text)
        self.query_one(Editor).focus()


@asynccontextmanager
async def editing(
    text: str, at: tuple[int, int] = (0, 0), theme: str = DARK.name
) -> AsyncIterator[tuple[Pilot, Editor]]:
    app = EditorApp(text, theme)
    async with app.run_test(size=(80, 24)) as pilot:
        area = app.query_one(Editor)
        await until(pilot, lambda: area.is_syntax_aware)
        area.move_cursor(at)
        await pilot.pause()
        yield pilot, area


def drawn(area: Editor, row: int) -> str:
    area.render_lines(area.region.reset_offset)
    return area.render_line(row).text.rstrip()


def style_at(area: Editor, row: int, column: int) -> Style:
    """The style of a character as it is drawn."""
    area.render_lines(area.region.reset_offset)
    at = area.gutter_width + column
    for segment in area.render_line(row):
        if at < len(segment.text):
            return segment.style or Style()
        at -= len(segment.text)
    raise AssertionError("nothing is drawn there")


async def test_enter_after_a_return_goes_back_one_level_and_between_brackets_opens_them() -> None:
    async with editing("def f():\n    return 1", (1, 12)) as (pilot, area):
        await press(pilot, "enter", *"x = []", "left", "enter", "1")
        assert area.text == "def f():\n    return 1\nx = [\n    1\n]"


async def test_backspace_in_an_indent_takes_away_a_level_and_elsewhere_a_character() -> None:
    async with editing("        xy", (0, 10)) as (pilot, area):
        await press(pilot, "backspace", "left", "backspace")
        assert area.text == "    x"
        await press(pilot, "end", "shift+left", "shift+left", "backspace")
        assert area.text == "   "


async def test_tab_and_shift_tab_move_the_selected_lines_and_keep_them_selected() -> None:
    async with editing("a\nb\nc\n") as (pilot, area):
        await press(pilot, "shift+down", "shift+down", "tab")
        assert area.text == "    a\n    b\nc\n"
        await press(pilot, "tab", "shift+tab", "shift+tab", "shift+tab")
        assert area.text == "a\nb\nc\n"
        assert area.selected_text == "a\nb\n"
        await press(pilot, "ctrl+z")
        assert area.text == "    a\n    b\nc\n"


async def test_shift_tab_without_a_selection_moves_the_line() -> None:
    async with editing("    ab", (0, 5)) as (pilot, area):
        await press(pilot, "shift+tab")
        assert (area.text, area.cursor_location) == ("ab", (0, 1))
        assert area.has_focus


@pytest.mark.parametrize("key", ["ctrl+underscore", "ctrl+slash"])
async def test_a_comment_is_toggled_on_the_line_or_the_selection(key: str) -> None:
    async with editing(CODE, (1, 6)) as (pilot, area):
        await press(pilot, key, "z")
        assert area.text.splitlines()[1] == "    # y z= (x + [1][0])"
        await press(pilot, "backspace", key)
        assert area.text == CODE
        await press(pilot, "ctrl+home", "shift+down", "shift+down", "shift+down", key)
        assert area.text.splitlines()[:4] == ["# def f(x):", "#     y = (x + [1][0])", "#     return y", ""]
        await press(pilot, "ctrl+z")
        assert area.text == CODE


async def test_nothing_is_changed_in_an_editor_that_is_read_only() -> None:
    async with editing(CODE, (1, 4)) as (pilot, area):
        area.read_only = True
        area.select_all()
        await press(pilot, "tab", "shift+tab", "ctrl+slash", "enter", "x", "backspace")
        area.post_message(events.Key("euro_sign", None))
        await press(pilot, "backspace")
        assert area.text == CODE


@pytest.mark.parametrize(
    ("codes", "text"),
    [("\x1b[32u", " "), ("\x1b[8364u", "€"), ("\x1b[32;2u", " "), ("\x1b[13;2u", "\n"), ("\x1b[64u", "@")],
)
async def test_keys_that_a_terminal_reports_as_codes_are_typed(codes: str, text: str) -> None:
    async with editing("") as (pilot, area):
        for event in XTermParser().feed(codes):
            area.post_message(event)
        await press(pilot, "x")
        assert area.text == text + "x"


async def test_a_paste_keeps_its_lines_and_is_undone_at_once() -> None:
    pasted = "".join(f"line_{n} = {n}\r" for n in range(5000))
    async with editing("x\n", (0, 1)) as (pilot, area):
        pilot.app.post_message(events.Paste(pasted))
        await press(pilot, "y")
        assert area.text == "x" + pasted.replace("\r", "\n") + "y\n"
        await press(pilot, "ctrl+z", "ctrl+z")
        assert area.text == "x\n"


# Brackets


@pytest.mark.parametrize("theme", [DARK.name, LIGHT.name, "ansi-dark", "ansi-light", "nord"])
@pytest.mark.parametrize("at", [(1, 8), (1, 9), (1, 20)])
async def test_the_bracket_at_or_before_the_caret_and_its_partner_are_underlined(
    at: tuple[int, int], theme: str
) -> None:
    async with editing(CODE, at, theme) as (_, area):
        assert set(area.brackets) == {(1, 8), (1, 19)}
        assert style_at(area, 1, 8).underline
        assert style_at(area, 1, 19).underline
        assert not style_at(area, 1, 13).underline


async def test_brackets_in_strings_and_without_a_partner_are_not_marked() -> None:
    async with editing(CODE, (5, 9)) as (pilot, area):
        assert area.brackets == ()  # the one in the string
        area.move_cursor((5, 12))
        assert set(area.brackets) == {(5, 7), (5, 11)} or set(area.brackets) == {(5, 5), (5, 12)}
        await press(pilot, "ctrl+end", "(")
        assert area.brackets == ()


# Drawing


async def test_only_what_changed_is_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[int] = []
    draw = Editor._draw

    def seen(self: Editor, row: int, *rest: object) -> object:
        rows.append(row)
        return draw(self, row, *rest)  # type: ignore[arg-type]

    async with editing("x = 1\n" * 100) as (pilot, _):
        await press(pilot, "down", "down", "a")
        monkeypatch.setattr(Editor, "_draw", seen)
        await press(pilot, "b", "c")
        assert set(rows) == {2}


async def test_the_middle_of_a_long_string_is_coloured_as_one() -> None:
    async with editing("x = 1\n" * 40 + '"""\n' + "words\n" * 60 + '"""\n') as (pilot, area):
        area.move_cursor((90, 0))
        await pilot.pause()
        row = 85
        assert area._highlights[row]
        assert {name for _, _, name in area._highlights[row]} & {"string", "string.documentation"}


async def test_wide_characters_and_tabs_are_coloured_and_placed_right() -> None:
    async with editing("x = 'é€漢' # c\n\ty = 1\n") as (_, area):
        assert drawn(area, 0).endswith("x = 'é€漢' # c")
        assert style_at(area, 0, 10).italic  # the comment
        assert not style_at(area, 0, 2).italic
        assert drawn(area, 1).endswith("      y = 1")


async def test_lines_scroll_sideways_with_their_marks_at_the_margin() -> None:
    async with editing("x" * 300 + "\nshort\n") as (pilot, area):
        area.marks = {1: "wrong"}
        await press(pilot, "end")
        assert area.scroll_x > 0
        assert drawn(area, 1).lstrip().startswith("2✗")


# Marks


async def test_a_mark_stands_at_its_line_with_its_message_and_goes_with_it() -> None:
    async with editing(CODE, (0, 9)) as (pilot, area):
        area.marks = {2: "NameError: name 'y'\nmore"}
        await pilot.pause()
        assert drawn(area, 2) == "3✗     return y   NameError: name 'y'"
        await press(pilot, "enter", "a")
        assert area.marks == {3: "NameError: name 'y'\nmore"}
        await press(pilot, "ctrl+z", "ctrl+z")
        assert area.marks == {2: "NameError: name 'y'\nmore"}
        area.move_cursor((2, 4))
        await press(pilot, "x")
        assert area.marks == {}


async def test_a_mark_stays_while_lines_after_it_change() -> None:
    async with editing(CODE, (4, 0)) as (pilot, area):
        area.marks = {1: "here"}
        await press(pilot, "x", "enter", "delete")
        assert area.marks == {1: "here"}


async def test_a_message_that_has_no_room_beside_its_line_leaves_the_sign() -> None:
    async with editing("x" * 70 + "\n") as (_, area):
        area.marks = {0: "a long message"}
        assert drawn(area, 0) == "1✗ " + "x" * 70
        area.load("x" * 50 + "\n")
        assert area.marks == {}
        area.marks = {0: "a long message that is cut off"}
        assert drawn(area, 0).endswith("…")


# Other texts


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a\nb\nc\n", "a\nX\nc\n"),
        ("a\nb\nc\n", "a\nc\n"),
        ("a\nb\n", "a\nb"),
        ("a\nb", "a\nb\nc"),
        ("a\nb", "a"),
        ("", "a\nb\n"),
        ("a\nb\n", ""),
        ("a\n", "b\n"),
        ("a\nb\nc", "X\nb\nc"),
        ("a\nb\n", "a\r\nb\r\nc\r\n"),
        ("a\n", "\n\na\n\n"),
    ],
)
async def test_what_came_about_elsewhere_is_one_change_that_can_be_undone(old: str, new: str) -> None:
    async with editing(old) as (pilot, area):
        await press(pilot, "z")
        area.take_over(new)
        assert area.text == new
        await press(pilot, "ctrl+z")
        assert area.text.replace("\r\n", "\n") == "z" + old
        await press(pilot, "ctrl+y")
        assert area.text == new
        await press(pilot, "ctrl+z", "ctrl+z")
        assert area.text.replace("\r\n", "\n") == old


async def test_the_caret_stays_at_its_line_when_lines_above_it_change_elsewhere() -> None:
    async with editing("a\nb\nc\n", (2, 1)) as (_, area):
        area.take_over("new\nlines\na\nb\nc\n")
        assert area.cursor_location == (4, 1)


# In the course


async def test_typing_on_does_not_put_off_saving(app: CourseApp, own: Workspace) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await press(pilot, "f3")

        def typed_on() -> bool:
            editor(app).insert("x")
            return "x" in own.path(EXERCISE).read_text("utf-8").replace("time_step", "").replace("return", "")

        await until(pilot, typed_on)
