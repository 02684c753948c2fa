"""French texts are set as French is; code within them is left alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from babel.messages.pofile import read_po

from grader.lint import Course, lint, typography
from grader.reports import words
from lab import language


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Qui attend ?", "U+202F before it"),
        ("Qui attend?", "U+202F before it"),
        ("Qui attend\u00a0? Lui.", "U+202F before it"),
        ("On attend ; on lit.", "U+202F before it"),
        ("`x`; on lit", "U+202F before it"),
        ("Voici : rien.", "U+00A0 before it"),
        ("Voici: rien.", "U+00A0 before it"),
        ("Voici\u202f: rien.", "U+00A0 before it"),
        ("« mot\u00a0»", "U+00A0 inside of « »"),
        ("«\u00a0mot»", "U+00A0 inside of « »"),
        ("Il prend 80 ms.", "U+00A0 between a number and its unit"),
        ("Il prend {some_ms:.1f} ms.", "U+00A0 between a number and its unit"),
        ("Il prend 2.5\u00a0ms.", "a decimal comma"),
        ("soit 2.5 fois", "a decimal comma"),
    ],
)
def test_what_isnt_french_is_named(text: str, wanted: str) -> None:
    assert [fault for fault in typography.faults(text) if wanted in fault] != []


@pytest.mark.parametrize(
    "text",
    [
        "Qui attend\u202f? Le GPU\u202f! Voici\u00a0: 2,5\u00a0ms\u202f; 60\u00a0%, «\u00a0tout\u00a0».",
        'Écrivez `if loss > best:` ou `f"{x:.1f} ms; done?"`, puis aten::mm et {got:.1f}.',
        "- `data`\u00a0: https://example.org/a?b=c",
        "Il `attend` s'il le faut, à 10:30.",
    ],
)
def test_good_french_and_code_have_no_faults(text: str) -> None:
    assert list(typography.faults(text)) == []


FENCED = """\
# Titre

Bien\u202f!

```python run
print("mal !")
```

```predict
Mal ?
- [ ] `a ;
  b ?`
```

Mal aussi !
"""


def test_lessons_quizzes_and_mistakes_are_read(tmp_path: Path) -> None:
    lesson = tmp_path / "course/lessons/1_lesson"
    for folder in (lesson, tmp_path / "exercises/lesson", tmp_path / "grader"):
        folder.mkdir(parents=True)
    (lesson / "fr.md").write_text(FENCED, encoding="utf-8")
    (tmp_path / "exercises/lesson/quiz.fr.toml").write_text('[[questions]]\nasks = "Mal ?"\n')
    (tmp_path / "grader/misconceptions.fr.toml").write_text('[one]\nsays = "Mal : {got}."\n')
    found = list(typography.complaints(Course(tmp_path)))
    assert [each.partition(": ")[0] for each in found] == [
        "course/lessons/1_lesson/fr.md:10",
        "course/lessons/1_lesson/fr.md:15",
        "exercises/lesson/quiz.fr.toml",
        "grader/misconceptions.fr.toml",
    ]
    assert set(found) <= set(lint(Course(tmp_path)))


def strings(table: object) -> Iterator[str]:
    if isinstance(table, dict):
        for value in table.values():
            yield from strings(value)
    else:
        yield str(table)


def test_messages_and_what_reports_say_are_set_as_french_is() -> None:
    said = list(strings(msgspec.toml.decode((words.FOLDER / "words.fr.toml").read_bytes())))
    with (language.FOLDER / "fr/LC_MESSAGES/messages.po").open("rb") as file:
        for message in read_po(file, locale="fr"):
            if message.id:  # not the head of the file
                said += [message.string] if isinstance(message.string, str) else message.string
    faults = [fault for text in said for fault in typography.faults(text)]
    # versions and addresses have points
    assert [fault for fault in faults if "a decimal comma" not in fault] == []
