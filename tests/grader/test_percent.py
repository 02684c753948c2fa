"""Files in the percent format are split into cells and joined again as Jupytext and VS Code do it."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.percent import Cell, join, split

ROOT = Path(__file__).parents[2]


def test_a_file_is_split_at_its_markers() -> None:
    text = "import a\n\n# %% [markdown]\n# # Title\n#\n# Text.\n\n# %% The code\nx = 1\n\n\n# %%\n\ny = 2\n"
    assert split(text) == [
        Cell("code", "import a"),
        Cell("markdown", "# Title\n\nText."),
        Cell("code", "x = 1"),
        Cell("code", "y = 2"),
    ]


@pytest.mark.parametrize("marker", ["# %%", "#%%", "# %% title", "# %%%% deeper", "# %% [code]", '# %% tags=["a"]'])
def test_all_forms_of_a_marker_are_known(marker: str) -> None:
    assert split(f"{marker}\nx = 1") == [Cell("code", "x = 1")]


@pytest.mark.parametrize("line", ["# %%time", "#%%timeit f()", "  # %%", "x = '# %%'", "# 100 %%"])
def test_what_only_looks_like_a_marker_stays_code(line: str) -> None:
    assert split(f"# %%\n{line}") == [Cell("code", line.strip("\n"))]


def test_text_may_stand_in_quotes_or_without_comments() -> None:
    assert split('# %% [md]\n"""\n# Title\n\nText.\n"""')[0] == Cell("markdown", "# Title\n\nText.")
    assert split("# %% [markdown]\n#Text\nmore")[0] == Cell("markdown", "Text\nmore")
    assert split("# %% [raw]\n# as it is")[0] == Cell("raw", "as it is")


def test_joined_cells_tell_the_lines_that_they_begin_on() -> None:
    cells = [Cell("markdown", "# Title\n\nText."), Cell("code", "x = 1\n\ny = 2"), Cell("code", "")]
    text, starts = join(cells)
    lines = text.split("\n")
    assert starts == [2, 7, 12]
    assert (lines[1], lines[6], lines[8]) == ("# # Title", "x = 1", "y = 2")
    assert split(text) == cells


@pytest.mark.parametrize("folder", ["exercises", "solutions"])
def test_every_file_of_the_course_survives_being_split_and_joined(folder: str) -> None:
    files = list((ROOT / folder).glob("*/*.py"))
    assert files
    for file in files:
        cells = split(file.read_text(encoding="utf-8"))
        assert split(join(cells)[0]) == cells
        assert cells[0].kind == "markdown"
