"""The programs in programs/cuda: each runs, is clean, refuses wrong arguments, tells what is wrong."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from flashpath.jit import programs
from flashpath.jit.programs.host_code import HostCode
from flashpath.jit.programs.running import environment
from flashpath.vgpu import recorded

FOLDER = Path(__file__).parents[2] / "programs" / "cuda"
BOUNDS = r"\nOn the virtual GPU times are bounds .*\nflashpath profile .*\.cu shows what differs\."
# What a run prints, and small arguments for the sanitizer.
PROGRAMS = {
    "02_vector_add": (
        r"on the CPU +[\d.]+ us\n(.*\n)+The CPU runs code that is not optimized.*\n1048576 elements, 0 wrong",
        ["1000"],
    ),
    "04_parallel_reduction": (
        r"single pass +[\d.]+ us .*\n\n0 of 7 techniques are wrong.*" + BOUNDS,
        ["70001"],
    ),
    "05_stream_overlap": (r"4 streams +[\d.]+ ms\n\n.* 0 elements are wrong", ["5001", "3"]),
    "06_memory_footprint": (
        r"67108864 B takes +67108864 B\n(.*\n)+.*models neither\.\n(.*\n)+all counts are right",
        ["1"],
    ),
    "07_persistent_blocks": (r"fetching +\d+ blocks +[\d.]+ us\n\n0 elements are wrong" + BOUNDS, ["70"]),
    "08_prefetch": (r"seven ahead +[\d.]+ us .*\n\n0 sums are wrong" + BOUNDS, ["3"]),
    "09_cuda_graphs": (r"as a graph +[\d.]+ ms.*\n\n0 elements are wrong", ["5"]),
}


def build(name: str, device: str = "virtual") -> programs.Program:
    target = programs.choose_target(device)
    source = FOLDER / f"{name}.cu"
    return programs.build(programs.make_recipe([source], target, checked=device == "virtual"))


def run(program: programs.Program, *arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program.path, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment(program.recipe, {"devices": 1, **options}),
        check=False,
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_right_clean_and_choosy(name: str, tmp_path: Path) -> None:
    shows, small = PROGRAMS[name]
    program = build(name)
    done = run(program)
    assert done.returncode == 0, done.stderr
    assert re.search(shows, done.stdout), done.stdout
    record = tmp_path / "record"
    assert run(program, *small, sanitize=True, record=record).returncode == 0
    found = recorded.read(record, HostCode(program))
    assert (found.findings, found.host_findings) == ([], [])
    for wrong in (["0"], ["many"], ["1"] * 4):
        refused = run(program, *wrong)
        assert (refused.returncode, "usage:" in refused.stderr) == (2, True)


def test_every_thread_says_hello(tmp_path: Path) -> None:
    program = build("01_hello_cuda")
    record = tmp_path / "record"
    done = run(program, sanitize=True, record=record)
    assert done.returncode == 0, done.stderr
    places = re.findall(r"thread (\d) of block (\d): place (\d)", done.stdout)
    assert sorted(places) == sorted((str(t), str(b), str(4 * b + t)) for b in range(2) for t in range(4))
    assert done.stdout.endswith("Hello from the host.\n")
    found = recorded.read(record, HostCode(program))
    assert (found.findings, found.host_findings) == ([], [])


def test_a_launch_that_no_gpu_takes_says_no_hello(tmp_path: Path) -> None:
    source = (FOLDER / "01_hello_cuda.cu").read_text(encoding="utf-8")
    assert source.count("<<<2, 4>>>") == 1
    (tmp_path / "wrong.cu").write_text(source.replace("<<<2, 4>>>", "<<<2, 4000>>>"), encoding="utf-8")
    target = programs.choose_target("virtual")
    done = run(programs.build(programs.make_recipe([tmp_path / "wrong.cu"], target)))
    assert (done.returncode, done.stdout) == (1, "")
    assert "no hello: invalid " in done.stderr


def test_streams_overlap() -> None:
    done = run(build("05_stream_overlap"), "300000")
    found = re.search(r"take ([\d.]+) of the time of one", done.stdout)
    assert found is not None
    assert float(found[1]) < 0.8


@pytest.mark.parametrize("name", ["02_vector_add", "04_parallel_reduction", "05_stream_overlap"])
def test_a_wrong_kernel_is_told(name: str, tmp_path: Path) -> None:
    """Where one element too few is computed the program ends with 1."""
    slips = {
        "02_vector_add": ("if (i < n)", "if (i < n - 1)"),
        "04_parallel_reduction": ("<<<left, 256>>>(p.n,", "<<<left, 256>>>(p.n / 2,"),
        "05_stream_overlap": ("if (i >= n) return;", "if (i >= n - 1) return;"),
    }
    source = (FOLDER / f"{name}.cu").read_text(encoding="utf-8")
    assert slips[name][0] in source
    (tmp_path / "check.cuh").write_bytes((FOLDER / "check.cuh").read_bytes())
    copy = tmp_path / "slipped.cu"
    copy.write_text(source.replace(*slips[name]), encoding="utf-8")
    program = programs.build(programs.make_recipe([copy], programs.choose_target("virtual")))
    done = run(program, "4097")
    assert done.returncode == 1, done.stdout
    assert "wrong" in done.stdout


def test_copies_between_gpus(tmp_path: Path) -> None:
    source = FOLDER.parent / "multi_gpu" / "peer_copies.cu"
    recipe = programs.make_recipe([source], programs.choose_target("virtual"), checked=True)
    program = programs.build(recipe)
    record = tmp_path / "record"
    done = run(program, "1", devices=2, sanitize=True, record=record)
    assert (done.returncode, done.stdout.endswith("\n0 elements are wrong\n")) == (0, True), done.stdout
    found = recorded.read(record, HostCode(program))
    assert (found.findings, found.host_findings) == ([], [])
    assert "no other one" in run(program).stdout
    assert run(program, "0").returncode == 2


def test_all_reduce_over_processes() -> None:
    command = [sys.executable, str(FOLDER.parent / "multi_gpu" / "all_reduce.py")]
    done = subprocess.run([*command, "2", "1001"], capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    assert re.search(r"ring by hand .* 0 wrong\ntorch.distributed .* 0 wrong\n0 elements", done.stdout)
    refused = subprocess.run([*command, "none"], capture_output=True, text=True, timeout=100, check=False)
    assert (refused.returncode, "usage:" in refused.stderr) == (2, True)


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["01_hello_cuda", *PROGRAMS])
def test_on_a_gpu(name: str) -> None:
    arguments = {"04_parallel_reduction": ["30000001"], "05_stream_overlap": ["30000001"]}.get(name, [])
    done = run(build(name, "cuda"), *arguments)
    print(done.stdout)
    assert done.returncode == 0, done.stderr + done.stdout
