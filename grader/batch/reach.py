"""What in a submission's source no solution needs: reaching into the grader and the lab, or hiding what is done.

A submission shares its process with what observes it, so that code which looks for the grader there finds it. A sandbox
can't prevent that; reading the source can, as far as it is written openly. What reaches in gets no points; what may
have good reasons is only shown to the instructor.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from grader.runner.sandbox import PROJECT
from grader.source import Source, Unreadable, max_bytes, read_source
from lab.language import N_, _, of_environment, passed_on, use

ALLOWED_OF_THE_LAB = {"lab.gpu": ("use", "wait")}
"""What a notebook's first cell and a program of one's own may ask of the lab."""
WORKLOADS = ("lab.workloads.build", "lab.workloads.expect", "lab.workloads.finish")
"""What the last cell of each starter tries its function with: outside of functions, where no check looks."""
FRAMES = ("f_locals", "f_back", "f_globals", "tb_frame", "gi_frame", "cr_frame", "ag_frame")
INSIDES = ("__closure__", "cell_contents", "__globals__", "__subclasses__", "__code__", "__wrapped__")
FORBIDDEN_CALLS = {
    "sys": ("_getframe", "_current_frames", "_current_exceptions", "settrace", "setprofile", "addaudithook"),
    "inspect": ("currentframe", "stack", "trace", "getouterframes", "getinnerframes", "getclosurevars"),
    "gc": ("get_objects", "get_referrers", "get_referents"),
    "threading": ("settrace", "setprofile"),
}
FORBIDDEN_MODULES = ("ctypes", "_ctypes", "cffi")
MODULES_TO_LOOK_AT = ("subprocess", "marshal", "pickle", "base64", "codecs", "socket", "signal", "mmap", "builtins")
CALLS_TO_LOOK_AT = {
    "os": ("fork", "forkpty", "kill", "killpg", "_exit", "abort", "execv", "execve", "posix_spawn", "system", "write"),
    "sys": ("modules", "meta_path", "path_hooks"),
}
NAMES_TO_LOOK_AT = ("eval", "exec", "compile", "__import__", "globals", "vars")
BY_NAME = ("getattr", "setattr", "delattr", "hasattr", "attrgetter", "import_module")
PATCHED = ("torch", "time", "gc", "sys", "builtins")
MOST_SHOWN = 20
PACKAGES = Path(__file__).parents[2]
LONG_BYTES = 20_000
"""An exercise has 3,000."""
READ_LIMIT_S = 30.0
NESTED = N_("it is nested too deeply to be read")


@dataclass(frozen=True)
class Reached:
    """What was found, each with its line; both empty for an ordinary submission."""

    forbidden: tuple[str, ...] = ()
    look: tuple[str, ...] = ()


def reaches(path: Path) -> Reached:
    """What a submission's source reaches for. A file that can't be read as Python reaches for nothing."""
    try:
        return reached_in(path) if path.stat().st_size <= LONG_BYTES else _in_a_process_of_its_own(path)
    except OSError:
        return Reached()


def _in_a_process_of_its_own(path: Path) -> Reached:
    """Python's parser takes hundreds of megabytes for some long files, and on Python 3.10 others make it crash."""
    command = [sys.executable, "-m", "grader.batch.reach", str(path.absolute())]
    try:
        done = subprocess.run(
            command, cwd=PACKAGES, env=passed_on(), capture_output=True, timeout=READ_LIMIT_S, check=True
        )
        return msgspec.json.decode(done.stdout, type=Reached)
    except (subprocess.SubprocessError, msgspec.DecodeError):
        return Reached((_(NESTED),))


def reached_in(path: Path) -> Reached:
    """The same, in this process."""
    try:
        with path.open("rb") as file:
            source = read_source(path, file.read(max_bytes(path) + 1))
    except (OSError, Unreadable):
        return Reached()
    visitor = _Visitor()
    try:
        for part, above in _parts(source):
            # A cell that isn't Python keeps none of the others from being run.
            with suppress(SyntaxError, ValueError):
                visitor.visit(ast.increment_lineno(ast.parse(part), above))
    except (RecursionError, MemoryError):
        return Reached((_(NESTED),))
    return Reached(tuple(_told(visitor.forbidden, source)), tuple(_told(visitor.look, source)))


def _parts(source: Source) -> Iterator[tuple[str, int]]:
    """What is run on its own: the file, or each cell of a notebook; and how many lines stand above it."""
    if not source.cells:
        yield source.text, 0
        return
    lines = source.text.split("\n")
    for start, end in zip(source.starts, [*source.starts[1:], len(lines) + 1], strict=True):
        yield "\n".join(lines[start - 1 : end - 1]), start - 1


def _told(found: list[tuple[int, str]], source: Source) -> Iterator[str]:
    places = ((source.place(line) if source.cells else _("line {line}", line=line), what) for line, what in found)
    told = dict.fromkeys(_("{name}: {detail}", name=place, detail=what) for place, what in places)
    yield from list(told)[:MOST_SHOWN]
    if len(told) > MOST_SHOWN:
        yield _("and {value} more", value=len(told) - MOST_SHOWN)


class _Visitor(ast.NodeVisitor):
    def __init__(self) -> None:
        self.forbidden: list[tuple[int, str]] = []
        self.look: list[tuple[int, str]] = []
        self.modules: dict[str, str] = {}
        """What each imported name stands for, e.g. `t` for `torch.cuda`."""
        self.depth = 0
        """In how many functions and classes."""

    def _deeper(self, node: ast.AST) -> None:
        self.depth += 1
        self.generic_visit(node)
        self.depth -= 1

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = _deeper  # noqa: N815

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.modules[alias.asname or alias.name.partition(".")[0]] = (
                alias.name if alias.asname else alias.name.partition(".")[0]
            )
            self._import(node.lineno, alias.name, ())

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        names = tuple(alias.name for alias in node.names)
        for alias in node.names:
            self.modules[alias.asname or alias.name] = f"{node.module or ''}.{alias.name}"
            self._attribute(node.lineno, node.module or "", alias.name)
        self._import(node.lineno, node.module or "", names)

    def _import(self, line: int, module: str, names: tuple[str, ...]) -> None:
        top = module.partition(".")[0]
        if (top in PROJECT and not self._is_allowed(module, names)) or top in FORBIDDEN_MODULES:
            self.forbidden.append((line, _("it imports {module}", module=module)))
        elif top in MODULES_TO_LOOK_AT:
            self.look.append((line, _("it imports {module}", module=module)))

    def _is_allowed(self, module: str, names: tuple[str, ...]) -> bool:
        if not self.depth and names and all(f"{module}.{name}" in WORKLOADS for name in names):
            return True
        if module in ALLOWED_OF_THE_LAB:
            return all(name in ALLOWED_OF_THE_LAB[module] for name in names)
        return module == "lab" and bool(names) and all(name == "gpu" for name in names)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        owner = self._dotted(node.value)
        if owner is not None:
            self._attribute(node.lineno, owner, node.attr)
            if isinstance(node.ctx, ast.Store) and owner.partition(".")[0] in PATCHED and owner in self._imported():
                self.look.append((node.lineno, _("it changes {owner}.{attr}", owner=owner, attr=node.attr)))
        if node.attr in FRAMES + INSIDES:
            self.forbidden.append((node.lineno, _("it reads {attr}", attr=node.attr)))
        self.generic_visit(node)

    def _imported(self) -> set[str]:
        found = set(self.modules.values())
        return found | {module.rpartition(".")[0] for module in found} | {"torch.cuda", "torch.profiler"}

    def _attribute(self, line: int, owner: str, name: str) -> None:
        if name in FORBIDDEN_CALLS.get(owner, ()):
            self.forbidden.append((line, _("it uses {owner}.{name}", owner=owner, name=name)))
        elif name in CALLS_TO_LOOK_AT.get(owner, ()):
            self.look.append((line, _("it uses {owner}.{name}", owner=owner, name=name)))
        elif f"{owner}.{name}" in WORKLOADS and not self.depth:
            return
        elif owner.partition(".")[0] == "lab" and not self._is_part_of_what_is_allowed(owner, name):
            self.forbidden.append((line, _("it uses {owner}.{name}", owner=owner, name=name)))

    @staticmethod
    def _is_part_of_what_is_allowed(owner: str, name: str) -> bool:
        if owner == "lab":
            return name == "gpu"
        return name in ALLOWED_OF_THE_LAB.get(owner, ()) or owner.rpartition(".")[0] in ALLOWED_OF_THE_LAB

    def visit_Name(self, node: ast.Name) -> None:
        if self.depth and self.modules.get(node.id) in WORKLOADS:
            self.forbidden.append((node.lineno, _("it uses {value} in a function", value=self.modules[node.id])))
        if node.id in NAMES_TO_LOOK_AT and isinstance(node.ctx, ast.Load):
            self.look.append((node.lineno, _("it uses {id}", id=node.id)))

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in BY_NAME:
            position = 0 if name in ("attrgetter", "import_module") else 1
            if len(node.args) > position and not isinstance(node.args[position], ast.Constant):
                self.look.append((node.lineno, _("it uses {name} with a name that is made while it runs", name=name)))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if not isinstance(node.value, str):
            return
        if node.value in FRAMES + INSIDES or node.value in ("_getframe", "_current_frames"):
            self.forbidden.append((node.lineno, _("it names {value}", value=node.value)))
        elif node.value.startswith(("/proc/", "/dev/")):
            self.look.append((node.lineno, _("it names {value!r}", value=node.value[:60])))

    def _dotted(self, node: ast.expr) -> str | None:
        """`torch.cuda` for `t.cuda` where t is torch."""
        if isinstance(node, ast.Name):
            return self.modules.get(node.id)
        if isinstance(node, ast.Attribute):
            owner = self._dotted(node.value)
            return None if owner is None else f"{owner}.{node.attr}"
        return None


if __name__ == "__main__":
    use(of_environment())
    sys.stdout.buffer.write(msgspec.json.encode(reached_in(Path(sys.argv[1]))))
