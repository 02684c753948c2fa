"""Stop ends every program, with the real grader, and the editor works meanwhile."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from course.app.app import CourseApp
from tests.course.test_app import SMALL, editor, go_to, panel, press, until
from tests.course.test_killed import processes_of

EXERCISE = "synchronize/time_on_the_gpu"
STUBBORN = {
    "a loop": "print('begun', flush=True)\nwhile True:\n    pass\n",
    "a loop that ignores signals": (
        "import signal\nfor each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):\n"
        "    signal.signal(each, signal.SIG_IGN)\nprint('begun', flush=True)\nwhile True:\n    pass\n"
    ),
    "children of its own": (
        "import os, time\nfor _ in range(3):\n    if os.fork() == 0:\n        os.setsid()\n        time.sleep(600)\n"
        "print('begun', flush=True)\ntime.sleep(600)\n"
    ),
    "sleep in C": "import ctypes\nprint('begun', flush=True)\nctypes.CDLL(None).sleep(600)\n",
    "a wait for the GPU": (
        "import torch\nx = torch.ones(512, 512, device='cuda')\nprint('begun', flush=True)\n"
        "while True:\n    x = x @ x\n    torch.cuda.synchronize()\n"
    ),
    "slow output without end": (
        "import time\nprint('begun', flush=True)\nwhile True:\n    print('x' * 50, flush=True)\n    time.sleep(0.001)\n"
    ),
}
pytestmark = pytest.mark.slow


async def test_each_of_these_is_stopped_and_one_types_on_meanwhile(home: Path, real_app: CourseApp) -> None:
    app = real_app
    async with app.run_test(size=SMALL) as pilot:
        await go_to(pilot, app, EXERCISE)
        await until(pilot, lambda: app._grader is not None and app._grader.gpu)
        idle = len(processes_of(home))
        for name, program in STUBBORN.items():
            editor(app).take_over(program)
            await press(pilot, "f5")
            await until(pilot, lambda: "begun" in panel(app).output.text)
            await press(pilot, "f3", "ctrl+end", *"typed")
            await until(pilot, lambda: editor(app).text.endswith("typed"))
            began_s = time.monotonic()
            await press(pilot, "f8")
            await until(pilot, lambda: "Stopped" in panel(app).status.text.plain)
            assert time.monotonic() - began_s < 10, name
            assert app.job is None
            await until(pilot, lambda: len(processes_of(home)) <= idle)
        editor(app).take_over("while True:\n    print('x' * 10_000)\n")
        await press(pilot, "f5")
        await until(pilot, lambda: "Too much output" in panel(app).status.text.plain)
