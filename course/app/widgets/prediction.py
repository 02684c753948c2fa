"""Asks what a program will show, before it is run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from course.app.prose import QUIET, Block, Text, flow, one_line
from course.app.widgets.choice_list import ChoiceList
from course.app.widgets.prose import Prose
from lab.language import N_, _

if TYPE_CHECKING:
    from course.catalog import Prediction

KEYS = N_("A number or Enter answers. F5 runs without, Esc goes back.")
OPEN_KEYS = N_("A few words are enough; Enter or F5 runs it, Esc goes back.")


class PredictionPanel(Vertical):
    """The question and its choices, one key each, or a line to type into; there only while it asks."""

    DEFAULT_CSS = """
    PredictionPanel {
        height: auto; max-height: 12; padding: 0 2; display: none;
        border-top: solid $accent 60%;
        & > Prose { max-width: 88; }
        & > ChoiceList { max-width: 88; max-height: 100; }
        & > Field { max-width: 88; height: 1; border: none; padding: 0 1; background: $surface; }
    }
    """

    class Answered(Message):
        """The learner has made a prediction."""

        def __init__(self, choice: int | None, words: str = "") -> None:
            super().__init__()
            self.choice = choice
            """Which of the choices; None where there were none."""
            self.words = words
            """What was typed where there were no choices."""

    _is_open = False

    def compose(self) -> ComposeResult:
        yield Prose(id="prediction-question")
        yield ChoiceList(id="prediction-choices")
        yield Prose([Text(Content.styled(_(KEYS), QUIET))], id="prediction-keys")

    @property
    def is_asking(self) -> bool:
        return bool(self.display)

    def ask(self, prediction: Prediction, at: int = 0) -> None:
        """Ask, and wait for an answer."""
        self._begin(one_line(prediction.question), is_open=False)
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

    async def ask_openly(self) -> None:
        """Ask without choices, for a few words."""
        from course.app.widgets.field import Field

        self._begin(Content(_("What do you expect?")), is_open=True)
        if not self.query(Field):
            await self.mount(Field(id="prediction-words", placeholder="…", compact=True), before="#prediction-keys")
        field = self.query_one(Field)
        field.display = True
        field.value = ""
        self.screen.set_focus(field)

    def _begin(self, question: Content, *, is_open: bool) -> None:
        self.display = True
        self._is_open = is_open
        self.query_one("#prediction-question", Prose).show([Text(question.stylize("bold"))])
        self.query_one(ChoiceList).display = not is_open
        for field in self.query("Field"):
            field.display = is_open
        self._say_keys()

    def _say_keys(self) -> None:
        keys = OPEN_KEYS if self._is_open else KEYS
        self.query_one("#prediction-keys", Prose).show([Text(Content.styled(_(keys), QUIET))])

    @property
    def has_choices(self) -> bool:
        """Whether it asks for one of several choices."""
        return self.is_asking and not self._is_open

    def retell(self, prediction: Prediction | None) -> None:
        """Say it again, in another language, with the same choice looked at."""
        if self.has_choices and prediction is not None:
            self.ask(prediction, self.query_one(ChoiceList).highlighted or 0)
        elif self.is_asking:
            self._begin(Content(_("What do you expect?")), is_open=True)

    def end(self) -> None:
        """Stop asking."""
        self.display = False

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.answer(event.option_index)

    @on(Input.Submitted)
    def take_words(self, event: Input.Submitted | None = None) -> None:
        """Take what was typed, if anything was."""
        if event is not None:
            event.stop()
        if not self.is_asking:
            return  # Enter was pressed twice
        self.end()
        self.post_message(self.Answered(None, " ".join(self.query_one(Input).value.split())))

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()

    def answer(self, choice: int) -> None:
        """Take this choice, if it is one."""
        if self.has_choices and choice < self.query_one(ChoiceList).option_count:
            self.end()
            self.post_message(self.Answered(choice))


def outcome(prediction: Prediction, choice: int) -> Block:
    """What came of a prediction, to be read beside the output."""
    said = one_line(prediction.choices[choice]) if choice < len(prediction.choices) else Content("")
    right = Content("")
    why = one_line(prediction.why)
    if prediction.right is None:
        mark = Content.styled("▸ ", "$text-accent")
    elif prediction.right == choice:
        mark = Content.styled("✓ ", "$text-success")
    else:
        mark = Content.styled("✗ ", "$text-error")
        # The reason is written for whoever knows what it is the reason of.
        right = Content.assemble(_("Right is: "), one_line(prediction.choices[prediction.right]).stylize("bold"), ". ")
    return Text(Content.assemble(_("You said: "), said.stylize("bold"), ". ", right, why), mark)


def expected(words: str) -> Block:
    """What the learner expected, to be read beside the output."""
    return Text(Content.assemble(_("You expected: "), (words, "bold")), Content.styled("▸ ", "$text-accent"))
