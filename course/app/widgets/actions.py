"""Buttons of one line that do what a key does, for the mouse and to show the key."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from lab.language import N_, _

BACK, NEXT = N_("\u2039 Back"), N_("Next \u203a")


class ActionButton(Widget, can_focus=False):
    """A label with its key; a click runs the action on the screen."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    ActionButton {
        width: auto; height: 1; padding: 0 1; pointer: pointer;
        &:hover { background: $primary 25%; }
        &.-off { text-opacity: 45%; }
        &.-active { background: $primary 30%; text-style: bold; }
        &.-active:ansi { background: transparent; text-style: reverse; }
    }
    """

    label = reactive("", layout=True)
    """What the button does."""

    def __init__(self, label: str, key: str, action: str, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.set_reactive(ActionButton.label, label)
        self._key = key
        self._action = action

    def render(self) -> Content:
        return Content.assemble(_(self.label), " ", (_(self._key), "$text-accent"))

    async def on_click(self) -> None:
        await self.screen.run_action(self._action)


class ActionBar(Horizontal):
    """A row of buttons; those after a `Spring` stand at the right."""

    DEFAULT_CSS = """
    ActionBar { height: 1; background: $surface; }
    ActionBar > Spring { width: 1fr; height: 1; }
    """

    def __init__(self, *buttons: Widget, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._buttons = buttons

    def compose(self) -> ComposeResult:
        yield from self._buttons


class Spring(Widget, can_focus=False):
    """Takes the space that is left in a row."""

    text = reactive(Content(""))
    """Shown in the middle of the space."""

    DEFAULT_CSS = "Spring { text-align: center; }"

    def render(self) -> Content:
        return self.text
