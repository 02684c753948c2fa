"""The cards of a lesson, one at a time, forward and back, with code that runs on the spot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content

from course.app.jobs import ended_well, run_summary
from course.app.prose import STRONG, Block, Code, Text, heading, parse
from course.app.screens.base import HELP, SIDEWAYS, TIMELINE, StepScreen
from course.app.widgets.actions import BACK, NEXT, ActionBar, ActionButton
from course.app.widgets.job import JobPanel
from course.app.widgets.prediction import PredictionPanel, expected, outcome
from course.app.widgets.prose import Prose
from course.catalog import MOST_CHOICES
from course.progress import EXPECTED, REVEALED
from lab.language import N_, _

if TYPE_CHECKING:
    from course.catalog import Step

WAITING = N_("Waiting for the program before to end")
MAX_OUTPUT_ROWS = 14
PREDICT = N_("Predict:")


class CardScroll(VerticalScroll):
    """The card's text; scrolls with the arrows, j and k, and space."""

    BINDINGS = [  # noqa: RUF012
        Binding("j", "scroll_down", N_("Scroll down"), show=False, id="card.down"),
        Binding("k", "scroll_up", N_("Scroll up"), show=False, id="card.up"),
    ]


class LessonScreen(StepScreen):
    """A card of a lesson."""

    CSS_PATH = "lesson.tcss"
    EXPLAINS = N_("""\
A card of the lesson. Code that says “F5 runs this” is a whole program: F5 runs it on the GPU named at the top and shows
what it prints below it; > and < scroll lines sideways that are wider than the window.

Where a card asks you to predict, do it before you run: F5 first asks what you expect, with choices or for a few words;
F5 again runs it. What follows is shown after the run, or with Space or Enter.
""")
    BINDINGS = [  # noqa: RUF012
        HELP,
        Binding("f5,r,ctrl+r", "run", N_("Run"), id="run", show=False, tooltip=N_("Run the code of this card")),
        Binding(
            "f8,ctrl+c",
            "stop",
            N_("Stop"),
            id="stop",
            key_display="F8",
            priority=True,
            tooltip=N_("Stop the program that runs; if another run waits for that, cancel what waits"),
        ),
        Binding(
            "right,n,ctrl+n", "next_step", N_("Next"), id="step.next", show=False, tooltip=N_("Go to the next step")
        ),
        Binding(
            "enter", "reveal_or_next", N_("Read on"), id="step.read", show=False, tooltip=N_("Read on, then go on")
        ),
        Binding(
            "left,p", "previous_step", N_("Back"), id="step.previous", show=False, tooltip=N_("Go to the step before")
        ),
        Binding("escape", "to_map", N_("Map"), id="map", tooltip=N_("Go to the course map")),
        Binding("c", "copy_code", N_("Copy code"), id="card.copy", show=False, tooltip=N_("Copy the card's code")),
        *(
            Binding(str(number), f"predict({number - 1})", f"Choice {number}", show=False, id=f"predict.choice{number}")
            for number in range(1, MOST_CHOICES + 1)
        ),
        Binding(
            "space", "page_or_next", N_("Next page"), show=False, id="card.page", tooltip=N_("Read on, page by page")
        ),
        *TIMELINE,
        *SIDEWAYS,
    ]

    aside: ClassVar[bool] = False
    """Whether it is shown on top of an exercise, to explain a mistake."""

    def __init__(self, step: Step) -> None:
        super().__init__(step)
        self._code: str | None = None
        self._split = 0
        """How many blocks stand above the output."""
        self._asks = False
        """Whether a run is yet to ask for a prediction."""
        self._outcome_shown = False
        self._answer: tuple[Block, ...] = ()
        """What is kept back until the learner has made a prediction."""

    def body(self) -> ComposeResult:
        with CardScroll(id="card"):
            yield Prose(id="before")
            yield JobPanel(grows_to=MAX_OUTPUT_ROWS, id="job")
            yield Prose(id="after")
        yield PredictionPanel(id="prediction")
        yield ActionBar(
            ActionButton(BACK, "p", "previous_step", id="back"),
            ActionButton(N_("Run"), "F5", "run", id="run"),
            ActionButton(N_("Copy"), "c", "copy_code", id="copy"),
            right=[ActionButton(NEXT, "n", "next_step", id="next")],
        )

    def show(self, step: Step) -> None:
        if self.aside:
            self.step = step
            self.say_place()
        else:
            super().show(step)
        self._outcome_shown = False
        blocks = parse(step.text)
        at = next((i for i, block in enumerate(blocks) if isinstance(block, Code) and block.runnable), None)
        code = blocks[at] if at is not None else None
        self._code = code.code if isinstance(code, Code) else None
        question = end_of_question(blocks)
        split = max(question or 0, 0 if at is None else at + 1) or len(blocks)
        if not self.aside and step.prediction is not None:
            question = split
        self._split = split
        self.query_one(PredictionPanel).end()
        panel_above = any(isinstance(block, Code) and block.is_python for block in blocks[:split][-1:])
        self.query_one("#after", Prose).set_class(not panel_above, "-apart")
        unread = not self.aside and self.course.progress.setting(self._revealed) is None
        self._answer = blocks[split:] if question is not None and unread else ()
        self._asks = question is not None and unread and self._code is not None
        self.say_card(blocks)
        self.query_one(JobPanel).display = False
        bar = self.query_one(ActionBar)
        for button in ("run", "copy"):
            bar.show(button, self._code is not None)
        for button in ("back", "next"):
            bar.show(button, not self.aside)
        bar.middle = Content("") if self.aside else self.step_of_steps
        card = self.query_one("#card", CardScroll)
        card.scroll_home(animate=False)
        card.focus()
        self.refresh_bindings()

    def say_place(self) -> None:
        if self.aside:
            back = ("  ·  ", "$foreground 60%")
            self.header.place = Content.assemble((self.step.title, "bold"), back, _("Esc: back"))
        else:
            super().say_place()

    def say_card(self, blocks: Sequence[Block]) -> None:
        """Show the text above and below the output, as far as it isn't kept back."""
        before, after = self.query_one("#before", Prose), self.query_one("#after", Prose)
        before.show([heading(self.step.title), *blocks[: self._split]])
        if self._answer or self._asks:
            run = _("F5 asks you, and runs it. ") if self._asks else ""
            what = (_("What do you expect? "), "bold")
            reads_on = _("Space reads on.") if self._answer else ""
            after.show([Text(Content.assemble(("▸ ", "$text-accent"), what, run, reads_on))])
        elif self._outcome_shown:
            self._show_outcome()
        else:
            after.show(blocks[self._split :])

    def retell(self) -> None:
        super().retell()
        blocks = parse(self.step.text)
        if self._answer:
            self._answer = blocks[self._split :]
        self.say_card(blocks)
        self.query_one(PredictionPanel).retell(self.step.prediction)
        if not self.aside:
            self.query_one(ActionBar).middle = self.step_of_steps
        self.query_one(JobPanel).tell_again()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("run", "copy_code"):
            return self._code is not None
        if action == "stop":
            return self.course.job is not None
        if action == "sideways":
            return self.is_mounted and self.query_one(JobPanel).display
        if action == "predict":
            return self.is_mounted and self.query_one(PredictionPanel).has_choices
        return not (self.aside and action in ("next_step", "previous_step"))

    @property
    def _revealed(self) -> str:
        """The name under which is kept that the learner has made a prediction on this card."""
        return f"{REVEALED}{self.step.id}"

    @property
    def _expected(self) -> str:
        """The name under which is kept what the learner expected, in their words."""
        return f"{EXPECTED}{self.step.id}"

    def reveal(self) -> bool:
        """Show what was kept back; returns whether there was something."""
        answer, self._answer = self._answer, ()
        if answer:
            self._end_asking()
            self.query_one("#after", Prose).show(answer)
        return bool(answer)

    def _end_asking(self) -> None:
        """The learner has seen the answer: from now on there is nothing to predict."""
        self._asks = False
        self.course.progress.set(self._revealed, "yes")

    def _show_outcome(self) -> None:
        """Say, below the output, what came of the prediction."""
        if self.aside:
            return
        prediction, choice = self.step.prediction, self.course.progress.prediction(self.step.id)
        words = self.course.progress.setting(self._expected)
        told = outcome(prediction, choice) if prediction is not None and choice is not None else None
        if told is None and prediction is None and words:
            told = expected(words)
        self._outcome_shown = told is not None
        after = self.query_one("#after", Prose)
        after.show([*([told] if told is not None else ()), *parse(self.step.text)[self._split :]])

    def action_reveal_or_next(self) -> None:
        if self.reveal():
            self.call_after_refresh(self.query_one("#card", CardScroll).scroll_end, animate=False)
        elif not self.aside:
            self.action_next_step()

    def action_sideways(self, direction: int) -> None:
        self.query_one(JobPanel).output.scroll_sideways(direction)

    def action_next_step(self) -> None:
        self._stop_quietly()
        super().action_next_step()

    def action_previous_step(self) -> None:
        self._stop_quietly()
        super().action_previous_step()

    def action_page_or_next(self) -> None:
        card = self.query_one("#card", CardScroll)
        if self.query_one(PredictionPanel).is_asking:
            return
        if card.scroll_offset.y < card.max_scroll_y:
            card.scroll_page_down()
        else:
            self.action_reveal_or_next()

    def action_copy_code(self) -> None:
        if self._code:
            self.course.copy(self._code + "\n")

    async def action_run(self) -> None:
        if self._code is None:
            return
        panel = self.query_one(PredictionPanel)
        if self._asks and not panel.is_asking:
            if self.step.prediction is not None:
                panel.ask(self.step.prediction)
            else:
                await panel.ask_openly()
            self.call_after_refresh(self._show_code)
        elif panel.is_asking and not panel.has_choices:
            panel.take_words()
        else:
            self._stop_asking()
            self._run(self._code)

    def _show_code(self) -> None:
        """Show the program above the question, its beginning first."""
        above = self.query_one("#before", Prose)
        card = self.query_one("#card", CardScroll)
        card.scroll_to(y=max(above.size.height - card.size.height, 0), animate=False)

    def _stop_asking(self) -> None:
        self.query_one(PredictionPanel).end()
        self.query_one("#card", CardScroll).focus()

    def action_predict(self, choice: int) -> None:
        self.query_one(PredictionPanel).answer(choice)

    @on(PredictionPanel.Answered)
    def _predicted(self, event: PredictionPanel.Answered) -> None:
        prediction = self.step.prediction
        if prediction is not None and event.choice is not None:
            came_true = None if prediction.right is None else event.choice == prediction.right
            self.course.progress.predict(self.step.id, event.choice, came_true)
        elif event.words:
            self.course.progress.set(self._expected, event.words)
        if self._code is not None:
            self._stop_asking()
            self._run(self._code)

    def action_to_map(self) -> None:
        if self.query_one(PredictionPanel).is_asking:
            self._stop_asking()
        else:
            super().action_to_map()

    def action_stop(self) -> None:
        self.course.stop_job()

    def leave(self) -> None:
        self._stop_quietly()

    def _stop_quietly(self) -> None:
        self.course.turns.cancel_waiting()
        self.course.stop_job()

    @work(group="job", exit_on_error=False)
    async def _run(self, code: str) -> None:
        step, panel = self.step, self.query_one(JobPanel)
        panel.display = True
        turns = self.course.turns
        if turns.running and not panel.is_running:
            panel.begin(WAITING)
        async with turns.turn(N_("this run")) as mine:
            if not mine:
                if panel.label == WAITING and turns.waiting is None:
                    panel.end(lambda: Content.styled(_("■ Not run."), "$text-warning"))
                return
            panel.begin(N_("Running"), self.course.job_waits_for, lambda: turns.waiting)
            self.call_after_refresh(panel.scroll_visible, animate=False)
            result = await self.course.run_card(step, code, panel.feed)
        if step is not self.step or not self.is_attached:
            return
        panel.end(lambda: run_summary(result, panel.output.text))
        if ended_well(result):
            self.reveal()
            self._end_asking()
            self._show_outcome()
            panel.output.scroll_home(animate=False)
        else:
            # What went wrong is said last.
            panel.output.scroll_end(animate=False)
        self.call_after_refresh(self._show_output)

    def _show_output(self) -> None:
        """Show the output, and below it what came of the prediction, as far as there is room for both."""
        panel, card = self.query_one(JobPanel), self.query_one("#card", CardScroll)
        place, after = panel.virtual_region, self.query_one("#after", Prose)
        bottom = after.virtual_region.y + after.rows_of_first if self._outcome_shown else place.bottom
        card.scroll_to(y=min(place.y, max(card.scroll_offset.y, bottom - card.size.height)), animate=False)
        if panel.is_cut:
            panel.output.focus(scroll_visible=False)


def end_of_question(blocks: Sequence[Block]) -> int | None:
    """The index after the paragraph that asks for a prediction and the code or picture below it, if there is one."""
    asked = (i for i, block in enumerate(blocks) if isinstance(block, Text) and _asks(block.content))
    at = next(asked, None)
    if at is None:
        return None
    below = at + 1
    return below + (below < len(blocks) and isinstance(blocks[below], Code))


def _asks(content: Content) -> bool:
    return any(
        content.plain[span.start : span.end].startswith(_(PREDICT)) and span.style == STRONG for span in content.spans
    )
