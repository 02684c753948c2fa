"""Runs a Python file with the GPU in place: `python -m lab.run FILE [ARGUMENTS]`."""

from __future__ import annotations

import runpy
import sys
import traceback
from pathlib import Path
from types import TracebackType

import lab.gpu
from lab.gpu.errors import UnsupportedTorch
from lab.language import N_, _, of_environment, use

KINDS = {"simulated": N_("simulated"), "real": N_("real")}
LAB = str(Path(__file__).parent)
RUNPY = runpy.run_path.__code__.co_filename  # Python 3.11 and later have it frozen, under another name


def main(arguments: list[str]) -> int:
    """Run the file as `__main__`. Its exit code, output and traceback are its own."""
    use(of_environment())
    if not arguments:
        print(_("usage: python -m lab.run FILE [ARGUMENTS]"), file=sys.stderr)
        return 2
    path = Path(arguments[0])
    if not path.is_file():
        print(_("There is no file {path}.", path=path), file=sys.stderr)
        return 2
    try:
        gpu = lab.gpu.use()
    except (lab.gpu.GpuUnavailable, UnsupportedTorch, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    if sys.stderr.isatty():
        print(_("GPU in use: {name} ({kind})", name=gpu.name, kind=_(KINDS[gpu.kind])), file=sys.stderr)
    sys.argv = arguments
    sys.path[0] = str(path.resolve().parent)
    sys.excepthook = only_the_files_own_frames
    runpy.run_path(str(path), run_name="__main__")
    return 0


def only_the_files_own_frames(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Show the traceback without the frames of runpy, of this module and of the simulated GPU."""
    shown = traceback.TracebackException(kind, error, trace)
    told: list[traceback.TracebackException | None] = [shown]
    while told:
        part = told.pop()
        if part is not None:
            own = [frame for frame in part.stack if not frame.filename.startswith((LAB, RUNPY))]
            part.stack = traceback.StackSummary.from_list(own)
            told += [part.__cause__, part.__context__]
    sys.stderr.write("".join(shown.format()))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
