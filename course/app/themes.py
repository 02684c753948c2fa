"""The course's own themes: dark, light, with high contrast; and the terminal's own colours."""

from __future__ import annotations

from textual.theme import BUILTIN_THEMES, Theme

from lab.language import N_

DARK = Theme(
    name="profile-first-dark",
    primary="#7db4f0",
    secondary="#86c5c0",
    accent="#efb45f",
    warning="#e5c07b",
    error="#ee8289",
    success="#8ccf8a",
    foreground="#e9ebf0",
    background="#14161b",
    surface="#1e2128",
    panel="#282c36",
    dark=True,
    variables={"footer-key-foreground": "#efb45f", "footer-background": "#1e2128", "block-cursor-text-style": "none"},
)
LIGHT = Theme(
    name="profile-first-light",
    primary="#1d5fa6",
    secondary="#1c6f6a",
    accent="#925400",
    warning="#7d5a00",
    error="#b3202c",
    success="#256b2b",
    foreground="#050608",
    background="#fbfaf7",
    surface="#f0eee8",
    panel="#e6e3db",
    dark=False,
    variables={"footer-key-foreground": "#925400", "footer-background": "#f0eee8", "block-cursor-text-style": "none"},
)
HIGH_CONTRAST = Theme(
    name="profile-first-high-contrast",
    primary="#8cc8ff",
    secondary="#7ff0e6",
    accent="#ffd75f",
    warning="#ffe066",
    error="#ff9aa2",
    success="#8dff8a",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#121212",
    dark=True,
    variables={"footer-key-foreground": "#ffd75f", "footer-background": "#000000", "block-cursor-text-style": "bold"},
)
TERMINAL = BUILTIN_THEMES["ansi-dark"]
"""Asks the terminal for its own sixteen colours, whatever they are."""
OURS = (
    (DARK, N_("Theme: dark"), N_("Light text on a dark ground")),
    (LIGHT, N_("Theme: light"), N_("Dark text on a light ground")),
    (HIGH_CONTRAST, N_("Theme: high contrast"), N_("White and bright colours on black")),
    (TERMINAL, N_("Theme: the terminal's own colours"), N_("As your terminal shows other programs")),
)
WITHOUT_COLOUR = TERMINAL.name
"""The theme that sends no colour at all when NO_COLOR is set; the others would still be sent as greys."""
