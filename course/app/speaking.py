"""The language of the app, which changes at any moment: each screen says again what it shows, where it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from textual import events, on
from textual.app import App, SystemCommand

from lab.language import LANGUAGES, N_, _, current, use

if TYPE_CHECKING:
    from course.app.runs import SeenRuns
    from course.catalog import Catalog

OFFERS = {
    "en": "Language: the whole course in English",
    "it": "Lingua: tutto il corso in italiano",
    "fr": "Langue\u00a0: tout le cours en français",
}
"""What whoever reads only that language understands."""

NOTHING_TO_COPY = N_("Ctrl+C copies what is selected, and stops a program that runs. Ctrl+Q leaves the course.")

# What Textual itself says in English.
TEXTUALS = (
    N_("Quit"),
    N_("Quit the application as soon as possible"),
    N_("Screenshot"),
    N_("Save an SVG 'screenshot' of the current screen"),
    N_("esc"),
    N_("palette"),
    N_("Open the command palette"),
    N_("Scroll Up"),
    N_("Scroll Down"),
    N_("Scroll Left"),
    N_("Scroll Right"),
    N_("Scroll Home"),
    N_("Scroll End"),
    N_("Page Up"),
    N_("Page Down"),
    N_("Page Left"),
    N_("Page Right"),
)

# What Textual says about the keys of its editor, line of text, list and table, which the help shows.
TEXTUALS_KEYS = (
    N_("Cursor up"),
    N_("Cursor down"),
    N_("Cursor left"),
    N_("Cursor right"),
    N_("Cursor word left"),
    N_("Cursor word right"),
    N_("Cursor line start"),
    N_("Cursor line end"),
    N_("Cursor page up"),
    N_("Cursor page down"),
    N_("Cursor left word select"),
    N_("Cursor right word select"),
    N_("Cursor line start select"),
    N_("Cursor line end select"),
    N_("Cursor up select"),
    N_("Cursor down select"),
    N_("Cursor left select"),
    N_("Cursor right select"),
    N_("Select line"),
    N_("Select all"),
    N_("Delete character left"),
    N_("Delete left to start of word"),
    N_("Delete character right"),
    N_("Delete right to start of word"),
    N_("Cut"),
    N_("Copy"),
    N_("Paste"),
    N_("Delete to line start"),
    N_("Delete to line end"),
    N_("Delete line"),
    N_("Undo"),
    N_("Redo"),
    N_("Move cursor left"),
    N_("Move cursor left and select"),
    N_("Move cursor left a word"),
    N_("Move cursor left a word and select"),
    N_("Move cursor right or accept the completion suggestion"),
    N_("Move cursor right and select"),
    N_("Move cursor right a word"),
    N_("Move cursor right a word and select"),
    N_("Go to start"),
    N_("Go to end"),
    N_("Select line start"),
    N_("Select line end"),
    N_("Submit"),
    N_("Delete all to the left"),
    N_("Delete all to the right"),
    N_("Cut selected text"),
    N_("Copy selected text"),
    N_("Paste text from the clipboard"),
    N_("Down"),
    N_("Last"),
    N_("Select"),
    N_("First"),
    N_("Up"),
    N_("Page up"),
    N_("Page down"),
    N_("Top"),
    N_("Bottom"),
    N_("Home"),
    N_("End"),
)


class Speaking(App[None]):
    """The part of the app that chooses its words."""

    catalog: Catalog
    _runs: SeenRuns | None

    def language_commands(self) -> Iterator[SystemCommand]:
        """The other languages to choose from."""
        for code, name in LANGUAGES.items():
            if code != current():
                yield SystemCommand(_("Language: {name}", name=name), OFFERS[code], partial(self.speak, code))

    def speak(self, code: str) -> None:
        """Say everything in this language from now on, also the next time."""
        from course import catalog, language

        use(code)
        language.keep(code)
        self.catalog = catalog.load()
        for made in ("terms", "first_used", "search_index"):
            self.__dict__.pop(made, None)
        if self._runs is not None:
            self._runs.retell()
        self.name_gpu_again()
        for screen in self.screen_stack:
            for bar in screen.query("ActionBar"):
                bar.refresh()
            if screen.is_mounted and (retell := getattr(screen, "retell", None)) is not None:
                retell()

    def name_gpu_again(self) -> None:
        """Say which GPU is in use."""

    def in_our_words(self, commands: Iterable[SystemCommand]) -> Iterator[SystemCommand]:
        """Textual's own commands in the language."""
        for title, words, callback, *discover in commands:
            yield SystemCommand(_(title), _(words), callback, *discover)

    # What Textual says itself

    def action_command_palette(self) -> None:
        from course.app.palette import CommandPalette

        if self.use_command_palette and not self.screen.has_class("--textual-command-palette"):
            self.push_screen(CommandPalette(placeholder=_("Search for commands…"), id="--command-palette"))

    def action_help_quit(self) -> None:
        """Ctrl+C with nothing to copy and nothing to stop: say what it is for, and what leaves."""
        self.notify(_(NOTHING_TO_COPY), markup=False)

    @on(events.DeliveryComplete)
    def _on_delivery_complete(self, event: events.DeliveryComplete) -> None:
        if event.name == "screenshot":
            said = _("Saved screenshot to {path}", path=event.path) if event.path else _("Saved screenshot")
            self.notify(said, title=_("Screenshot"), markup=False)

    @on(events.DeliveryFailed)
    def _on_delivery_failed(self, event: events.DeliveryComplete) -> None:
        if event.name == "screenshot":
            self.notify(_("Failed to save screenshot"), title=_("Screenshot"), severity="error")
