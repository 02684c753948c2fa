"""Choosing the GPU and running a file with it, each in a fresh process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


def python(*arguments: str, gpu: str = "simulated") -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PROFILE_FIRST_GPU": gpu}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, env=environment, timeout=120, check=False
    )


@pytest.fixture
def program(tmp_path: Path):
    def write(text: str) -> str:
        path = tmp_path / "program.py"
        path.write_text(text)
        return str(path)

    return write


def test_importing_the_lab_imports_no_torch():
    done = python("-c", "import lab, lab.gpu, lab.observe, sys; print('torch' in sys.modules)")
    assert done.stdout == "False\n"


def test_use_describes_the_simulated_gpu_and_says_so_twice_alike():
    done = python("-c", "import lab.gpu; a = lab.gpu.use(); print(a is lab.gpu.use(), a.kind, a.name, a.memory_bytes)")
    assert done.stdout == f"True simulated Profile First Simulated GPU {512 * 2**20}\n"
    assert done.stderr == ""


def test_an_unknown_choice_names_the_choices():
    done = python("-c", "import lab.gpu; lab.gpu.use()", gpu="fast")
    assert done.returncode == 1
    assert "PROFILE_FIRST_GPU is 'fast'; it can be auto, simulated, real." in done.stderr


def test_asking_for_a_real_gpu_without_one_says_what_to_do(program):
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a real GPU")
    done = python("-m", "lab.run", program("print('ran')"), gpu="real")
    assert done.returncode == 2
    assert "torch sees no GPU" in done.stderr
    assert "ran" not in done.stdout


def test_a_file_runs_as_main_with_its_arguments(program):
    path = program("import sys, torch\nprint(__name__, sys.argv[1:], torch.ones(1, device='cuda').device)")
    done = python("-m", "lab.run", path, "one", "two")
    assert (done.returncode, done.stdout, done.stderr) == (0, "__main__ ['one', 'two'] cuda:0\n", "")


@pytest.mark.parametrize(("text", "code"), [("raise SystemExit(7)", 7), ("import sys; sys.exit()", 0), ("1/0", 1)])
def test_the_exit_code_is_the_files(program, text, code):
    assert python("-m", "lab.run", program(text)).returncode == code


def test_a_traceback_shows_the_files_own_frames_only(program):
    done = python("-m", "lab.run", program("def divide():\n    return 1 / 0\n\ndivide()\n"))
    assert "ZeroDivisionError" in done.stderr
    assert "line 2, in divide" in done.stderr
    assert "runpy" not in done.stderr
    assert "lab/run.py" not in done.stderr


def test_an_error_inside_an_op_shows_no_frame_of_the_simulated_gpu(program):
    done = python("-m", "lab.run", program("import torch\ntorch.ones(2, device='cuda') + torch.ones(2)\n"))
    assert "line 2, in <module>" in done.stderr
    assert "Expected all tensors to be on the same device" in done.stderr
    assert "lab/" not in done.stderr


def test_a_syntax_error_names_the_line(program):
    done = python("-m", "lab.run", program("x = (\n"))
    assert done.returncode == 1
    assert "SyntaxError" in done.stderr
    assert "program.py" in done.stderr


def test_a_missing_file_is_wrong_usage():
    done = python("-m", "lab.run", "nowhere.py")
    assert done.returncode == 2
    assert "There is no file nowhere.py." in done.stderr


def test_a_file_may_import_its_neighbours(program, tmp_path):
    (tmp_path / "neighbour.py").write_text("value = 3\n")
    assert python("-m", "lab.run", program("import neighbour; print(neighbour.value)")).stdout == "3\n"


def test_a_profile_leaves_nothing_on_stderr(program):
    text = """
import torch
from torch.profiler import profile
net = torch.nn.Linear(8, 8).to("cuda")
optimizer = torch.optim.AdamW(net.parameters())
with profile() as prof:
    net(torch.ones(2, 8, device="cuda")).sum().backward()
    optimizer.step()
print(len(prof.key_averages()) > 5)
"""
    done = python("-m", "lab.run", program(text))
    assert (done.stdout, done.stderr) == ("True\n", "")
