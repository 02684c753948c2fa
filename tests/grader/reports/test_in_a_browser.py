"""The pages as a browser shows them: nothing leaves the machine, all of it can be read, and tables can be sorted."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from grader.batch.records import Gradebook
from grader.reports import write_all
from tests.course.browser import CHROMIUM, Page, browser
from tests.grader.reports.classes import VERDICTS, class_of, gradebook, result, row, score, student, verdict_saying

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here (apt-get install chromium)")
HOSTILE = (
    "<script>document.title = 'run'</script><img src=http://192.0.2.1/x onerror=\"document.title='run'\">"
    "<style>body{background:url(http://192.0.2.1/y)}</style><iframe src=//192.0.2.1></iframe>"
    "<meta http-equiv=refresh content='0;url=http://192.0.2.1'><link rel=stylesheet href=//192.0.2.1/z.css>"
)
# For every text that is shown: its contrast with what lies behind it, by WCAG 2's formula.
CONTRAST = """(() => {
  const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => channels(colour).slice(0, 3).map((c) => c / 255)
    .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, place) => sum + c * [0.2126, 0.7152, 0.0722][place], 0);
  const behind = (element) => {
    for (; element; element = element.parentElement) {
      const colour = getComputedStyle(element).backgroundColor;
      if ((channels(colour)[3] ?? 1) > 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || ["SCRIPT", "STYLE", "desc"].includes(element.tagName)) continue;
    const style = getComputedStyle(element);
    const front = light(element.closest("svg") ? style.fill : style.color), back = light(behind(element));
    const ratio = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
    found.push([ratio, walker.currentNode.data.trim().slice(0, 40)]);
  }
  return found;
})()"""


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[Page]:
    async with browser(tmp_path / "profile") as started:
        opened = await started.new_page()
        yield opened
        await opened.close()


def hostile_class() -> Gradebook:
    odd = result(verdict_saying(HOSTILE), shown=HOSTILE, trouble=HOSTILE, look=[HOSTILE])
    first = row(student(id="s0001", name=HOSTILE), score(odd, overridden=HOSTILE), score(result(VERDICTS[8])))
    return gradebook(first, *class_of(8).rows[1:], title=HOSTILE)


async def open_at(page: Page, file: Path, width: int, scheme: str = "light", medium: str = "screen") -> None:
    scheme_wanted = [{"name": "prefers-color-scheme", "value": scheme}]
    await page.do("Emulation.setEmulatedMedia", media=medium, features=scheme_wanted)
    await page.do("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=False)
    await page.open(file.as_uri())
    await page.until_true(f"document.readyState === 'complete' && location.href === {json.dumps(file.as_uri())}")


async def test_no_request_leaves_the_machine_and_nothing_that_a_student_wrote_runs(page: Page, tmp_path: Path) -> None:
    pages = [path for path in write_all(hostile_class(), tmp_path / "out") if path.suffix == ".html"]
    assert len(pages) > 5
    for file in pages:
        await open_at(page, file, 1000)
        title = await page.value("document.title")
        assert title != "run"
        assert await page.value("document.querySelectorAll('img, iframe, link, meta[http-equiv=refresh]').length") == 0
    assert {address.partition(":")[0] for address in page.requests} == {"file"}
    assert {Path(address).suffix for address in page.requests} == {".html"}
    assert page.complaints == []


async def test_the_policy_stops_what_the_escaping_would_let_through(page: Page, tmp_path: Path) -> None:
    asked = list[bytes]()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readline())
        writer.close()

    server = await asyncio.start_server(listen, "127.0.0.1", 0)
    here = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    file = tmp_path / "page.html"
    for path in write_all(class_of(2), tmp_path / "out"):
        if path.suffix == ".html":
            # A refresh isn't a matter of the policy.
            unescaped = HOSTILE.replace("http-equiv=refresh", "").replace("192.0.2.1", here).replace("=//", "=http://")
            file.write_text(path.read_text(encoding="utf-8").replace("</main>", unescaped), encoding="utf-8")
            await open_at(page, file, 1000)
            assert await page.value("document.querySelectorAll('img, iframe').length") == 2
            assert await page.value("document.title") != "run"
            assert await page.value("getComputedStyle(document.body).backgroundImage") == "none"
    server.close()
    # Chromium may connect before it looks at the policy; then it asks for nothing.
    assert [line for line in asked if line] == []
    assert any("Content Security Policy" in complaint for complaint in page.complaints)


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_every_text_has_the_contrast_that_wcag_asks_for(page: Page, tmp_path: Path, scheme: str) -> None:
    write_all(class_of(12), tmp_path / "out")
    for name in ("class.html", "students/s0001/feedback.html", "students/s0005/feedback.html"):
        for medium in ("screen", "print"):
            await open_at(page, tmp_path / "out" / name, 1000, scheme, medium)
            found: list[Any] = await page.value(CONTRAST)
            assert len(found) > 40
            assert [each for each in found if each[0] < 4.5] == []


@pytest.mark.parametrize("width", [360, 1200])
async def test_a_page_fits_its_window_and_only_wide_tables_scroll(page: Page, tmp_path: Path, width: int) -> None:
    long = score(result(verdict_saying("x" * 500), shown="y" * 500), overridden="z" * 500)
    book = gradebook(row(student(name="N" * 300), long), *class_of(5).rows[1:])
    for file in write_all(book, tmp_path / "out"):
        if file.suffix == ".html":
            await open_at(page, file, width)
            assert await page.value("document.documentElement.scrollWidth") <= width, file.name


async def test_a_table_is_sorted_by_a_click_on_a_heading_and_back_by_another(page: Page, tmp_path: Path) -> None:
    write_all(class_of(12), tmp_path / "out")
    await open_at(page, tmp_path / "out" / "class.html", 1000)
    column = "[...document.querySelectorAll('#all_students tbody tr')].map((row) => +row.cells[3].textContent)"
    heading = "document.querySelectorAll('#all_students th[scope=col]')[3]"
    await page.value(f"{heading}.querySelector('button').click()")
    points = await page.value(column)
    assert points == sorted(points)
    assert len(set(points)) > 3
    assert await page.value(f"{heading}.ariaSort") == "ascending"
    await page.value(f"{heading}.querySelector('button').click()")
    assert await page.value(column) == sorted(points, reverse=True)
    assert await page.value(f"{heading}.ariaSort") == "descending"
    assert page.complaints == []
