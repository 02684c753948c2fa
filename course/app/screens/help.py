"""Help for the screen that one is on: what it is for, and all of its keys."""

from __future__ import annotations

from collections.abc import Iterator

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen, Screen

from course.app.prose import Block, Text, heading, parse
from course.app.screens.lesson import CardScroll
from course.app.widgets.actions import ActionBar, ActionButton
from course.app.widgets.prose import Prose
from lab.language import N_, _

KEY_WORDS = {
    "question_mark": "?",
    "underscore": "_",
    "slash": "/",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "escape": N_("Esc"),
    "pageup": N_("PgUp"),
    "pagedown": N_("PgDn"),
    "left": "←",
    "right": "→",
    "up": "↑",
    "down": "↓",
}
NAMED_KEYS = (N_("Enter"), N_("Space"), N_("Tab"), N_("Shift"), N_("Home"), N_("End"), N_("Delete"), N_("Backspace"))


HERE = N_("Here")
IN_THE = {
    "CardScroll": N_("In the card"),
    "ChoiceList": N_("In the list"),
    "Editor": N_("In the editor"),
    "OutputView": N_("In the output"),
    "TaskScroll": N_("In the task"),
    "Timeline": N_("In the timeline"),
    "VerdictView": N_("In the verdict"),
    "DataTable": N_("In the table"),
    "RunTable": N_("In the table"),
    "ReportScroll": N_("In the report"),
}
"""Which keys are meant, by the widget that has the focus."""


class HelpScreen(ModalScreen[None]):
    """What the screen below is for, and its keys."""

    CSS_PATH = "dialog.tcss"
    BINDINGS = [  # noqa: RUF012
        Binding("escape,f1,q,question_mark", "dismiss", N_("Close"), id="help.close"),
    ]

    def __init__(self, about: Screen[object]) -> None:
        super().__init__()
        # Read now: once this screen is on top, the keys of the one below are no longer active.
        self._blocks = list(help_blocks(about))

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog", classes="-large"):
            with CardScroll(id="help"):
                yield Prose(self._blocks)
            yield ActionBar(right=[ActionButton(N_("Close"), "Esc", "dismiss")])

    def on_mount(self) -> None:
        self.query_one(CardScroll).focus()


def help_blocks(screen: Screen[object]) -> Iterator[Block]:
    """The help of a screen with the focus where it is."""
    yield heading(_("Help"))
    yield from parse(_(getattr(screen, "EXPLAINS", "")))
    yield from _keys(_("Keys of this screen"), own_bindings(screen))
    focused = screen.focused
    if focused is not None:
        active = screen.active_bindings.values()
        yield from _keys(
            _(IN_THE.get(type(focused).__name__, HERE)), [each.binding for each in active if each.node is focused]
        )
    everywhere = [each.binding for each in screen.active_bindings.values() if each.node is screen.app]
    yield from _keys(_("Everywhere"), everywhere)


def own_bindings(screen: Screen[object]) -> list[Binding]:
    """The keys that a screen adds to those of every screen, if their action is possible now."""
    inherited = {
        binding.action for bindings in Screen._merge_bindings().key_to_bindings.values() for binding in bindings
    }
    return [
        binding
        for bindings in screen._bindings.key_to_bindings.values()
        for binding in bindings
        if binding.action not in inherited and screen.app._check_action_state(binding.action, screen)
    ]


def _keys(title: str, bindings: list[Binding]) -> Iterator[Block]:
    actions: dict[str, tuple[list[str], str]] = {}
    for binding in bindings:
        if binding.description and not binding.system:
            words = _(binding.tooltip or binding.description)
            actions.setdefault(f"{binding.action} {words}", ([], words))[0].append(key_in_words(binding.key))
    if actions:
        yield Text(Content.styled(title, "bold $text-primary"))
        for keys, words in actions.values():
            marker = Content.styled(f"{'  '.join(dict.fromkeys(keys))}  ".ljust(22), "$text-accent")
            yield Text(Content(words), marker, after_gap=False)


def key_in_words(key: str) -> str:
    """A key as it is printed on keyboards: `ctrl+r` is Ctrl+R."""
    parts = []
    for part in key.split("+"):
        if part in KEY_WORDS:
            parts.append(_(KEY_WORDS[part]))
        elif part.startswith("f") and part[1:].isdigit():
            parts.append(part.upper())
        elif len(part) == 1:
            parts.append(part.upper() if len(key) > 1 else part)
        else:
            parts.append(_(part.capitalize()))
    return "+".join(parts)
