"""Python highlighting in the colours of the app's theme, for cards and for the editor."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual._text_area_theme import TextAreaTheme
    from textual.content import Content

COMMENT, KEYWORD, STRING, NUMBER, FUNCTION, BUILTIN = (
    "$foreground 60%",
    "$text-accent",
    "$text-success",
    "$text-warning",
    "$text-primary",
    "$text-secondary",
)


# Few colours: what is a keyword, a string, a number, a name being defined, a comment. A token type is a tuple of names.
_CARD_STYLES = {
    ("Comment",): f"{COMMENT} italic",
    ("Keyword",): KEYWORD,
    ("Keyword", "Constant"): NUMBER,
    ("Literal", "Number"): NUMBER,
    ("Literal", "String"): STRING,
    ("Literal", "String", "Doc"): f"{STRING} italic",
    ("Literal", "String", "Interpol"): NUMBER,
    ("Name", "Builtin"): BUILTIN,
    ("Name", "Class"): f"{FUNCTION} bold",
    ("Name", "Decorator"): FUNCTION,
    ("Name", "Exception"): BUILTIN,
    ("Name", "Function"): f"{FUNCTION} bold",
    ("Operator", "Word"): KEYWORD,
}


_EDITOR_STYLES = {
    "comment": COMMENT,
    "keyword": KEYWORD,
    "keyword.function": KEYWORD,
    "keyword.return": KEYWORD,
    "keyword.operator": KEYWORD,
    "conditional": KEYWORD,
    "repeat": KEYWORD,
    "exception": KEYWORD,
    "include": KEYWORD,
    "string": STRING,
    "string.documentation": STRING,
    "number": NUMBER,
    "float": NUMBER,
    "boolean": NUMBER,
    "constant.builtin": NUMBER,
    "function": FUNCTION,
    "function.call": FUNCTION,
    "method": FUNCTION,
    "method.call": FUNCTION,
    "class": FUNCTION,
    "type": FUNCTION,
    "type.class": FUNCTION,
    "type.builtin": BUILTIN,
    "function.builtin": BUILTIN,
}


def highlighted_as_cards_are(code: str) -> Content:
    """Python in the colours of the theme, for a card. Its lexer is loaded only when a card has code."""
    from textual.content import Content
    from textual.highlight import HighlightTheme, highlight

    class CardTheme(HighlightTheme):
        STYLES = _CARD_STYLES

    found = highlight(code, language="python", theme=CardTheme)
    # The first span gives all of the code a colour that doesn't follow the theme.
    return Content(found.plain, list(found.spans[1:]))


def editor_theme(name: str, variables: Mapping[str, str]) -> TextAreaTheme:
    """The editor's colours, made from the theme variables of the app; all else comes from the style sheet."""
    from rich.style import Style
    from textual._text_area_theme import TextAreaTheme
    from textual.color import Color

    def style(variable: str) -> Style:
        if variable == COMMENT:
            return Style(dim=True, italic=True)
        return Style(color=Color.parse(variables[variable[1:]]).rich_color)

    return TextAreaTheme(name, syntax_styles={token: style(variable) for token, variable in _EDITOR_STYLES.items()})
