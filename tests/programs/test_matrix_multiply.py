"""programs/cuda/03_matrix_multiply.cu: both kernels are right, and where one is wrong it says so."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from flashpath.jit import programs
from flashpath.jit.programs.host_code import HostCode
from flashpath.jit.programs.running import environment
from flashpath.vgpu import recorded

ROOT = Path(__file__).parents[2]
PROGRAM = Path("programs/cuda/03_matrix_multiply.cu")
KERNELS = Path("src/flashpath/kernels/matmul")
LINE = r"(naive|shared memory) +(\d+\.\d\d) us +\d+\.\d +(\d\.\de-\d\d)"


def build(root: Path, device: str = "virtual") -> programs.Program:
    target = programs.choose_target(device)
    recipe = programs.make_recipe(
        [root / PROGRAM], target, includes=[root / "src"], checked=device == "virtual"
    )
    return programs.build(recipe)


@pytest.fixture(scope="module")
def program() -> programs.Program:
    return build(ROOT)


def run(
    program: programs.Program, *arguments: int | str, **options: object
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program.path, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment(program.recipe, {"devices": 1, **options}),
        check=False,
    )


@pytest.mark.parametrize("sizes", [(64, 64, 64), (33, 70, 45), (1, 1, 1)], ids=str)
def test_both_kernels_are_right(program: programs.Program, sizes: tuple[int, int, int]) -> None:
    done = run(program, *sizes)
    assert done.returncode == 0, done.stderr
    m, n, k = sizes
    assert done.stdout.startswith(f"c ({m}, {n}) = a ({m}, {k}) b ({k}, {n}): ")
    assert [name for name, _, _ in re.findall(LINE, done.stdout)] == ["naive", "shared memory"]
    assert "\n0 elements are wrong\nOn the virtual GPU times are bounds" in done.stdout
    assert f"flashpath profile {program.recipe.files[0]} shows what differs" in done.stdout
    assert "times as fast" not in done.stdout  # which no bound can say
    assert "not optimized" in done.stdout


def test_the_sanitizer_finds_nothing(program: programs.Program, tmp_path: Path) -> None:
    record = tmp_path / "record"
    assert run(program, 40, 33, 50, sanitize=True, record=record).returncode == 0
    found = recorded.read(record, HostCode(program))
    assert (found.findings, found.host_findings) == ([], [])


@pytest.mark.parametrize("arguments", [("0",), ("4", "4", "-1"), ("4", "4", "4", "4"), ("four",)], ids=str)
def test_wrong_sizes_are_refused(program: programs.Program, arguments: tuple[str, ...]) -> None:
    done = run(program, *arguments)
    assert done.returncode == 2
    assert "[M N K]" in done.stderr


def test_a_wrong_kernel_is_told_and_its_code_is_not_zero(tmp_path: Path) -> None:
    """The last product of a tile is left out."""
    (tmp_path / PROGRAM).parent.mkdir(parents=True)
    shutil.copytree((ROOT / PROGRAM).parent, (tmp_path / PROGRAM).parent, dirs_exist_ok=True)
    shutil.copytree(ROOT / KERNELS, tmp_path / KERNELS, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    kernel = tmp_path / KERNELS / "shared_tile.cu"
    source = kernel.read_text(encoding="utf-8")
    assert source.count("q < kTile") == 1
    kernel.write_text(source.replace("q < kTile", "q < kTile - 1"), encoding="utf-8")
    done = run(build(tmp_path), 20, 20, 64)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "\n400 elements are wrong\n" in done.stdout


@pytest.mark.gpu
def test_on_a_gpu() -> None:
    done = run(build(ROOT, "cuda"), 1000, 1003, 1009)
    assert done.returncode == 0, done.stderr
    assert "times as fast\n0 elements are wrong\n" in done.stdout
    times = {name: float(time) for name, time, _ in re.findall(LINE, done.stdout)}
    assert times["shared memory"] < times["naive"]
