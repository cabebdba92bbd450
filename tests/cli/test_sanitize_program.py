"""`flashpath sanitize` of whole programs: several files, several schedules, programs that die."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parents[1] / "programs"

# What it reads decides what it launches.
READS = """#include <cstdio>
__global__ void nothing() {}
int main() {
  int threads = 0;
  if (std::scanf("%d", &threads) != 1) return 1;
  nothing<<<1, threads>>>();
  cudaDeviceSynchronize();
}
"""
DIES = """#include <cstdlib>
__global__ void nothing() {}
int main() {
  nothing<<<1, 1>>>();
  std::abort();
}
"""
FORKS = """#include <cstdio>
#include <unistd.h>
int main() {
  void* data;
  cudaMalloc(&data, 1);
  if (const int child = fork()) {
    std::printf("%d\\n", child);
    std::fflush(stdout);
  }
  pause();
}
"""
NESTED = """__global__ void inner() {}
__global__ void outer() { inner<<<1, 1>>>(); }
int main() { outer<<<1, 1>>>(); }
"""


def flashpath(*words: str | Path, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "flashpath.cli", *map(str, words)],
        input=given,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "FLASHPATH_LANG": "en"},
        check=False,
    )


def test_programs_of_several_files_and_nvccs_options() -> None:
    files = [PROGRAMS / "separate" / f"{name}.cu" for name in ("main", "forces", "world")]
    done = flashpath("sanitize", *files, "-std=c++17", "-O2", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["findings"] == []
    assert flashpath("profile", *files, "-std=c++17").returncode == 0


def test_a_kernel_alone_comes_from_one_file() -> None:
    files = [PROGRAMS / "separate" / f"{name}.cu" for name in ("main", "forces")]
    done = flashpath("sanitize", *files, "--grid", "1", "--block", "1")
    assert done.returncode == 2
    assert "2 files were given" in done.stderr


def test_every_schedule_reads_the_same(tmp_path: Path) -> None:
    file = tmp_path / "reads.cu"
    file.write_text(READS)
    done = flashpath("sanitize", file, "--seeds", "3", "--json", given="64\n")
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["exit_codes"] == [0, 0, 0]


def test_a_program_that_dies_is_not_held_for_right(tmp_path: Path) -> None:
    file = tmp_path / "dies.cu"
    file.write_text(DIES)
    done = flashpath("sanitize", file)
    assert done.returncode == 2
    assert "nothing found" not in done.stdout
    assert "SIGABRT" in done.stderr
    assert "did not come to its end" in done.stderr
    assert "No kernel ran" in flashpath("profile", file).stdout


def test_an_exit_code_of_its_own_is_no_death(tmp_path: Path) -> None:
    file = tmp_path / "fails.cu"
    file.write_text("int main() { return -1; }\n")
    done = flashpath("sanitize", file, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["exit_codes"] == [255]
    assert "did not come to its end" not in done.stderr


def test_a_program_that_takes_too_long_is_not_held_for_right(tmp_path: Path) -> None:
    file = tmp_path / "loops.cu"
    file.write_text("int main() { for (volatile int k = 0;; ++k) {} }\n")
    done = flashpath("sanitize", file, "--timeout", "1")
    assert done.returncode == 124
    assert "nothing found" not in done.stdout


def test_what_a_program_has_forked_ends_with_it(tmp_path: Path) -> None:
    file = tmp_path / "forks.cu"
    file.write_text(FORKS)
    done = flashpath("run", file, "--device", "virtual", "--timeout", "1")
    assert done.returncode == 124
    child = int(done.stdout)
    for _ in range(100):
        if not Path(f"/proc/{child}").exists() or _is_zombie(child):
            return
        time.sleep(0.05)
    pytest.fail(f"process {child} was left behind")


def _is_zombie(process: int) -> bool:
    """Dead, and not yet waited for: its parent is gone, and whoever takes over may be slow."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.parametrize("flags", [[], ["--option", "-rdc=true"]])
def test_kernels_that_launch_kernels_are_refused_by_name(tmp_path: Path, flags: list[str]) -> None:
    file = tmp_path / "nested.cu"
    file.write_text(NESTED)
    done = flashpath("run", file, "--device", "virtual", *flags)
    assert done.returncode == 1
    assert "dynamic parallelism" in done.stderr
    assert "--device cuda" in done.stderr
