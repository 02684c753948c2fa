"""What text of a stranger becomes before it goes into a report.

Names, file names, messages and code may hold anything. In a report every character stays what it is, but for those that
some reader of a report refuses or could be tricked by: each of them becomes one U+FFFD (�), and line ends become "\\n".
"""

from __future__ import annotations

import re

_LINE_END = re.compile("\r\n?|[\x85\u2028\u2029]")
_REPLACED = re.compile(
    "["
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f"  # controls: XML 1.0 forbids some, terminals obey others
    "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"  # no characters at all: half of a pair, or never to be exchanged
    "\u202a-\u202e\u2066-\u2069"  # turn the direction of what follows around, so that it reads as something else
    "\ufeff"  # a byte order mark within text is taken for the begin of a file
    "]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")


def plain(text: str) -> str:
    """The text as every report but results.json gives it."""
    return _REPLACED.sub("\ufffd", _LINE_END.sub("\n", text))


def one_line(text: str) -> str:
    """The same where a report has room for one line: line ends and tabs become spaces."""
    return plain(text).replace("\n", " ").replace("\t", " ")


def encodable(text: str) -> str:
    """The text as results.json gives it: JSON carries all but half of a pair, as in file names that aren't UTF-8."""
    return _SURROGATE.sub("\ufffd", text)
