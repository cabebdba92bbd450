"""What the profilers wrote on an H200, as it is read; which launch is which; where profilers are found."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import faked
import pytest

from flashpath.bench import nsight
from flashpath.bench.nsight import tools
from flashpath.bench.nsight.compute import _problem  # pyright: ignore[reportPrivateUsage]
from flashpath.cli import timeline_page
from flashpath.jit.programs.shared_input import SharedInput
from flashpath.vgpu.device import engine

CSV = (faked.RECORDED / "pipeline.csv").read_text()


def test_the_launches_of_ncu() -> None:
    launches = list(nsight.read_launches(CSV))
    assert [each.kernel for each in launches] == [
        "stages::scale<float>",
        "stages::scale<double>",
        "stages::scale<float>",
        "stages::scale<double>",
        "stages::transpose",
        "conflicts",
        "total",
    ]
    transpose = launches[4]
    assert (transpose.grid, transpose.block) == ((8, 32, 1), (32, 8, 1))
    assert 1e-6 < transpose.seconds < 20e-6
    assert transpose.dram_read == pytest.approx(256 * 256 * 4, rel=0.1)
    assert transpose.bandwidth == pytest.approx((transpose.dram_bytes or 0) / transpose.seconds)
    for each in launches:
        for share in (each.dram_busy, each.l2_busy, each.sm_busy, each.occupancy, each.l1_hits):
            assert share is not None
            assert 0 <= share <= 1
        # Counters of two replays make this one: of few accesses it came out as 1.12.
        assert 0 <= (each.l2_hits or 0) < 1.2
        assert {"long_scoreboard", "barrier", "gmma", "selected"} <= each.stalls.keys()
    reasons = [each.reason for each in nsight.top_stalls(launches[5].stalls)]
    assert "short_scoreboard" in reasons or "mio_throttle" in reasons, "the kernel has bank conflicts"
    assert nsight.top_stalls(launches[6].stalls)[0].reason == "long_scoreboard"


def test_launches_that_failed_and_figures_that_are_missing_are_left_out() -> None:
    whole = CSV.splitlines()
    failed = whole[-1].replace('"(256, 1, 1)","(16, 1, 1)"', '"(0, 0, 0)","(0, 0, 0)"')
    assert failed != whole[-1]
    assert len(list(nsight.read_launches("\n".join([*whole[:-1], failed])))) == 6
    columns = '"ID","Kernel Name","Block Size","Grid Size","gpu__time_duration.sum","dram__bytes_read.sum"'
    few = f'{columns}\n"","","","","us",""\n"0","add","(32, 1, 1)","(2, 1, 1)","1,250.5","n/a"\n'
    (launch,) = nsight.read_launches(few)
    assert launch.seconds == pytest.approx(1250.5e-6)
    assert launch.dram_bytes is None
    assert launch.bandwidth is None
    assert nsight.top_stalls(launch.stalls) == ()
    assert list(nsight.read_launches("==WARNING== No kernels were profiled.\n")) == []


def test_what_ncu_complains_of() -> None:
    assert _problem(CSV, 3) is None, "that the program returned 3 is no complaint"
    permission = _problem(faked.PERMISSION, 0)
    assert permission is not None
    assert "ERR_NVGPUCTRPERM" in permission.reason
    other = _problem("==ERROR== LaunchFailed\n==ERROR== The application returned an error code (9).\n", 9)
    assert other is not None
    assert other.reason == "ncu: LaunchFailed"
    assert "sanitize" in (other.fix or "")
    silent = _problem("", None)
    assert silent is not None
    assert "did not run the program" in silent.reason


def test_the_timeline_of_nsys(tmp_path: Path) -> None:
    activities = nsight.read_activities(faked.restore(tmp_path / "t.sqlite"))
    assert [each.name for each in activities if each.kind != "kernel"] == [
        "copy, host to device",
        "copy, device to device",
        "fill",
        "copy, device to host",
    ]
    kernels = [each for each in activities if each.kind == "kernel"]
    counted = [(each.kernel, each.grid, each.block) for each in nsight.read_launches(CSV)]
    assert [(each.name, each.grid, each.block) for each in kernels] == counted
    assert activities[0].begin == 0
    assert activities[0].bytes == 256 * 256 * 4
    assert kernels[0].stream != kernels[1].stream
    assert kernels[5].seconds == pytest.approx(34.56e-6), "as it stands in the table, in nanoseconds"
    trace = nsight.trace_of(activities, "NVIDIA H200")
    bars = [each for each in trace["traceEvents"] if each["ph"] == "X"]
    assert [each["name"] for each in bars] == [each.name for each in activities]
    assert bars[-1]["ts"] == pytest.approx(activities[-1].begin * 1e6)
    page = timeline_page.make_page(trace["traceEvents"], "t", "NVIDIA H200", "Nsight Systems")
    assert "measured on NVIDIA H200 by Nsight Systems" in page
    assert "not measurements" not in page


def test_a_timeline_of_nothing(tmp_path: Path) -> None:
    import sqlite3

    sqlite3.connect(tmp_path / "t.sqlite").close()
    assert nsight.read_activities(tmp_path / "t.sqlite") == []


@pytest.mark.parametrize(
    ("mangled", "name"),
    [
        ("_Z3addiPKfS0_Pf", "add"),
        ("_ZN6stages5scaleIfEEviT_PS1_", "stages::scale<float>"),
        ("total", "total"),
        ("_ZN2ns1kIXadL_Z1fvEEEEvv", "ns::k<&(f())>"),
        ("void stages::scale<float>(int, T1, T1 *)", "stages::scale<float>"),
    ],
)
def test_names_are_those_of_the_virtual_gpu(mangled: str, name: str) -> None:
    assert engine().kernel_name(mangled) == name


# ---- Which launch is which -----------------------------------------------------------------------------


def launch(kernel: str, grid: int = 1) -> nsight.Launch:
    return nsight.Launch(kernel, (grid, 1, 1), (32, 1, 1))


def test_the_nth_launch_of_a_kernel_is_its_nth() -> None:
    counted = [launch("a", 1), launch("b"), launch("a", 2)]
    measured = [launch("b"), launch("a", 1), launch("a", 2)]
    assert nsight.match(counted, measured, "there") == nsight.Matches((1, 0, 2), (), ())


def test_nothing_is_paired_after_a_difference() -> None:
    counted = [launch("a", 1), launch("a", 2), launch("a", 3), launch("b")]
    measured = [launch("a", 1), launch("a", 4), launch("a", 3), launch("b")]
    matches = nsight.match(counted, measured, "there")
    assert matches.places == (0, None, None, 3)
    assert matches.rest == (1, 2)
    (told,) = matches.unlike
    assert told.startswith("a, launch 2 of it: grid (2, 1, 1)")
    assert "grid (4, 1, 1), block (32, 1, 1) there" in told


def test_other_numbers_of_launches_are_told() -> None:
    more, fewer = [launch("a")] * 3, [launch("a")]
    assert nsight.match(fewer, more, "there").unlike == (
        "a: launched once on the virtual GPU, launched 3 times there",
    )
    assert nsight.match(fewer, more, "there").rest == (1, 2)
    assert nsight.match(more, [], "there").unlike == (
        "a: launched 3 times on the virtual GPU, never launched there",
    )
    cut = nsight.match(more, fewer, "there", cut_short=True)
    assert cut == nsight.Matches((0, None, None), (), ())


def test_stalls_are_shares_of_the_time_between_instructions() -> None:
    stalls = nsight.top_stalls(
        {"selected": 1.0, "barrier": 6.0, "wait": 2.9, "misc": 0.1, "of_tomorrow": 10.0}
    )
    assert [(each.reason, each.share) for each in stalls] == [
        ("of_tomorrow", 0.5),
        ("barrier", 0.3),
        ("wait", pytest.approx(0.145)),
    ]
    assert stalls[0].meaning == "a reason of this GPU that is not described here"
    assert "__syncthreads()" in stalls[1].meaning


# ---- Where they are ------------------------------------------------------------------------------------


def put(path: Path) -> Path:
    path.parent.mkdir(parents=True)
    path.touch(0o755)
    return path


def test_of_several_the_newest_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "ROOT", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(variable, raising=False)
    assert nsight.find("nsys") is None
    assert "nsys was not found" in nsight.missing("nsys").reason
    # Nsight Compute's own cannot make a report.
    put(tmp_path / "opt/nvidia/nsight-compute/2025.3.1/host/target-linux-x64/nsys")
    assert nsight.find("nsys") is None
    for version in ("2023.4.4", "2024.10.1", "2024.9.3"):
        put(tmp_path / f"opt/nvidia/nsight-systems/{version}/bin/nsys")
    assert nsight.find("nsys") == tmp_path / "opt/nvidia/nsight-systems/2024.10.1/bin/nsys"
    of_toolkit = put(tmp_path / "usr/local/cuda-13.0/bin/nsys")
    put(tmp_path / "usr/local/cuda-12.9/bin/nsys")
    assert nsight.find("nsys") == of_toolkit
    of_path = put(tmp_path / "bin/nsys")
    assert nsight.find("nsys") == of_path


# ---- One input for several runs ------------------------------------------------------------------------


def read_all(given: int, most: int = -1) -> bytes:
    with os.fdopen(os.dup(given), "rb") as stream:
        return stream.read(most)


def test_a_file_is_given_to_every_run(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"1 2 3")
    with (tmp_path / "in").open("rb") as source:
        shared = SharedInput(tmp_path / "kept", source.fileno())
        for _ in range(2):
            with shared.opened() as given:
                assert read_all(given) == b"1 2 3"


def test_a_pipe_is_given_to_every_run_although_it_stays_open(tmp_path: Path) -> None:
    source, end = os.pipe()
    try:
        shared = SharedInput(tmp_path / "kept", source)
        with shared.opened():
            pass  # a program that reads nothing ends, and nobody waits for the input's end
        os.write(end, b"abc")
        for _ in range(2):
            with shared.opened() as given:
                assert os.read(given, 3) == b"abc"
        threading.Timer(0.05, os.close, [end]).start()
        for _ in range(2):
            with shared.opened() as given:
                assert read_all(given) == b"abc"
    finally:
        os.close(source)


def test_a_program_that_reads_less_than_it_is_given(tmp_path: Path) -> None:
    source, end = os.pipe()
    writer = threading.Thread(target=lambda: (os.write(end, b"x" * 300_000), os.close(end)))
    writer.start()
    try:
        shared = SharedInput(tmp_path / "kept", source)
        with shared.opened() as given:
            assert os.read(given, 10) == b"x" * 10
        with shared.opened() as given:
            assert read_all(given) == b"x" * 300_000
    finally:
        writer.join()
        os.close(source)
