"""Runs a Python file with the GPU in place: `python -m lab.run FILE [ARGUMENTS]`."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import lab.gpu
from lab.gpu.errors import UnsupportedTorch


def main(arguments: list[str]) -> int:
    """Run the file as `__main__`. Its exit code, output and traceback are its own."""
    if not arguments:
        print("usage: python -m lab.run FILE [ARGUMENTS]", file=sys.stderr)
        return 2
    path = Path(arguments[0])
    if not path.is_file():
        print(f"There is no file {path}.", file=sys.stderr)
        return 2
    try:
        lab.gpu.use()
    except (lab.gpu.GpuUnavailable, UnsupportedTorch, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    sys.argv = arguments
    sys.path[0] = str(path.resolve().parent)
    sys.excepthook = only_the_files_own_frames
    runpy.run_path(str(path), run_name="__main__")
    return 0


def only_the_files_own_frames(kind: type[BaseException], error: BaseException, traceback) -> None:  # type: ignore[no-untyped-def]
    """Show the traceback without the frames of runpy and of this module."""
    import traceback as formatting

    while traceback is not None and traceback.tb_frame.f_globals.get("__name__") in (__name__, "runpy", "__main__"):
        if traceback.tb_frame.f_code.co_filename == sys.argv[0]:
            break
        traceback = traceback.tb_next
    formatting.print_exception(kind, error, traceback)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
