"""What the commands print is in the reader's language, also what others than the terminal show: pages and notebooks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from course import language
from course.cli import main
from course.web.texts import page_texts
from lab.language import ENGLISH, LANGUAGES, current, speaking, use

OTHERS = [code for code in LANGUAGES if code != ENGLISH]
IN_WORDS = re.compile(r"[a-z]{3,} [a-z]{3,}")


@pytest.fixture(autouse=True)
def _english_afterwards() -> Iterator[None]:
    yield
    language.begin()
    use(ENGLISH)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Four steps of which the GPU waits for most."""
    events = []
    for step in range(4):
        at = 1000 * step
        launched = {"correlation": step + 1}
        events += [
            {"cat": "user_annotation", "name": f"ProfilerStep#{step}", "ts": at, "dur": 1000, "pid": 1, "tid": 1},
            {"cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": at + 710, "dur": 10, "pid": 1, "tid": 1}
            | {"args": launched},
            {"cat": "kernel", "name": "gemm", "ts": at + 730, "dur": 200, "pid": 0, "tid": 7}
            | {"args": launched | {"stream": 7, "device": 0}},
        ]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": [{"ph": "X", **event} for event in events]}))
    return path


def printed(given: list[str], code: str, capsys: pytest.CaptureFixture[str]) -> set[str]:
    """The lines in words that a command prints in a language."""
    main(["--lang", code, *given])
    told = capsys.readouterr()
    return {line.strip() for line in (told.out + told.err).splitlines() if IN_WORDS.search(line)}


COMMANDS = [
    ["list"],
    pytest.param(["doctor"], marks=pytest.mark.long),  # it tries each layer of isolation, in each language
    ["progress"],
    ["report"],
    ["hint", "synchronize/time_on_the_gpu"],
    ["hint", "synchronize/quiz"],
    ["reset", "synchronize/time_on_the_gpu"],
    ["reset", "synchronize"],
    ["check", "nowhere/to_be_found"],
    ["check", "nowhere.py"],
    ["run", "nowhere.py"],
    ["submit", "--out", "hand_in.zip"],
    ["submit", "--out", "hand_in.tar"],
    ["notebook", "synchronize", "--out", "notebooks"],
    ["progress", "export", "progress.json"],
    ["progress", "import", "nowhere.json"],
    ["diagnose"],
    ["diagnose", "trace.json", "--html", "page.html"],
    ["diagnose", "--compare", "trace.json", "trace.json"],
    ["serve", "--host", "not-an-address"],
]


@pytest.mark.parametrize("given", COMMANDS, ids=" ".join)
def test_what_a_command_prints_in_english_it_prints_in_the_other_languages(
    given: list[str],
    home: Path,
    trace: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    english = printed(given, ENGLISH, capsys)
    for code in OTHERS:
        assert printed(given, code, capsys) & english == set()


def test_what_is_written_into_files_is_in_the_language(
    home: Path, trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def written(code: str) -> list[set[str]]:
        page, book = tmp_path / f"{code}.html", tmp_path / code
        main(["--lang", code, "diagnose", str(trace), "--html", str(page)])
        main(["--lang", code, "notebook", "synchronize/time_on_the_gpu", "--out", str(book)])
        cells = json.loads((book / "synchronize" / "time_on_the_gpu.ipynb").read_text())["cells"]
        said = [
            re.sub(r"<[^>]*>", "", page.read_text().partition("</style>")[2]),
            "".join(cells[0]["source"]),
            "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"),
        ]
        lines = [{line for line in text.splitlines() if IN_WORDS.search(line)} for text in said]
        return [{line for line in each if not line.startswith("profile-first ")} for each in lines]

    english = written(ENGLISH)
    assert all(english)
    for code in OTHERS:
        page, set_up, prose = (other & same for other, same in zip(written(code), english, strict=True))
        assert page == set()
        assert prose == set()
        assert not any("GPU" in line for line in set_up if line.startswith("#"))


def test_the_page_around_the_terminal_is_in_the_language_of_its_apps() -> None:
    with speaking("fr"):
        assert page_texts().start == "Démarrer"
    assert page_texts().start == "Start"


def test_apps_that_are_served_speak_as_the_server_was_told_to(home: Path) -> None:
    language.begin("it")
    assert language.as_told() == ["--lang", "it"]
    language.keep("fr")
    language.again()
    assert current() == "it"
    language.begin()
    assert language.as_told() == []
    assert current() == "fr"


@pytest.mark.parametrize(("earlier", "now"), [("en", "it"), ("fr", "en"), ("it", "fr")])
def test_a_report_in_another_language_is_a_report_and_is_replaced(
    earlier: str, now: str, home: Path, tmp_path: Path
) -> None:
    file = tmp_path / "report.md"
    assert main(["--lang", earlier, "report", "--out", str(file)]) == 0
    before = file.read_text()
    assert main(["--lang", now, "report", "--out", str(file)]) == 0
    assert file.read_text() != before
