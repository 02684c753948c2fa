"""What a key types or does, in the order of the keys and also where a terminal reports a character only as a code."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.events import Key
    from textual.widget import Widget


def typed(event: Key) -> str | None:
    """The character that a key types, or None.

    VS Code's terminal and others report space, € and the like as codes without text, which Textual reads as keys that
    type nothing.
    """
    if event.character is not None:
        return event.character if event.is_printable else None
    shifted = event.key.startswith("shift+")
    name = event.key.removeprefix("shift+")
    if name == "space":
        return " "
    if "+" in name:
        return None
    if len(name) == 1:
        return name.upper() if shifted else name
    return None if shifted else _named(name)  # shifted, only the keyboard knows which character that is


async def act(widget: Widget, event: Key) -> bool:
    """Do what a key is bound to in the widget that has the focus; whether it is bound to anything there.

    Textual does it only when the key has gone up to the app: letters that follow fast, as over a slow line, would
    overtake Backspace and the arrows.
    """
    bindings = widget._bindings
    if keymap := widget.app._keymap:
        bindings = bindings.copy()
        bindings.apply_keymap(keymap)
    for binding in bindings.key_to_bindings.get(event.key, ()):
        if not binding.priority and await widget.app.run_action(binding.action, widget):
            event.stop()
            event.prevent_default()
            return True
    return False


def _named(name: str) -> str | None:
    from textual.keys import KEY_NAME_REPLACEMENTS, KEY_TO_UNICODE_NAME

    unicode_name = {short: long for long, short in KEY_NAME_REPLACEMENTS.items()}.get(name, name)
    try:
        character = unicodedata.lookup(KEY_TO_UNICODE_NAME.get(unicode_name, unicode_name.replace("_", " ")))
    except KeyError:
        return None
    return character if character.isprintable() else None
