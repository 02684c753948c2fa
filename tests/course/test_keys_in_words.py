"""The help of a screen says each key, and what it does, in the reader's language."""

from __future__ import annotations

import pytest
from textual.binding import Binding
from textual.widgets import DataTable, Input, OptionList, TextArea

from course.app.app import CourseApp
from course.app.screens.help import _keys
from lab.language import LANGUAGES, _, speaking
from tests.course.conftest import EXERCISE
from tests.course.test_app import go_to, press, shown, until

OTHERS = [code for code in LANGUAGES if code != "en"]


@pytest.mark.parametrize("widget", [DataTable, Input, OptionList, TextArea])
@pytest.mark.parametrize("code", OTHERS)
def test_what_textual_says_about_the_keys_of_a_widget_is_said_in_the_language(widget: type, code: str) -> None:
    with speaking(code):
        said = {each.description: _(each.description) for each in widget.BINDINGS if each.description}
    assert said
    assert [english for english, other in said.items() if english == other] == []


@pytest.mark.parametrize("code", OTHERS)
async def test_the_help_of_the_editor_has_nothing_in_english(app: CourseApp, code: str) -> None:
    with speaking(code):
        async with app.run_test(size=(120, 90)) as pilot:
            await go_to(pilot, app, EXERCISE)
            await press(pilot, "f3", "f1")
            await until(pilot, lambda: _("In the editor") in shown(app))
            assert "Cursor" not in shown(app).replace("Cursore", "")
            assert "Delete" not in shown(app)


def test_many_keys_keep_their_distance_from_what_they_do() -> None:
    keys = ("ctrl+w", "ctrl+backspace", "alt+backspace")
    (_title, row) = _keys("", [Binding(key, "delete_word_left", "Delete a word") for key in keys])
    assert row.marker is not None
    assert row.marker.plain.endswith("Alt+Backspace  ")
