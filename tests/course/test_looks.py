"""What the app looks like: contrast in each theme, the terminal's own colours, and motion."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.color import Color
from rich.segment import Segment
from textual.widgets import OptionList

from course import progress
from course.app.app import CourseApp
from course.app.screens.home import HomeScreen
from course.app.themes import DARK, HIGH_CONTRAST, LIGHT, OURS, TERMINAL
from course.app.widgets.editor import Editor
from course.app.widgets.job import SPINNER
from course.progress import Progress
from course.workspace import Workspace
from tests.course.conftest import EXERCISE, FakeGrader
from tests.course.every_screen import EVERY_SCREEN, give_solution, open_screen
from tests.course.real_terminal import RealTerminal
from tests.course.test_app import SMALL, go_to, panel, press, until

AA = 4.5
HIGH = 6.0


def luminance(colour: Color) -> float:
    """The relative luminance of WCAG 2."""
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (number / 255 for number in colour.get_truecolor())
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(text: Color, ground: Color) -> float:
    """The contrast ratio of WCAG 2: 1 for the same colours, 21 for black on white."""
    darker, lighter = sorted((luminance(text), luminance(ground)))
    return (lighter + 0.05) / (darker + 0.05)


def segments(app: CourseApp) -> list[Segment]:
    """What is drawn, in its colours."""
    # What lies below a dialog is faded on purpose: it isn't there to be read.
    regions = [app.screen.region]
    if app.screen.is_modal:
        regions = [widget.region for widget in app.screen.query("*") if widget.styles.background.a == 1]
    strips = app.screen._compositor.render_strips()
    return [
        segment
        for region in regions
        for y in range(max(region.y, 0), min(region.bottom, len(strips)))
        for segment in strips[y].crop(max(region.x, 0), region.right)
    ]


def too_faint(app: CourseApp, least: float) -> dict[str, float]:
    """Each text with less contrast than this, and its contrast."""
    found = {}
    for text, style, _ in segments(app):
        if style is None or not any(letter.isalnum() for letter in text):
            continue
        assert style.color is not None, text
        assert style.bgcolor is not None, text
        ratio = contrast(*((style.bgcolor, style.color) if style.reverse else (style.color, style.bgcolor)))
        if ratio < least:
            found[f"{text.strip()} ({style})"] = round(ratio, 2)
    return found


def test_contrast_is_measured_as_wcag_does() -> None:
    assert contrast(Color.parse("#ffffff"), Color.parse("#000000")) == pytest.approx(21)
    assert contrast(Color.parse("#777777"), Color.parse("#ffffff")) == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("name", EVERY_SCREEN)
@pytest.mark.parametrize(("theme", "least"), [(DARK, AA), (LIGHT, AA), (HIGH_CONTRAST, HIGH)])
async def test_every_text_can_be_read_on_its_ground(
    app: CourseApp, fake: FakeGrader, own: Workspace, tmp_path: Path, name: str, theme: object, least: float
) -> None:
    give_solution(app, own, tmp_path)
    app.theme = theme.name  # type: ignore[attr-defined]
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await open_screen(name, pilot, app, fake)
        assert too_faint(app, least) == {}


def titles(app: CourseApp) -> set[str]:
    """What the palette offers."""
    return {command.title for command in app.get_system_commands(app.screen)}


async def test_each_of_our_themes_is_in_the_palette_and_kept(
    app: CourseApp, make_app: Callable[[], CourseApp], kept: Progress
) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        for theme, title, _ in OURS:
            app.theme = DARK.name if theme is not DARK else LIGHT.name
            await pilot.pause()
            command = next(each for each in app.get_system_commands(app.screen) if each.title == title)
            command.callback()
            await pilot.pause()
            assert app.theme == theme.name
            assert title not in titles(app)
            assert kept.setting("theme") == theme.name
    assert make_app().theme == TERMINAL.name


async def test_motion_that_is_turned_off_stays_off(
    app: CourseApp, make_app: Callable[[], CourseApp], fake: FakeGrader
) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        assert not app.is_still
        next(each for each in app.get_system_commands(app.screen) if each.title == "Motion: off").callback()
        assert app.is_still
        assert "Motion: on" in titles(app)
    again = make_app()
    assert again.is_still
    fake.holds = True
    async with again.run_test(size=SMALL) as pilot:
        await go_to(pilot, again, EXERCISE)
        assert not again.screen.query_one(Editor).cursor_blink
        await press(pilot, "f5")
        await until(pilot, lambda: "F8 stops it" in panel(again).status.text.plain)
        assert not set(SPINNER) & set(panel(again).status.text.plain)


WITH_A_LIST = ("map", "question", "answered", "search", "glossary", "palette")


def without_colours(app: CourseApp, options: OptionList) -> list[list[tuple[str, bool, bool]]]:
    """The drawn rows of a list: their texts, and which are in reverse or underlined."""
    region = options.content_region.intersection(app.screen.region)
    strips = app.screen._compositor.render_strips()
    return [
        [
            (text, bool(style and style.reverse), bool(style and style.underline))
            for text, style, _ in strips[y].crop(region.x, region.right)
        ]
        for y in range(region.y, region.bottom)
    ]


@pytest.mark.parametrize("no_color", [False, True])
@pytest.mark.parametrize("name", WITH_A_LIST)
async def test_the_cursor_of_each_list_is_seen_without_colours(
    make_app: Callable[[], CourseApp],
    fake: FakeGrader,
    own: Workspace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    no_color: bool,
) -> None:
    if no_color:
        monkeypatch.setenv("NO_COLOR", "1")
    app = make_app()
    give_solution(app, own, tmp_path)
    app.theme = TERMINAL.name
    async with app.run_test(size=SMALL) as pilot:
        await open_screen(name, pilot, app, fake)
        lists = [each for each in app.screen.query(OptionList) if each.display and each.highlighted is not None]
        assert lists
        for options in lists:
            rows = without_colours(app, options)
            marked = [row for row in rows if any(reverse for _, reverse, _ in row)]
            assert 0 < len(marked) < max(len(rows), 2), options


async def test_the_lesson_whose_steps_are_listed_is_seen_without_colours(app: CourseApp) -> None:
    app.theme = TERMINAL.name
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen) and app.screen.lessons.options)
        await press(pilot, "right")
        assert isinstance(app.screen, HomeScreen)
        assert any(underlined for row in without_colours(app, app.screen.lessons) for _, _, underlined in row)
        assert any(reverse for row in without_colours(app, app.screen.steps) for _, reverse, _ in row)


async def test_an_editor_that_is_open_takes_the_colours_of_another_theme(
    app: CourseApp, make_app: Callable[[], CourseApp], fake: FakeGrader
) -> None:
    async def colours(of: CourseApp, theme: str) -> list[str]:
        of.theme = theme
        await until(pilot, lambda: of.screen.query_one(Editor).theme.endswith(theme))
        await pilot.pause()
        return [str(segment.style) for segment in segments(of)]

    async with app.run_test(size=SMALL) as pilot:
        await open_screen("code", pilot, app, fake)
        dark = await colours(app, DARK.name)
        light = await colours(app, LIGHT.name)
        assert await colours(app, DARK.name) == dark
    fresh = make_app()
    fresh.theme = LIGHT.name
    async with fresh.run_test(size=SMALL) as pilot:
        await open_screen("code", pilot, fresh, fake)
        assert [str(segment.style) for segment in segments(fresh)] == light


def test_in_the_terminals_own_colours_no_other_colour_is_sent(home: Path) -> None:
    with progress.at_home() as opened:
        opened.set("theme", TERMINAL.name)
    terminal = RealTerminal(home, COLORTERM="truecolor")
    terminal.read_until("palette")
    terminal.press("ctrl+q")
    assert terminal.exit_code() == 0
    codes = {code for codes in re.findall(rb"\x1b\[([0-9;]*)m", terminal.sent) for code in codes.split(b";")}
    terminal.close()
    assert codes & {b"3%d" % colour for colour in range(1, 8)}
    assert not codes & {b"38", b"48"}


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of programs that copy, the only one that programs are looked for in."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    for name in ("TMUX", "DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"):
        monkeypatch.delenv(name, raising=False)
    return folder


def copies_into(program: Path, file: Path) -> None:
    program.write_text(f"#!{sys.executable}\nimport sys\nopen({str(file)!r}, 'w').write(sys.stdin.read())\n")
    program.chmod(0o755)


def told(app: CourseApp) -> list[str]:
    return [notification.message for notification in app._notifications]


async def test_copying_says_only_what_is_known(
    app: CourseApp, programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with app.run_test(size=SMALL, notifications=True) as pilot:
        await go_to(pilot, app, "perf_counter/first_card")
        await press(pilot, "c")
        await until(pilot, lambda: told(app))
        assert told(app) == ["Copied, if your terminal lets programs copy."]
        app.clear_notifications()
        monkeypatch.setenv("TMUX", "there")
        copies_into(programs / "tmux", tmp_path / "in_tmux")
        await press(pilot, "c")
        await until(pilot, lambda: told(app))
        assert "in tmux" in told(app)[0]
        app.clear_notifications()
        monkeypatch.setenv("WAYLAND_DISPLAY", "there")
        copies_into(programs / "wl-copy", tmp_path / "in_wayland")
        await press(pilot, "c")
        await until(pilot, lambda: told(app))
        assert told(app) == ["Copied."]
    for name in ("in_tmux", "in_wayland"):
        assert "hello from the card" in (tmp_path / name).read_text()


async def test_a_program_that_can_not_copy_is_no_success(
    app: CourseApp, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISPLAY", ":0")
    program = programs / "xclip"
    program.write_text(f"#!{sys.executable}\nraise SystemExit(1)\n")
    program.chmod(0o755)
    async with app.run_test(size=SMALL, notifications=True) as pilot:
        await go_to(pilot, app, "perf_counter/first_card")
        await press(pilot, "c")
        await until(pilot, lambda: told(app))
        assert told(app) == ["Copied, if your terminal lets programs copy."]


@pytest.mark.parametrize("size", [(60, 16), (80, 24), (300, 90)])
@pytest.mark.parametrize("name", ["map", "card_that_ran", "not_yet", "code", "answered", "timeline"])
async def test_a_window_that_becomes_too_small_and_large_again_loses_nothing(
    app: CourseApp, fake: FakeGrader, name: str, size: tuple[int, int]
) -> None:
    async with app.run_test(size=size) as pilot:
        await open_screen(name, pilot, app, fake)
        before = [segment.text for segment in segments(app)]
        await pilot.resize_terminal(59, 15)
        await pilot.pause()
        assert "nothing is lost" in "".join(segment.text for segment in segments(app))
        await pilot.resize_terminal(*size)
        await pilot.pause()
        assert [segment.text for segment in segments(app)] == before
