"""programs/flash_attention: each is right, refuses wrong arguments, and tells where a kernel is wrong."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from flashpath.jit import programs
from flashpath.jit.programs.host_code import HostCode
from flashpath.jit.programs.running import environment
from flashpath.vgpu import recorded

ROOT = Path(__file__).parents[2]
FOLDER = Path("programs/flash_attention")
NAIVE = FOLDER / "naive_attention.py"
VERSION_1 = FOLDER / "flash_v1" / "triton" / "flash_attention_v1.py"
VERSION_1_CUDA = FOLDER / "flash_v1" / "cuda" / "flash_attention_v1.cu"
VERSION_2 = FOLDER / "flash_v2" / "triton" / "flash_attention_v2.py"
TRITON = [VERSION_1, VERSION_2]
SECONDS = 200  # far more than any takes: it hangs


def run(file: Path, *words: str, device: str = "virtual") -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "flashpath.cli",
        "run",
        str(ROOT / file),
        "--device",
        device,
        "--",
        *words,
    ]
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)


# ---- In plain PyTorch ----------------------------------------------------------------------------------


def test_naive_attention_grows_with_the_square() -> None:
    done = run(NAIVE, "128", "512")
    assert done.returncode == 0, done.stderr
    assert "wrong" not in done.stdout
    assert "on the CPU" in done.stdout
    # Scores and weights in bfloat16 and the scores in float32, and q, k, v once more.
    for length, mib in re.findall(r"^ +(\d+) +[\d.]+ ms +([\d.]+) MiB", done.stdout, re.MULTILINE):
        scores = 8 * int(length) ** 2
        assert 8 * scores <= float(mib) * 2**20 * 1.01 <= 8 * scores + 16 * int(length) * 8 * 64
    grown = re.search(r"4 × the length: [\d.]+ × the time, ([\d.]+) × the memory", done.stdout)
    assert grown is not None
    assert 12 < float(grown[1]) < 16
    assert "From 128 to 512: 4 × the length, whose square is 16; " in done.stdout


@pytest.mark.parametrize("file", [NAIVE, *TRITON], ids=str)
def test_wrong_arguments_are_told_by_their_usage(file: Path, monkeypatch: Any, capsys: Any) -> None:
    spec = importlib.util.spec_from_file_location("program", ROOT / file)
    assert spec is not None
    assert spec.loader is not None
    program: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    wrong = [("abc",), ("0",), ("-1", "2", "8")]
    if file in TRITON:
        wrong += [("4", "4"), ("4", "4", "12"), ("4", "4", "264"), ("4", "4", "8", "8")]
    for words in wrong:
        monkeypatch.setattr(sys, "argv", [str(file), *words])
        assert program.main() == 2
        assert capsys.readouterr().err.startswith(f"usage: {file.name} [")
    assert run(file, "0").returncode == 2


# ---- In Triton -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", TRITON, ids=str)
def test_a_triton_program_is_right(file: Path) -> None:
    done = run(file)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(" right") == 6
    assert "times need a real one" in done.stdout


def test_version_1_stores_more_than_its_result() -> None:
    """Five tiles of keys: o, m and l once before them and once for each, then the result."""
    done = run(VERSION_1, "20", "160", "32")
    assert done.returncode == 0, done.stderr
    state, result = 4 * 32 + 8, 2 * 32 + 4
    assert f"full   right, stores {(6 * state + result) / result:.1f} × what it returns" in done.stdout


@pytest.mark.parametrize("file", TRITON, ids=str)
def test_a_triton_program_tells_what_is_wrong(file: Path, tmp_path: Path) -> None:
    source = (ROOT / file).read_text(encoding="utf-8")
    copy = tmp_path / "wrong.py"
    told = "formula(problem.q, problem.k, problem.v, problem.options,", "formula(*inputs, problem.options,"
    (right,) = (each for each in told if each in source)
    copy.write_text(
        source.replace(right, right.replace("problem.options", "Options(scale=0.5)")), encoding="utf-8"
    )
    done = run(copy, "20", "20", "16")
    assert (done.returncode, done.stdout.count("wrong: the error is")) == (1, 2), done.stderr


# ---- In CUDA C++ ---------------------------------------------------------------------------------------


def build(root: Path, device: str = "virtual") -> programs.Program:
    target = programs.choose_target(device)
    recipe = programs.make_recipe(
        [root / VERSION_1_CUDA], target, includes=[root / "src"], checked=device == "virtual"
    )
    return programs.build(recipe)


@pytest.fixture(scope="module")
def program() -> programs.Program:
    return build(ROOT)


def start(program: programs.Program, *words: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program.path, *words],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env=environment(program.recipe, {"devices": 1, **options}),
        check=False,
    )


@pytest.mark.parametrize(
    "words", [(), ("33", "70", "2", "40"), ("70", "33", "1", "256"), ("1", "1", "1", "8")]
)
def test_the_cuda_program_is_right_and_clean(
    words: tuple[str, ...], program: programs.Program, tmp_path: Path
) -> None:
    record = tmp_path / "record"
    done = start(program, *words, sanitize=True, record=record)
    assert done.returncode == 0, done.stderr + done.stdout
    assert re.search(r"full +[\d.]+ us .*\ncausal +[\d.]+ us .*\n\nTiles of keys: \d", done.stdout)
    assert "\n0 results are wrong\nOn the virtual GPU times are bounds" in done.stdout
    # A block per head: no more SMs than that do the arithmetic, and the bound says so.
    ((busy, sms),) = re.findall(r"(\d+) of (\d+) SMs have work", done.stdout)
    assert int(busy) == int(words[2] if words else 4) < int(sms)
    of_peak = [float(share) for share in re.findall(r" us +[\d.]+ +([\d.]+) %", done.stdout)]
    assert len(of_peak) == 2
    assert max(of_peak) <= 100
    found = recorded.read(record, HostCode(program))
    assert (found.findings, found.host_findings) == ([], [])


def test_the_cuda_program_refuses_wrong_arguments(program: programs.Program) -> None:
    for wrong in (["0"], ["many"], ["4", "4", "4", "12"], ["4", "4", "1", "264"], ["1"] * 5):
        refused = start(program, *wrong)
        assert (refused.returncode, "usage:" in refused.stderr) == (2, True)


def test_the_cuda_program_tells_what_is_wrong(tmp_path: Path) -> None:
    """What earlier tiles left is not shrunk to the new maximum."""
    kernels = Path("src/flashpath/kernels")
    shutil.copytree(ROOT / FOLDER, tmp_path / FOLDER)
    shutil.copytree(ROOT / "programs/cuda", tmp_path / "programs/cuda")
    for folder in ("attention", "common"):
        ignored = shutil.ignore_patterns("*.py", "__pycache__")
        shutil.copytree(ROOT / kernels / folder, tmp_path / kernels / folder, ignore=ignored)
    kernel = tmp_path / kernels / "attention" / "flash_v1" / "forward.cu"
    source = kernel.read_text(encoding="utf-8")
    shrunk = "l[i] * exp2_approx(m_before - m_new)"
    assert source.count(shrunk) == 1
    kernel.write_text(source.replace(shrunk, "l[i]"), encoding="utf-8")
    done = start(build(tmp_path), "20", "70", "1", "16")
    assert done.returncode == 1
    assert "\n0 results are wrong" not in done.stdout


# ---- On a GPU ------------------------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize("file", [NAIVE, *TRITON], ids=str)
def test_on_a_gpu(file: Path) -> None:
    done = run(file, device="cuda")
    print(done.stdout)
    assert done.returncode == 0, done.stderr + done.stdout
    if file in TRITON:
        assert "× the speed of PyTorch" in done.stdout
    else:
        assert "on the GPU" in done.stdout


@pytest.mark.gpu
def test_the_cuda_program_on_a_gpu() -> None:
    done = start(build(ROOT, "cuda"), "1000", "1003", "8", "128")
    print(done.stdout)
    assert done.returncode == 0, done.stderr + done.stdout
