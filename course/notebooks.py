"""Writes exercises as notebooks that run in Jupyter and in Colab, with or without a GPU."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from course import catalog, names, workspace
from course.catalog import Catalog, Step
from course.names import WrongUsage
from course.quiz import shuffled_questions
from course.workspace import Workspace, WorkspaceError, write_atomically
from grader.notebook import METADATA, NotebookUnreadable, read_notebook
from grader.percent import Cell, split
from lab.language import N_, _

SET_UP_SAYS = N_("""\
# Run this cell first: it puts the GPU in place, a real one where there is one and a simulated one where there is none.
# In Colab, and wherever else profile-first isn't installed, first remove the "# " at the start of the next line.
""")
SET_UP = """\
# %pip install --quiet profile-first
import lab.gpu

gpu = lab.gpu.use()
print(f"GPU in use: {gpu.name} ({gpu.kind})")"""
CHECK = N_("""\
## Check it

Save the notebook, then let it be checked, in a shell:

```sh
profile-first check {name}.ipynb
```

In Colab, download it first (*File*, *Download*), and check it where profile-first is installed.
The cells are run from the first to the last, as after *Restart* and *Run all*.
One that stops with an error is passed over.

Stuck? `profile-first hint {exercise}` shows the next of {hints} hints.""")
QUIZ = N_("""\
## {title}

{text}

For each question, write the word in front of your choice between its quotes in the cell below.
""")
_NBGRADER = {"schema_version": 3, "grade": False, "locked": False, "solution": False, "task": False}


@dataclass(frozen=True)
class Written:
    """What became of one notebook."""

    exercises: tuple[str, ...]
    path: Path
    outcome: str
    """`written`, `unchanged`, or `replaced`: there was another one, which is kept as `backup`."""
    backup: Path | None = None


def write(what: Sequence[str], out: Path, *, mine: bool, seed: int, force: bool, as_json: bool) -> int:
    """Write the notebooks of these exercises, or of all, under `out`."""
    lessons, own = catalog.load(), workspace.at_home()
    wanted = list(dict.fromkeys(step for name in what for step in _named(name, lessons))) or list(_notebooks(lessons))
    books = [(step, _book(step, lessons, own, mine=mine, seed=seed)) for step in wanted]
    places = [out / f"{step.id}.ipynb" for step, _made in books]
    changed = [path for path, (_step, book) in zip(places, books, strict=True) if not _may_replace(path, book)]
    if changed and not force:
        listed = ", ".join(map(str, changed))
        raise WrongUsage(
            _(
                "changed since the course wrote them: {listed}. Nothing was written. "
                "Give another folder, or --force, which keeps what is there as a backup.",
                listed=listed,
            )
        )
    done = [_put(path, book, path in changed) for path, (_step, book) in zip(places, books, strict=True)]
    if as_json:
        rows = [
            {
                "path": str(each.path),
                "exercises": list(each.exercises),
                "outcome": each.outcome,
                "backup": str(each.backup) if each.backup else None,
            }
            for each in done
        ]
        print(json.dumps({"notebooks": rows}, indent=2, ensure_ascii=False))
        return 0
    for each in done:
        print(_in_words(each))
    return 0


def _in_words(done: Written) -> str:
    if done.outcome == "replaced":
        return _("{path}: replaced; what was there is kept as {backup}", path=done.path, backup=done.backup)
    if done.outcome == "unchanged":
        return _("{path}: unchanged", path=done.path)
    return _("{path}: written", path=done.path)


def _named(name: str, lessons: Catalog) -> Iterator[Step]:
    lesson = lessons.lesson(name.rstrip("/"))
    if lesson is None:
        yield names.graded_step(name, lessons)
    else:
        yield from _notebooks(Catalog((lesson,)))


def _notebooks(lessons: Catalog) -> Iterator[Step]:
    """The steps that get a notebook of their own: every exercise, and the quiz of a lesson that has none."""
    for lesson in lessons.lessons:
        exercises = [step for step in lesson.graded if step.kind == "exercise"]
        yield from exercises or lesson.graded


def _book(step: Step, lessons: Catalog, own: Workspace, *, mine: bool, seed: int) -> Any:
    lesson = lessons.lesson(step.lesson)
    assert lesson is not None
    exercises = [each for each in lesson.graded if each.kind == "exercise"]
    quiz = next((each for each in lesson.graded if each.kind == "quiz"), None)
    cells: list[Any] = []
    graded = [step]
    if step.kind == "exercise":
        begun = mine and own.path(step.id).exists()
        cells += _exercise_cells(step, own.open(step.id) if begun else own.starter(step.id))
        if quiz is not None and step == exercises[-1]:
            graded.append(quiz)
    for each in graded:
        if each.kind == "quiz":
            answers = own.answers(step.lesson) if mine else {}
            cells += _quiz_cells(each, seed, answers)
    book = new_notebook(cells=cells)  # type: ignore[no-untyped-call]
    book.metadata = nbformat.from_dict(  # type: ignore[no-untyped-call]
        {
            "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
            METADATA: {"exercises": [each.id for each in graded], "sources": _fingerprint(c.source for c in cells)},
        }
    )
    return book


def _exercise_cells(step: Step, source: str) -> Iterator[Any]:
    name = step.name
    yield _cell(step, "setup", Cell("code", _(SET_UP_SAYS) + SET_UP), locked=True)
    # The points belong to the cell with the function; nbgrader shows it as one to be graded by hand.
    parts = split(source)
    defining = next((i for i, part in enumerate(parts) if re.search(r"^(?:async )?def ", part.source, re.M)), None)
    for number, part in enumerate(parts):
        task, demonstration = part.kind != "code", part.source.startswith('if __name__ == "__main__":')
        if number == defining:
            yield _cell(step, "solution", part, solution=True, grade=True, points=step.points)
        else:
            role = "task" if task and number == 0 else f"part-{number + 1}"
            yield _cell(step, role, part, locked=task, solution=not task and not demonstration)
    yield _cell(
        step, "check", Cell("markdown", _(CHECK, name=name, exercise=step.id, hints=len(step.hints))), locked=True
    )


def _quiz_cells(step: Step, seed: int, given: dict[str, str]) -> Iterator[Any]:
    asked, answers = [_(QUIZ, title=step.title, text=step.text)], ["answers = {"]
    for number, question in enumerate(shuffled_questions(step.lesson, seed), 1):
        choices = "\n".join(f"- `{choice.id}`: {choice.text}" for choice in question.choices)
        asked.append(f"**{number}.** {question.asks}\n\n{choices}\n")
        answers.append(f"    {json.dumps(question.id)}: {json.dumps(given.get(question.id, ''))},  # {number}")
    yield _cell(step, "questions", Cell("markdown", "\n".join(asked).rstrip()), locked=True)
    cell = _cell(
        step, "answers", Cell("code", "\n".join([*answers, "}"])), solution=True, grade=True, points=step.points
    )
    cell.metadata[METADATA] = {"quiz": step.lesson}
    yield cell


def _cell(step: Step, role: str, part: Cell, **nbgrader: Any) -> Any:
    make = new_code_cell if part.kind == "code" else new_markdown_cell
    cell_id = f"{step.name}-{role}"[:64]
    grade_id = f"{step.lesson}-{step.name}-{role}"
    metadata: dict[str, Any] = {}
    if any(nbgrader.values()):
        metadata["nbgrader"] = {**_NBGRADER, "grade_id": grade_id, "cell_type": part.kind, **nbgrader}
    return make(part.source, id=cell_id, metadata=metadata)  # type: ignore[no-untyped-call]


# What is there already


def _fingerprint(sources: Any) -> str:
    return hashlib.sha256(json.dumps(list(sources)).encode()).hexdigest()


def _may_replace(path: Path, book: Any) -> bool:
    """Whether nothing of a learner's would go with what is there: it holds what the course wrote, now or before."""
    if not path.exists():
        return True
    try:
        data = path.read_bytes()
        there = read_notebook(data, path.name)
        recorded = json.loads(data)["metadata"][METADATA]["sources"]
    except (OSError, NotebookUnreadable, ValueError, KeyError, TypeError):
        return False
    return _fingerprint(cell.source for cell in there.cells) in (recorded, book.metadata[METADATA]["sources"])


def _put(path: Path, book: Any, changed: bool) -> Written:
    exercises = tuple(book.metadata[METADATA]["exercises"])
    text = nbformat.writes(book) + "\n"  # type: ignore[no-untyped-call]
    backup = None
    if changed:
        backup = _backed_up(path)
    elif path.exists():
        there = read_notebook(path.read_bytes(), path.name)
        if [cell.source for cell in there.cells] == [cell.source for cell in book.cells]:
            return Written(exercises, path, "unchanged")
    try:
        write_atomically(path, text)
    except WorkspaceError as error:
        why = getattr(error.__cause__, "strerror", None) or error
        raise WrongUsage(
            _(
                "{path} can't be written: {reason}. Name another folder with --out, or free some space.",
                path=path,
                reason=why,
            )
        ) from error
    return Written(exercises, path, "replaced" if changed else "written", backup)


def _backed_up(path: Path) -> Path:
    folder = path.parent / "backups"
    folder.mkdir(exist_ok=True)
    number = 1
    while True:
        backup = folder / f"{path.stem}.{number}.ipynb"
        try:
            with backup.open("xb") as file:
                file.write(path.read_bytes())
        except FileExistsError:
            number += 1
        else:
            return backup
