"""The lessons' texts, steps and quizzes fit together, fit on a small terminal, and their programs run."""

import re
import textwrap
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from course import catalog
from course.app.app import CourseApp
from course.app.screens.lesson import LessonScreen
from course.progress import REVEALED, Progress
from course.workspace import Workspace
from grader.lint.height import BRIEF_LINES, CARD_LINES, TEXT_COLUMNS, height
from grader.runner.protocol import Finished, Script
from grader.runner.warm import WarmRunner

try:
    import tomllib
except ModuleNotFoundError:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
LESSONS = sorted((ROOT / "course/lessons").glob("[0-9]_*"))
ORDER = ["perf_counter", "synchronize", "torch_profiler", "key_averages", "profile_memory", "diagnosis"]

CODE_COLUMNS = 72
FENCES = {"python run", "python", "text", "predict"}


class Section(NamedTuple):
    id: str
    title: str
    body: str
    hints: list[str]


class Fence(NamedTuple):
    info: str
    code: str


def lesson_id(folder: Path) -> str:
    return folder.name.partition("_")[2]


def read_toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def steps(folder: Path) -> list[dict[str, Any]]:
    return read_toml(folder / "lesson.toml")["steps"]


def step_id(step: dict[str, Any]) -> str:
    return next(step[kind] for kind in ("card", "exercise", "quiz", "recap") if kind in step)


def outside_fences(text: str, pattern: str) -> list[re.Match[str]]:
    """The matches that aren't inside a fenced block."""
    fences = [found.span() for found in re.finditer(r"^```.*?^```$", text, re.M | re.S)]
    return [
        found
        for found in re.finditer(pattern, text, re.M)
        if not any(begin <= found.start() < end for begin, end in fences)
    ]


def sections(folder: Path) -> list[Section]:
    text = (folder / "en.md").read_text(encoding="utf-8")
    heads = outside_fences(text, r"^## (.+?) \{#(\w+)\}$")
    ends = [head.start() for head in heads[1:]] + [len(text)]
    found = []
    for head, end in zip(heads, ends, strict=True):
        block = re.sub(r"^```predict\n.*?^```\n+", "", text[head.end() : end], flags=re.M | re.S)
        hint_heads = outside_fences(block, r"^### Hint$")
        cuts = [hint.span() for hint in hint_heads] + [(len(block), len(block))]
        hints = [block[begin:stop].strip() for (_, begin), (stop, _) in pairwise(cuts)]
        found.append(Section(head[2], head[1], block[: cuts[0][0]].strip(), hints))
    return found


def fences(text: str) -> list[Fence]:
    return [Fence(*found) for found in re.findall(r"^```([^\n]*)\n(.*?)^```$", text, re.M | re.S)]


def cards(kind: str) -> list[Any]:
    return [
        pytest.param(folder, section, id=f"{lesson_id(folder)}/{section.id}")
        for folder in LESSONS
        for step, section in zip(steps(folder), sections(folder), strict=False)
        if kind in step
    ]


def programs() -> list[Any]:
    return [
        pytest.param(fence.code, id=f"{lesson_id(folder)}/{section.id}")
        for folder in LESSONS
        for section in sections(folder)
        for fence in fences(section.body)
        if fence.info == "python run"
    ]


def each_lesson() -> Any:
    return pytest.mark.parametrize("folder", LESSONS, ids=lesson_id)


def test_the_six_lessons_are_there_in_order() -> None:
    assert [folder.name for folder in LESSONS] == [f"{n}_{lesson}" for n, lesson in enumerate(ORDER, 1)]


@each_lesson()
def test_every_heading_of_a_section_has_an_id(folder: Path) -> None:
    text = (folder / "en.md").read_text(encoding="utf-8")
    assert len(outside_fences(text, r"^## ")) == len(sections(folder))


@each_lesson()
def test_a_lesson_opens_with_its_title_and_what_one_can_do_after_it(folder: Path) -> None:
    text = (folder / "en.md").read_text(encoding="utf-8")
    title, promise, *_ = text.split("\n\n")
    assert re.fullmatch(r"# \S.*", title)
    assert promise.startswith("You can ")
    assert promise.endswith(".")


@each_lesson()
def test_a_lesson_is_cards_with_practice_among_them_then_a_quiz_and_a_recap(folder: Path) -> None:
    kinds = [next(kind for kind in ("card", "exercise", "quiz", "recap") if kind in step) for step in steps(folder)]
    assert 6 <= kinds.count("card") <= 16
    assert kinds.count("exercise") >= 1
    assert set(kinds[:-2]) == {"card", "exercise"}
    assert kinds[0] == "card"
    assert kinds[-2:] == ["quiz", "recap"]


@each_lesson()
def test_a_lesson_says_how_long_its_cards_and_its_exercises_take(folder: Path) -> None:
    exercises = sum("exercise" in step for step in steps(folder))
    assert 5 * exercises <= read_toml(folder / "lesson.toml")["minutes"] <= 10 * (exercises + 1)


@each_lesson()
def test_every_fence_is_of_a_known_kind(folder: Path) -> None:
    text = (folder / "en.md").read_text(encoding="utf-8")
    assert {fence.info for fence in fences(text)} <= FENCES
    assert text.count("```") == 2 * len(fences(text)), "a fence isn't closed"


@each_lesson()
def test_code_is_narrow_enough_for_a_small_terminal(folder: Path) -> None:
    text = (folder / "en.md").read_text(encoding="utf-8")
    assert [line for fence in fences(text) for line in fence.code.splitlines() if len(line) > CODE_COLUMNS] == []


@each_lesson()
def test_tables_are_narrow_enough_for_a_small_terminal(folder: Path) -> None:
    text = (folder / "en.md").read_text(encoding="utf-8")
    assert [row[0] for row in outside_fences(text, r"^\|.*\|$") if len(row[0]) > TEXT_COLUMNS] == []


@pytest.mark.parametrize(("folder", "section"), cards("card"))
def test_a_card_fits_a_small_terminal(folder: Path, section: Section) -> None:
    assert height(section.body) <= CARD_LINES


@pytest.mark.slow
async def test_the_app_shows_every_card_whole_on_a_small_terminal(own: Workspace, kept: Progress, fake: Any) -> None:
    course = catalog.load()
    app = CourseApp(course, own, kept, lambda: fake)
    too_long = []
    async with app.run_test(size=(80, 24)) as pilot:
        for step in [step for lesson in course.lessons for step in lesson.steps if step.kind == "card"]:
            kept.set(f"{REVEALED}{step.id}", "yes")  # as it stays once it was read
            await app.push_screen(LessonScreen(step))
            await pilot.pause()
            if app.screen.query_one("#card").max_scroll_y:
                too_long.append(step.id)
            app.pop_screen()
    assert too_long == []


@pytest.mark.parametrize(("folder", "section"), cards("recap"))
def test_a_recap_fits_a_small_terminal(folder: Path, section: Section) -> None:
    assert height(section.body) <= CARD_LINES


@pytest.mark.parametrize(("folder", "section"), cards("exercise"))
def test_a_brief_leaves_room_for_the_editor(folder: Path, section: Section) -> None:
    assert height(section.body) <= BRIEF_LINES


@pytest.mark.parametrize(("folder", "section"), cards("exercise"))
def test_only_the_last_hint_shows_a_block_of_code(folder: Path, section: Section) -> None:
    assert [bool(fences(hint)) for hint in section.hints] == [False] * (len(section.hints) - 1) + [True]


@pytest.mark.parametrize("code", programs())
def test_a_program_compiles(code: str) -> None:
    compile(code, "card.py", "exec")


@each_lesson()
def test_fragments_of_code_compile(folder: Path) -> None:
    text = (folder / "en.md").read_text(encoding="utf-8")
    for fence in fences(text):
        if fence.info == "python":
            compile(f"def fragment():\n{textwrap.indent(fence.code, '    ')}", "fragment.py", "exec")


@each_lesson()
def test_every_lesson_has_something_to_run(folder: Path) -> None:
    runnable = [fence for section in sections(folder) for fence in fences(section.body) if fence.info == "python run"]
    assert len(runnable) >= 4


def quizzes() -> Any:
    return pytest.mark.parametrize("lesson", ORDER)


@quizzes()
def test_a_question_asks_and_offers_three_or_four_different_choices(lesson: str) -> None:
    for question in read_toml(ROOT / f"exercises/{lesson}/quiz.en.toml")["questions"]:
        assert question["asks"].rstrip().endswith("?"), question["id"]
        assert len(question["choices"]) in (3, 4), question["id"]
        for part in ("id", "text"):
            assert len({choice[part] for choice in question["choices"]}) == len(question["choices"]), question["id"]


@quizzes()
def test_every_choice_is_explained_and_only_the_right_one_is_called_right(lesson: str) -> None:
    for question, answer in read_toml(ROOT / f"solutions/{lesson}/quiz.en.toml").items():
        for choice, why in answer["why"].items():
            assert len(why) >= 30, f"{question}/{choice}"
            assert why.startswith("Right") == (choice == answer["right"]), f"{question}/{choice}"


def test_the_right_choice_is_not_to_be_known_by_its_length_or_place() -> None:
    longest = shortest = first = total = 0
    for lesson in ORDER:
        answers = read_toml(ROOT / f"solutions/{lesson}/quiz.en.toml")
        for question in read_toml(ROOT / f"exercises/{lesson}/quiz.en.toml")["questions"]:
            lengths = {choice["id"]: len(choice["text"]) for choice in question["choices"]}
            right = answers[question["id"]]["right"]
            others = [length for choice, length in lengths.items() if choice != right]
            longest += lengths[right] > max(others)
            shortest += lengths[right] < min(others)
            first += question["choices"][0]["id"] == right
            total += 1
    assert max(longest, shortest, first) / total <= 0.4


def test_the_last_quiz_asks_about_the_gpu_that_is_idle_between_batches() -> None:
    questions = read_toml(ROOT / "exercises/diagnosis/quiz.en.toml")["questions"]
    asked = next(question for question in questions if question["id"] == "idle_between_batches")
    right = read_toml(ROOT / "solutions/diagnosis/quiz.en.toml")["idle_between_batches"]["right"]
    answer = next(choice["text"] for choice in asked["choices"] if choice["id"] == right)
    assert "sits idle" in asked["asks"]
    assert "input pipeline" in answer


def test_the_height_of_a_card_counts_wrapped_text_code_and_the_gaps_between() -> None:
    assert height("word " * 40) == 3
    assert height("one\n\n```text\na\n\nb\n```\n\n- two\n- three") == 1 + 1 + 3 + 1 + 2
    assert height("```python run\na\n```\n\none") == 3 + 1


@pytest.mark.parametrize("code", programs())
def test_a_program_runs_on_the_gpu_without_a_word_of_complaint(code: str, lab_runner: WarmRunner) -> None:
    outcome = lab_runner.run(Script("card.py", code))
    assert isinstance(outcome.report, Finished)
    assert outcome.report.exit_code == 0, outcome.output
    assert outcome.output
    assert not re.search(r"Warning|ERROR|\[W", outcome.output), outcome.output
    assert [line for line in outcome.output.splitlines() if len(line) > CODE_COLUMNS] == []
