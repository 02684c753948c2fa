"""The lint finds what an author forgot or put in the wrong place, names the file, and says what to do about it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader import mistakes
from grader.lint import Course, lint
from grader.lint.runs import complaints as complaints_of_runs
from grader.mistakes import Misconception
from grader.runner.warm import WarmRunner

TASK = "# %% [markdown]\n# # Task\n\n# %%\n"
QUESTION = (
    '[[questions]]\nid = "q{n}"\nasks = "?"\nchoices = [{{id = "a{n}", text = "A"}}, {{id = "b{n}", text = "B"}}]\n'
)
ANSWER = '[q{n}]\nright = "a{n}"\nwhy = {{a{n} = "Right.", b{n} = "Wrong."}}\n'
FILES = {
    "exercises/lesson/task.py": f"{TASK}def f(x): return 2\n\nprint(f(1))\n",
    "solutions/lesson/task.py": f"{TASK}def f(x): return 1\n\nprint(f(1))\n",
    "grader/checks/lesson/test_task.py": '''import pytest
from grader.api import mistake

@pytest.mark.points(2)
def test_one(submission):
    """It is one."""
    assert submission.call("f", 1).value == 1, mistake("not_one", got=2)
''',
    "grader/misconceptions.toml": '[not_one]\nsays = "{got:.1f} is not one."\ncard = "lesson/why"\nsource = "S1.1"\n',
    "exercises/lesson/quiz.en.toml": "".join(QUESTION.format(n=n) for n in range(1, 5)),
    "solutions/lesson/quiz.en.toml": "".join(ANSWER.format(n=n) for n in range(1, 5)),
    "course/lessons/1_lesson/lesson.toml": """minutes = 5
[[steps]]
card = "why"
[[steps]]
exercise = "task"
why = "why"
points = 2
[[steps]]
quiz = "quiz"
points = 4
""",
    "course/lessons/1_lesson/en.md": """# Lesson

You can.

## Why {#why}

```text
## Not a heading {#no}
### Hint
```

## Task {#task}

Do it.

### Hint

One.

### Hint

Two.

### Hint

Three.

## Quiz {#quiz}

Ask.
""",
    "course/glossary/glossary.toml": 'reason = "lesson/why"\nwhy = "lesson/why"\n',
    "course/glossary/en.md": """# Glossary

## Reason, Ask {#reason}

Why.

## Why {#why}

Asks.
""",
    "tests/grader/submissions/lesson/task/exercise.toml": """starter_makes = "not_one"
[constant]
function = "f"
returns = "3"
""",
    "tests/grader/submissions/lesson/task/not_one.py": "def f(x): return 2\n",
    "tests/grader/submissions/lesson/task/right_a.py": "def f(x): return 1\n",
    "tests/grader/submissions/lesson/task/right_b.py": "def f(x): return 2 - 1\n",
}
CHECKS, MISTAKES = "grader/checks/lesson/test_task.py", "grader/misconceptions.toml"
STARTER, SOLUTION = "exercises/lesson/task.py", "solutions/lesson/task.py"
QUESTIONS, ANSWERS = "exercises/lesson/quiz.en.toml", "solutions/lesson/quiz.en.toml"
ORDER, TEXT = "course/lessons/1_lesson/lesson.toml", "course/lessons/1_lesson/en.md"
TERMS, TAUGHT_BY = "course/glossary/en.md", "course/glossary/glossary.toml"
SUBMISSIONS = "tests/grader/submissions/lesson/task"


@pytest.fixture
def course(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def complaints(course: Path) -> list[str]:
    return lint(Course(course))


def test_a_complete_course_has_no_complaints(course: Path) -> None:
    assert complaints(course) == []


def test_a_course_without_its_tests_has_no_complaints(course: Path) -> None:
    shutil.rmtree(course / "tests")
    assert complaints(course) == []


BROKEN = [
    # the checks
    (CHECKS, "@pytest.mark.points(2)\n", "", f"{CHECKS}:4: test_one has no points."),
    (CHECKS, "points(2)", "points(0)", ": test_one has no points."),
    (CHECKS, "points(2)", "points(True)", ": test_one has no points."),
    (CHECKS, '    """It is one."""\n', "", f"{CHECKS}:5: test_one has no docstring."),
    (CHECKS, ', mistake("not_one", got=2)', "", f"{CHECKS}:7: assert without a message."),
    (CHECKS, '"not_one"', '"none"', f"{CHECKS}:7: misconceptions.toml has no [none]."),
    (CHECKS, "got=2", "", f"{CHECKS}:7: [not_one] says {{got}}, but the check gives no value got=."),
    (CHECKS, "got=2", "got=2, left=1", ":7: [not_one] doesn't say {left}."),
    (CHECKS, "def test_one(", "def test_one((", f"{CHECKS}: can't be read"),
    (CHECKS, "def test_one", "def one", f"{CHECKS}: has no check."),
    (CHECKS, "import pytest", "import pytest, torch.cuda", f"{CHECKS}:1: imports torch.cuda."),
    (CHECKS, "import pytest", "from lab.workloads import build", f"{CHECKS}:1: imports lab.workloads."),
    # the known mistakes
    (MISTAKES, "{got:.1f} is", "{got is", f"{MISTAKES}: [not_one] says what can't be filled in: "),
    (MISTAKES, "{got:.1f} is", "{got so far} is", "{got so far} is no name. Correct it."),
    (MISTAKES, ":.1f", ":.1q", f"{MISTAKES}: [not_one] says what can't be filled in: {{got:.1q}} is no format"),
    (MISTAKES, "says", "said", f"{MISTAKES}: misconceptions.toml can't be read"),
    (MISTAKES, "lesson/why", "lesson/task", f"{MISTAKES}: [not_one] has card = 'lesson/task', which doesn't exist."),
    (MISTAKES, 'source = "S1.1"', "", f"{MISTAKES}: [not_one] has no source."),
    (MISTAKES, "[not_one]", '[other]\nsays = ""\n[not_one]', f"{MISTAKES}: no check names [other]."),
    # the submissions
    (f"{SUBMISSIONS}/exercise.toml", "not_one", "no", f"{SUBMISSIONS}/exercise.toml: starter_makes = 'no'"),
    (f"{SUBMISSIONS}/exercise.toml", '"f"', '"g"', f"{SUBMISSIONS}/exercise.toml: the starter has no function 'g'."),
    (f"{SUBMISSIONS}/exercise.toml", '"3"', '"3 3"', f"{SUBMISSIONS}/exercise.toml: returns = '3 3' is no Python"),
    (f"{SUBMISSIONS}/exercise.toml", "returns", "gives", f"{SUBMISSIONS}/exercise.toml: Object contains unknown field"),
    # the quiz
    (
        ANSWERS,
        'right = "a1"',
        'right = "c"',
        f"{ANSWERS}: question 'q1': the right answer 'c' is not among its choices",
    ),
    (ANSWERS, ', b1 = "Wrong."', "", f"{ANSWERS}: question 'q1': nothing says why 'b1' is right or wrong"),
    (ANSWERS, "b1 =", "c =", f"{ANSWERS}: question 'q1': it explains 'c', which is not a choice"),
    (ANSWERS, "[q1]", "[r]", f"{QUESTIONS}: question 'q1' has no solution."),
    (ANSWERS, "[q1]", "[r]", f"{ANSWERS}: there is a solution for 'r', which is not asked."),
    (ANSWERS, 'right = "a1"', 'right = "a1"\npoints = 0', f"{ANSWERS}: question 'q1' is worth 0 points."),
    (QUESTIONS, '"b1"', '"a1"', f"{QUESTIONS}: question 'q1' needs at least two choices with different ids"),
    (QUESTIONS, '"q2"', '"q1"', f"{QUESTIONS}: two questions have the same id."),
    (QUESTIONS, QUESTION.format(n=4), "", f"{QUESTIONS}: asks 3 questions. A quiz has 4 or more."),
    (QUESTIONS, "asks", "says", f"{QUESTIONS}, {ANSWERS}: The quiz lesson/quiz.en.toml can't be read"),
    # starter and solution
    (SOLUTION, "# # Task", "# # Other", f"{SOLUTION}: states another task than {STARTER}."),
    (STARTER, "# %% [markdown]\n", "", f"{STARTER}: doesn't begin with its task."),
    (STARTER, "def f(x): return 2", "f = max", f"{STARTER}: defines no function."),
    # the lesson
    (ORDER, "points = 2", "points = 3", f"{ORDER}: 'task' has points = 3, its checks give 2."),
    (ORDER, "points = 2", 'points = "2"', "'task' has points = '2', its checks give 2."),
    (ORDER, "points = 2", "points = 2\npoint = 3", f"{ORDER}: a step has 'point', which nobody reads."),
    (ORDER, "points = 4", "points = 5", f"{ORDER}: 'quiz' has points = 5, its checks give 4."),
    (ORDER, 'why = "why"', "", f"{ORDER}: 'task' doesn't say why it matters."),
    (ORDER, 'why = "why"', 'why = "quiz"', f"{ORDER}: 'task' doesn't say why it matters."),
    (ORDER, '[[steps]]\nquiz = "quiz"\npoints = 4\n', "", f"{ORDER}: lesson/quiz is no step of a lesson."),
    (ORDER, 'exercise = "task"', 'card = "task"', f"{ORDER}: lesson/task is no step of a lesson."),
    (ORDER, 'exercise = "task"', 'exercise = "other"', f"{ORDER}: there is no exercise lesson/other."),
    (ORDER, 'card = "why"', 'card = "why"\nquiz = "quiz"', f"{ORDER}: a step has exactly one of card, exercise"),
    (ORDER, 'quiz = "quiz"', 'quiz = "why"', f"{ORDER}: two steps are called 'why'."),
    (ORDER, "minutes = 5", "minutes = ", f"{ORDER}: can't be read"),
    (ORDER, "[[steps]]", "[[step]]", f"{ORDER}: has no [[steps]]."),
    (TEXT, "{#task}", "{#tusk}", f"{TEXT}: has no section for the step 'task'."),
    (TEXT, "{#task}", "{#tusk}", f"{TEXT}: the section {{#tusk}} is no step."),
    (TEXT, "{#quiz}", "{#task}", f"{TEXT}: two sections are called {{#task}}."),
    (TEXT, "### Hint\n\nThree.\n", "", f"{TEXT}: 'task' has 2 hints. Write 3 or more"),
    (TEXT, "Three.\n", "", f"{TEXT}: 'task' has an empty hint."),
    (TEXT, "Ask.\n", "", f"{TEXT}: the section {{#quiz}} is empty."),
]


@pytest.mark.parametrize(("file", "old", "new", "complaint"), BROKEN)
def test_what_an_author_forgot_is_found(file: str, old: str, new: str, complaint: str, course: Path) -> None:
    text = (course / file).read_text()
    assert old in text
    (course / file).write_text(text.replace(old, new))
    assert [found for found in complaints(course) if complaint in found], complaints(course)


def test_every_complaint_names_its_file_and_says_what_to_do(course: Path) -> None:
    for file, old, new, _ in BROKEN:
        (course / file).write_text(FILES[file].replace(old, new))
        for found in complaints(course):
            place, _, told = found.partition(" ")
            assert (course / place.rstrip(":,").split(":")[0]).exists() or "is missing" in told, found
            assert found.count(". ") + found.endswith(".") >= 1, found
        (course / file).write_text(FILES[file])


@pytest.mark.parametrize(
    ("file", "complaint"),
    [
        (STARTER, f"{STARTER}: lesson/task has no starter."),
        (SOLUTION, f"{SOLUTION}: lesson/task has no solution."),
        (CHECKS, f"{CHECKS}: lesson/task has no checks."),
        (QUESTIONS, "The quiz lesson/quiz.en.toml can't be read"),
        (TEXT, f"{TEXT}: is missing."),
        (ORDER, f"{ORDER}: can't be read: No such file or directory."),
        (f"{SUBMISSIONS}/exercise.toml", f"{SUBMISSIONS}/exercise.toml: is missing."),
        (f"{SUBMISSIONS}/not_one.py", f"{SUBMISSIONS}/not_one.py: is missing."),
        (f"{SUBMISSIONS}/right_a.py", f"{SUBMISSIONS}: shows 1 other right ways"),
    ],
)
def test_a_missing_file_is_named(file: str, complaint: str, course: Path) -> None:
    (course / file).unlink()
    assert [found for found in complaints(course) if complaint in found], complaints(course)


@pytest.mark.parametrize(
    ("file", "complaint"),
    [
        ("exercises/lesson/notes.txt", "doesn't belong there. Files in this folder are called <lesson>/<exercise>.py."),
        ("exercises/task.py", "doesn't belong there."),
        ("solutions/lesson/quiz.de.toml", "doesn't belong there."),
        ("grader/checks/lesson/conftest.py", "Files in this folder are called <lesson>/test_<exercise>.py."),
        ("course/lessons/1_lesson/draft.md", "Files in this folder are called <n>_<lesson>/lesson.toml or en.md."),
        ("course/lessons/2_Other/en.md", "isn't the name of a lesson."),
        ("tests/grader/submissions/lesson/lone.py", "called <lesson>/<exercise>/<mistake>.py."),
        ("tests/grader/submissions/lesson/other/right_x.py", "there is no exercise lesson/other."),
        (f"{SUBMISSIONS}/unknown.py", "misconceptions.toml has no [unknown]."),
        ("course/lessons/1_other/lesson.toml", "has no [[steps]]."),
    ],
)
def test_a_file_where_it_doesnt_belong_is_named(file: str, complaint: str, course: Path) -> None:
    (course / file).parent.mkdir(parents=True, exist_ok=True)
    (course / file).write_text("")
    found = [each for each in complaints(course) if complaint in each]
    assert found, complaints(course)
    assert file.startswith(found[0].partition(":")[0])


def test_two_lessons_of_one_number_are_named(course: Path) -> None:
    shutil.copytree(course / "course/lessons/1_lesson", course / "course/lessons/1_more")
    assert "course/lessons/1_more: has the number or the name of 1_lesson. Rename one." in complaints(course)


def test_the_mistake_of_another_exercise_is_named(course: Path) -> None:
    for file in (STARTER, SOLUTION, CHECKS):
        (course / file.replace("task", "two")).write_text((course / file).read_text().replace("not_one", "not_two"))
    wrong = course / f"{SUBMISSIONS}/not_two.py"
    wrong.write_text("")
    (course / MISTAKES).write_text(FILES[MISTAKES] + FILES[MISTAKES].replace("not_one", "not_two"))
    assert f"{SUBMISSIONS}/not_two.py: no check of lesson/task names this mistake." in "\n".join(complaints(course))


def test_a_translation_has_the_sections_of_the_lesson(course: Path) -> None:
    (course / TEXT.replace("en.md", "fr.md")).write_text(FILES[TEXT].replace("{#why}", "{#pourquoi}"))
    assert any(each.startswith("course/lessons/1_lesson/fr.md: has no section") for each in complaints(course))


def test_sections_in_another_order_are_named(course: Path) -> None:
    head, _, quiz = FILES[TEXT].partition("## Quiz")
    (course / TEXT).write_text(head.replace("## Why", f"## Quiz{quiz}\n## Why"))
    assert any("in another order" in each for each in complaints(course))


def test_checks_that_a_learner_could_not_tell_apart_are_found(course: Path) -> None:
    text = FILES[CHECKS]
    (course / CHECKS).write_text(text + text[text.index("@pytest") :].replace("test_one", "test_two"))
    assert [found for found in complaints(course) if "same first line as test_one" in found]


def test_the_course_has_no_complaints() -> None:
    assert lint() == []


# What is run


def ran(course: Path, runner: WarmRunner) -> list[str]:
    return list(complaints_of_runs(Course(course), runner))


@pytest.fixture(autouse=True)
def _the_mistake_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mistakes, "misconceptions", lambda: {"not_one": Misconception("{got} is not one.")})


def test_a_starter_that_fails_and_a_solution_that_passes_are_as_they_should_be(
    course: Path, forking: WarmRunner
) -> None:
    assert ran(course, forking) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "complaint"),
    [
        (STARTER, "return 2", "return 1", f"{STARTER}: passes its checks as shipped."),
        (
            STARTER,
            "def f(x): return 2",
            "def f(x): return 1 / 0",
            f"{STARTER}: doesn't get as far as its checks (error).",
        ),
        (STARTER, "print(f(1))", "", f"{STARTER}: prints nothing when it is run."),
        (STARTER, "print(f(1))", "print(g)", f"{STARTER}: doesn't run by itself (NameError: name 'g' is not defined)."),
        (SOLUTION, "return 1", "return 3", f"{SOLUTION}: gets 0 of 2 points. Correct it or a check. 2 is not one."),
        (CHECKS, 'mistake("not_one", got=2)', '"Not one."', f"{STARTER}: makes no known mistake, not not_one."),
        (CHECKS, "points(2)", "points('x')", f"{CHECKS}: The checks of lesson/test_task are broken"),
    ],
)
def test_what_only_a_run_shows_is_found(
    file: str, old: str, new: str, complaint: str, course: Path, forking: WarmRunner
) -> None:
    assert old in FILES[file]
    (course / file).write_text(FILES[file].replace(old, new))
    found = ran(course, forking)
    assert [each for each in found if complaint in each], found


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("### Hint\n```", "### Hint\n", "en.md:7: this block of code has no end, so all below is part of it."),
        ("## Task {#task}", "## Exercise {#task}", "is called 'Exercise' here and 'Task' in exercises/lesson/task.py."),
        ("Do it.", "Do it.\n\n" * 9, "{#task} takes 17 lines on a terminal of 80x24. Cut it to 12."),
        ("Do it.", f"```text\n{'x' * 73}\n```", f"{{#task}}: '{'x' * 30}'… is wider than 72 columns. Break the line."),
        ("Do it.", "Do it.\n\n## More", "the heading '## More' has no name. Add {#name}"),
    ],
)
def test_a_text_that_reads_badly_is_named(old: str, new: str, complaint: str, course: Path) -> None:
    text = course / TEXT
    assert old in text.read_text()
    text.write_text(text.read_text().replace(old, new, 1))
    assert [each for each in complaints(course) if complaint in each] != []


def test_a_gap_in_the_numbers_of_lessons_is_named(course: Path) -> None:
    (course / "course/lessons/1_lesson").rename(course / "course/lessons/3_lesson")
    numbered = [each for each in complaints(course) if "there is no lesson" in each]
    assert [each.split(".")[0] for each in numbered] == [
        "course/lessons: there is no lesson 1",
        "course/lessons: there is no lesson 2",
    ]


@pytest.mark.parametrize(
    ("file", "old", "new", "complaint"),
    [
        (TAUGHT_BY, 'why = "lesson/why"', 'why = "lesson/no"', f"{TAUGHT_BY}: why = 'lesson/no', which doesn't exist."),
        (TAUGHT_BY, 'why = "lesson/why"', "", f'{TERMS}: {{#why}} has no card. Add why = "<lesson>/<card>"'),
        (TAUGHT_BY, "why =", "why", f"{TAUGHT_BY}: can't be read"),
        (TAUGHT_BY, "reason =", 'other = "lesson/why"\nreason =', f"{TERMS}: has no section for other."),
        (TERMS, "## Why {#why}", "## Why {#reason}", f"{TERMS}: two terms are called {{#reason}}."),
        (TERMS, "## Reason, Ask {", "## Why, Ask {", f"{TERMS}: two terms are spelled 'Why'."),
        (TERMS, "## Why {", "## Question, Why {", f"{TERMS}: 'Question' stands after 'Reason'. Sort the terms."),
        (TERMS, "## Why {", "## Élan, Why {", f"{TERMS}: 'Élan' stands after 'Reason'. Sort the terms."),
        (TERMS, "## Reason, Ask {", "## Reason {", f"{TERMS}: no lesson says 'Reason'."),
        (TERMS, "\nAsks.\n", "", f"{TERMS}: 'Why' isn't explained."),
        (TERMS, "Asks.", "Asks.\n\n" * 4, f"{TERMS}: 'Why' takes 7 lines. Cut it to 5."),
        (TERMS, "Why.", "```python", f"{TERMS}:5: this block of code has no end"),
    ],
)
def test_the_glossary_is_examined(file: str, old: str, new: str, complaint: str, course: Path) -> None:
    text = (course / file).read_text()
    assert old in text
    (course / file).write_text(text.replace(old, new, 1))
    assert [each for each in complaints(course) if each.startswith(complaint)] != []


def test_the_glossary_isnt_there_in_every_course(course: Path) -> None:
    shutil.rmtree(course / "course/glossary")
    assert complaints(course) == []
