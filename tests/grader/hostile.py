"""A class in which hostile students sit among honest ones, written as a folder that somebody downloaded."""

from __future__ import annotations

import io
import json
import os
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
REDTEAM = HERE / "redteam"
EXERCISE = "synchronize/time_on_the_gpu"
HONEST = (
    "synchronize/time_on_the_gpu",
    "torch_profiler/profile_one_step",
    "torch_profiler/schedule_and_export",
    "key_averages/hottest_operator",
)
MARK = "red_team"
"""In the name of each file that a hostile submission makes."""
WRONG = "def time_on_the_gpu(work):\n    work()\n    return 0.1\n"
LEAVE = "import os\nos._exit(0)\n"


def hostile_files(known: bool = False) -> list[Path]:
    """The submissions that are files as they stand; or those of which it is known that they pass."""
    return sorted(file for file in REDTEAM.glob("*/*/*.py") if file.name.startswith("known_") == known)


def exercise_of(file: Path) -> str:
    return file.parent.relative_to(REDTEAM).as_posix()


def write_honest(folder: Path) -> set[str]:
    """Right and known wrong answers, each a student's; returns their names."""
    names = set()
    for exercise in HONEST:
        wrong = sorted((HERE / "submissions" / exercise).glob("*.py"))[:2]
        for kind, source in (("right", ROOT / "solutions" / f"{exercise}.py"), *(("wrong", path) for path in wrong)):
            name = f"honest_{kind}_{exercise.partition('/')[2]}_{source.stem}"
            hand_in(folder, name, exercise, source.read_bytes())
            names.add(name)
    return names


def write_hostile(folder: Path) -> set[str]:
    """All hostile submissions, each a student's; returns the names of those that have to appear among the results."""
    names = set()
    for file in hostile_files():
        hand_in(folder, file.stem, exercise_of(file), file.read_bytes())
        names.add(file.stem)
    for name, (ending, make) in MADE.items():
        hand_in(folder, name, EXERCISE, make(), ending)
        names.add(name)
    for name, files in BESIDE.items():
        for path, content in files.items():
            put(folder / name / path, content.encode())
        names.add(name)
    for name, make_zip in ZIPS.items():
        put(folder / name / "hand-in.zip", make_zip())
    _write_odd_names(folder)
    _write_no_files(folder)
    return names


def hand_in(folder: Path, student: str, exercise: str, source: bytes, ending: str = ".py") -> None:
    put(folder / student / f"{exercise}{ending}", source)


def put(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


# What an editor would spoil, and what is too large to be kept


def notebook(*cells: str) -> bytes:
    return json.dumps(
        {
            "nbformat": 4,
            "nbformat_minor": 5,
            "metadata": {},
            "cells": [
                {"cell_type": "code", "id": f"c{n}", "metadata": {}, "outputs": [], "source": source}
                for n, source in enumerate(cells)
            ],
        }
    ).encode()


MADE: dict[str, tuple[str, Callable[[], bytes]]] = {
    "an_empty_file": (".py", lambda: b""),
    "null_bytes": (".py", lambda: WRONG.encode() + b"\0" * 1000),
    "no_encoding_at_all": (".py", lambda: b"\xff\xfe\x80" + WRONG.encode()),
    "another_encoding": (".py", lambda: WRONG.encode("utf-16")),
    "a_coding_that_runs_code": (".py", lambda: b"# -*- coding: rot13 -*-\n" + WRONG.encode()),
    "a_huge_source": (".py", lambda: WRONG.encode() + b"#" * 20_000_000),
    "many_small_statements": (".py", lambda: WRONG.encode() + b"a=1;" * 200_000),
    "deep_parentheses": (".py", lambda: WRONG.encode() + b"(" * 400_000),
    "deep_attributes": (".py", lambda: WRONG.encode() + b"a" + b".b" * 400_000),
    "deep_calls": (".py", lambda: WRONG.encode() + b"a" + b"()" * 400_000),
    "deep_minuses": (".py", lambda: WRONG.encode() + b"-" * 900_000 + b"1"),
    "a_number_of_a_million_digits": (".py", lambda: WRONG.encode() + b"a = " + b"9" * 900_000),
    "a_notebook_of_100000_cells": (".ipynb", lambda: notebook(WRONG, *["1"] * 100_000)),
    "a_notebook_of_30_megabytes": (".ipynb", lambda: notebook(WRONG, "#" + "x" * 30_000_000)),
    "a_notebook_that_is_none": (".ipynb", lambda: b'{"nbformat": 4, "cells": "all"}'),
    "a_notebook_without_an_end": (".ipynb", lambda: b'{"cells": ' + b"[" * 1_000_000),
    "a_notebook_of_numbers_beyond_all": (".ipynb", lambda: b'{"nbformat": 1e999, "cells": [' + b"9" * 100_000 + b"]}"),
    "a_notebook_of_shell_commands": (
        ".ipynb",
        lambda: notebook(f"!touch /tmp/{MARK}", f"%%bash\ntouch /tmp/{MARK}", "%%writefile /tmp/red_team\nx", WRONG),
    ),
    "a_notebook_with_a_line_for_slow_patterns": (
        ".ipynb",
        lambda: notebook(f"'''\nfrom {'import ' * 100_000}'''", "nothing_of_this_name\n" + WRONG, "not python at all"),
    ),
    "a_notebook_that_hides_a_cell": (
        ".ipynb",
        lambda: notebook(
            "this is not python",
            "import sys\ndef time_on_the_gpu(work):\n    frame = sys._getframe()\n    while 'request' not in "
            "frame.f_locals:\n        frame = frame.f_back\n    built = frame.f_locals['request'].arguments[0].built\n"
            "    from lab.workloads import expect\n    work()\n"
            "    return expect(built.name, built.seed, **built.params)['gpu_s']\n",
        ),
    ),
    "a_notebook_that_waits_for_ever": (
        ".ipynb",
        lambda: notebook("import asyncio\nawait asyncio.Event().wait()", WRONG),
    ),
}
BESIDE = {
    "files_that_python_would_import": {
        f"{EXERCISE}.py": WRONG,
        **{
            f"{folder}{name}.py": LEAVE
            for folder in ("", "synchronize/")
            for name in ("conftest", "sitecustomize", "usercustomize", "torch", "msgspec", "pytest", "grader", "lab")
        },
        "synchronize/pytest.ini": "[pytest]\naddopts = --collect-only\n",
        "synchronize/test_time_on_the_gpu.py": "def test_it(): pass\n",
        "pyproject.toml": "[tool.pytest.ini_options]\npython_files = 'none'\n",
    },
    "a_set_of_results": {
        f"{EXERCISE}.py": WRONG,
        "ledger.jsonl": '{"type":"opening","seed":0,"schema":1}\n',
        "results.json": '{"points": 4}',
        "gradebook.csv": "student,points\na_set_of_results,4\n",
    },
}

# Archives


def _zip(*members: tuple[str | zipfile.ZipInfo, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", compression) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return data.getvalue()


def _special(name: str, kind: int, content: bytes) -> tuple[zipfile.ZipInfo, bytes]:
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, (kind | 0o777) << 16
    return info, content


def _changed(data: bytes, *changes: tuple[bytes, bytes]) -> bytes:
    for old, new in changes:
        data = data.replace(old, new)
    return data


def _encrypted() -> bytes:
    data = bytearray(_zip((f"{EXERCISE}.py", WRONG.encode())))
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


def _in_one_another(depth: int) -> bytes:
    data = _zip((f"{EXERCISE}.py", WRONG.encode()))
    for _ in range(depth):
        data = _zip(("inner.zip", data))
    return data


ZIPS: dict[str, Callable[[], bytes]] = {
    "zip_that_climbs_out": lambda: _zip(
        (f"../../../../../../tmp/{MARK}_slip.py", b"x"), (f"../{EXERCISE}.py", WRONG.encode())
    ),
    "zip_from_the_root": lambda: _zip((f"/tmp/{MARK}_slip.py", b"x"), (f"C:\\{MARK}.py", b"x")),
    "zip_with_a_link": lambda: _zip(
        _special(f"{EXERCISE}.py", stat.S_IFLNK, b"/etc/passwd"), _special("all", stat.S_IFLNK, b"/")
    ),
    "zip_with_a_device": lambda: _zip(_special(f"{EXERCISE}.py", stat.S_IFCHR, b"")),
    "zip_that_says_it_twice": lambda: _zip((f"{EXERCISE}.py", WRONG.encode()), (f"{EXERCISE}.py", LEAVE.encode())),
    "zip_with_a_password": _encrypted,
    "zip_bomb": lambda: _zip((f"{EXERCISE}.py", b"#" * 100_000_000)),
    "zip_that_lies_about_its_size": lambda: _changed(
        _zip((f"{EXERCISE}.py", b"#" * 5_000_000)), ((5_000_000).to_bytes(4, "little"), (100).to_bytes(4, "little"))
    ),
    "zip_in_zip_in_zip": lambda: _in_one_another(20),
    "zip_cut_off": lambda: _zip((f"{EXERCISE}.py", WRONG.encode()))[:-30],
    "zip_of_many_files": lambda: _zip(*((f"f{number}.py", b"") for number in range(60_000))),
    "zip_of_odd_names": lambda: _zip((f"\x1b[2J{EXERCISE}.py", b"x"), (f"=cmd|'/c calc'!A1/{EXERCISE}.py", b"x")),
    "zip_that_is_none": lambda: b"PK\x03\x04" + os.urandom(1000),
}

# Names


def _write_odd_names(folder: Path) -> None:
    for name in ODD_NAMES:
        hand_in(folder, name, EXERCISE, WRONG.encode())
    for raw in (b"name \xff\xfe", b"name \x1b[2J\x07", b"name\nof two lines"):
        hand_in(folder, os.fsdecode(raw), EXERCISE, WRONG.encode())
    put(folder / "name_of_a_notebook" / 'time_on_the_gpu <img src=x onerror="alert(1)">.ipynb', notebook(WRONG))


ODD_NAMES = (
    '=HYPERLINK("http:192.0.2.1","4 of 4")',
    "@SUM(1+1)*cmd|' calc'!A0",
    "<script>document.title='RED TEAM'<",
    "[4 of 4](javascript:alert(1)) **x** `y`",
    "CON",
    "\u202eeman",
    "long_name_" + "x" * 240,
)

# What is no file


def _write_no_files(folder: Path) -> None:
    links = {"link_to_a_secret": "/etc/shadow", "link_to_another": f"../../honest/{EXERCISE}.py"}
    for name, target in links.items():
        path = folder / name / f"{EXERCISE}.py"
        path.parent.mkdir(parents=True)
        path.symlink_to(target)
    (folder / "link_to_everything").mkdir()
    (folder / "link_to_everything" / "synchronize").symlink_to("/")
    (folder / "link_to_itself").mkdir()
    (folder / "link_to_itself" / "synchronize").symlink_to(folder / "link_to_itself")
    for name in (f"pipe/{EXERCISE}.py", "pipe_of_zips/all.zip"):
        (folder / name).parent.mkdir(parents=True)
        os.mkfifo(folder / name)
    (folder / "folder" / f"{EXERCISE}.py").mkdir(parents=True)
