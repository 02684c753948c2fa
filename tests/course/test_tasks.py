"""An exercise's file begins with its task in the reader's language, and is known as untouched in each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from course import submit, workspace
from course.catalog import load
from grader.check import exercise_ids
from grader.percent import split
from lab.language import ENGLISH, LANGUAGES, speaking

EXERCISE = "diagnosis/six_loops"
TITLES = {
    "en": "Six loops, six bottlenecks",
    "it": "Sei cicli, sei colli di bottiglia",
    "fr": "Six boucles, six goulets d'étranglement",
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("exercise", exercise_ids())
def test_each_language_has_the_same_code_below_its_own_task(exercise: str, language: str, home: Path) -> None:
    own = workspace.at_home()
    english, told = (split(own.starter(exercise, code)) for code in (ENGLISH, language))
    assert told[1:] == english[1:]
    assert (told[0] == english[0]) == (language == ENGLISH)
    step = load(language=language).step(exercise)
    assert step is not None
    assert told[0].source.splitlines()[0] == f"# {step.title}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_file_is_made_in_the_language_that_is_spoken_and_stays_so(language: str, home: Path) -> None:
    own = workspace.at_home()
    with speaking(language):
        made = own.open(EXERCISE)
    assert made.splitlines()[1] == f"# # {TITLES[language]}"
    for other in LANGUAGES:
        with speaking(other):
            assert own.open(EXERCISE) == made
            assert own.solution(EXERCISE).splitlines()[1] == f"# # {TITLES[other]}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_untouched_file_is_known_in_whatever_language(language: str, home: Path) -> None:
    own = workspace.at_home()
    with speaking(language):
        own.open(EXERCISE)
    _packed, missing = submit.collect([EXERCISE], load(), own)
    assert [each.why for each in missing] == ["still as it came"]
    assert own.reset(EXERCISE) is None
    own.save(EXERCISE, own.starter(EXERCISE, language) + "# mine\n")
    backup = own.reset(EXERCISE)
    assert backup is not None
    assert backup.read_text("utf-8").endswith("# mine\n")


def test_a_note_in_the_task_is_the_learners_own_text(home: Path) -> None:
    own = workspace.at_home()
    with speaking("it"):
        text = own.open(EXERCISE).replace("# `train()`", "# Ricordare il warm-up! `train()`")
        own.save(EXERCISE, text)
        assert not own.is_starter(EXERCISE, text)
        assert own.reset(EXERCISE) is not None


def test_a_notebook_begins_with_its_task_in_the_language(home: Path, tmp_path: Path) -> None:
    from course.notebooks import write

    with speaking("fr"):
        write([EXERCISE], tmp_path, mine=False, seed=0, force=False, as_json=True)
    cells = json.loads((tmp_path / f"{EXERCISE}.ipynb").read_text("utf-8"))["cells"]
    assert "".join(cells[1]["source"]).startswith(f"# {TITLES['fr']}")
