"""What is installed from a wheel is the whole course: lessons, quizzes, styles, pages and languages."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HOUSE = ("course", "exercises", "solutions", "grader", "lab")
EACH_KIND = (
    "course/app/app.tcss",
    "course/glossary/it.md",
    "course/lessons/1_perf_counter/fr.md",
    "course/lessons/1_perf_counter/lesson.toml",
    "course/web/page/index.html",
    "exercises/synchronize/tasks.it.md",
    "exercises/synchronize/quiz.fr.toml",
    "grader/misconceptions.it.toml",
    "grader/reports/words.fr.toml",
    "lab/languages/fr/LC_MESSAGES/argparse.mo",
    "lab/languages/it/LC_MESSAGES/messages.mo",
    "solutions/synchronize/quiz.it.toml",
)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, unpacked: it is pure Python, so that is what an installation makes of it."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def files_below(root: Path) -> set[str]:
    return {
        file.relative_to(root).as_posix()
        for floor in HOUSE
        for file in (root / floor).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }


def test_a_wheel_has_every_file_of_the_house(installed: Path) -> None:
    assert files_below(installed) == files_below(ROOT)
    assert set(EACH_KIND) <= files_below(installed)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--lang", "it", "--help"], "uso: profile-first"),
        (["--lang", "fr", "--help"], "utilisation\N{NO-BREAK SPACE}: profile-first"),
        (["--lang", "it", "list"], "In tutto: 0/"),
        (["--lang", "fr", "hint", "synchronize/time_on_the_gpu"], "Indice 1 sur"),
    ],
)
def test_what_is_installed_speaks_the_languages(given: list[str], said: str, installed: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(installed), "PROFILE_FIRST_HOME": str(tmp_path / "home")}
    done = subprocess.run(
        [sys.executable, "-m", "course", *given],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert said in done.stdout + done.stderr
