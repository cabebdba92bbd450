"""The commands as a person and as a program use them: text, JSON, pipes, errors, exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from flashpath import __version__
from flashpath.jit import device

KERNEL = """extern "C" __global__ void twice(int n, float* x) {
  int i = threadIdx.x;
  if (i < n) x[i] *= 2;
}
"""
MINE = """def add(a, b):
    # a comment does not count
    return a + b


def wrong(a, b):
    return a - b
"""
SLOW = """import pathlib
import time

calls = 0


def slow(a, b):
    global calls
    calls += 1
    if calls == 30:
        pathlib.Path(__file__).with_name("timing").touch()
    time.sleep(0.02)
    return a + b
"""


def flashpath(*words: str, cache: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, **environment}
    if cache is not None:
        variables["FLASHPATH_CACHE_DIR"] = str(cache)
    return subprocess.run(
        [sys.executable, "-m", "flashpath.cli", *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=variables,
    )


@pytest.fixture
def kernel_file(tmp_path: Path) -> Path:
    file = tmp_path / "twice.cu"
    file.write_text(KERNEL)
    return file


@pytest.mark.parametrize(
    "command",
    ["tour", "doctor", "explain", "ladder", "bench", "cache list", "cache show", "cache clear"],
)
def test_every_command_has_help_with_an_example(command: str) -> None:
    done = flashpath(*command.split(), "--help")
    assert done.returncode == 0
    assert "Example" in done.stdout
    assert f"flashpath {command}" in done.stdout


def test_version_and_exit_codes_are_told() -> None:
    assert flashpath("--version").stdout == f"flashpath {__version__}\n"
    assert "Exit codes" in flashpath("--help").stdout


def test_help_does_not_load_torch() -> None:
    code = "import sys, flashpath.cli; sys.exit('torch' in sys.modules or 'triton' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_wrong_command_is_a_usage_error() -> None:
    for words in (["explode"], ["bench"], ["explain", "--no-such-option"]):
        done = flashpath(*words)
        assert done.returncode == 2
        assert "Traceback" not in done.stderr


def test_tour_into_a_pipe_is_plain_text() -> None:
    done = flashpath("tour")
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    assert "__global__ void vector_add" in done.stdout
    if device.count():
        assert "Every element equals NumPy's" in done.stdout
    else:
        assert "there is no GPU here, so it was not run" in done.stdout
        assert "270,336 = 132 SMs × 8 blocks × 256 threads" in done.stdout


def test_tour_saves_a_picture_and_a_transcript(tmp_path: Path) -> None:
    for name, start in (("tour.svg", "<svg"), ("tour.txt", "\nflashpath")):
        done = flashpath("tour", "--save", str(tmp_path / name))
        assert done.returncode == 0, done.stderr
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert text.startswith(start)
        assert "http" not in text.replace("http://www.w3.org", "").replace("https://www.textualize.io", "")
    refused = flashpath("tour", "--save", str(tmp_path / "tour.pdf"))
    assert refused.returncode == 1
    assert "ends in .svg or .txt" in refused.stderr


def test_explain_shows_every_stage(kernel_file: Path) -> None:
    done = flashpath("explain", str(kernel_file), "--arch", "sm_90a", "--gpu", "H200", "--block", "1024")
    assert done.returncode == 0, done.stderr
    for part in (
        "x[i] *= 2",
        ".visible .entry twice",
        "FADD",
        "registers per thread",
        "on H200",
        "1024 threads",
    ):
        assert part in done.stdout
    only = flashpath("explain", str(kernel_file), "--stage", "ptx").stdout
    assert ".visible .entry twice" in only
    assert "x[i] *= 2" not in only


def test_explain_as_json(kernel_file: Path) -> None:
    report = json.loads(flashpath("explain", str(kernel_file), "--json").stdout)
    assert report["kernel"] == "twice"
    assert report["resources"]["registers"] > 0
    assert report["occupancy"]["blocks_per_sm"] > 0


@pytest.mark.parametrize("compiler", ["nvrtc", "nvcc"])
def test_a_compile_error_shows_the_line_and_no_traceback(kernel_file: Path, compiler: str) -> None:
    kernel_file.write_text(KERNEL.replace("x[i] *= 2", "x[i] = y"))
    done = flashpath("explain", str(kernel_file), "--compiler", compiler)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert f"{kernel_file}:3:21: error" in done.stderr
    line, caret = done.stderr.splitlines()[1:3]
    assert line == "  3 |   if (i < n) x[i] = y;"
    assert line[caret.index("^")] == "y"


def test_explain_names_what_is_wrong(kernel_file: Path, tmp_path: Path) -> None:
    kernel_file.write_text(KERNEL + KERNEL.replace("twice", "thrice"))
    for words, code, says in (
        ([str(kernel_file)], 1, "2 kernels: twice, thrice"),
        ([str(kernel_file), "--kernel", "twic"], 1, "Did you mean 'twice'"),
        ([str(kernel_file), "--kernel", "twice", "--arch", "sm_81"], 1, "sm_80"),
        ([str(kernel_file), "--kernel", "twice", "--gpu", "H2OO"], 1, "H200"),
        ([str(tmp_path / "twcie.cu")], 1, "Did you mean twice.cu"),
        ([str(kernel_file), "--kernel", "twice", "--stage", "asm"], 2, "source, ptx, sass"),
        ([str(kernel_file), "--kernel", "twice", "--block", "0"], 2, "--block"),
        ([str(kernel_file), "--kernel", "twice", "--option", "-Ifoo"], 1, "includes="),
    ):
        done = flashpath("explain", *words)
        assert done.returncode == code, (words, done.stderr)
        assert says in done.stderr
        assert "Traceback" not in done.stderr


def test_ladder_lists_and_prints() -> None:
    assert "c[i] = a[i] + b[i]" in flashpath("ladder").stdout
    listed = flashpath("ladder", "vector_add").stdout
    assert "c[i] = a[i] + b[i]" in listed
    for rung in ("reference", "one_per_thread", "grid_stride", "vectorized", "triton"):
        assert rung in listed
    rows = json.loads(flashpath("ladder", "vector_add", "--json").stdout)
    assert rows[0]["name"] == "reference"
    assert "__global__" in flashpath("ladder", "vector_add", "grid_stride").stdout
    wrong = flashpath("ladder", "vectoradd")
    assert wrong.returncode == 1
    assert "Did you mean 'vector_add'" in wrong.stderr


def test_cache_life(kernel_file: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert "0 entries" in flashpath("cache", "list", cache=cache).stdout
    flashpath("explain", str(kernel_file), "--stage", "none", cache=cache)
    (entry,) = json.loads(flashpath("cache", "list", "--json", cache=cache).stdout)
    assert entry["kernels"] == ["twice"]
    key = entry["key"]
    assert key[:12] in flashpath("cache", "list", cache=cache).stdout
    assert "twice(int, float*)" in flashpath("cache", "show", key[:6], cache=cache).stdout
    assert json.loads(flashpath("cache", "show", key[:6], "--json", cache=cache).stdout)["key"] == key
    assert ".entry twice" in flashpath("cache", "show", key, "--file", "kernel.ptx", cache=cache).stdout
    missing = flashpath("cache", "show", key, "--file", "../build.json", cache=cache)
    assert missing.returncode == 1
    assert "kernel.ptx" in missing.stderr
    assert flashpath("cache", "show", "zz", cache=cache).returncode == 1
    assert "Removed 1 entries" in flashpath("cache", "clear", cache=cache).stdout
    assert json.loads(flashpath("cache", "list", "--json", cache=cache).stdout) == []


def test_bench_times_a_learners_function(tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(MINE)
    results = tmp_path / "results.jsonl"
    quick = ("--case", "2^20 float32", "--seconds", "0.02", "--device", "cpu", "--no-ceilings")
    done = flashpath(
        "bench", "vector_add", *quick, "--with", f"{mine}:add", "--dev-hours", "0.5", "--output", str(results)
    )
    assert done.returncode == 0, done.stderr
    assert f"{mine}:add" in done.stdout
    records = {
        record["implementation"]: record for record in map(json.loads, results.read_text().splitlines())
    }
    own = records[f"{mine}:add"]
    assert own["lines_of_code"] == 2
    assert own["dev_hours"] == 0.5
    assert own["time"]["median"] > 0
    assert own["ratio_to_fastest_peer"] > 0
    assert records["torch"]["is_peer"]
    assert "needs a GPU" in records["vectorized"]["error"]
    assert records["vectorized"]["portability"] == ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a"]

    wrong = flashpath("bench", "vector_add", *quick, "--with", f"{mine}:wrong", "--json")
    assert wrong.returncode == 1
    last = [json.loads(line) for line in wrong.stdout.splitlines()]
    failed = next(record for record in last if record["implementation"].endswith(":wrong"))
    assert "wrong result" in failed["error"]
    assert failed["time"] is None

    for text, says in (("nofile.py:f", "nofile.py"), (f"{mine}:ad", "add"), ("mine.py", ":")):
        done = flashpath("bench", "vector_add", *quick, "--with", text)
        assert done.returncode == 1
        assert says in done.stderr
        assert "Traceback" not in done.stderr


def test_ctrl_c_ends_quietly_and_keeps_the_records(tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    mine = tmp_path / "mine.py"
    mine.write_text(SLOW)
    command = ["bench", "vector_add", "--case", "2^20 float32", "--device", "cpu", "--no-ceilings"]
    command += ["--rung", "reference", "--with", f"{mine}:slow", "--seconds", "600", "--output", str(results)]
    process = subprocess.Popen(
        [sys.executable, "-m", "flashpath.cli", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 120
    while not (tmp_path / "timing").exists() and time.monotonic() < deadline:
        time.sleep(0.1)  # until well into the timing, which would take 600 s
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert len(results.read_text().splitlines()) == 3  # reference, own, torch


def test_a_reader_that_stops_early_is_no_error() -> None:
    command = f"{sys.executable} -m flashpath.cli ladder vector_add vectorized | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stderr == ""


def test_a_bad_environment_variable_is_named() -> None:
    done = flashpath("cache", "list", FLASHPATH_CACHE_LIMIT_MB="lots")
    assert done.returncode == 1
    assert "FLASHPATH_CACHE_LIMIT_MB is 'lots'" in done.stderr
