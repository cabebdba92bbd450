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
from flashpath.cli.cache import shortened
from flashpath.jit import device, toolkit
from tests.harness.command_line import Ended, run_here

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


def flashpath(*words: str, cache: Path | None = None, **environment: str) -> Ended:
    """In this process; `shell` starts another one, for what a process does by itself."""
    own = {} if cache is None else {"FLASHPATH_CACHE_DIR": str(cache)}
    return run_here(*words, environment={**own, **environment})


@pytest.fixture
def kernel_file(tmp_path: Path) -> Path:
    file = tmp_path / "twice.cu"
    file.write_text(KERNEL)
    return file


@pytest.mark.parametrize(
    "command",
    [
        "tour",
        "doctor",
        "run",
        "explain",
        "profile",
        "ladder",
        "layout",
        "read",
        "resources",
        "bench",
        "cache list",
        "cache show",
        "cache clear",
    ],
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
    assert "Every element equals NumPy's" in done.stdout
    if not device.count():
        assert "62,502 requests of a warp, 4.0 sectors of 32 bytes each, 8,000,024 bytes" in done.stdout
        assert "270,336 = 132 SMs × 8 blocks × 256 threads" in done.stdout
    near, far = done.stdout[done.stdout.index("4. Look closer") :].split("i = threadIdx.x")
    assert "+96  ························████████  ████████ 32 used" in near
    assert "16,384 sectors, 4 a request" in near
    assert "+1,024  ·█······························  █·······  4 used" in far
    assert "131,072 sectors, 32 a request" in far


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
    if compiler == "nvcc":
        try:
            toolkit.nvcc()
        except toolkit.MissingCompiler as error:
            pytest.skip(error.problem)
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
        ([str(kernel_file), "--kernel", ""], 1, "2 kernels: twice, thrice"),
        ([str(kernel_file), "--kernel", "twic"], 1, "Did you mean 'twice'"),
        ([str(kernel_file), "--kernel", "twice", "--arch", "sm_81"], 1, "sm_80"),
        ([str(kernel_file), "--kernel", "twice", "--gpu", "H2OO"], 1, "H200"),
        ([str(tmp_path / "twcie.cu")], 1, "Did you mean twice.cu"),
        ([str(kernel_file), "--kernel", "twice", "--stage", "asm"], 1, "source, ptx, sass"),
        ([str(kernel_file), "--kernel", "twice", "--block", "0"], 2, "--block"),
        ([str(kernel_file), "--kernel", "twice", "--option", "-Ifoo"], 1, "Use -I for that"),
        ([str(kernel_file), "--kernel", "twice", "--include", "/nonexist"], 1, "Check -I"),
    ):
        done = flashpath("explain", *words)
        assert done.returncode == code, (words, done.stderr)
        assert says in done.stderr
        assert "Traceback" not in done.stderr


def test_a_rung_that_borrows_its_kernel_shows_it() -> None:
    shown = flashpath("ladder", "rms_norm", "backward").stdout
    assert "// ---- norm/backward.cuh ----" in shown
    assert "__global__" in shown
    assert (
        "__global__" not in json.loads(flashpath("ladder", "rms_norm", "backward", "--json").stdout)["source"]
    )


def test_what_is_not_counted_is_said() -> None:
    shown = flashpath("ladder", "matmul").stdout
    (line,) = [line for line in shown.splitlines() if line.startswith("unfused  ") and "KiB" in line]
    assert "1 + torch's" in line
    assert "unfused: torch's passes are not counted" in shown


def test_long_names_are_shortened_where_they_are_listed() -> None:
    assert shortened("add<float>") == "add<float>"
    assert len(shortened("x" * 500)) == 48


def test_ladder_lists_and_prints() -> None:
    assert "c[i] = a[i] + b[i]" in flashpath("ladder").stdout
    listed = flashpath("ladder", "vector_add").stdout
    assert "c[i] = a[i] + b[i]" in listed
    for rung in ("reference", "one_per_thread", "grid_stride", "vectorized", "triton"):
        assert rung in listed
    rows = json.loads(flashpath("ladder", "vector_add", "--json").stdout)
    assert rows[0]["name"] == "reference"
    for row in rows:
        for score in ("readability", "debugging"):
            assert row[score] is None or (1 <= row[score]["value"] <= 5 and row[score]["reason"])
    assert any(row["readability"] for row in rows)
    assert [row["counted"] and row["counted"]["case"] for row in rows] == [None, *["2^16 float32"] * 4]
    moved = flashpath("ladder", "transpose").stdout
    assert [line.split(": ")[1].split()[0] for line in moved.splitlines() if line.startswith("Counted")] == [
        "transpose",
        "copy",
    ]
    one = json.loads(flashpath("ladder", "vector_add", "vectorized", "--json").stdout)
    assert one["name"] == "vectorized"
    assert one["idea"]
    assert one["readability"]["reason"]
    assert "__global__" in one["source"]
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
    (place,) = (cache / "kernels").glob(f"*/{key}")
    for name in ("kernel.ptx", "kernel.cubin", "build.json"):
        shown = subprocess.run(
            [sys.executable, "-m", "flashpath.cli", "cache", "show", key, "--file", name],
            capture_output=True,
            check=True,
            env={**os.environ, "FLASHPATH_CACHE_DIR": str(cache)},
        )
        assert shown.stdout == (place / name).read_bytes()
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


@pytest.mark.usefixtures("hears_control_c")
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
    assert errors.rstrip().endswith("stopped")
    assert "Traceback" not in errors
    assert len(results.read_text().splitlines()) == 3  # reference, own, torch


def shell(command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """`flashpath …` in a shell, for what only a shell can do to its streams."""
    command = command.replace("flashpath", f"{sys.executable} -m flashpath.cli", 1)
    return subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize(
    "words", ["--help", "--version", "ladder vector_add vectorized", "ladder", "cache list", "doctor", "tour"]
)
def test_a_reader_that_stops_early_is_no_error(words: str) -> None:
    # `true` reads nothing and is gone by the time the command prints.
    done = shell(f"flashpath {words} | true; echo ${{PIPESTATUS[0]}}")
    assert done.stdout == "141\n"
    assert done.stderr == ""


@pytest.mark.parametrize("words", ["--help", "ladder vector_add", "ladder --json", "doctor"])
def test_an_output_that_cannot_be_written_is_told_once(words: str) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    done = shell(f"flashpath {words} > /dev/full")
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) == 1
    assert "No space left" in done.stderr


@pytest.mark.parametrize("words", ["--version", "ladder vector_add", "ladder vector_add --json", "doctor"])
def test_a_closed_output_is_no_error(words: str) -> None:
    done = shell(f"flashpath {words} >&-")
    assert (done.returncode, done.stderr) == (0, "")
    assert shell("flashpath ladder nothing >&- 2>&-").returncode == 1


def test_an_output_that_is_not_utf8(tmp_path: Path) -> None:
    for words in ("ladder", "doctor", "ladder nothing–there", "tour"):
        for variables in ({"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "POSIX", "PYTHONUTF8": "0"}):
            done = shell(f"flashpath {words}", **variables)
            assert done.returncode == int("nothing" in words), done.stderr
            assert "Traceback" not in done.stderr
    wide = tmp_path / "中文.cu"
    wide.write_text(KERNEL)
    done = shell(f"flashpath explain {wide} --json", PYTHONIOENCODING="ascii")
    assert json.loads(done.stdout)["source_name"] == str(wide), "JSON escapes rather than loses"


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    done = flashpath("tour", "--save", str(tmp_path / "no" / "x.txt"))
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: {tmp_path / 'no' / 'x.txt'}: No such file")
    assert "Traceback" not in done.stderr


def test_brackets_and_colons_in_paths_are_no_markup(tmp_path: Path) -> None:
    file = tmp_path / "[bold]a[/] :smile:" / "k.cu"
    file.parent.mkdir(parents=True)
    file.write_text(KERNEL)
    cache = tmp_path / "[/red] cache"
    shown = flashpath("explain", str(file), "--stage", "source", cache=cache)
    assert shown.returncode == 0, shown.stderr
    assert f"source · {file}" in shown.stdout
    listed = flashpath("cache", "list", cache=cache)
    assert listed.returncode == 0, listed.stderr
    assert str(file) in listed.stdout
    assert f"in {cache / 'kernels'}" in listed.stdout
    key = json.loads(flashpath("cache", "list", "--json", cache=cache).stdout)[0]["key"]
    assert str(file) in flashpath("cache", "show", key, cache=cache).stdout


@pytest.mark.parametrize("damage", ["[]", "null", "3", '"text"', "{}", "{", "\ufeff\x00", "odd types"])
def test_a_damaged_cache_entry_is_left_out_and_told(kernel_file: Path, tmp_path: Path, damage: str) -> None:
    cache = tmp_path / "cache"
    flashpath("explain", str(kernel_file), "--stage", "none", cache=cache)
    (place,) = (cache / "kernels").glob("??/*")
    build = json.loads((place / "build.json").read_text())
    odd = json.dumps({**build, "source": 3, "arch": None, "flags": None, "kernels": [{"name": []}]})
    (place / "build.json").write_text(odd if damage == "odd types" else damage)
    listed = flashpath("cache", "list", cache=cache)
    assert (listed.returncode, listed.stderr) == (0, "")
    assert "0 entries" in listed.stdout
    shown = flashpath("cache", "show", place.name[:8], cache=cache)
    assert shown.returncode == 1
    assert "is damaged" in shown.stderr
    assert "Traceback" not in shown.stderr


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (
            "template <class T> __global__ void k(T* x) { *x = 1; }",
            ["only templates: k<…>", "--kernel 'k<float>'"],
        ),
        ("__device__ int twice(int x) { return 2 * x; }", ["there is no __global__ function"]),
    ],
)
def test_explain_of_a_file_without_a_kernel_says_why(tmp_path: Path, source: str, says: list[str]) -> None:
    file = tmp_path / "k.cu"
    file.write_text(source)
    done = flashpath("explain", str(file))
    assert done.returncode == 1
    for part in says:
        assert part in done.stderr


def test_explain_advises_in_options(tmp_path: Path) -> None:
    file = tmp_path / "k.cu"
    file.write_text("template <class T> __global__ void k(T* x) { *x = 1; }")
    assert "--kernel 'k<float>'" in flashpath("explain", str(file), "--kernel", "k").stderr
    file.write_text(f'#include "nowhere.h"\n{KERNEL}')
    missing = flashpath("explain", str(file)).stderr
    assert "-I folder" in missing
    assert "fp.compile" not in missing
    file.write_text(f"#include <vector>\n{KERNEL}")
    assert "--compiler nvcc" in flashpath("explain", str(file)).stderr


def test_a_bad_environment_variable_is_named() -> None:
    done = flashpath("cache", "list", FLASHPATH_CACHE_LIMIT_MB="lots")
    assert done.returncode == 1
    assert "FLASHPATH_CACHE_LIMIT_MB is 'lots'" in done.stderr
