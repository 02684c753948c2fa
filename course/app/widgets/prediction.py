"""Asks what a program will show, before it is run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from course.app.prose import QUIET, Block, Text, flow, one_line
from course.app.widgets.choice_list import ChoiceList
from course.app.widgets.prose import Prose
from lab.language import N_, _

if TYPE_CHECKING:
    from course.catalog import Prediction

KEYS = N_("A number or Enter answers. F5 runs without, Esc goes back.")


class PredictionPanel(Vertical):
    """The question and its choices, one key each; there only while it asks."""

    DEFAULT_CSS = """
    PredictionPanel {
        height: auto; max-height: 12; padding: 0 2; display: none;
        border-top: solid $accent 60%;
        & > Prose { max-width: 88; }
        & > ChoiceList { max-width: 88; max-height: 100; }
    }
    """

    class Answered(Message):
        """The learner has made a prediction."""

        def __init__(self, choice: int) -> None:
            super().__init__()
            self.choice = choice

    def compose(self) -> ComposeResult:
        yield Prose(id="prediction-question")
        yield ChoiceList(id="prediction-choices")
        yield Prose([Text(Content.styled(_(KEYS), QUIET))], id="prediction-keys")

    @property
    def is_asking(self) -> bool:
        return bool(self.display)

    def ask(self, prediction: Prediction, at: int = 0) -> None:
        """Ask, and wait for an answer."""
        self.display = True
        self.query_one("#prediction-question", Prose).show([Text(one_line(prediction.question).stylize("bold"))])
        width = max(min(self.screen.size.width - 6, 88) - 3, 8)
        options = [
            Option(flow([Text(one_line(choice), Content.styled(f"{number}  ", "$text-accent"))], width))
            for number, choice in enumerate(prediction.choices, 1)
        ]
        choices = self.query_one(ChoiceList)
        choices.clear_options()
        choices.add_options(options)
        choices.highlighted = at
        choices.focus()

    def retell(self, prediction: Prediction | None) -> None:
        """Say it again, in another language, with the same choice looked at."""
        if self.is_asking and prediction is not None:
            self.ask(prediction, self.query_one(ChoiceList).highlighted or 0)
        self.query_one("#prediction-keys", Prose).show([Text(Content.styled(_(KEYS), QUIET))])

    def end(self) -> None:
        """Stop asking."""
        self.display = False

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.answer(event.option_index)

    def answer(self, choice: int) -> None:
        """Take this choice, if it is one."""
        if self.is_asking and choice < self.query_one(ChoiceList).option_count:
            self.end()
            self.post_message(self.Answered(choice))


def outcome(prediction: Prediction, choice: int) -> Block:
    """What came of a prediction, to be read beside the output."""
    said = one_line(prediction.choices[choice]) if choice < len(prediction.choices) else Content("")
    why = one_line(prediction.why)
    if prediction.right is None:
        mark = Content.styled("▸ ", "$text-accent")
    elif prediction.right == choice:
        mark = Content.styled("✓ ", "$text-success")
    else:
        mark = Content.styled("✗ ", "$text-error")
    return Text(Content.assemble(_("You said: "), said.stylize("bold"), ". ", why), mark)
