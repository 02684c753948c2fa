"""What French typography asks of the course: no-break spaces are kept, and accents sort beside their letters."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import rich._wrap
from textual.content import Content

from course import catalog, terms
from course.app.external_editor import EditorError, editor_command
from course.app.line_breaks import keep_no_break_spaces
from grader.lesson_files import alphabetical, split, unwrap
from grader.lint.height import height
from lab.language import speaking
from tests.course.test_run_diagnosis import diagnosed

QUESTION = "Combien\u202f?"
LESSON = f"""\
# Titre

Une promesse\u00a0: tenue.

## Fiche {{#card}}

```predict
{QUESTION}
- [ ] Un\u00a0: peu
- [x] Deux
C'est\u00a0vrai.
```

```python run
print(1)
```
"""


@pytest.fixture
def kept() -> Iterator[None]:
    before = rich._wrap.re_word
    keep_no_break_spaces()
    yield
    rich._wrap.re_word = before


@pytest.mark.parametrize("width", range(20, 60))
def test_no_line_begins_with_a_mark_that_belongs_to_the_word_before(width: int, kept: None) -> None:
    text = (
        "Le GPU attend\u00a0: qui attend qui\u202f? On mesure 80\u00a0ms\u202f; et «\u00a0tout\u00a0» va mieux\u202f!"
    )
    lines = [line.plain for line in Content(text).wrap(width)]
    assert [line for line in lines if line.startswith((":", "?", ";", "!", "»", "ms"))] == []
    assert " ".join(line.strip() for line in lines) == text


def test_words_are_still_parted_at_ordinary_spaces_and_folded_where_too_long(kept: None) -> None:
    assert [line.plain for line in Content("one two three").wrap(7)] == ["one two", "three"]
    assert [line.plain for line in Content("abcdefghij").wrap(5)] == ["abcde", "fghij"]


def test_a_lesson_keeps_its_no_break_spaces(tmp_path: Path) -> None:
    folder = tmp_path / "1_lesson"
    folder.mkdir()
    (folder / "lesson.toml").write_text('[[steps]]\ncard = "card"\n')
    (folder / "fr.md").write_text(LESSON, encoding="utf-8")
    lesson = catalog.load(tmp_path, "fr").lessons[0]
    prediction = lesson.steps[0].prediction
    assert lesson.promise == "Une promesse\u00a0: tenue."
    assert prediction is not None
    assert (prediction.question, prediction.choices[0], prediction.why) == (
        QUESTION,
        "Un\u00a0: peu",
        "C'est\u00a0vrai.",
    )


def test_a_paragraph_in_one_line_loses_only_its_line_breaks() -> None:
    assert unwrap(" Qui\u202f?\n  Toi\u00a0: \tmoi.\n") == "Qui\u202f? Toi\u00a0: moi."


def test_a_height_counts_a_mark_with_its_word() -> None:
    words = "x" * 70
    assert height(f"{words} ab\u202f?") == height(f"{words} abcd") == 2
    assert height(f"{words} a\u202f?") == 1


def test_an_accent_stands_beside_its_letter() -> None:
    assert sorted(["Opérateur", "Événement", "zéro", "Exemple", "état", "Fusion"], key=alphabetical) == [
        "état",
        "Événement",
        "Exemple",
        "Fusion",
        "Opérateur",
        "zéro",
    ]


def test_the_french_glossary_is_listed_as_it_is_written() -> None:
    written = [section.name for section in split((terms.folders.GLOSSARY / "fr.md").read_text("utf-8")).sections]
    assert [term.id for term in terms.load(language="fr")] == written


def test_what_a_constant_marks_for_translation_is_said_where_it_is_shown() -> None:
    with speaking("fr"):
        with pytest.raises(EditorError, match="Aucun éditeur"):
            editor_command({}, Path("train.py"), 0, 0)
        of_a_real_gpu = diagnosed([], real=True)
    assert "seul torch.profiler" in of_a_real_gpu.verdict.summary
    assert "Ouvrir une trace" in of_a_real_gpu.record_better[0]
