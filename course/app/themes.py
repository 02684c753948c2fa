"""The course's own dark and light theme."""

from __future__ import annotations

from textual.theme import Theme

DARK = Theme(
    name="profile-first-dark",
    primary="#7db4f0",
    secondary="#86c5c0",
    accent="#efb45f",
    warning="#e5c07b",
    error="#ee8289",
    success="#8ccf8a",
    foreground="#d9dce3",
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
    foreground="#23262d",
    background="#fbfaf7",
    surface="#f0eee8",
    panel="#e3e0d7",
    dark=False,
    variables={"footer-key-foreground": "#925400", "footer-background": "#f0eee8", "block-cursor-text-style": "none"},
)
WITHOUT_COLOUR = "ansi-dark"
"""The theme that sends no colour at all when NO_COLOR is set; the others would still be sent as greys."""
