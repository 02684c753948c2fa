"""The lint finds what a language lacks or says otherwise than English, names the file, and says what to do about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.lint import Course, lint
from tests.grader.test_lint import FILES

STARTER = """# %% [markdown]
# # Task
#
# Complete `f`.
#
# ```python
# f(1)
# ```

# %%
def f(x): return 2

print(f(1))
"""
IN_ENGLISH = {
    **FILES,
    "exercises/lesson/task.py": STARTER,
    "solutions/lesson/task.py": STARTER.replace("return 2", "return 1"),
    "course/lessons/1_lesson/en.md": FILES["course/lessons/1_lesson/en.md"].replace(
        "```text",
        "```predict\nWhat.\n\n- [ ] One\n- [x] Two\n\nSo.\n```\n\n```python run\nprint(2)  # said\n```\n\n```text",
    ),
}
TASKS = "# Lesson\n\n## Task {#task}\n\nComplete `f`.\n\n```python\nf(1)\n```\n"
TOLD_IN = ("it", "fr")
LESSON, GLOSSARY = "course/lessons/1_lesson/it.md", "course/glossary/it.md"
QUESTIONS, ANSWERS = "exercises/lesson/quiz.it.toml", "solutions/lesson/quiz.it.toml"
MISTAKES, TASKS_FILE = "grader/misconceptions.it.toml", "exercises/lesson/tasks.it.md"


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course in three languages, whose words are those of English."""
    files = dict(IN_ENGLISH)
    for language in TOLD_IN:
        for name, text in IN_ENGLISH.items():
            if "/en.md" in name or ".en.toml" in name:
                files[name.replace("/en.md", f"/{language}.md").replace(".en.", f".{language}.")] = text
        files[f"exercises/lesson/tasks.{language}.md"] = TASKS
        files[f"grader/misconceptions.{language}.toml"] = '[not_one]\ntitle = "not one"\nsays = "{got:.1f} no."\n'
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def complaints(course: Path) -> list[str]:
    return lint(Course(course))


def test_a_course_that_is_whole_in_three_languages_has_no_complaints(course: Path) -> None:
    assert complaints(course) == []


@pytest.mark.parametrize(
    ("file", "complaint"),
    [
        (LESSON, "is missing. Translate course/lessons/1_lesson/en.md."),
        (GLOSSARY, "is missing. Translate course/glossary/en.md."),
        (QUESTIONS, "is missing. Translate exercises/lesson/quiz.en.toml."),
        (ANSWERS, "is missing. Translate solutions/lesson/quiz.en.toml."),
        (MISTAKES, "is missing. Translate grader/misconceptions.toml."),
        (TASKS_FILE, "is missing. Write the tasks of task there, each as '## Title {#name}'."),
    ],
)
def test_a_file_that_only_english_has_is_named(file: str, complaint: str, course: Path) -> None:
    if file == LESSON:  # another lesson is told in Italian
        other = course / "course/lessons/2_other"
        other.mkdir()
        (other / "it.md").write_text("# Altra\n")
    (course / file).unlink()
    assert f"{file}: {complaint}" in complaints(course)


@pytest.mark.parametrize(
    ("file", "old", "new", "complaint"),
    [
        (LESSON, "## Task {#task}", "## Task", "has no section for the step 'task'"),
        (LESSON, "{#task}", "{#compito}", "the section {#compito} is no step"),
        (LESSON, "print(2)", "print(3)", "{#why} has other blocks of code than en.md. Copy them from there"),
        (LESSON, "# said", "# detto", "{#why} has other blocks of code than en.md. Copy them from there"),
        (LESSON, "### Hint\n```", "```", "{#why} has other blocks of code than en.md"),
        (LESSON, "- [ ] One\n", "", "{#why} predicts with other choices than en.md. Give as many"),
        (LESSON, "- [ ] One\n- [x] Two", "- [x] One\n- [ ] Two", "{#why} predicts with other choices"),
        (LESSON, "### Hint\n\nThree.\n", "", "{#task} has 2 hints and en.md has 3. Translate each."),
        (LESSON, "Do it.", f"```text\n{'x' * 90}\n```", "is wider than 72 columns. Break the line."),
        (GLOSSARY, "{#why}", "{#perche}", "{#perche} has no card"),
        (GLOSSARY, "{#why}", "{#perche}", "has no section for why. Write"),
        (QUESTIONS, '"q2"', '"q9"', "asks other questions than in English, or in another order. These are asked: q1"),
        (QUESTIONS, 'id = "b2"', 'id = "c2"', "question 'q2' has other choices than in English: a2, b2. Use these."),
        (ANSWERS, 'right = "a2"', 'right = "b2"', "'q2' has another right answer or other points than in English"),
        (ANSWERS, 'b2 = "Wrong."', 'b2 = ""', "'q2' doesn't say why 'b2' is right or wrong. Add it to its why."),
        (ANSWERS, "[q2]", "[q9]", "has no solution for 'q2'. Add [q2]."),
        (ANSWERS, "[q2]", "[q9]", "there is a solution for 'q9', which English doesn't have. Drop it."),
        (MISTAKES, "[not_one]", "[not_two]", "lacks [not_one]. Translate it."),
        (MISTAKES, "[not_one]", "[not_two]", "[not_two] is no mistake of misconceptions.toml. Rename or drop it."),
        (MISTAKES, "{got:.1f}", "{got}", "[not_one] fills in other blanks than in English: {got:.1f}. Use these"),
        (MISTAKES, 'title = "not one"\n', "", "[not_one] has no title. Name the mistake"),
        (MISTAKES, "says =", "dice =", "can't be read"),
        (TASKS_FILE, "{#task}", "{#compito}", "has no task for 'task'. Add '## Title {#task}'"),
        (TASKS_FILE, "{#task}", "{#compito}", "'compito' is no exercise of the lesson. Rename or remove it."),
        (
            TASKS_FILE,
            "## Task",
            "## Compito",
            "'task' is called 'Compito' here and 'Task' in the lesson. Call it the same.",
        ),
        (TASKS_FILE, "f(1)", "f(2)", "'task' has other blocks of code than the starter. Copy them from there"),
        (TASKS_FILE, "`f`", "f", "'task' lacks `f` of the starter's task. Say it there too."),
        (TASKS_FILE, "Complete", "Complete " + "x" * 80, "is wider than 78 columns. Break the line."),
    ],
)
def test_what_a_language_says_otherwise_is_found(file: str, old: str, new: str, complaint: str, course: Path) -> None:
    text = (course / file).read_text()
    assert old in text
    (course / file).write_text(text.replace(old, new))
    told = [each for each in complaints(course) if each.startswith(file)]
    assert any(complaint in each for each in told), complaints(course)


def test_words_in_a_drawing_may_be_translated(course: Path) -> None:
    lesson = course / LESSON
    lesson.write_text(lesson.read_text().replace("## Not a heading {#no}", "## Nessun titolo {#no}"))
    assert complaints(course) == []
