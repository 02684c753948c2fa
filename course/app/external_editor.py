"""Opens a file at a line in the editor that $VISUAL or $EDITOR names."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from lab.language import N_, _

NOT_SET = N_("No editor is set: start the course with EDITOR=nano (or vim, emacs, hx, micro, 'code --wait').")
IN_BROWSER = N_("In the browser no other editor can open. The file is {path}: what you save there is shown here.")

_AT_LINE: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("vim", "nvim", "gvim"), ("+call cursor({line},{column})", "{path}")),
    **dict.fromkeys(("nano", "pico"), ("+{line},{column}", "{path}")),
    **dict.fromkeys(("emacs", "emacsclient"), ("+{line}:{column}", "{path}")),
    **dict.fromkeys(("hx", "helix", "subl", "zed"), ("{path}:{line}:{column}",)),
    "micro": ("+{line}:{column}", "{path}"),
    "kak": ("+{line}:{column}", "{path}"),
    "ne": ("+{line},{column}", "{path}"),
    **dict.fromkeys(("vi", "joe", "jed", "mg", "ed"), ("+{line}", "{path}")),
    **dict.fromkeys(("code", "code-insiders", "codium", "cursor"), ("--goto", "{path}:{line}:{column}")),
}
"""How each editor is told where to open a file."""
_WINDOWS = {"code": "--wait", "code-insiders": "--wait", "codium": "--wait", "cursor": "--wait", "subl": "--wait"}
"""What editors with a window of their own need so that one waits for them; vim's gvim has -f."""


class EditorError(Exception):
    """The editor can't be opened or has failed; the message says why and what to do."""


def editor_command(environment: Mapping[str, str], path: Path, row: int, column: int) -> list[str]:
    """The command that opens a file at a place, counted from 0."""
    wanted = environment.get("VISUAL") or environment.get("EDITOR") or ""
    try:
        command = shlex.split(wanted)
    except ValueError as error:
        raise EditorError(_("$EDITOR can't be read ({error}): {wanted}", error=error, wanted=wanted)) from error
    if not command:
        raise EditorError(_(NOT_SET))
    if shutil.which(command[0], path=environment.get("PATH")) is None:
        raise EditorError(
            _(
                "There is no program {command}, which $VISUAL or $EDITOR names. {fix}",
                command=command[0],
                fix=_(NOT_SET),
            )
        )
    name = Path(command[0]).name
    wait = _WINDOWS.get(name)
    if wait and wait not in command:
        command.append(wait)
    if name == "gvim" and "-f" not in command:
        command.append("-f")
    place = {"path": str(path), "line": row + 1, "column": column + 1}
    return command + [part.format(**place) for part in _AT_LINE.get(name, ("{path}",))]


def edit_elsewhere(command: list[str]) -> None:
    """Run an editor in the terminal until it ends."""
    try:
        ended = subprocess.run(command, env=os.environ)
    except OSError as error:
        raise EditorError(
            _("{command} can't be started: {reason}.", command=command[0], reason=error.strerror)
        ) from error
    if ended.returncode:
        raise EditorError(
            _(
                "{command} ended with exit code {code}. What it saved is shown here.",
                command=command[0],
                code=ended.returncode,
            )
        )
