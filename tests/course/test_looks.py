"""What the app looks like: contrast in each theme, the terminal's own colours, and motion."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.color import Color
from rich.segment import Segment

from course.app.app import CourseApp
from course.app.themes import DARK, HIGH_CONTRAST, LIGHT
from course.workspace import Workspace
from tests.course.conftest import FakeGrader
from tests.course.every_screen import EVERY_SCREEN, give_solution, open_screen

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
    async with app.run_test(size=(120, 40)) as pilot:
        await open_screen(name, pilot, app, fake)
        assert too_faint(app, least) == {}
