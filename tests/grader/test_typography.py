"""French texts are set as French is; code within them is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.lint import Course, lint, typography


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
