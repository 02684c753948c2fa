"""Lesson Markdown flows into whatever width there is, and loses nothing."""

from __future__ import annotations

import pytest

from course.app.prose import Code, flow, parse, runnable_code

EVERYTHING = """\
A paragraph with **bold**, *emphasis*, `code` and [a link](https://example.org) that is long enough to be wrapped.

### A heading

- first item, also long enough that it has to be wrapped at least once in a narrow window
- second
  - nested

3. three
4. four

> quoted

| name | time |
|:-----|-----:|
| `mm` | 12 ms |
| a much longer name of an operator | 3 ms |

---

```python run
x = "a line of code that is much longer than the narrow widths of this test, so that it must be folded"
```

```text
plain output
```
"""


def lines(markdown: str, width: int) -> list[str]:
    return [line.rstrip() for line in flow(parse(markdown), width).plain.splitlines()]


@pytest.mark.parametrize("width", [20, 40, 74, 120])
def test_no_line_is_wider_than_the_window(width: int) -> None:
    flowed = flow(parse(EVERYTHING), width)
    assert max(line.cell_length for line in flowed.split("\n")) <= width


@pytest.mark.parametrize("width", [20, 74])
def test_every_word_is_still_there(width: int) -> None:
    together = "".join("".join(lines(EVERYTHING, width)).split())
    for word in (
        "bold",
        "emphasis",
        "alink",
        "Aheading",
        "nested",
        "quoted",
        "operator",
        "12ms",
        "folded",
        "plainoutput",
    ):
        assert word.strip() in together.replace(" ", "")


def test_list_items_hang_below_their_text() -> None:
    assert lines("- one two three four\n- five", 12) == ["• one two", "  three four", "• five"]


def test_numbers_go_on_from_the_first_one() -> None:
    assert lines("3. a\n4. b", 20) == ["3. a", "4. b"]


def test_nested_lists_are_indented() -> None:
    assert lines("- a\n  - b", 20) == ["• a", "  • b"]


def test_table_columns_are_aligned() -> None:
    assert lines("| n | ms |\n|---|---:|\n| aa | 1 |\n| b | 22 |", 20) == ["n   ms", "──  ──", "aa   1", "b   22"]


def test_square_brackets_are_no_markup() -> None:
    assert lines("a `[red]b[/red]` [c]", 40) == ["a [red]b[/red] [c]"]


def test_code_keeps_its_line_breaks_and_its_indent() -> None:
    shown = lines("```python\nif x:\n    y = 1\n```", 30)
    assert [line.strip("▁▔") for line in shown] == ["", " if x:", "     y = 1", ""]


def test_a_code_panel_is_painted_to_the_edge() -> None:
    flowed = flow(parse("```python\nx = 1\n```"), 30)
    assert {line.cell_length for line in flowed.split("\n")} == {30}


def test_the_first_runnable_block_is_the_one_to_run() -> None:
    assert runnable_code("```python\nshown\n```\n```python run\nrun = 1\n```\n```python run\nlater\n```") == "run = 1"
    assert runnable_code("```python\nshown\n```") is None


def test_only_blocks_marked_to_run_say_so() -> None:
    code, plain = (block for block in parse("```python run\nx\n```\n```python\nx\n```") if isinstance(block, Code))
    assert "F5" in flow([code], 40).plain
    assert "F5" not in flow([plain], 40).plain
