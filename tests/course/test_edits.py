"""What the editor does to lines of Python."""

from __future__ import annotations

import pytest
from textual._xterm_parser import XTermParser
from textual.events import Key

from course.app.edits import (
    columns_to_delete,
    dedented,
    found,
    indent_after,
    indented,
    partner,
    toggled_comments,
    unchanged_ends,
)
from course.app.keys import typed


@pytest.mark.parametrize(
    ("before", "indent"),
    [
        ("", ""),
        ("x = 1", ""),
        ("    x = 1", "    "),
        ("if x:", "    "),
        ("    for x in y:  # a comment", "        "),
        ("x = 'a:'", ""),
        ("x = 1  # what follows:", ""),
        ("call(", "    "),
        ("    values = {", "        "),
        ("        return x", "    "),
        ("    pass", ""),
        ("return", ""),
        ("    return call(", "        "),
        ("    return (a,", "    "),
        ("    return a, \\", "    "),
        ("    returned = 1", "    "),
        ("    x = '# (' ", "    "),
    ],
)
def test_a_new_line_is_indented_as_what_is_before_it_asks_for(before: str, indent: str) -> None:
    assert indent_after(before, 4) == indent


@pytest.mark.parametrize(
    ("before", "columns"), [("", 1), ("    ", 4), ("      ", 2), ("        ", 4), ("    x", 1), ("   ", 3), ("\t", 1)]
)
def test_backspace_takes_away_one_level_of_an_indent(before: str, columns: int) -> None:
    assert columns_to_delete(before, 4) == columns


def test_lines_are_indented_and_dedented_as_far_as_they_can_be() -> None:
    lines = ["a", "", "  b", "        c", "\td"]
    assert indented(lines, 4) == ["    a", "", "      b", "            c", "    \td"]
    assert dedented(lines, 4) == ["a", "", "b", "    c", "d"]


def test_comments_are_put_at_the_least_indent_and_taken_away_again() -> None:
    code = ["    if x:", "", "        y = 1  # why"]
    commented = ["    # if x:", "", "    #     y = 1  # why"]
    assert toggled_comments(code) == commented
    assert toggled_comments(commented) == code
    assert toggled_comments(["#x", "y"]) == ["# #x", "# y"]
    assert toggled_comments(["#x"]) == ["x"]
    assert toggled_comments(["", "  "]) == ["", "  "]


def test_a_search_finds_text_and_not_patterns() -> None:
    lines = ["a.b A.B", "", "axb a.b"]
    assert found(lines, "a.b", exact_case=False) == [(0, 0, 3), (0, 4, 7), (2, 4, 7)]
    assert found(lines, "a.b", exact_case=True) == [(0, 0, 3), (2, 4, 7)]
    assert found(lines, "", exact_case=True) == []


@pytest.mark.parametrize(
    ("old", "new", "ends"),
    [("abc", "abc", (3, 0)), ("abc", "axc", (1, 1)), ("aa", "aaa", (2, 0)), ("", "a", (0, 0)), ("abc", "xc", (0, 1))],
)
def test_what_two_texts_have_in_common_is_counted_once(old: str, new: str, ends: tuple[int, int]) -> None:
    assert unchanged_ends(old, new) == ends


def test_the_partner_of_a_bracket_is_found_over_lines_and_past_brackets_that_are_no_code() -> None:
    lines = ["f(a[0],", "  ')', {1: 2})", ")"]
    in_string = (1, 3)
    pairs = {(0, 1): (1, 13), (0, 3): (0, 5), (1, 7): (1, 12), (2, 0): None}
    for at, other in pairs.items():
        assert partner(lines, at, lambda where: where != in_string) == other
        if other:
            assert partner(lines, other, lambda where: where != in_string) == at


def test_brackets_that_do_not_fit_have_no_partner() -> None:
    assert partner(["(]"], (0, 0), lambda _: True) is None
    assert partner(["(]"], (0, 1), lambda _: True) is None
    assert partner(["(("], (0, 0), lambda _: True) is None


@pytest.mark.parametrize("character", [chr(code) for code in range(32, 127)] + ["€", "é", "—"])
def test_a_character_that_is_reported_as_a_code_is_typed(character: str) -> None:
    (event,) = XTermParser().feed(f"\x1b[{ord(character)}u")
    assert isinstance(event, Key)
    assert typed(event) == character


@pytest.mark.parametrize(("code", "character"), [("32;2", " "), ("233;2", "É"), ("97;2", "A")])
def test_a_character_that_is_reported_as_a_code_with_shift_is_typed(code: str, character: str) -> None:
    (event,) = XTermParser().feed(f"\x1b[{code}u")
    assert isinstance(event, Key)
    assert typed(event) == character


@pytest.mark.parametrize("key", ["enter", "escape", "tab", "backspace", "ctrl+a", "up", "f5", "shift+up", "alt+x"])
def test_other_keys_type_nothing(key: str) -> None:
    assert typed(Key(key, None)) is None
