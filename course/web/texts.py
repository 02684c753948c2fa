"""What the page says around the terminal, in each language that there is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PageTexts:
    """The words of the page in one language."""

    title: str = "Profile First"
    opening: str = "Opening the course…"
    start: str = "Start"
    ended: str = "Session ended. Everything you did is kept."
    restart: str = "Restart"
    server_gone: str = "The server has ended. Start it again with 'profile-first serve', then reload this page."
    terminal: str = "The course, as a terminal"
    no_script: str = "The course needs JavaScript. Nothing is loaded from other machines."


TEXTS = {"en": PageTexts()}
DEFAULT = "en"


def language_for(accepted: str) -> str:
    """The first language of an Accept-Language header that there are texts in."""
    for wanted in accepted.split(","):
        language = wanted.partition(";")[0].partition("-")[0].strip().lower()
        if language in TEXTS:
            return language
    return DEFAULT
