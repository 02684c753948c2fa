"""Where the course keeps what it stores and where its own files lie."""

from __future__ import annotations

import os
from pathlib import Path

COURSE = Path(__file__).resolve().parent
LESSONS = COURSE / "lessons"
GLOSSARY = COURSE / "glossary"
EXERCISES = COURSE.parent / "exercises"
SOLUTIONS = COURSE.parent / "solutions"
GRADES_CLASSES = COURSE.parent / "grader" / "batch" / "command.py"


def home() -> Path:
    """The folder of everything that is stored: PROFILE_FIRST_HOME, or the user's data folder."""
    if chosen := os.environ.get("PROFILE_FIRST_HOME"):
        return Path(chosen).expanduser().absolute()
    import platformdirs

    return platformdirs.user_data_path("profile-first", appauthor=False)
