"""What finds something from every screen: the search over all of the course, the glossary, and bookmarks."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from textual.app import App
from textual.binding import Binding

from lab.language import N_, _

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from course.catalog import Catalog, Step
    from course.progress import Progress
    from course.search import Index
    from course.terms import Term

FINDING: Sequence[Binding] = (
    Binding(
        "slash",
        "app.search",
        N_("Search"),
        id="search",
        show=False,
        tooltip=N_("Search all cards, exercises and terms"),
    ),
    Binding(
        "g", "app.glossary", N_("Glossary"), id="glossary", show=False, tooltip=N_("Look up the words of this card")
    ),
)
BOOKMARK = Binding(
    "b", "app.bookmark", N_("Bookmark"), id="bookmark", show=False, tooltip=N_("Mark this step, or take the mark away")
)

HOW_TO_BOOKMARK = N_("b marks the step that you read, or the one under the cursor in a lesson's list of steps (→).")


class Finding(App[None]):
    """The part of the app that finds something."""

    catalog: Catalog
    progress: Progress
    on_top: ClassVar[tuple[str, ...]] = ("SearchScreen", "GlossaryScreen")

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """The glossary."""
        from course import terms

        return terms.load()

    @cached_property
    def first_used(self) -> Mapping[str, list[Term]]:
        """For each step, the terms that come up there for the first time."""
        from course import terms

        return terms.first_used(self.terms, self.catalog)

    @cached_property
    def search_index(self) -> Index:
        """Everything that can be read, prepared for the search."""
        from course import search

        return search.Index(search.pages(self.catalog, self.terms))

    def step_shown(self) -> Step | None:
        """The step that the learner reads now, on top of another one or not."""
        return next((step for screen in reversed(self.screen_stack) if (step := getattr(screen, "step", None))), None)

    def action_search(self) -> None:
        """Search all of the course."""
        from course.app.screens.search import SearchScreen

        if not self._is_open(SearchScreen):
            self.push_screen(SearchScreen())

    def action_glossary(self) -> None:
        """Show the glossary at what the step uses first, else at what it uses at all."""
        from course import terms

        step = self.step_shown()
        here = terms.used_in(self.terms, terms.words_of(step)) if step else []
        new = self.first_used.get(step.id, []) if step else []
        self.show_term(next(iter([*new, *here]), None), here)

    def show_term(self, term: Term | None, here: Sequence[Term] = ()) -> None:
        """Show the glossary at a term; those of the step that one comes from are marked."""
        from course.app.screens.glossary import GlossaryScreen

        if not self._is_open(GlossaryScreen):
            self.push_screen(GlossaryScreen(term, here))

    def show_aside(self, card: str, words: Sequence[str] = (), then: Callable[[], None] | None = None) -> None:
        """Show a card on top of what is there, with these words marked; escape goes back, `then` to the next card."""
        from course.app.screens.aside import AsideScreen

        step = self.catalog.step(card)
        if step is None:
            self.notify(_("There is no card {card}.", card=card), severity="warning", markup=False)
        else:
            self.push_screen(AsideScreen(step, words, then))

    def action_bookmark(self) -> None:
        """Mark the step that is shown, or take its mark away."""
        self.toggle_bookmark(self.step_shown())

    def toggle_bookmark(self, step: Step | None) -> None:
        """Mark a step, or take its mark away; say how one is made where there is no step."""
        if step is None:
            self.notify(_(HOW_TO_BOOKMARK), timeout=6, markup=False)
        else:
            marked = self.progress.toggle_bookmark(step.id)
            what = (
                _("Bookmarked: “{step}”. The map lists all bookmarks.")
                if marked
                else _("No bookmark any more: “{step}”. The map lists all bookmarks.")
            )
            self.notify(what.format(step=step.title), timeout=3, markup=False)
            self.screen.refresh_bindings()

    def bookmarked(self) -> list[Step]:
        """The steps that are marked, in the order of the course."""
        marked = set(self.progress.bookmarks())
        return [step for lesson in self.catalog.lessons for step in lesson.steps if step.id in marked]

    def _is_open(self, kind: type) -> bool:
        """Whether a screen of this kind is there already: two of them would only be in each other's way."""
        return any(isinstance(screen, kind) for screen in self.screen_stack)
