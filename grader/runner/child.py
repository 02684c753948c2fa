"""Runs learner code in this process, which was forked or started for it and ends with it.

Nothing here is trusted by the runner: the report is data, and no report counts as a failure.
"""

from __future__ import annotations

import contextlib
import keyword
import linecache
import os
import signal
import sys
import threading
import traceback
import types
from collections.abc import Callable
from pathlib import Path
from time import monotonic  # taken now: the simulated GPU replaces those of the time module
from typing import Any, NoReturn

import msgspec

from grader.runner.confine import keep_signals_inside
from grader.runner.descendants import end_with_parent
from grader.runner.equipment import Equipment
from grader.runner.exceptions import learner_traceback, raised
from grader.runner.protocol import (
    BEGUN,
    Argument,
    BuiltArgument,
    Call,
    Errand,
    Expect,
    Finished,
    Raised,
    Report,
    Request,
    Returned,
    Script,
    Stage,
    Start,
    frame_report,
)
from grader.runner.sandbox import Entered, NotShutIn, enter_namespaces, shut_in

OWN_FAULT = 70  # the exit code of a process that couldn't even read what it was for
PACKAGES = str(Path(__file__).parents[2])


def carry_out(start: Start, files: list[int], equipment: Equipment, inside: str | None = None) -> NoReturn:
    """Run what the request file asks for, write the report, and end this process.

    `inside` is the folder in which this process has already been shut in.
    """
    exit_code = OWN_FAULT
    try:
        request_file, output, report_pipe = files
        # Before anything of the request is read: the processes that look after the run hold nothing of it.
        entered = enter_namespaces(start.folder, start.file_bytes) if start.layers is not None and not inside else None
        os.set_inheritable(report_pipe, False)
        request, nonce_pipe = _read_errand(request_file)
        if inside is not None:
            start = msgspec.structs.replace(start, folder=inside)
        os.write(report_pipe, BEGUN)
        exit_code = 0  # from here on there is a report, or something of the learner's prevented it: a failure as well
        _write_report(report_pipe, nonce_pipe, _report_of(request, start, entered, output, equipment))
    except BaseException:
        if exit_code == OWN_FAULT:
            traceback.print_exc()  # to the warm process's stderr
    finally:
        os._exit(exit_code)


def _read_errand(request_file: int) -> tuple[Request, int]:
    """What to do, and a pipe with the nonce in it: while learner code runs, no variable of its callers holds that."""
    with open(request_file, encoding="utf-8") as file:
        errand = msgspec.json.decode(file.read(), type=Errand)
    nonce_pipe, inlet = os.pipe()
    os.write(inlet, errand.nonce.encode())
    os.close(inlet)
    return errand.request, nonce_pipe


def _report_of(request: Request, start: Start, entered: Entered | None, output: int, equipment: Equipment) -> Report:
    try:
        _settle_in(start, entered, output)
        if isinstance(request, Expect):
            return _measure(request.workload, equipment)
        _prepare(request, equipment)
    except Exception as error:
        return raised("start", error, "")
    try:
        return _run_script(request, equipment) if isinstance(request, Script) else _run_call(request, equipment)
    except BaseException as error:
        return raised("observe", error, request.path)
    finally:
        _flush()


def _settle_in(start: Start, entered: Entered | None, output: int) -> None:
    """Give this process a session, streams, limits and a folder of its own."""
    os.setsid()
    end_with_parent()
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)

    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    os.close(nothing)
    os.close(output)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    for name, fd in (("stdout", 1), ("stderr", 2)):
        stream = open(fd, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)

    _limit(start)
    os.chdir(start.folder)
    if start.layers is None:
        keep_signals_inside()
    if start.layers is None or entered is None:
        return
    layers = shut_in(start.folder, entered, real_gpu=start.real_gpu)
    if missing := [layer for layer in start.layers if layer not in layers]:
        raise NotShutIn(f"Not kept apart as before: {', '.join(missing)} can't be had any more.")


def _limit(start: Start) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _lower(resource.RLIMIT_FSIZE, start.file_bytes)
    if sys.platform == "linux":
        # Private writable memory. Address space would be useless as a limit: torch reserves far more than it uses.
        pages = int(Path("/proc/self/statm").read_text().split()[5])
        _lower(resource.RLIMIT_DATA, pages * resource.getpagesize() + start.memory_bytes)


def _lower(limit: int, value: int) -> None:
    import resource

    _, most = resource.getrlimit(limit)
    value = value if most == resource.RLIM_INFINITY else min(value, most)
    resource.setrlimit(limit, (value, value))


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()


def _write_report(pipe: int, nonce_pipe: int, report: Report) -> None:
    nonce = os.read(nonce_pipe, 1024).decode()
    try:
        data = frame_report(nonce, report)
    except Exception as error:  # what was observed can't be written as JSON
        data = frame_report(nonce, raised("observe", error, ""))
    view = memoryview(data)
    while view:
        view = view[os.write(pipe, view) :]


# --- running ----------------------------------------------------------------------------------------------------------


def _prepare(request: Call | Script, equipment: Equipment) -> None:
    if sys.platform == "linux":
        import multiprocessing

        # The workers of a DataLoader have always been forks here; newer Pythons would start them from scratch.
        multiprocessing.set_start_method("fork", force=True)
    lines = request.source.splitlines(keepends=True)
    linecache.cache[request.path] = (len(request.source), None, lines, request.path)
    sys.path[0] = str(Path(request.path).parent)
    if PACKAGES not in sys.path:  # it may have stood in that place
        sys.path.append(PACKAGES)
    if request.seed is not None:
        equipment.seed_everything(request.seed)


def _measure(workload: BuiltArgument, equipment: Equipment) -> Report:
    """What is expected of this workload; no line of a learner's is run in this process."""
    began = monotonic()
    try:
        value = equipment.plain(equipment.expect(workload.name, workload.seed, workload.params))
        return Returned(value, None, [], monotonic() - began)
    except BaseException as error:
        return raised("expect", error, "")


def _run_script(request: Script, equipment: Equipment) -> Report:
    module = types.ModuleType("__main__")
    module.__dict__.update(__file__=request.path, __builtins__=__builtins__)
    sys.modules["__main__"] = module
    sys.argv = [request.path]
    exit_code = 0
    equipment.start_observing()
    began = monotonic()
    try:
        exec(compile(request.source, request.path, "exec", dont_inherit=True), module.__dict__)
    except SystemExit as end:
        exit_code = _exit_code(end)
    except BaseException as error:
        exit_code = 130 if isinstance(error, KeyboardInterrupt) else 1
        _flush()
        print(learner_traceback(error, request.path), end="", file=sys.stderr)
    _wait_as_python_does()
    duration_s = monotonic() - began
    return Finished(exit_code, equipment.finish_observing(), duration_s)


def _exit_code(end: SystemExit) -> int:
    if end.code is None:
        return 0
    if isinstance(end.code, int):
        return end.code & 0xFF
    print(end.code, file=sys.stderr)
    return 1


def _wait_as_python_does() -> None:
    """A program isn't over before its threads and its exit handlers are."""
    import atexit

    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    atexit._run_exitfuncs()


def _run_call(request: Call, equipment: Equipment) -> Report:
    stage: Stage = "load"
    stopped: list[Exception] = []
    try:
        function = _load(request, stopped)
        if not callable(function):
            return Raised("find", "" if function is None else type(function).__name__, _functions_of(request), [])
        stage = "build"
        arguments = [_argument(a, equipment) for a in request.arguments]
        keywords = {name: _argument(a, equipment) for name, a in request.keyword_arguments.items()}
        stage = "bind"
        _bind(function, arguments, keywords)
        then = None
        equipment.start_observing()
        began = monotonic()
        stage = "call"
        value = function(*arguments, **keywords)
        duration_s = monotonic() - began
        if request.then is not None:
            stage = "then"
            then = equipment.finish_workload(request.then.name, value, request.then.seed, request.then.params)
        stage = "observe"
        events = equipment.finish_observing()
        return Returned(equipment.plain(value), equipment.plain(then), events, duration_s)
    except BaseException as error:
        report = raised(stage, error, request.path)
        if stopped and stopped[0] is not error:
            # What is missing now may be what that cell would have defined.
            before = raised("load", stopped[0], request.path)
            line = before.frames[-1].line if before.frames else 0
            told = f"{Path(request.path).name}, line {line}, had stopped before with {before.error}: {before.text}"
            report = msgspec.structs.replace(report, text=f"{report.text}\n{told}")
        return report


def _load(request: Call, stopped: list[Exception]) -> Any:
    """The learner's function, or None if their file doesn't define it; adds what stopped cells of a notebook."""
    stem = Path(request.path).stem
    usable = stem.isidentifier() and not keyword.iskeyword(stem) and stem not in sys.modules
    module = types.ModuleType(stem if usable else "submission")
    module.__file__ = request.path
    sys.modules[module.__name__] = module
    if not request.cells:
        exec(compile(request.source, request.path, "exec", dont_inherit=True), module.__dict__)
        return module.__dict__.get(request.function)
    stopped += _run_cells(request, module.__dict__)
    if request.function not in module.__dict__ and stopped:
        raise next((error for error in stopped if isinstance(error, SyntaxError)), stopped[0])
    return module.__dict__.get(request.function)


def _run_cells(request: Call, namespace: dict[str, Any]) -> list[Exception]:
    """Run a notebook's cells as Jupyter does: an error ends its cell, and the next one is run all the same.

    So a cell in which a learner tried something costs them nothing, e.g. one that uses what only the cell for
    `__main__` defines.
    """
    import __future__

    import ast
    import asyncio
    import inspect

    features = [getattr(__future__, name).compiler_flag for name in __future__.all_feature_names]
    lines = request.source.split("\n")
    starts = [1, *request.cells[1:]]
    stopped: list[Exception] = []
    flags = 0
    for start, end in zip(starts, [*starts[1:], len(lines) + 1], strict=True):
        source = "\n" * (start - 1) + "\n".join(lines[start - 1 : end - 1])
        try:
            code = compile(source, request.path, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | flags, dont_inherit=True)
            flags |= sum(feature for feature in features if code.co_flags & feature)
            value = eval(code, namespace)
            if inspect.iscoroutine(value):
                asyncio.run(value)
        except Exception as error:
            stopped.append(error)
    return stopped


def _functions_of(request: Call) -> str:
    """The names of the functions that the file does define."""
    import ast

    try:
        tree = ast.parse(request.source)
    except SyntaxError:  # in a cell that was passed over
        return ""
    return ", ".join([node.name for node in tree.body if isinstance(node, ast.FunctionDef)][:20])


def _argument(argument: Argument, equipment: Equipment) -> object:
    built: BuiltArgument | None = argument.built
    return argument.value if built is None else equipment.build(built.name, built.seed, built.params)


def _bind(function: Callable[..., object], arguments: list[object], keywords: dict[str, object]) -> None:
    import inspect

    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError):
        return  # a builtin without a signature: the call itself will tell
    signature.bind(*arguments, **keywords)
