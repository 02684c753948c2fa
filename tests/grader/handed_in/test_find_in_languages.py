"""Why something handed in can't be assigned is said in the language of the class."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from grader.submissions.find import find
from grader.submissions.roster import read_roster
from lab.language import ENGLISH, LANGUAGES, speaking

FILES = {
    "anna/notes.txt": "",
    "anna/README": "",
    "anna/nothing.py": "x = 1\n",
    "anna/.DS_Store": "",
    "anna/work.rar": "",
    "anna/broken.zip": "no archive",
    "anna/__pycache__/x.pyc": "",
    "anna/synchronize/time_on_the_gpu.PY": "",
    "anna/synchronize/quiz.py": "",
    "nobody/synchronize/time_on_the_gpu.py": "",
    "synchronize/time_on_the_gpu.py": "",
}


@pytest.fixture
def handed_in(tmp_path: Path) -> Path:
    folder = tmp_path / "class"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "anna" / "link.py").symlink_to("nothing.py")
    with zipfile.ZipFile(folder / "anna" / "empty.zip", "w"):
        pass
    with zipfile.ZipFile(folder / "anna" / "odd.zip", "w") as odd:
        odd.writestr("../out.py", "")
        odd.writestr("/rooted.py", "")
    (tmp_path / "roster.csv").write_text("id,name\nanna,Anna\nbea,Bea\n")
    return folder


def reasons(handed_in: Path, language: str) -> dict[str, str]:
    with speaking(language):
        found = find(handed_in, read_roster(handed_in.parent / "roster.csv"))
    return {each.shown: each.why for each in found.not_assigned}


@pytest.mark.parametrize("language", [code for code in LANGUAGES if code != ENGLISH])
def test_each_reason_is_said_in_the_language(handed_in: Path, language: str) -> None:
    english, other = reasons(handed_in, ENGLISH), reasons(handed_in, language)
    assert english.keys() == other.keys()
    assert len(english) >= len(FILES)
    assert [shown for shown in english if english[shown] == other[shown]] == []
