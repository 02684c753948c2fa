"""The quiz at the end of a lesson: one question at a time, each answer with its reason."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from course.app.grading import quiz_results, quiz_verdict, right_answers
from course.app.jobs import points_in_words
from course.app.prose import QUIET, Block, Text, flow, heading, one_line, parse
from course.app.screens.base import HELP, StepScreen
from course.app.widgets.actions import BACK, NEXT, ActionBar, ActionButton
from course.app.widgets.choice_list import ChoiceList
from course.app.widgets.prose import Prose
from course.quiz import QuizUnreadable, shuffled_questions
from course.workspace import WorkspaceError
from lab.language import N_, _, ngettext

if TYPE_CHECKING:
    from course.catalog import Step

SEEDS = 2**31


class QuizScreen(StepScreen):
    """Asks the questions of a quiz; answers are kept as they are given."""

    CSS_PATH = "quiz.tcss"
    AUTO_FOCUS = ""
    EXPLAINS = N_("""\
The quiz of the lesson. Choose with the arrows, j and k, or the number, and answer with Enter. You are told at once
whether the answer is right, and why; after a wrong one, a shows the right one. The whole quiz can be taken again as
often as you like; the best result counts.
""")
    BINDINGS = [  # noqa: RUF012
        HELP,
        Binding(
            "enter",
            "answer_or_go_on",
            N_("Answer"),
            id="quiz.answer",
            show=False,
            tooltip=N_("Give this answer; then go on"),
        ),
        Binding(
            "right,n,ctrl+n",
            "forward",
            N_("Next"),
            id="step.next",
            show=False,
            tooltip=N_("Go to the next question or step"),
        ),
        Binding(
            "left,p",
            "backward",
            N_("Back"),
            id="step.previous",
            show=False,
            tooltip=N_("Go to the question or step before"),
        ),
        Binding(
            "r",
            "again",
            N_("Again"),
            id="quiz.again",
            tooltip=N_("Take the quiz again, with the choices shuffled anew"),
        ),
        Binding(
            "a",
            "show_right",
            N_("Right answers"),
            id="quiz.right",
            show=False,
            tooltip=N_("Show the right answer to what was answered wrong, and its reason"),
        ),
        Binding("escape", "to_map", N_("Map"), id="map", tooltip=N_("Go to the course map")),
        *(
            Binding(str(number), f"choose({number - 1})", f"Choice {number}", show=False, id=f"quiz.choice{number}")
            for number in range(1, 7)
        ),
    ]

    def __init__(self, step: Step) -> None:
        super().__init__(step)
        self._seed = 0
        self._questions: list[Any] = []
        self._answers: dict[str, str] = {}
        self._at = 0
        """The question shown; as many as there are questions means the result."""
        self._shows_right = False
        """Whether the learner wants to see the right answers."""
        self._shows_wrong = False
        """Whether an answer that is shown is wrong."""

    def body(self) -> ComposeResult:
        with VerticalScroll(id="quiz", can_focus=False):
            yield Prose(id="question")
            yield ChoiceList(id="choices")
            yield Prose(id="why")
        yield ActionBar(
            ActionButton(BACK, "p", "backward"),
            ActionButton(N_("Answer"), "Enter", "answer_or_go_on", id="answer"),
            right=[ActionButton(NEXT, "n", "forward", id="next")],
        )

    @property
    def choices(self) -> ChoiceList:
        return self.query_one(ChoiceList)

    @property
    def question(self) -> Any:
        """The question shown, or None where the result is."""
        return self._questions[self._at] if self._at < len(self._questions) else None

    @property
    def answered(self) -> bool:
        """Whether the question shown has its answer."""
        return self.question is not None and self.question.id in self._answers

    # What is shown

    def show(self, step: Step) -> None:
        super().show(step)
        kept = self.course.progress.setting(f"quiz seed {step.lesson}")
        self._begin(int(kept) if kept else None)

    def _begin(self, seed: int | None) -> None:
        """Show the quiz as it was left, or begin anew where there is no seed."""
        lesson = self.step.lesson
        self._shows_right = False
        if seed is None:
            seed = secrets.randbelow(SEEDS)
            self.course.progress.set(f"quiz seed {lesson}", str(seed))
        self._seed = seed
        try:
            self._questions = shuffled_questions(lesson, seed)
        except QuizUnreadable as error:
            self._questions = []
            self.query_one("#question", Prose).show([heading(self.step.title), Text(Content(str(error)))])
            self.choices.display = False
            return
        given = self.course.workspace.answers(lesson)
        self._answers = {question.id: given[question.id] for question in self._questions if question.id in given}
        first_open = (i for i, question in enumerate(self._questions) if question.id not in self._answers)
        self._at = next(first_open, len(self._questions))
        self._refresh()

    def retell(self) -> None:
        super().retell()
        if self._questions:
            self._questions = shuffled_questions(self.step.lesson, self._seed)
            self._refresh()

    def _refresh(self) -> None:
        self.query_one(ActionBar).show("next", self.question is None or self.answered)
        self.query_one(ActionBar).show("answer", self.question is not None and not self.answered)
        results = [] if self.question is not None and not self.answered else self._results()
        shown = results if self.question is None else results[self._at :][:1]
        self._shows_wrong = any(each.passed is False for each in shown)
        if self.question is None:
            self._show_result()
        else:
            self._show_question()
        self.query_one("#quiz").scroll_home(animate=False)
        self.refresh_bindings()

    def _show_question(self) -> None:
        number, count = self._at + 1, len(self._questions)
        opening = parse(self.step.text) if number == 1 and not self.answered else ()
        label = Text(Content.styled(_("Question {number} of {count}", number=number, count=count), "$foreground 60%"))
        asks = tuple(
            Text(block.content.stylize_before("bold"), block.marker, block.indent) if isinstance(block, Text) else block
            for block in parse(self.question.asks)
        )
        self.query_one("#question", Prose).show([heading(self.step.title), *opening, label, *asks])
        self.query_one(ActionBar).middle = self.step_of_steps
        self._show_choices()
        self.choices.focus()
        self.query_one("#why", Prose).show(self._why(self._result()) if self.answered else ())

    def _show_choices(self) -> None:
        result = self._result() if self.answered else None
        chosen = self._answers.get(self.question.id)
        options = []
        for index, choice in enumerate(self.question.choices, 1):
            mark: tuple[str, str] = (f"{index}  ", "$text-accent")
            if result is not None and choice.id == chosen:
                mark = _mark(result, "  ")
            text = one_line(choice.text)
            if result is not None and choice.id != chosen:
                text = text.stylize("$foreground 60%")
            options.append(Option(self._hanging(Content.styled(*mark), text), id=choice.id))
        choices = self.choices
        choices.display = True
        if choices.replace(options):
            ids = [choice.id for choice in self.question.choices]
            choices.highlighted = ids.index(chosen) if chosen in ids else 0

    def _hanging(self, mark: Content, text: Content) -> Content:
        """The text of a choice, its further lines below the first one's text."""
        width = (self.choices.size.width or min(self.size.width - 5, 88)) - 3
        return flow([Text(text, mark)], width)

    @on(ChoiceList.Resized)
    def _fit_choices(self) -> None:
        if self.question is not None:
            self._show_choices()

    def _why(self, result: Any) -> list[Block]:
        # The reason of the right answer begins with "Right" itself.
        words = ("✓ ", "bold $text-success") if result.passed else (_("✗ Not right. "), "bold $text-error")
        if result.passed is None:
            words = (_("● Kept. "), "bold $text-accent")
        blocks = list(parse(result.message or ""))
        first = blocks[0] if blocks and isinstance(blocks[0], Text) else Text(Content(""))
        blocks[:1] = [Text(Content.assemble(words, first.content), first.marker)]
        if result.passed is False and self._shows_right:
            blocks += self._right_answer(self.question)
        goes_on = _("shows the result.") if len(self._answers) == len(self._questions) else _("goes on.")
        keys = Content.assemble((_("Enter "), "bold $text-accent"), (goes_on, QUIET))
        return [*blocks, Text(keys + self._offers_right((result,)))]

    def _right_answer(self, question: Any) -> list[Block]:
        """The right choice of a question, and its reason."""
        choice, why = right_answers(self.step.lesson)[question.id]
        text = next(one_line(each.text) for each in question.choices if each.id == choice)
        mark = Content.styled("✓ ", "$text-success")
        reason = [
            Text(each.content, Content("  "), 2, after_gap=False) for each in parse(why) if isinstance(each, Text)
        ]
        return [Text(text.stylize_before("bold"), mark, 2, after_gap=False), *reason]

    def _offers_right(self, results: Sequence[Any]) -> Content:
        """Says how the right answers are shown, where one was answered wrong and they aren't shown yet."""
        wrong = sum(result.passed is False for result in results)
        if not wrong or self._shows_right:
            return Content("")
        offer = ngettext(" shows the right answer.", " shows the right answers.", wrong)
        return Content.assemble("  ", ("a", "bold $text-accent"), (offer, QUIET))

    def _show_result(self) -> None:
        results = self._results()
        earned, possible = sum(each.points for each in results), sum(each.max_points for each in results)
        blocks: list[Block] = [heading(self.step.title)]
        said = points_in_words(earned, possible) if possible else results[0].message
        blocks.append(Text(Content.styled(said, "bold")))
        for question, result in zip(self._questions, results, strict=True):
            name = Text(one_line(result.name), Content.styled(*_mark(result)), after_gap=self._shows_right)
            shows = self._shows_right and result.passed is False
            blocks += [name, *(self._right_answer(question) if shows else ())]
        again = (("r", "bold $text-accent"), _(" takes the quiz again.  ")) if earned < possible or not possible else ()
        keys = Content.assemble(
            *again, (_("Enter"), "bold $text-accent"), _(" goes on.  "), ("p", "$text-accent"), _(" looks back.")
        )
        blocks.append(Text(keys + self._offers_right(results)))
        self.query_one("#question", Prose).show(blocks)
        self.query_one("#why", Prose).show(())
        self.query_one(ActionBar).middle = self.step_of_steps
        self.choices.display = False
        self.set_focus(None)

    # Answering

    def _results(self) -> list[Any]:
        return quiz_results(self.step.lesson, self.course.workspace.answers_path(self.step.lesson))

    def _result(self) -> Any:
        return self._results()[self._at]

    @on(OptionList.OptionSelected)
    def _answer(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if self.answered:
            self._go_on()
            return
        self._answers[self.question.id] = event.option.id or ""
        if not self._save():
            return
        if len(self._answers) == len(self._questions):
            file = self.course.workspace.answers_path(self.step.lesson)
            verdict = quiz_verdict(self.step.lesson, file, self._seed)
            if verdict is not None:
                self.course.progress.record(verdict)
        self._refresh()
        self.call_after_refresh(self.query_one("#quiz").scroll_end, animate=False)

    def _save(self) -> bool:
        try:
            self.course.workspace.save_answers(self.step.lesson, self._answers)
        except WorkspaceError as error:
            self.notify(str(error), severity="error", timeout=10, markup=False)
            return False
        return True

    def _go_on(self) -> None:
        self._at += 1
        self._refresh()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "again":
            return self.is_mounted and bool(self._questions) and self.question is None
        if action == "forward":
            return self.is_mounted and (self.question is None or self.answered)
        if action == "show_right":
            return self._shows_wrong
        return True

    def action_answer_or_go_on(self) -> None:
        if self.question is None:
            self.action_next_step()
        else:
            self.choices.action_select()

    def action_forward(self) -> None:
        if self.question is None:
            self.action_next_step()
        else:
            self._go_on()

    def action_backward(self) -> None:
        if self._at == 0:
            self.action_previous_step()
        else:
            self._at -= 1
            self._refresh()

    def action_choose(self, index: int) -> None:
        if self.question is not None and not self.answered and index < len(self.question.choices):
            self.choices.highlighted = index

    def action_show_right(self) -> None:
        self._shows_right = True
        self._refresh()
        if self.question is not None:
            self.call_after_refresh(self.query_one("#quiz").scroll_end, animate=False)

    def action_again(self) -> None:
        self._answers = {}
        if self._save():
            self._begin(None)


def _mark(result: Any, gap: str = " ") -> tuple[str, str]:
    """Right, not right, or kept for the instructor."""
    marks = {True: ("✓", "$text-success"), False: ("✗", "$text-error"), None: ("●", "$text-accent")}
    sign, style = marks[result.passed]
    return sign + gap, style
