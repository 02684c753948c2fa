"""Lines are never broken at a no-break space: in French, no line begins with a colon, a question mark or a unit."""

from __future__ import annotations

import re

NO_BREAK = "\u00a0\u202f"


def keep_no_break_spaces() -> None:
    """Let Rich, which finds the words for Textual, take a no-break space for a letter and not for a gap."""
    import rich._wrap

    gap = rf"[^\S{NO_BREAK}]*"
    rich._wrap.re_word = re.compile(rf"{gap}[\S{NO_BREAK}]+{gap}")
