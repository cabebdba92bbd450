"""`flashpath profile FILE.cu --device cuda`, whole: with profilers that play what was recorded on an H200."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import faked
import pytest

from flashpath.bench import nsight
from flashpath.jit import device

PIPELINE = str(faked.HERE / "pipeline.cu")
SIDE = "256"  # as it was recorded


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    folder = tmp_path / "bin"
    for name in ("ncu", "nsys"):
        faked.put_tool(folder, name)
    return folder


def environment(tools: Path) -> dict[str, str]:
    """A PATH with these tools and with no others, wherever this runs."""
    place = os.pathsep.join([str(tools), *os.defpath.split(os.pathsep), *nvcc_folders()])
    return {**os.environ, "PATH": place, "NO_COLOR": "1"}


def nvcc_folders() -> Iterator[str]:
    from flashpath.jit import toolkit

    yield str(toolkit.nvcc().path.parent)
    yield str(toolkit.host_compiler_path().parent)


def profile(
    tools: Path, *words: str, file: str = PIPELINE, given: str = "2\n"
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, faked.__file__, "profile", file, "--device", "cuda", *words],
        input=given,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=environment(tools),
    )


def test_what_was_measured_stands_beside_what_was_counted(tools: Path) -> None:
    done = profile(tools, "--", SIDE)
    assert done.returncode == 3, "the program's own exit code"
    assert "runs 3 times, under nsys, ncu and on the virtual H200" in done.stderr
    assert done.stdout.count("2 rounds: the sum is") == 1, "what it prints is shown once"
    assert "Generating" not in done.stdout + done.stderr, "and what the profilers print is not"
    assert "Not alike" not in done.stdout
    assert "7 launches on NVIDIA H200, measured; bounds are those of H200" in done.stdout
    rows = {
        cells[1].strip(): [cell.strip() for cell in cells[2:]]
        for cells in (line.split("│") for line in done.stdout.splitlines())
        if len(cells) > 8
    }
    assert next(iter(rows)) == "total", "the one that took longest comes first"
    assert rows["stages::scale<float>"][0] == "2"
    text = done.stdout[done.stdout.index("Launch 6\n") :]
    assert text.splitlines()[1].startswith("measured on NVIDIA H200: ")
    assert "× the bound, with cold caches (ncu)" in text.splitlines()[1]
    assert text.splitlines()[2].startswith("in the program's run ")
    assert "of the peak 4.8 TB/s" in text
    assert "% achieved, " in text
    assert "short_scoreboard" in text or "mio_throttle" in text, "it has bank conflicts"
    assert "shared store passes" in text, "the counted report follows"


def test_json_has_it_all(tools: Path) -> None:
    done = profile(tools, "--json", "--", SIDE)
    assert done.returncode == 3
    content = json.loads(done.stdout)
    assert "the sum is" in done.stderr
    assert content["exit_code"] == 3
    measured = content["measured"]
    assert (measured["gpu"], measured["bounds_of"], measured["problems"]) == ("NVIDIA H200", "H200", [])
    assert len(measured["launches"]) == len(content["launches"]) == len(measured["ncu"]) == 7
    for report, launch in zip(content["launches"], measured["launches"], strict=True):
        assert launch["counters"]["kernel"] == launch["in_run"]["name"] == report["kernel"]
        assert launch["of_bound"] == pytest.approx(launch["seconds"] / report["roofline"]["least_seconds"])
        assert 0 < launch["counters"]["bandwidth_share"] < 1
        assert launch["counters"]["top_stalls"][0]["meaning"]
    kinds = {each["kind"] for each in measured["nsys"]}
    assert kinds == {"kernel", "copy", "fill"}


def test_the_example_of_the_page_is_what_is_shown(tools: Path) -> None:
    page = (faked.HERE.parents[2] / "docs" / "programs.md").read_text(encoding="utf-8")
    section = page[page.index("## Measured on a GPU") :]
    _, measured, _, counted, _ = section.split("```\n", 4)
    shown = profile(tools, "--launch", "6", "--", SIDE).stdout
    assert measured in shown
    assert counted in shown


def test_the_timeline_says_that_it_was_measured(tools: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = profile(tools, "--timeline", str(page), "--launch", "7", "--", SIDE)
    assert done.returncode == 3, done.stderr
    assert "Launch 7" in done.stdout
    assert "Launch 1" not in done.stdout
    text = page.read_text()
    assert "11 copies and kernels in " in text
    assert "Times are measured on NVIDIA H200 by Nsight Systems." in text
    assert text.count("copy, host to device") == 2, "the bar, and its title"


def test_runs_that_differ_are_not_compared_by_guessing(tools: Path) -> None:
    done = profile(tools, "--", "128")
    assert "Not alike: stages::scale<float>, launch 1 of it: grid (64, 1, 1)" in done.stdout
    assert "not measured" in done.stdout


def test_missing_tools_are_told_and_the_rest_is_shown(tools: Path) -> None:
    (tools / "nsys").unlink()
    done = profile(tools, "--", SIDE)
    assert done.returncode == 3
    assert "nsys was not found" in done.stderr
    assert "Install Nsight Systems" in done.stderr
    assert "in the run" not in done.stdout
    assert "long_scoreboard" in done.stdout
    (tools / "ncu").unlink()
    bare = profile(tools, "--", SIDE)
    assert bare.returncode == 3
    assert "runs once, on the virtual H200" in bare.stderr
    assert "ncu was not found" in bare.stderr
    assert "2 rounds: the sum is" in bare.stdout
    assert "not measured" in bare.stdout
    assert "global load sectors" in bare.stdout


def test_counters_that_may_not_be_read(tools: Path) -> None:
    faked.put_tool(tools, "ncu", "refused")
    done = profile(tools, "--", SIDE)
    assert done.returncode == 3
    assert "ncu may not read this GPU's counters (ERR_NVGPUCTRPERM)" in done.stderr
    assert "NVreg_RestrictProfilingToAdminUsers=0" in done.stderr
    assert "in the run" in done.stdout, "what nsys measured is there all the same"
    assert "cold" not in done.stdout


def test_tools_that_fail_are_told(tools: Path) -> None:
    faked.put_tool(tools, "nsys", "no-importer")
    faked.put_tool(tools, "ncu", "fails")
    done = profile(tools, "--", SIDE)
    assert done.returncode == 3
    assert "nsys made no report: Importer error status" in done.stderr
    assert "ncu: Unknown error: the profiler is out of order" in done.stderr
    assert done.stdout.count("2 rounds: the sum is") == 1
    assert "global load sectors" in done.stdout


@pytest.mark.skipif(device.count() > 0, reason="the program tells the virtual GPU by its being there")
def test_what_was_measured_is_shown_where_nothing_could_be_counted(tools: Path, tmp_path: Path) -> None:
    file = tmp_path / "tells.cu"
    file.write_text("int main() { int count; return cudaGetDeviceCount(&count) == cudaSuccess ? 5 : 4; }\n")
    done = profile(tools, file=str(file))
    assert done.returncode == 4
    assert (
        "Nothing was counted: on the virtual H200 the program ended with 5, on the GPU with 4." in done.stderr
    )
    assert "Measured on NVIDIA H200; nothing was counted to compare it with" in done.stdout
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in done.stdout.splitlines()]
    assert ["conflicts", "1", "34.56 µs", "34.56 µs", "nsys, in the run"] in rows
    assert ["conflicts", "1", "35.52 µs", "35.52 µs", "ncu, cold caches"] in rows


def test_the_first_run_that_takes_too_long_is_the_last(tools: Path, tmp_path: Path) -> None:
    faked.put_tool(tools, "nsys", "hangs")
    began = time.monotonic()
    done = profile(tools, "--timeout", "1", "--", SIDE)
    assert done.returncode == 124
    assert "ran longer than 1 s (--timeout)" in done.stderr
    assert "Launch" not in done.stdout
    assert time.monotonic() - began < 30


def running(mark: str) -> list[str]:
    """The command lines of processes that have a variable of that value."""
    found: list[str] = []
    for place in Path("/proc").iterdir():
        if place.name.isdecimal():
            try:
                if mark.encode() in (place / "environ").read_bytes():
                    found.append((place / "cmdline").read_bytes().replace(b"\0", b" ").decode())
            except OSError:
                continue
    return found


def test_nothing_stays_behind(tools: Path, tmp_path: Path) -> None:
    faked.put_tool(tools, "nsys", "leaves")
    mark = str(tmp_path)
    done = subprocess.run(
        [sys.executable, faked.__file__, "profile", PIPELINE, "--device", "cuda", "--", SIDE],
        input="2\n",
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**environment(tools), "MARK": mark},
    )
    assert done.returncode == 3
    assert running(f"MARK={mark}") == []


@pytest.mark.usefixtures("hears_control_c")
@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_the_profiler_and_all_it_started(
    tools: Path, tmp_path: Path, kind: signal.Signals
) -> None:
    faked.put_tool(tools, "nsys", "hangs")
    mark = f"MARK={tmp_path}"
    process = subprocess.Popen(
        [sys.executable, faked.__file__, "profile", PIPELINE, "--device", "cuda"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**environment(tools), "MARK": str(tmp_path)},
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + 60
        while not any("--tool nsys" in each for each in running(mark)):
            assert time.monotonic() < deadline
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        process.send_signal(kind)
        process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 128 + kind
    assert running(mark) == []


@pytest.mark.gpu
@pytest.mark.skipif(nsight.find("ncu") is None, reason="ncu is not on this machine")
def test_on_a_real_gpu(tmp_path: Path) -> None:
    """With the tools that are there; what a machine forbids it says."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "flashpath.cli",
            "profile",
            PIPELINE,
            "--device",
            "cuda",
            "--json",
            "--",
            SIDE,
        ],
        input="2\n",
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 3, done.stderr
    measured = json.loads(done.stdout)["measured"]
    told = {each["tool"]: each["reason"] for each in measured["problems"]}
    assert "sum is" in done.stderr
    if "ncu" not in told:
        assert measured["unlike"] == []
        counters = [each["counters"] for each in measured["launches"]]
        assert [each["kernel"] for each in counters][-3:] == ["stages::transpose", "conflicts", "total"]
        assert all(each["seconds"] > 0 and each["stalls"] for each in counters)
    if "nsys" not in told:
        assert all(each["in_run"]["seconds"] > 0 for each in measured["launches"])
