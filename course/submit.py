"""Packs what a learner hands in: the files of their exercises and their answers to quizzes, and nothing else."""

from __future__ import annotations

import argparse
import io
import json
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course.names import WrongUsage
from lab.command_line import file_to_write
from lab.language import N_, _, ngettext

if TYPE_CHECKING:
    from course.catalog import Catalog, Step
    from course.workspace import Workspace

DESCRIPTION = N_(
    "Packs your exercise files and your answers to the quizzes into one zip archive, to be handed in: those that you "
    "name, or all that you have begun. Notebooks are packed where you name them. Nothing else of this machine goes "
    "into it, and the same files always make the same archive."
)

MOST_NAMED = 3


@dataclass(frozen=True)
class Packed:
    """One file of the archive."""

    exercises: tuple[str, ...]
    name: str
    """Its path in the archive, which says which exercise it is."""
    data: bytes


@dataclass(frozen=True)
class Missing:
    """An exercise of which nothing is handed in, and why."""

    exercise: str
    why: str


def add_command(commands: Any) -> None:
    """Add the command to the command line's."""
    command: argparse.ArgumentParser = commands.add_parser(
        "submit",
        help=_("pack your exercises into one file to hand in"),
        description=_(DESCRIPTION),
    )
    command.add_argument(
        "what", metavar=_("EXERCISE|LESSON|FILE.ipynb"), nargs="*", help=_("which ones; all if none is named")
    )
    command.add_argument(
        "--out", metavar=_("FILE.zip"), required=True, type=file_to_write, help=_("the archive to write")
    )
    command.add_argument(
        "--student", metavar="ID", default="", help=_("your id or name, where your instructor asks for it")
    )
    command.add_argument("--force", action="store_true", help=_("replace the archive if it is there"))
    command.add_argument("--json", action="store_true", help=_("print JSON"))
    command.set_defaults(do=run, parser=command)


def run(options: argparse.Namespace) -> int:
    """Write the archive, and say what is in it."""
    from course import catalog, workspace
    from course.report import Ink

    out: Path = options.out
    if out.suffix != ".zip":
        raise WrongUsage(_("{out} is to be a zip archive: end its name in .zip.", out=out))
    if out.exists() and not options.force:
        raise WrongUsage(_("{out} exists. Give another name, or --force.", out=out))
    packed, missing = collect(options.what, catalog.load(), workspace.at_home())
    if not packed:
        why = "; ".join(f"{each.exercise}: {each.why}" for each in missing[:MOST_NAMED])
        if (left := len(missing) - MOST_NAMED) > 0:
            why += "; " + ngettext("and {n} more", "and {n} more", left)
        raise WrongUsage(
            _("there is nothing to hand in yet ({why}). Work on an exercise first: 'profile-first'.", why=why)
        )
    workspace.write_atomically(out, archive(packed, options.student))
    if options.json:
        written = {
            "archive": str(out),
            "files": [{"name": each.name, "exercises": list(each.exercises)} for each in packed],
            "missing": [{"exercise": each.exercise, "why": each.why} for each in missing],
        }
        print(json.dumps(written, indent=2, ensure_ascii=False))
        return 0
    ink = Ink(sys.stdout)
    print(ink.bold(_("{out}: {files}", out=out, files=ngettext("{n} file", "{n} files", len(packed)))))
    for each in packed:
        print(f"  {ink.good('✓')} {each.name}")
    if missing:
        print(ink.bold(ngettext("Not in it: {n} exercise", "Not in it: {n} exercises", len(missing))))
        for gone in missing:
            print(f"  {ink.quiet('○')} {gone.exercise}: {gone.why}")
    return 0


def collect(what: list[str], lessons: Catalog, own: Workspace) -> tuple[list[Packed], list[Missing]]:
    """What is to be handed in of these exercises, lessons and notebooks, or of all that there is."""
    from course import names

    packed: list[Packed] = []
    missing: list[Missing] = []
    steps: list[Step] = []
    for name in what:
        if Path(name).suffix == ".ipynb":
            packed.append(_notebook(Path(name), lessons))
        elif (lesson := lessons.lesson(name.rstrip("/"))) is not None:
            steps += lesson.graded
        else:
            steps.append(names.graded_step(name, lessons))
    if not what:
        steps += lessons.graded()
    for step in dict.fromkeys(steps):
        found = _file(step, own)
        if isinstance(found, Packed):
            packed.append(found)
        elif not any(step.id in each.exercises for each in packed):
            missing.append(found)
    return _without_twins(packed), missing


def _file(step: Step, own: Workspace) -> Packed | Missing:
    quiz = step.kind == "quiz"
    path = own.answers_path(step.lesson) if quiz else own.path(step.id)
    if not path.exists():
        return Missing(step.id, _("not begun yet"))
    data = _read(path)
    if not quiz and own.is_starter(step.id, data.decode(errors="replace")):
        return Missing(step.id, _("still as it came"))
    if quiz and not own.answers(step.lesson) and b"[answers]" in data:
        return Missing(step.id, _("not answered yet"))
    return Packed((step.id,), f"{step.id}{path.suffix}", data)


def _notebook(path: Path, lessons: Catalog) -> Packed:
    from course import names

    if not path.is_file():
        raise WrongUsage(_("there is no file {what!r}.", what=str(path)))
    exercises = tuple(names.exercises_in(path, lessons))
    if not exercises:
        raise WrongUsage(
            _("{path} doesn't say which exercise it is. Hand in a notebook that 'notebook' wrote.", path=path)
        )
    return Packed(exercises, f"{exercises[0]}.ipynb", _read(path))


def _read(path: Path) -> bytes:
    from grader.source import max_bytes

    if not path.is_file():
        raise WrongUsage(_("{path} is no file. Put the exercise there: 'profile-first reset' does.", path=path))
    data = path.read_bytes()
    if len(data) > max_bytes(path):
        raise WrongUsage(
            _(
                "{path} is larger than {most_mb:g} MB, so it can't be graded. Shorten it.",
                path=path,
                most_mb=max_bytes(path) / 1e6,
            )
        )
    return data


def _without_twins(packed: list[Packed]) -> list[Packed]:
    named: dict[str, Packed] = {}
    for each in packed:
        if (twin := named.setdefault(each.name, each)) != each:
            raise WrongUsage(
                _("two different files are handed in for {exercise}. Name one of them.", exercise=twin.exercises[0])
            )
    return sorted(named.values(), key=lambda each: each.name)


def archive(packed: list[Packed], student: str = "") -> bytes:
    """The archive, byte by byte the same for the same files: without dates, and not compressed."""
    import msgspec

    from grader.check import course_version
    from grader.submissions.hand_in import HAND_IN, HandIn

    exercises = [exercise for each in packed for exercise in each.exercises]
    note = msgspec.json.encode(HandIn(exercises, student.strip(), course_version()))
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_STORED) as zipped:
        for name, content in [(each.name, each.data) for each in packed] + [
            (HAND_IN, msgspec.json.format(note) + b"\n")
        ]:
            info = zipfile.ZipInfo(name)
            info.create_system, info.external_attr = 3, 0o644 << 16
            zipped.writestr(info, content)
    return data.getvalue()
