"""Makes pages of the templates: HTML that needs nothing else and lets nothing in, and Markdown.

Whatever is filled in is escaped, unless a template's author says otherwise. A page's policy lets it load nothing from
anywhere and apply only the style and the script that it was made with, which it knows by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from grader.reports.characters import one_line, plain

TEMPLATES = Path(__file__).with_name("templates")
_IN_A_LINE = re.compile(r"[\\`*\[\]<|@]|&(?=[#A-Za-z])|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|~(?=~)|(?<=~)~|(?<=:)/(?=/)")
_BEGINS_A_BLOCK = re.compile(r"^([-+#=>~]|\d{1,9}(?=[.)]))")
_LINK = re.compile(r"\b(www)\.", re.IGNORECASE)
_TICKS = re.compile("`+")


_CODE = re.compile("(?<!`)`([^`\n]+)`(?!`)")


class Markdown(str):
    """Text that is Markdown already."""

    __slots__ = ()


def html_page(template: str, *, script: str | None = None, **values: Any) -> bytes:
    """A whole page of HTML."""
    style = _read("page.css")
    code = _read(script) if script is not None else None
    rules = ["default-src 'none'", f"style-src 'sha256-{_hash(style)}'"]
    if code is not None:
        rules.append(f"script-src 'sha256-{_hash(code)}'")
    rules += ["base-uri 'none'", "form-action 'none'"]
    page = _html().get_template(template)
    text = page.render(policy="; ".join(rules), style=Markup(style), script=Markup(code) if code else None, **values)
    return text.encode()


def markdown_page(template: str, **values: Any) -> bytes:
    return _markdown().get_template(template).render(**values).encode()


def in_markdown(value: object) -> str:
    """Text as a part of a line of Markdown that shows it as it is."""
    if isinstance(value, Markdown):
        return value
    text = one_line(str(value))
    escaped = _escaped(text)
    begin = _BEGINS_A_BLOCK.match(text)
    if begin is None:
        return escaped
    if begin[0].isdigit():
        return f"{begin[0]}\\{escaped[len(begin[0]) :]}"
    return escaped if escaped.startswith("\\") else f"\\{escaped}"


def sentence_in_markdown(text: str) -> Markdown:
    """A sentence in which `code` is code."""
    text = one_line(text)
    parts = _CODE.split(text)
    if len(parts) == 1 or any(part != part.strip() for part in parts[1::2]):
        return Markdown(in_markdown(text))
    first = in_markdown(parts[0])
    escaped = [_escaped(part) if place % 2 == 0 else f"`{part}`" for place, part in enumerate(parts)]
    return Markdown("".join([first, *escaped[1:]]))


def message_in_markdown(text: str, indent: int) -> Markdown:
    """A message as a paragraph of its own, or as a block of code if its lines and spaces matter."""
    if text and text == text.strip() and not re.search(r"\s\s|\n|\t", text):
        return Markdown(" " * indent + sentence_in_markdown(text))
    longest = max((len(ticks) for ticks in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return Markdown("\n".join(" " * indent + line for line in [f"{fence}text", *text.split("\n"), fence]))


def code_in_markdown(text: str) -> Markdown:
    """A line as an indented block of code, in which nothing means anything."""
    return Markdown("    " + one_line(text))


def _escaped(text: str) -> str:
    return _LINK.sub(r"\1\\.", _IN_A_LINE.sub(r"\\\g<0>", text))


def _parts(line: str) -> list[tuple[bool, str]]:
    """A line cut where code begins and ends, for HTML."""
    return [(place % 2 == 1, part) for place, part in enumerate(_CODE.split(line))]


@cache
def _html() -> jinja2.Environment:
    environment = _environment(autoescape=True, finalize=_as_html)
    environment.filters["lines"] = lambda text: plain(text).split("\n")
    environment.filters["parts"] = _parts
    return environment


@cache
def _markdown() -> jinja2.Environment:
    environment = _environment(autoescape=False, finalize=in_markdown)
    environment.filters["message"] = lambda text, indent: message_in_markdown(plain(text), indent)
    environment.filters["sentence"] = sentence_in_markdown
    environment.filters["code"] = code_in_markdown
    return environment


def _environment(**options: Any) -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        **options,
    )


def _as_html(value: Any) -> Any:
    return plain(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _read(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
