"""The command line: what can be asked of the course in a shell."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from course import language
from course.names import WrongUsage
from lab.language import LANGUAGES, _, told
from lab.nearest_letters import print_nearest_letters

NOT_PASSED, WRONG_USAGE = 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    if sys.stdout is None:  # closed by whoever started the program
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 - for the rest of the process
    print_nearest_letters()
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        chosen, given = told(given)
    except ValueError as error:
        language.begin()
        return _wrong(_("--lang takes one of {known}, not {given!r}.", known=", ".join(LANGUAGES), given=str(error)))
    language.begin(chosen)
    try:
        code = _carried_out(given)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader, e.g. `head`, has seen enough. Python must not fail again when it flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NOT_PASSED
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        if error.filename is not None:  # a folder that may not be searched, a name that is too long
            return _wrong(f"{error.filename}: {error.strerror}.")
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _wrong(_("the output can't be written: {reason}.", reason=error.strerror))
    except Exception as error:
        if not _is_for_people(error):
            raise
        return _wrong(str(error))
    return code


def _carried_out(given: list[str]) -> int:
    """The exit code of what was asked for; without anything, the app."""
    from course import commands

    if not given:  # as it is mostly begun: the app needs no parser
        return commands.app()
    from course.parser import parsed

    options = parsed(given)
    code: int = options.do(options) if hasattr(options, "do") else commands.app()
    return code


def _wrong(what: str) -> int:
    print(_("profile-first: {notice}", notice=what), file=sys.stderr)
    return WRONG_USAGE


def _is_for_people(error: Exception) -> bool:
    """Whether the error's message was written to be read by whoever typed the command."""
    from course.catalog import CatalogError
    from course.progress import ProgressError
    from course.quiz import QuizUnreadable
    from course.workspace import WorkspaceError

    if isinstance(error, (WrongUsage, CatalogError, ProgressError, QuizUnreadable, WorkspaceError)):
        return True
    errors = sys.modules.get("grader.errors")
    return errors is not None and isinstance(error, errors.GraderError)
