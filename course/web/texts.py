"""What the page says around the terminal."""

from __future__ import annotations

from dataclasses import dataclass

from lab.language import _


@dataclass(frozen=True)
class PageTexts:
    """The words of the page in one language."""

    title: str
    opening: str
    start: str
    ended: str
    restart: str
    server_gone: str
    terminal: str
    no_script: str


def page_texts() -> PageTexts:
    """The words of the page in the language of the apps that it shows."""
    return PageTexts(
        title="Profile First",
        opening=_("Opening the course…"),
        start=_("Start"),
        ended=_("Session ended. Everything you did is kept."),
        restart=_("Restart"),
        server_gone=_("The server has ended. Start it again with 'profile-first serve', then reload this page."),
        terminal=_("The course, as a terminal"),
        no_script=_("The course needs JavaScript. Nothing is loaded from other machines."),
    )
