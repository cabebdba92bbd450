"""`flashpath export-kernel`: what it writes, what it prints, and how it says what is wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SAXPY = """extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
"""
SIGNATURE = "a: float, x: float32[n], y: float32[n]"
LAUNCH = "<<<cdiv(n, 256), 256>>>(n, a, x, y)"
ROWS = "x: float32[64, n], out: float32[64, n]"


def export_kernel(*words: str, lang: str = "en") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "flashpath.cli", "export-kernel", *words],
        env={**os.environ, "FLASHPATH_LANG": lang},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "saxpy.cu"
    path.write_text(SAXPY)
    return path


def test_a_kernel_becomes_a_library(file: Path, tmp_path: Path) -> None:
    library = tmp_path / "out" / "axpy.so"
    done = export_kernel(
        str(file), str(library), "-s", SIGNATURE, "--launch", LAUNCH, "--json", "--arch", "sm_80"
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["path"], told["name"], told["architectures"]) == (str(library), "axpy", ["sm_80"])
    assert library.read_bytes().startswith(b"\x7fELF")


def test_a_rung_becomes_a_library(tmp_path: Path) -> None:
    words = (
        "softmax/three_pass",
        str(tmp_path / "softmax.so"),
        "-s",
        ROWS,
        "--size",
        "n=10,500",
        "--arch",
        "sm_80",
    )
    done = export_kernel(*words, lang="zh")
    assert done.returncode == 0, done.stderr
    assert "1 个变体，包含 sm_80 的代码" in done.stdout
    assert "softmax(x: float32[·, ·], out: float32[·, ·])" in done.stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("softmax/three_pass", "-s", ROWS), "--size n=128,1000"),
        (("softmax/three_pass", "-s", ROWS, "--size", "n"), "--size n names no values"),
        (("softmax/three_pass", "-s", ROWS, "--launch", LAUNCH), "Leave away --launch"),
        (("softmax/no_such", "-s", ROWS), "no_such"),
        (("no_such/rung", "-s", ROWS), "no_such"),
    ],
)
def test_what_is_wrong_is_said_in_options(words: tuple[str, ...], says: str, tmp_path: Path) -> None:
    what, *rest = words
    done = export_kernel(what, str(tmp_path / "x.so"), *rest)
    assert done.returncode == 1
    assert says in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_kernel_without_a_launch_is_told_how_to_write_one(file: Path, tmp_path: Path) -> None:
    done = export_kernel(str(file), str(tmp_path / "x.so"), "-s", SIGNATURE, "--arch", "sm_80")
    assert done.returncode == 1
    assert "--launch '<<<cdiv(n, 256), 256>>>" in done.stderr


def test_the_help_shows_extents(file: Path) -> None:
    assert "x: float32[n], y: float32[n]" in " ".join(export_kernel("--help").stdout.split())
