"""Writes the kept pictures of the screens as one page to look at: `python -m tests.course.see_snapshots PAGE.html`."""

from __future__ import annotations

import html
import sys
from pathlib import Path

from rich.cells import cell_len

KEPT = Path(__file__).with_name("snapshots")
PAGE = """\
<!DOCTYPE html><meta charset="utf-8"><title>Snapshots</title>
<style>
  body {{ background: #555; color: #fff; font: 14px sans-serif; }}
  figure {{ display: inline-block; margin: 4px; }}
  pre {{ font: 14px/17px "DejaVu Sans Mono", monospace; margin: 0 0 24px; }}
  .bold {{ font-weight: bold }} .italic {{ font-style: italic }} .underline {{ text-decoration: underline }}
  .dim {{ opacity: 0.6 }} .strike {{ text-decoration: line-through }}
</style>
{pictures}
"""


def as_html(picture: str) -> str:
    """A picture in its colours."""
    body, legend = picture.split("-- legend\n")
    drawn, styles = body.split("-- styles\n")
    meaning = {line[0]: line[2:] for line in legend.splitlines()}
    rows = []
    for line, runs in zip(drawn.splitlines(), styles.splitlines(), strict=True):
        cells, at = [], 0
        text = _cells(line)
        for run in runs.split():
            count, style = int(run[:-1]), meaning[run[-1]]
            part = "".join(text[at : at + count]).ljust(count)
            at += count
            cells.append(_span(part, style))
        rows.append("".join(cells))
    return "<pre>" + "\n".join(rows) + "</pre>"


def _cells(line: str) -> list[str]:
    """One entry for each cell; what is two cells wide is followed by an empty one."""
    return [part for letter in line for part in ([letter, ""] if cell_len(letter) == 2 else [letter])]


def _span(text: str, style: str) -> str:
    *words, colour, _, ground = style.split()
    if "reverse" in words:
        colour, ground = ground, colour
    look = f"color:{colour};background:{ground}"
    return f'<span class="{" ".join(words)}" style="{look}">{html.escape(text)}</span>'


def main() -> None:
    page = Path(sys.argv[1])
    wanted = sys.argv[2:]
    pictures = [
        f"<figure>{file.parent.name} {file.stem}{as_html(file.read_text('utf-8'))}</figure>"
        for file in sorted(KEPT.rglob("*.txt"))
        if not wanted or file.stem in wanted or file.parent.name in wanted
    ]
    page.write_text(PAGE.format(pictures="\n".join(pictures)), "utf-8")


if __name__ == "__main__":
    main()
