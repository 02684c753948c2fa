"""Headless Chromium that reaches nothing but this machine, driven by its DevTools protocol."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import itertools
import os
import shutil
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import aiohttp

from tests.course.drawn import Drawn

PATIENCE_S = 90
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--disable-extensions",
    "--disable-domain-reliability",
    "--disable-features=OptimizationHints,MediaRouter,Translate,AutofillServerCommunication",
    "--window-size=1000,700",
    "--remote-debugging-port=0",
    # Whatever isn't this machine, also what Chromium asks for itself, goes to a proxy that isn't there; names have no
    # addresses.
    "--proxy-server=127.0.0.1:9",
    "--proxy-bypass-list=127.0.0.1",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
)
KEYS = {
    "enter": ("Enter", "Enter", 13, "\r"),
    "escape": ("Escape", "Escape", 27, ""),
    "f3": ("F3", "F3", 114, ""),
    "f5": ("F5", "F5", 116, ""),
    "f6": ("F6", "F6", 117, ""),
}
CTRL = 2


class Page:
    """One tab: what it asked the network for, and what its terminal shows."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.requests: list[str] = []
        """The address of everything that it loaded, WebSockets too."""
        self.complaints: list[str] = []
        """Errors in its console."""
        self.terminal = Drawn(80, 24)
        self._socket = socket
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._listening = asyncio.create_task(self._listen())

    async def do(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        self._waiting[number] = answer = asyncio.get_running_loop().create_future()
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        return await asyncio.wait_for(answer, PATIENCE_S)

    async def _listen(self) -> None:
        async for message in self._socket:
            told = message.json()
            if "id" in told:
                waiting = self._waiting.pop(told["id"])
                if "error" in told:
                    waiting.set_exception(RuntimeError(told["error"]["message"]))
                else:
                    waiting.set_result(told["result"])
            else:
                self._hear(told["method"], told["params"])

    def _hear(self, event: str, said: dict[str, Any]) -> None:
        match event:
            case "Network.requestWillBeSent":
                self.requests.append(said["request"]["url"])
            case "Network.webSocketCreated":
                self.requests.append(said["url"])
                self.terminal = Drawn(80, 24)
            case "Network.webSocketFrameSent" if '"resize"' in (sent := said["response"]["payloadData"]):
                width, height = (int(part.partition(":")[2].strip("}] ")) for part in sent.split(",")[1:])
                self.terminal.resize(width, height)
            case "Network.webSocketFrameReceived" if said["response"]["opcode"] == 2:
                self.terminal.feed(base64.b64decode(said["response"]["payloadData"]))
            case "Runtime.exceptionThrown":
                self.complaints.append(str(said["exceptionDetails"]))
            case "Log.entryAdded" if said["entry"]["level"] == "error":
                self.complaints.append(f"{said['entry']['text']} {said['entry'].get('url', '')}")

    async def open(self, address: str) -> None:
        for domain in ("Page", "Network", "Runtime", "Log"):
            await self.do(f"{domain}.enable")
        await self.do("Page.navigate", url=address)

    async def value(self, script: str) -> Any:
        """What a script gives."""
        done = await self.do("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    async def until(self, holds: Callable[[], object], what: str) -> None:
        deadline_s = time.monotonic() + PATIENCE_S
        while not holds():
            assert time.monotonic() < deadline_s, f"{what}\n{self.terminal.text}"
            await asyncio.sleep(0.02)

    async def until_shown(self, text: str) -> None:
        await self.until(lambda: text in self.terminal.text, f"{text!r} is never shown")

    async def until_true(self, script: str) -> None:
        deadline_s = time.monotonic() + PATIENCE_S
        # While another page is loaded, there is none to ask.
        while not await self.value(f"(() => {{ try {{ return {script} }} catch {{ return false }} }})()"):
            assert time.monotonic() < deadline_s, f"{script} is never true\n{self.terminal.text}"
            await asyncio.sleep(0.02)

    async def press(self, key: str) -> None:
        """Press a key as a person does it: the page gets it, whatever of it has the focus."""
        held = 0
        if key.startswith("ctrl+"):
            held, letter = CTRL, key[-1]
            name, code, number, text = letter, f"Key{letter.upper()}", ord(letter.upper()), ""
        elif key in KEYS:
            name, code, number, text = KEYS[key]
        else:
            name, code, number, text = key, "", 0, key
        about = {"key": name, "code": code, "windowsVirtualKeyCode": number, "modifiers": held}
        await self.do("Input.dispatchKeyEvent", type="keyDown", text=text, **about)
        await self.do("Input.dispatchKeyEvent", type="keyUp", **about)

    async def write(self, text: str) -> None:
        for letter in text:
            await self.press(letter)

    async def paste(self, text: str) -> None:
        """Paste, as the browser's own key does it, into what has the focus."""
        await self.value(
            "(text => { const data = new DataTransfer(); data.setData('text/plain', text);"
            "document.activeElement.dispatchEvent(new ClipboardEvent('paste',"
            f"{{clipboardData: data, bubbles: true, cancelable: true}})); }})({_quoted(text)})"
        )

    async def picture(self, path: Path) -> None:
        shot = await self.do("Page.captureScreenshot")
        path.write_bytes(base64.b64decode(shot["data"]))

    async def close(self) -> None:
        self._listening.cancel()
        await self._socket.close()


def _quoted(text: str) -> str:
    import json

    return json.dumps(text)


class Browser:
    """A browser that was started for a test."""

    def __init__(self, session: aiohttp.ClientSession, port: int) -> None:
        self._session = session
        self._address = f"http://127.0.0.1:{port}"

    async def new_page(self) -> Page:
        async with self._session.put(f"{self._address}/json/new?about:blank") as answer:
            target = await answer.json()
        return Page(await self._session.ws_connect(target["webSocketDebuggerUrl"], max_msg_size=0))


@contextlib.asynccontextmanager
async def browser(profile: Path) -> AsyncIterator[Browser]:
    """Start Chromium; end it with everything that it started."""
    assert CHROMIUM is not None
    process = await asyncio.create_subprocess_exec(
        CHROMIUM,
        *FLAGS,
        f"--user-data-dir={profile}",
        "about:blank",
        # The home is how the tests tell the course's processes from others.
        env={name: value for name, value in os.environ.items() if name != "PROFILE_FIRST_HOME"},
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        told = profile / "DevToolsActivePort"
        deadline_s = time.monotonic() + PATIENCE_S
        while not (told.exists() and told.read_text().count("\n")):
            assert time.monotonic() < deadline_s, "Chromium doesn't start"
            await asyncio.sleep(0.02)
        async with aiohttp.ClientSession() as session:
            yield Browser(session, int(told.read_text().split()[0]))
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        await process.wait()
