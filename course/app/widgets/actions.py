"""Buttons of one line that do what a key does, for the mouse and to show the key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from textual import events
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from lab.language import N_, _

BACK, NEXT = N_("\u2039 Back"), N_("Next \u203a")


class ActionButton(NamedTuple):
    """A label with its key; a click runs the action on the screen."""

    label: str
    key: str
    action: str
    id: str = ""
    roomy: bool = False
    """Shown only where there is room for all such buttons."""

    @property
    def text(self) -> Content:
        """What the button says, with a space around it."""
        return Content.assemble(f" {_(self.label)} ", (_(self.key), "$text-accent"), " ")


class ActionBar(Widget, can_focus=False):
    """A row of buttons, at the left and at the right.

    One widget for all of them: as a widget each, they would cost a tenth of what it costs to show an exercise.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = "ActionBar { height: 1; background: $surface; }"

    active = reactive("")
    """The id of the button whose part of the screen is open."""
    hidden: reactive[frozenset[str]] = reactive(frozenset[str]())
    """The ids of buttons that have nothing to do now."""
    middle = reactive(Content(""))
    """Shown in the middle of the space between left and right."""
    _under_mouse: reactive[ActionButton | None] = reactive(None)

    def __init__(self, *left: ActionButton, right: Sequence[ActionButton] = (), id: str | None = None) -> None:
        super().__init__(id=id)
        self._left = left
        self._right = tuple(right)

    def show(self, button: str, shown: bool) -> None:
        """Show a button, or hide it because it has nothing to do now."""
        self.hidden = self.hidden - {button} if shown else self.hidden | {button}

    def places(self) -> Iterator[tuple[ActionButton, int, int]]:
        """Each button that is shown, with the column where it begins and the one after its end."""
        left, right = ([each for each in side if each.id not in self.hidden] for side in (self._left, self._right))
        if sum(each.text.cell_length for each in left + right) > self.size.width:
            left, right = ([each for each in side if not each.roomy] for side in (left, right))
        at = 0
        for each in left:
            yield each, at, (at := at + each.text.cell_length)
        at = max(self.size.width - sum(each.text.cell_length for each in right), at)
        for each in right:
            yield each, at, (at := at + each.text.cell_length)

    def render(self) -> Content:
        places = list(self.places())
        line = Content("")
        for button, begin, _end in places:
            if begin > line.cell_length:
                line += self._between(begin - line.cell_length)
            line += self._painted(button)
        return line + self._between(max(self.size.width - line.cell_length, 0))

    def _between(self, width: int) -> Content:
        """The space between left and right."""
        before = max((width - self.middle.cell_length) // 2, 0)
        text = Content(" " * before) + self.middle.truncate(width - before, ellipsis=True)
        return text + " " * (width - text.cell_length)

    def _painted(self, button: ActionButton) -> Content:
        text = button.text
        if button.id and button.id == self.active:
            # In the terminal's own colours a paler one may not be seen at all.
            text = text.stylize_before("reverse" if self.app.native_ansi_color else "bold on $primary 30%")
        return text.stylize("on $primary 25%") if button == self._under_mouse else text

    def _at(self, x: int) -> ActionButton | None:
        """The button at a column."""
        return next((button for button, begin, end in self.places() if begin <= x < end), None)

    async def on_click(self, event: events.Click) -> None:
        button = self._at(event.x)
        if button is not None:
            await self.screen.run_action(button.action)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        self._under_mouse = self._at(event.x)
        self.styles.pointer = "pointer" if self._under_mouse else "default"

    def on_leave(self) -> None:
        self._under_mouse = None
