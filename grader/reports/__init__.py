"""Writes what was graded, for students, instructors, and other programs."""

from __future__ import annotations

from pathlib import Path

from grader.batch.records import Gradebook
from grader.reports.names import safe_name, safe_names

__all__ = ["safe_name", "safe_names", "write_all"]


def write_all(gradebook: Gradebook, out: Path, language: str = "en") -> list[Path]:
    """Write every report into the folder, each of them whole; the same gradebook gives the same bytes.

    Files of students who are no longer in the gradebook stay. Raises NoSuchLanguage or OSError.
    """
    from grader.reports.files import write
    from grader.reports.folder import reports
    from grader.reports.words import Words

    return [write(out / name, data) for name, data in reports(gradebook, Words(language))]
