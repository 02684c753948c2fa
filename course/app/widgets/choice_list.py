"""A list to choose from with the arrows, j and k, or the mouse."""

from __future__ import annotations

from collections.abc import Sequence

from textual.binding import Binding
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from course.app.reverse import keep_reverse
from lab.language import N_

keep_reverse()


class ChoiceList(OptionList):
    """An option list without a frame, in the colours of the course."""

    BINDINGS = [  # noqa: RUF012
        Binding("enter", "select", N_("Choose"), id="list.choose", tooltip=N_("Choose this one")),
        Binding("j", "cursor_down", N_("Down"), show=False, id="list.down"),
        Binding("k", "cursor_up", N_("Up"), show=False, id="list.up"),
    ]
    DEFAULT_CSS = """
    ChoiceList {
        border: none; background: transparent; padding: 0; height: auto; max-height: 100%;
        &:focus { border: none; background-tint: $foreground 0%; }
        & > .option-list--option { padding: 0 1; }
        & > .option-list--option-hover { background: $surface; }
        & > .option-list--option-highlighted { background: $surface; color: $text; text-style: none; }
        &:focus > .option-list--option-highlighted { background: $primary 22%; color: $text; text-style: none; }
        &:ansi > .option-list--option-highlighted { background: transparent; text-style: underline; }
        &:ansi:focus > .option-list--option-highlighted { background: transparent; text-style: reverse; }
    }
    """

    class Resized(Message):
        """The list has another width."""

        def __init__(self, choices: ChoiceList) -> None:
            super().__init__()
            self.choices = choices

        @property
        def control(self) -> ChoiceList:
            return self.choices

    def on_resize(self) -> None:
        self.post_message(self.Resized(self))

    def replace(self, options: Sequence[Option]) -> bool:
        """Show these options, with the same one highlighted as before; returns whether they are other ones."""
        highlighted = self.highlighted
        if [option.id for option in options] == [option.id for option in self.options]:
            for index, option in enumerate(options):
                self.replace_option_prompt_at_index(index, option.prompt)
            return False
        self.clear_options()
        self.add_options(options)
        if highlighted is not None and highlighted < len(options):
            self.highlighted = highlighted
        return True
