"""The note that `profile-first submit` puts beside what it packs."""

from __future__ import annotations

from typing import Literal

import msgspec

HAND_IN = "profile-first.json"


class HandIn(msgspec.Struct, frozen=True):
    """What is handed in, and by whom as far as they say so."""

    exercises: list[str]
    student: str = ""
    version: str = ""
    schema: Literal[1] = 1
