"""Lessons are read as their files say, and errors name the file and the fix."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from course import catalog
from course.catalog import CatalogError, Prediction


def test_steps_come_in_the_order_of_the_toml_file(lessons: Path) -> None:
    first, second = catalog.load(lessons).lessons
    assert [(step.kind, step.name) for step in first.steps] == [
        ("card", "first_card"),
        ("card", "second_card"),
        ("exercise", "warm_up_and_repeat"),
        ("quiz", "quiz"),
        ("recap", "recap"),
    ]
    assert (first.id, first.number, first.title, first.promise) == (
        "perf_counter",
        1,
        "Measure first",
        "You can time a step.",
    )
    assert (first.points, first.minutes, second.number) == (10, 8, 2)


def test_hints_are_parted_from_the_brief(lessons: Path) -> None:
    step = catalog.load(lessons).step("perf_counter/warm_up_and_repeat")
    assert step is not None
    assert step.hints == ("The first hint.", "The second hint.")
    assert "hint" not in step.text


def test_a_heading_inside_code_is_no_section(lessons: Path) -> None:
    step = catalog.load(lessons).step("perf_counter/warm_up_and_repeat")
    assert step is not None
    assert "## not a heading" in step.text


def test_steps_follow_each_other_across_lessons(lessons: Path) -> None:
    course = catalog.load(lessons)
    recap, only = course.step("perf_counter/recap"), course.step("synchronize/only")
    assert recap is not None
    assert only is not None
    assert course.after(recap) == only
    assert course.before(only) == recap
    assert course.before(course.lessons[0].steps[0]) is None
    assert course.after(course.lessons[-1].steps[-1]) is None


def test_a_step_without_its_section_is_named(lessons: Path) -> None:
    file = lessons / "2_synchronize" / "lesson.toml"
    file.write_text(file.read_text("utf-8") + '[[steps]]\ncard = "missing"\n', "utf-8")
    with pytest.raises(CatalogError, match=r"en\.md: no section .*#missing"):
        catalog.load(lessons)


def test_two_sections_of_the_same_name_are_an_error(lessons: Path) -> None:
    file = lessons / "2_synchronize" / "en.md"
    file.write_text(file.read_text("utf-8") + "\n## Again {#only}\n", "utf-8")
    with pytest.raises(CatalogError, match="two sections are called"):
        catalog.load(lessons)


def test_broken_toml_names_the_folder(lessons: Path) -> None:
    (lessons / "2_synchronize" / "lesson.toml").write_text("minutes = ", "utf-8")
    with pytest.raises(CatalogError, match="2_synchronize"):
        catalog.load(lessons)


def test_an_empty_installation_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="Install profile-first again"):
        catalog.load(tmp_path)


PREDICTION = """\
```predict
How many
lines?

- [ ] `one`
- [x] two
It prints
two.
```

```python run
print("a\\nb")
```
"""


def with_card(lessons: Path, body: str) -> Path:
    file = lessons / "2_synchronize" / "en.md"
    file.write_text(file.read_text("utf-8").replace("Text.\n", f"Text.\n\n{body}"), "utf-8")
    return lessons


def test_a_prediction_is_parted_from_its_card(lessons: Path) -> None:
    step = catalog.load(with_card(lessons, PREDICTION)).step("synchronize/only")
    assert step is not None
    assert step.prediction == Prediction("How many lines?", ("`one`", "two"), 1, "It prints two.")
    assert "predict" not in step.text
    assert "```python run" in step.text


def test_a_prediction_needs_no_right_choice(lessons: Path) -> None:
    step = catalog.load(with_card(lessons, PREDICTION.replace("[x]", "[ ]"))).step("synchronize/only")
    assert step is not None
    assert step.prediction is not None
    assert step.prediction.right is None


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("How many\nlines?", "", "has no question"),
        ("- [x] two\n", "", "has 1 choices"),
        ("- [ ] `one`\n", "- [ ] one\n" * 4, "has 5 choices"),
        ("- [ ]", "- [x]", "has two right choices"),
        ("It prints\ntwo.\n", "", "explains nothing"),
        ("```python run", "```python", "no ```python run"),
    ],
)
def test_a_prediction_that_cant_be_asked_names_its_card(old: str, new: str, complaint: str, lessons: Path) -> None:
    assert old in PREDICTION
    with pytest.raises(CatalogError, match=rf"en\.md: .*#only.*{re.escape(complaint)}"):
        catalog.load(with_card(lessons, PREDICTION.replace(old, new)))
