"""Collects the titles of the checks for the catalogues: the first lines of their docstrings."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import IO, Any


def extract(file: IO[bytes], keywords: Any, comment_tags: Any, options: Any) -> Iterator[tuple[Any, ...]]:
    """What Babel asks for: line, function, message and comments of each message of a file of checks."""
    from babel.messages.extract import extract_python

    source = file.read()
    file.seek(0)
    yield from extract_python(file, keywords, comment_tags, options)
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and (text := ast.get_docstring(node)):
            yield node.lineno, "_", text.splitlines()[0].strip(), []
