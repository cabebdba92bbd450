"""The Triton programs: right on the virtual GPU and on a real one, and not right where a kernel is wrong."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from flashpath.errors import FlashpathError
from flashpath.jit import programs
from flashpath.jit.programs.python import run_python

PROGRAMS = Path(__file__).parents[2] / "programs" / "triton"
FILES = sorted(PROGRAMS.glob("*.py"))
SECONDS = 100  # far more than any takes: it hangs


def run(file: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "flashpath.cli", "run", str(file), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_on_the_virtual_gpu(file: Path) -> None:
    done = run(file, "--device", "virtual")
    assert done.returncode == 0, done.stderr
    assert "times need a real one" in done.stdout


@pytest.mark.gpu
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_on_a_gpu(file: Path) -> None:
    done = run(file, "--device", "cuda")
    assert done.returncode == 0, done.stderr
    assert "× the speed of PyTorch" in done.stdout


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_wrong_arguments_are_told_by_their_usage(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    main = runpy.run_path(str(file))["main"]  # here: a process of its own would import torch for each
    for words in (("abc",), ("0",), ("-1", "2", "3"), ("1", "2", "3", "4")):
        monkeypatch.setattr("sys.argv", [file.name, *words])
        assert main() == 2
        assert capsys.readouterr().err.startswith(f"usage: {file.name} [")


def test_wrong_arguments_end_a_program() -> None:
    done = run(FILES[0], "--device", "virtual", "--", "abc")
    assert (done.returncode, done.stderr.split(" [")[0]) == (2, f"usage: {FILES[0].name}")


def test_vector_add_tells_what_is_wrong(tmp_path: Path) -> None:
    source = (PROGRAMS / "01_vector_add.py").read_text(encoding="utf-8")
    assert source.count("a + b, mask") == 1
    wrong = tmp_path / "wrong.py"
    wrong.write_text(source.replace("a + b, mask", "a - b, mask"), encoding="utf-8")
    done = run(wrong, "--device", "virtual", "--", "100")
    assert (done.stdout.splitlines()[0], done.returncode) == ("100 elements, 100 wrong", 1)


def test_a_python_program_has_its_arguments_its_folder_and_its_exit_code(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("CODE = 7\n", encoding="utf-8")
    program = tmp_path / "program.py"
    program.write_text(
        "import sys, beside, torch\n"
        "assert __name__ == '__main__' and not torch.cuda.is_available()\n"
        "print(sys.argv[1:], file=sys.stderr)\n"
        "sys.exit(beside.CODE)\n",
        encoding="utf-8",
    )
    done = run(program, "--device", "virtual", "--", "-x", "two words")
    assert (done.returncode, done.stderr) == (7, "['-x', 'two words']\n")


def test_a_python_program_that_hangs_is_ended(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("while True: pass\n", encoding="utf-8")
    done = run(program, "--device", "virtual", "--timeout", "0.2")
    assert done.returncode == programs.TIMED_OUT
    assert "longer than 0.2 s" in done.stderr


def test_what_means_nothing_for_python_is_refused() -> None:
    file = PROGRAMS / "01_vector_add.py"
    for words, says in (
        (("--seed", "1"), "--seed is for CUDA programs"),
        (("-D", "N=1"), "--define is for CUDA programs"),
        ((str(file),), "2 files were given"),
    ):
        done = run(file, *words)
        assert done.returncode == 1
        assert says in done.stderr
    with pytest.raises(FlashpathError, match="does not exist"):
        run_python(PROGRAMS / "none.py", programs.choose_target("virtual"))
