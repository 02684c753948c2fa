"""Python highlighting that begins after the first frame, and is prepared once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import textual.widgets._text_area
from textual.document._syntax_aware_document import SyntaxAwareDocument
from textual.widgets import TextArea

if TYPE_CHECKING:
    from tree_sitter import Query

LATE_S = 0.1
"""How long after the editor was made: by then the screen, with its keys, is complete."""

_prepared: dict[str, Query | None] = {}


class _PythonDocument(SyntaxAwareDocument):
    def prepare_query(self, query: str) -> Query | None:
        # To prepare it costs as much as to draw the whole screen, and TextArea asks for it with each text.
        if query not in _prepared:
            _prepared[query] = super().prepare_query(query)
        return _prepared[query]


class LateSyntax(TextArea):
    """A TextArea for Python, in one colour until it was drawn for the first time.

    The grammar and its query take longer to load than all else that an exercise shows.
    """

    def on_mount(self) -> None:
        if _prepared:
            self._begin_to_highlight()
        else:
            self.set_timer(LATE_S, self._begin_to_highlight)

    def _begin_to_highlight(self) -> None:
        selection, scrolled = self.selection, self.scroll_offset
        self.language = "python"
        self.selection = selection
        self.scroll_to(*scrolled, animate=False, force=True)

    def _set_document(self, text: str, language: str | None) -> None:
        with _documents_prepared_once():
            super()._set_document(text, language)


@contextmanager
def _documents_prepared_once() -> Iterator[None]:
    used: Any = textual.widgets._text_area
    used.SyntaxAwareDocument = _PythonDocument
    try:
        yield
    finally:
        used.SyntaxAwareDocument = SyntaxAwareDocument
