"""The course in a browser: the real server, the real app, and headless Chromium that reaches nothing else."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import aiohttp
import pytest

from course import progress, workspace
from tests.course.browser import CHROMIUM, Browser, Page, browser

EXERCISE = "synchronize/time_on_the_gpu"
SOLUTION = Path(__file__).parents[2] / "solutions" / f"{EXERCISE}.py"
PATIENCE_S = 60
pytestmark = pytest.mark.slow
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here (apt-get install chromium)")


class Served:
    """`profile-first serve` as it was started."""

    def __init__(self, process: subprocess.Popen[str], said: str) -> None:
        self.process = process
        self.said = said
        found = re.search(r"http://([^/]+)/", said)
        assert found, said
        self.place = found.group(1)
        self.address = f"http://{self.place}/"


def free_port() -> int:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])


def start(*options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "course", "serve", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PROFILE_FIRST_GPU": "simulated"},
    )


@pytest.fixture
def served(home: Path) -> Iterator[Served]:
    """The course, served to this machine."""
    process = start("--port", str(free_port()))
    assert process.stdout is not None
    yield Served(process, process.stdout.readline())
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE_S)


@pytest.fixture
async def chromium(tmp_path: Path) -> AsyncIterator[Browser]:
    async with browser(tmp_path / "profile") as started:
        yield started


def processes_of(home: Path) -> list[int]:
    """All processes that store what they store in this home."""
    mark = f"PROFILE_FIRST_HOME={home}\0".encode()
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdecimal() and mark in (entry / "environ").read_bytes() + b"\0":
                found.append(int(entry.name))
    return found


def apps_of(server: subprocess.Popen[str]) -> list[int]:
    """The apps that a server has started."""
    told = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text()
    return [int(child) for child in told.split()]


async def until_none(what: str, left: object) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while found := left():  # type: ignore[operator]
        assert time.monotonic() < deadline_s, f"{what}: {found}"
        await asyncio.sleep(0.05)


def stop_at(step: str) -> None:
    """The learner was at this step."""
    with progress.at_home() as kept:
        kept.move_to(*step.split("/"))


def begin_with(text: str) -> None:
    """The learner's copy of the exercise has this text."""
    own = workspace.at_home()
    own.open(EXERCISE)
    own.save(EXERCISE, text)


async def opened(chromium: Browser, served: Served) -> Page:
    page = await chromium.new_page()
    await page.open(served.address)
    await page.until_shown("palette")
    return page


@needs_chromium
async def test_an_exercise_is_passed_in_the_browser_and_no_request_leaves_the_machine(
    served: Served, chromium: Browser, home: Path
) -> None:
    stop_at(EXERCISE)
    begin_with("")
    page = await opened(chromium, served)
    # No click before the first key: the terminal has the keyboard.
    await page.press("f3")
    await page.until_shown("leaves the editor")
    await page.paste(SOLUTION.read_text("utf-8"))
    await page.press("f6")
    await page.until_shown("✓ Passed")
    assert await page.value("document.fonts.check(\"16px 'Roboto Mono'\") && document.fonts.size > 0")
    assert {request.split("/")[2] for request in page.requests} == {served.place}
    assert any(request.startswith("ws:") for request in page.requests)
    assert any(request.endswith(".ttf") for request in page.requests)
    assert page.complaints == []
    with progress.at_home() as kept:
        assert kept.best()[EXERCISE].passed


@needs_chromium
async def test_a_reload_right_after_a_key_loses_nothing(served: Served, chromium: Browser) -> None:
    stop_at(EXERCISE)
    page = await opened(chromium, served)
    await page.press("f3")
    await page.until_shown("leaves the editor")
    await page.write("# kept")
    await page.until_shown("# kept")
    await page.do("Page.reload")
    await page.until(lambda: len([each for each in page.requests if each.startswith("ws:")]) == 2, "it isn't reloaded")
    await page.until_shown("# kept")
    await page.write(" too")
    await page.until_shown("# kept too")
    await page.do("Page.close")
    await until_none("an app is left", lambda: apps_of(served.process))
    assert "# kept too" in workspace.at_home().path(EXERCISE).read_text("utf-8")


@needs_chromium
async def test_what_is_left_below_the_last_row_has_the_colour_of_the_page(served: Served, chromium: Browser) -> None:
    page = await chromium.new_page()
    await page.open(served.address)
    await page.until_shown("palette")
    viewport = "getComputedStyle(document.querySelector('#terminal .xterm-viewport')).backgroundColor"
    assert await page.value(viewport) == "rgba(0, 0, 0, 0)"  # what is behind it shows


@needs_chromium
async def test_a_session_that_ends_can_be_begun_again_with_enter(served: Served, chromium: Browser) -> None:
    page = await opened(chromium, served)
    assert await page.value("document.getElementById('ended').hidden")
    await page.press("ctrl+q")
    await page.until_true("!document.getElementById('ended').hidden")
    assert "Session ended" in await page.value("document.getElementById('ended').innerText")
    await page.press("enter")
    await page.until_shown("palette")
    await page.until_true("document.getElementById('ended').hidden")


@needs_chromium
async def test_a_server_that_has_ended_is_named_by_the_page(served: Served, chromium: Browser) -> None:
    page = await opened(chromium, served)
    served.process.send_signal(signal.SIGINT)
    await page.until_true("!document.getElementById('ended').hidden")
    await page.press("enter")
    await page.until_true("document.getElementById('ended').innerText.includes('profile-first serve')")


@needs_chromium
async def test_two_tabs_and_the_command_line_have_the_same_progress(served: Served, chromium: Browser) -> None:
    stop_at(EXERCISE)
    begin_with("")
    first, second = await opened(chromium, served), await opened(chromium, served)
    await until_none("two tabs are two apps", lambda: len(apps_of(served.process)) != 2)
    await first.press("f3")
    await first.until_shown("leaves the editor")
    await first.paste(SOLUTION.read_text("utf-8"))
    await first.press("f6")
    await first.until_shown("✓ Passed")
    await second.do("Page.reload")
    await second.until_shown("✓ Passed")
    listed = subprocess.run(
        [sys.executable, "-m", "course", "list"], capture_output=True, text=True, check=True, env=dict(os.environ)
    ).stdout
    assert re.search(rf"✓ {EXERCISE}", listed)


@pytest.mark.skipif(not Path("/proc").exists(), reason="processes are looked up in /proc")
@needs_chromium
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
async def test_a_server_that_ends_leaves_no_app_no_grader_and_no_lost_text(
    served: Served, chromium: Browser, home: Path, end: signal.Signals
) -> None:
    stop_at(EXERCISE)
    page = await opened(chromium, served)
    await page.press("f3")
    await page.until_shown("leaves the editor")
    await page.until_shown("imulated")  # the grader is there
    await page.write("# typed")
    await page.until_shown("# typed")
    assert len(processes_of(home)) > 2
    served.process.send_signal(end)
    served.process.wait(PATIENCE_S)
    await until_none("a process is left", lambda: processes_of(home))
    assert "# typed" in workspace.at_home().path(EXERCISE).read_text("utf-8")
    if end is not signal.SIGKILL:
        assert served.process.returncode == 130


async def ask(served: Served, path: str, **headers: str) -> int:
    async with aiohttp.ClientSession() as session, session.get(served.address + path, headers=headers) as answer:
        return answer.status


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "user@localhost", ""])
async def test_a_name_that_was_made_to_point_here_is_refused(served: Served, host: str) -> None:
    assert await ask(served, "", Host=host) in (400, 403)
    assert await ask(served, "ws", Host=host, Origin=f"http://{host}") in (400, 403)


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://localhost:1", "file://", "https://127.0.0.1", "http://127.0.0.1", None],
)
async def test_a_page_from_elsewhere_can_not_drive_the_app(served: Served, origin: str | None) -> None:
    headers = {} if origin is None else {"Origin": origin}
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await session.ws_connect(f"ws://{served.place}/ws", headers=headers)
    assert refused.value.status == 403
    assert apps_of(served.process) == []


async def test_the_pages_own_origin_drives_the_app_also_through_a_tunnel(served: Served) -> None:
    async with aiohttp.ClientSession() as session:
        for host in (served.place, "localhost:9999"):
            headers = {"Origin": f"http://{host}", "Host": host}
            async with session.ws_connect(f"ws://{served.place}/ws?width=80&height=24", headers=headers) as websocket:
                assert (await websocket.receive()).type is aiohttp.WSMsgType.BINARY


async def test_what_no_terminal_sends_ends_only_that_session(served: Served) -> None:
    async with aiohttp.ClientSession(headers={"Origin": f"http://{served.place}"}) as session:
        for nonsense in ("{", "[]", "7", '["resize", {"width": "x"}]', '["stdin"]'):
            async with session.ws_connect(f"ws://{served.place}/ws") as websocket:
                await websocket.send_str(nonsense)
                while (await websocket.receive()).type is aiohttp.WSMsgType.BINARY:
                    pass
    assert await ask(served, "") == 200


async def test_the_page_says_in_its_headers_that_nothing_else_may_be_loaded_and_nobody_may_frame_it(
    served: Served,
) -> None:
    async with aiohttp.ClientSession() as session, session.get(served.address) as answer:
        policy = answer.headers["Content-Security-Policy"]
        text = await answer.text()
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "https://" not in text
    assert await ask(served, "favicon.ico") == 200


def test_a_port_that_is_in_use_is_named_with_the_next_free_one(served: Served) -> None:
    port = int(served.place.rpartition(":")[2])
    second = start("--port", str(port))
    said = second.communicate(timeout=PATIENCE_S)[1]
    assert second.returncode == 2
    assert f"port {port} is in use" in said
    proposed = re.search(r"profile-first serve --port (\d+)", said)
    assert proposed
    assert int(proposed.group(1)) > port


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--port", "0"], "no port"),
        (["--port", "http"], "no port"),
        (["--port", "70000"], "no port"),
        (["--host", "192.0.2.1"], "no address of this machine"),
        (["--host", "no such host"], "no address of this machine"),
    ],
)
def test_an_address_that_can_not_be_listened_on_is_named(home: Path, options: list[str], says: str) -> None:
    process = start(*options)
    said = process.communicate(timeout=PATIENCE_S)[1]
    assert process.returncode == 2
    assert says in said
    assert "Traceback" not in said


def test_a_wider_address_says_what_it_means(home: Path) -> None:
    process = start("--host", "0.0.0.0", "--port", str(free_port()))
    assert process.stdout is not None
    said = process.stdout.readline() + process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert "can run code with your rights" in said
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
