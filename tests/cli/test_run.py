"""`flashpath run` as a person and as a script use it: streams, codes, signals, time limits, errors."""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import re
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from flashpath.cli import commands, quick, run, timeline_page
from flashpath.errors import FlashpathError

PROGRAMS = Path(__file__).parent.parent / "jit" / "programs"
BEHAVE = str(PROGRAMS / "behave.cu")
FIRST_LINE = "flashpath: virtual A100; times are bounds of a model of that GPU, not measurements\n"


def variables(**more: str) -> dict[str, str]:
    return {**os.environ, "FLASHPATH_DEVICE": "virtual", **more}


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "flashpath.cli", "run", *words]


def flashpath(*words: str, given: str = "", **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*words),
        input=given,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=variables(**more),
    )


# ---- What is the program's own -------------------------------------------------------------------------


def test_a_program_runs_on_the_virtual_gpu_and_says_so_first() -> None:
    done = flashpath(BEHAVE)
    assert (done.returncode, done.stdout) == (0, "5000\n"), done.stderr
    assert done.stderr.endswith(FIRST_LINE)
    again = flashpath(BEHAVE)
    assert (again.returncode, again.stdout, again.stderr) == (0, "5000\n", FIRST_LINE)
    assert flashpath(BEHAVE, "--quiet").stderr == ""


def test_the_gpu_that_is_played() -> None:
    assert (
        flashpath(BEHAVE, "--device", "H200", "--devices", "2", "--", "device").stdout == "2 × NVIDIA H200\n"
    )
    assert flashpath(BEHAVE, "--", "device", FLASHPATH_DEVICE="H200").stdout == "1 × NVIDIA H200\n"


@pytest.mark.gpu
def test_on_a_real_gpu_the_same_comes_out() -> None:
    done = flashpath(BEHAVE, "--device", "cuda")
    assert (done.returncode, done.stdout) == (0, "5000\n"), done.stderr
    halves = [str(PROGRAMS / "halves_main.cu"), str(PROGRAMS / "halves.cu")]
    assert flashpath(*halves, "--device", "cuda").stdout == "1 2 3 4, 4 calls\n"
    refused = flashpath(BEHAVE, "--device", "cuda", "--devices", "2")
    assert refused.returncode == 1
    assert "--devices is for the virtual GPU" in refused.stderr


def test_streams_arguments_and_exit_code_are_its_own() -> None:
    done = flashpath(BEHAVE, "-q", "--", "echo", given="one\ntwo\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "one\ntwo\n")
    assert flashpath(BEHAVE, "-q", "--", "exit", "7").returncode == 7
    words = ["arguments", "--help", "-I", "", "a b", "--", "--device=x"]
    done = flashpath(BEHAVE, "-q", "--", *words)
    assert done.stdout.splitlines() == [BEHAVE.removesuffix(".cu"), *words]


def test_a_time_limit_that_is_never_reached() -> None:
    for limit in ("inf", "1e300"):
        assert flashpath(BEHAVE, "-q", "--timeout", limit, "--", "exit", "7").returncode == 7
    assert flashpath(BEHAVE, "-q", "--timeout", "nan").returncode == 2


def test_a_signal_is_told_and_becomes_a_code_as_in_a_shell() -> None:
    done = flashpath(BEHAVE, "-q", "--", "crash")
    assert done.returncode == 128 + signal.SIGSEGV
    assert done.stderr.startswith(
        f"flashpath: {BEHAVE.removesuffix('.cu')} died of SIGSEGV: host code touched"
    )


# ---- What ends it --------------------------------------------------------------------------------------


@pytest.mark.parametrize("program", ["wait", "stubborn"])
def test_a_program_that_takes_too_long_is_ended(program: str) -> None:
    started = time.monotonic()
    mark = uuid.uuid4().hex
    done = flashpath(BEHAVE, "-q", "--timeout", "0.5", "--", program, mark)
    took = time.monotonic() - started
    assert (done.returncode, done.stdout) == (124, "waiting\n")
    assert done.stderr.endswith("was ended: it ran longer than 0.5 s (--timeout).\n")
    assert took > (2.5 if program == "stubborn" else 0.5)
    assert took < 30
    assert not processes_with(mark)


@pytest.mark.parametrize(
    ("program", "signals", "code"),
    [
        ("wait", [signal.SIGINT], 130),
        ("wait", [signal.SIGTERM], 143),
        ("wait", [signal.SIGHUP], 129),
        ("stubborn", [signal.SIGINT, signal.SIGINT], 130),
        ("stubborn", [signal.SIGTERM, signal.SIGINT], 143),
    ],
)
@pytest.mark.usefixtures("hears_control_c")
def test_signals_reach_the_program_and_leave_nothing_behind(
    program: str, signals: list[int], code: int
) -> None:
    mark = uuid.uuid4().hex
    process = subprocess.Popen(
        command(BEHAVE, "-q", "--", program, mark),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=variables(),
        start_new_session=True,  # no terminal sends the signal to the program as well
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "waiting\n"
    assert len(processes_with(mark)) == 2  # the command, and the program
    for number in signals:
        process.send_signal(number)
        time.sleep(0.3)
    _, told = process.communicate(timeout=30)
    assert process.returncode == code
    assert told == ""
    assert not processes_with(mark)


def processes_with(mark: str) -> list[Path]:
    """Those that were given this word."""
    found: list[Path] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            if mark.encode() in path.read_bytes():
                found.append(path.parent)
    return found


# ---- Starting at once ----------------------------------------------------------------------------------


def test_a_program_from_the_cache_starts_without_what_compiling_needs() -> None:
    flashpath(BEHAVE)
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *command(BEHAVE)[1:]],
        capture_output=True,
        text=True,
        check=True,
        env=variables(),
    )
    loaded = set(re.findall(r"\| +([\w.]+)$", done.stderr, re.MULTILINE))
    assert "flashpath.jit.programs.running" in loaded
    heavy = (
        "torch",
        "numpy",
        "triton",
        "rich",
        "pydantic",
        "jinja2",
        "cuda.bindings",
        "flashpath.jit.diagnostics",
    )
    assert not loaded.intersection(heavy)


def test_many_at_once_make_one_program(tmp_path: Path) -> None:
    source = tmp_path / "seven.cpp"
    source.write_text("int main() { return 7; }\n")
    environment = variables(FLASHPATH_CACHE_DIR=str(tmp_path / "cache"))
    several = [
        subprocess.Popen(command(str(source)), env=environment, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    assert [process.communicate(timeout=120)[1] for process in several] == [""] * 4
    assert [process.returncode for process in several] == [7] * 4
    kept = [each for each in (tmp_path / "cache" / "kernels").glob("??/*") if each.is_dir()]
    assert len(kept) == 1
    assert list((tmp_path / "cache" / "kernels" / "tmp").iterdir()) == []


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["a.cu"], {"files": [Path("a.cu")]}),
        (["a.cu", "b.cu", "-v"], {"files": [Path("a.cu"), Path("b.cu")], "verbose": True}),
        (
            ["-O3", "a.cu", "-std=c++20", "-I", "x", "-Iy", "-DA=1", "--define=B", "-arch", "sm_90"],
            {
                "files": [Path("a.cu")],
                "optimize": "3",
                "std": "c++20",
                "include": [Path("x"), Path("y")],
                "define": ["A=1", "B"],
                "arch": "sm_90",
            },
        ),
        (
            ["a.cu", "--no-exact", "--seed", "3", "--timeout", "1.5", "-lm", "-L.", "--option", "-G"],
            {
                "files": [Path("a.cu")],
                "exact": False,
                "seed": 3,
                "timeout": 1.5,
                "library": ["m"],
                "library_folder": [Path()],
                "option": ["-G"],
            },
        ),
        (["a.cu", "--", "-v", "--seed"], {"files": [Path("a.cu")], "argument": ["-v", "--seed"]}),
    ],
)
def test_a_plain_command_line_is_read_as_typer_reads_it(words: list[str], expected: dict[str, Any]) -> None:
    assert quick.read(run.run, run.for_program(words)) == expected

    read: dict[str, Any] = {}

    def note(**values: Any) -> int:
        read.update(values)
        return 0

    vars(note)["__signature__"] = inspect.signature(run.run, eval_str=True)
    app = typer.Typer()
    app.command(cls=commands.ProgramCommand)(quick.for_typer(note))
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert {name: value for name, value in read.items() if value not in (None, False)} == {
        name: value for name, value in expected.items() if value is not False
    }


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--help"],
        ["a.cu", "-h"],
        ["a.cu", "--no-such-option"],
        ["a.cu", "--seed"],
        ["a.cu", "--seed", "x"],
        ["a.cu", "--seed", "-1"],
        ["a.cu", "--devices", "65"],
        ["a.cu", "--timeout", "nan"],
        ["a.cu", "-qv"],
        ["a.cu", "--quiet=1"],
    ],
)
def test_what_is_not_plain_is_left_to_typer(words: list[str]) -> None:
    assert quick.read(run.run, run.for_program(words)) is None


def test_help_has_examples_and_wrong_words_are_usage_errors() -> None:
    done = flashpath("--help", COLUMNS="120")
    assert done.returncode == 0
    assert "[-- ARGUMENTS]" in done.stdout
    assert "flashpath run saxpy.cu --device H200" in done.stdout
    assert "--argument" not in done.stdout
    for words in ([], [BEHAVE, "--seed", "x"], [BEHAVE, "--no-such-option"]):
        done = flashpath(*words)
        assert done.returncode == 2
        assert "Traceback" not in done.stderr
    flashpath(BEHAVE, "-q")  # so that it is in the cache
    assert flashpath(BEHAVE, "-qv").stderr.startswith("from the cache: "), "unusual, but right"


# ---- Errors --------------------------------------------------------------------------------------------


def test_errors_name_the_learners_line_and_exit_with_1(tmp_path: Path) -> None:
    source = tmp_path / "wrong.cu"
    source.write_text('#include "tile.h"\nint main() {}\n')
    done = flashpath(str(source))
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: {source}:1:10: error: tile.h: No such file or directory\n")
    assert "Pass its folder: -I folder." in done.stderr
    missing = flashpath(str(tmp_path / "none.cu"))
    assert (missing.returncode, missing.stdout) == (1, "")
    assert "does not exist" in missing.stderr
    nobody = flashpath("~no-such-user/x.cu")
    assert (nobody.returncode, nobody.stdout) == (1, "")
    assert "~no-such-user/x.cu: there is no such home folder." in nobody.stderr


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("en", "returns cudaErrorNotSupported: the instruction alloca.u64 is not known to this version"),
        ("zh", "返回 cudaErrorNotSupported：这个版本不支持指令 alloca.u64"),
    ],
)
def test_what_device_code_cannot_run_is_said_in_the_language(tmp_path: Path, lang: str, words: str) -> None:
    source = tmp_path / "stack.cu"
    source.write_text(
        '__global__ void k() { asm volatile("{ .reg .u64 q; alloca.u64 q, 16; }"); }\n'
        "int main() { k<<<1, 1>>>(); return cudaDeviceSynchronize(); }\n"
    )
    done = flashpath(str(source), FLASHPATH_LANG=lang)
    assert f"<<<…>>> {words} ({source}:1)" in done.stderr


def test_a_gpu_that_is_not_there_has_a_code_of_its_own() -> None:
    from flashpath.jit import device

    if device.count():
        pytest.skip("this machine has a GPU")
    done = flashpath(BEHAVE, "--device", "cuda")
    assert done.returncode == 3
    assert "no GPU" in done.stderr


def test_warnings_are_told_when_it_is_compiled_and_not_again(tmp_path: Path) -> None:
    source = tmp_path / "warned.cu"
    source.write_text("int main() {\n  int never_used;\n}\n")
    first = flashpath(str(source), "--verbose", FLASHPATH_CACHE_DIR=str(tmp_path / "cache"))
    assert first.returncode == 0
    assert f'{source}(2): warning #177-D: variable "never_used"' in first.stderr
    assert f" -c {source} -o " in first.stderr
    assert "built: " in first.stderr
    second = flashpath(str(source), "--verbose", FLASHPATH_CACHE_DIR=str(tmp_path / "cache"))
    assert "never_used" not in second.stderr
    assert second.stderr.startswith("from the cache: ")


# ---- The timeline --------------------------------------------------------------------------------------


def test_the_timeline_of_a_program(tmp_path: Path) -> None:
    trace, page = tmp_path / "trace.json", tmp_path / "page.html"
    assert flashpath(BEHAVE, "--timeline", str(trace)).returncode == 0
    events = [event for event in json.loads(trace.read_bytes())["traceEvents"] if event["ph"] == "X"]
    assert len(events) == 4  # two copies there, a kernel, a copy back
    assert [event["cat"] for event in events].count("kernel") == 1
    assert flashpath(BEHAVE, "--timeline", str(page)).returncode == 0
    text = page.read_text(encoding="utf-8")
    assert text.count("<i style=") == 4
    assert "axpy" in text
    assert "a model of A100, not measurements" in text


def test_a_timeline_that_cannot_be_written(tmp_path: Path) -> None:
    for name in ("a.txt", "nowhere/a.html"):
        done = flashpath(BEHAVE, "--timeline", str(tmp_path / name))
        assert done.returncode == 1
        assert "--timeline" in done.stderr
    ended = flashpath(BEHAVE, "-q", "--timeline", str(tmp_path / "a.html"), "--", "crash")
    assert ended.returncode == 139
    assert "no timeline was written" in ended.stderr
    assert not (tmp_path / "a.html").exists()


def test_a_page_stands_alone_and_shows_every_stream(tmp_path: Path) -> None:
    def bar(stream: int, name: str, kind: str, start: float, took: float, gpu: int = 0) -> dict[str, Any]:
        place = {"ph": "X", "pid": gpu, "tid": stream}
        return {**place, "name": name, "cat": kind, "ts": start, "dur": took, "args": {"bytes": 4096}}

    events = [
        {"ph": "M", "name": "thread_name", "pid": 0, "tid": 7, "args": {"name": "stream <7>"}},
        bar(7, "kernel<float>", "kernel", 10.0, 30.0),
        bar(8, "copy to device", "copy", 0.0, 10.0),
        bar(7, "on another GPU", "kernel", 40.0, 1960.0, gpu=1),
    ]
    text = timeline_page.make_page(events, "a & b", "H<200>")
    assert "<title>a &amp; b</title>" in text
    assert "GPU 0: stream &lt;7&gt;" in text
    assert "GPU 0: stream 8" in text
    assert "GPU 1: stream 7" in text
    assert (
        'left:0.50000%;width:1.50000%;background:#1f6fb4" title="kernel&lt;float&gt;\n30 µs, from 10 µs on'
        in text
    )
    assert "bytes: 4096" in text
    assert "3 copies and kernels in 2 ms. Times are bounds of a model of H&lt;200&gt;, not" in text
    assert "http" not in text
    assert "used the GPU for nothing" in timeline_page.make_page([], "empty", "H200")
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(FlashpathError, match="cannot be read"):
        timeline_page.write_page(tmp_path / "broken.json", tmp_path / "page.html")
