"""`flashpath profile`: what a person sees of coalesced, strided and conflicting accesses."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from flashpath.cli import app, output
from flashpath.cli.profile_view import bar
from flashpath.errors import FlashpathError, MissingDevice
from flashpath.jit import ArgumentError, device

SOURCE = """// A header that no line of the listing needs.
//
//
//
extern "C" __global__ void strided(const float* x, float* y, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i * stride];
}

extern "C" __global__ void column(const float* x, float* y) {
  __shared__ float tile[32 * 32];
  tile[threadIdx.x * 32] = x[threadIdx.x];  // a whole column: one bank
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x * 32 / 32];
}
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("profile") / "access.cu"
    path.write_text(SOURCE)
    return path


def profile(file: Path, *words: str) -> str:
    done = CliRunner().invoke(app, ["profile", str(file), *words])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output


def strided(file: Path, stride: int, *words: str) -> str:
    arguments = ("x=f32[8192]", "zeros:f32[1024]", str(stride))
    described = [word for argument in arguments for word in ("--arg", argument)]
    return profile(file, "--kernel", "strided", "--grid", "4", "--block", "256", *described, *words)


def column(file: Path, *words: str) -> str:
    described = ["--arg", "x=f32[32]", "--arg", "y=zeros:f32[32]"]
    return profile(file, "--kernel", "column", "--grid", "1", "--block", "32", *described, *words)


def row_of(text: str, start: str) -> list[str]:
    (row,) = [line for line in text.splitlines() if line.strip().startswith(start)]
    return row.split()


def test_coalesced_accesses_are_a_staircase_of_four_full_sectors(file: Path) -> None:
    text = strided(file, 1)
    assert row_of(text, "global load sectors")[3:] == ["128", "4.00", "4.00", "✓"]
    assert "line 7: load of 4 bytes a lane from x, by warp 0 of block 0" in text
    for sector, row in enumerate(("+0", "+32", "+64", "+96")):
        lanes = "·" * 8 * sector + "█" * 8 + "·" * 8 * (3 - sector)
        assert row_of(text, f"{row} ")[1:3] == [lanes, "████████"]
    assert "4 sectors for 128 distinct bytes: the fewest there can be." in text


def test_strided_accesses_are_scattered(file: Path) -> None:
    text = strided(file, 8)
    assert row_of(text, "global load sectors")[3:] == ["1,024", "32.00", "4.00", "8×", "the", "bytes"]
    assert row_of(text, "global store sectors")[3:] == ["128", "4.00", "4.00", "✓"]
    assert row_of(text, "+32 ")[1:3] == ["·█" + "·" * 30, "█·······"]
    assert "21 more sectors" in text
    assert "32 sectors move 1,024 bytes for 128 asked for; 4 would do." in text
    whole = strided(file, 8, "--line", "7")
    assert "more sectors" not in whole
    assert len(re.findall(r"^ +\+[\d,]+  [·█]{32}  █·······  4 used$", whole, re.MULTILINE)) == 32
    assert "store of 4 bytes a lane to argument 1 (float*)" in whole


def test_the_trace_of_a_chosen_warp_is_drawn(file: Path) -> None:
    text = strided(file, 1, "--of-block", "2", "--of-warp", "3")
    assert "by warp 3 of block 2" in text
    assert f"+{4 * (2 * 256 + 3 * 32):,}  ████████···" in text


def test_a_column_is_one_bank_again_and_again(file: Path) -> None:
    text = column(file)
    assert row_of(text, "shared store passes")[3:] == ["32", "32.00", "1.00", "32×", "the", "passes"]
    assert row_of(text, "shared load passes")[-1] == "✓"
    assert row_of(text, "pass 1 ")[2:] == ["█" + "·" * 31, "lane", "0"]
    assert row_of(text, "pass 32 ")[2:] == ["█" + "·" * 31, "lane", "31"]
    assert "32 passes over the banks, 31 of them conflicts; 1 would do." in text
    free = column(file, "--line", "14")
    assert row_of(free, "pass 1 ")[2:] == ["█" * 32, "lanes", "0-31"]
    assert "1 pass over the banks: no conflict." in free


def test_the_source_has_its_heat_beside_it(file: Path) -> None:
    text = column(file)
    listing = {
        int(found[1]): found[2]
        for found in re.finditer(r"^ {1,3}(\d+)  (.*)$", text, re.MULTILINE)
        if not found[2].startswith("/")
    }
    assert 2 not in listing, "lines far from the kernel are left out"
    assert listing[12].startswith("  tile[threadIdx.x * 32] = x[threadIdx.x];")
    assert listing[12].endswith(" 50% ██   100% ████")
    assert listing[14].endswith(" 50% ██")
    assert "%" in listing[13]
    assert "%" not in listing[11]
    titles = next(line for line in text.splitlines() if "instr." in line)
    assert titles.split()[-3:] == ["instr.", "sectors", "conflicts"]
    assert "conflicts" not in strided(file, 1)


def test_classes_are_shares_of_the_instructions(file: Path) -> None:
    text = column(file)
    block = text[text.index("instructions by class") :].split("\n\n")[0]
    shares = [int(found) for found in re.findall(r"(\d+)%", block)]
    assert 97 <= sum(shares) <= 103
    assert "parameter load" in block


def test_json_has_everything(file: Path) -> None:
    report = json.loads(column(file, "--json", "--device", "H200"))
    assert report["gpu"] == "H200"
    assert report["shared_store"]["bank_conflicts"] == 31
    assert report["traced"][0]["array"] == "x"
    assert report["footprint"]["static_shared"] == 4096


@pytest.mark.parametrize("width", [80, 100])
def test_a_terminal_is_never_overrun(file: Path, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for environment in ({"NO_COLOR": "1"}, {}):
        screen = io.StringIO()
        console = Console(
            file=screen, width=width, force_terminal=True, color_system="truecolor", _environ=environment
        )
        monkeypatch.setattr(output, "console", lambda console=console: console)
        strided(file, 8)
        text = screen.getvalue()
        assert ("\x1b[31m" in text) == (not environment)
        plain = re.sub(r"\x1b\[[\d;]*m", "", text)
        assert max(map(len, plain.splitlines())) <= width
        assert "█·······  4 used" in plain


def test_what_is_wrong_is_told(file: Path) -> None:
    for words, says in (
        (("--grid", "1x2", "--block", "32"), "--grid is '1x2'"),
        (("--grid", "1", "--block", "1,2,3,4"), "--block is '1,2,3,4'"),
        (("--grid", "1", "--block", "32", "--arg", "f32[n"), "Examples: 1024"),
        (("--grid", "1", "--block", "32"), "2 kernels: strided, column"),
        (("--grid", "1", "--block", "32", "--kernel", "column"), "column"),
        (("--grid", "1", "--block", "4096", "--kernel", "column", "--arg", "null", "--arg", "null"), "4096"),
    ):
        with pytest.raises(FlashpathError) as refused:
            profile(file, *words)
        assert says in str(refused.value)
    with pytest.raises(FlashpathError, match="Line 6 accesses neither") as refused:
        strided(file, 1, "--line", "6")
    assert "Lines that do: 7." in str(refused.value)
    with pytest.raises(ArgumentError, match="array of float32"):
        profile(
            file, "--kernel", "column", "--grid", "1", "--block", "32", "--arg", "i32[8]", "--arg", "null"
        )


@pytest.mark.parametrize("options", [[], ["--grid", "1", "--block", "32"]])
def test_a_triton_file_is_told_how_it_is_profiled(tmp_path: Path, options: list[str]) -> None:
    (tmp_path / "mine.py").write_text("import triton\n")
    done = CliRunner().invoke(app, ["profile", str(tmp_path / "mine.py"), *options])
    assert isinstance(done.exception, FlashpathError)
    for words in ("is Python", "fp.profile(kernel, grid=grid", "fp.vgpu.triton(profile=True)"):
        assert words in str(done.exception)


def test_bars_grow_in_eighths_and_show_the_least() -> None:
    assert [bar(share, 2) for share in (0, 0.0001, 0.5, 0.75, 1)] == ["", "▏", "█", "█▌", "██"]


# ---- Whole programs ------------------------------------------------------------------------------------

PROGRAM = Path(__file__).parents[2] / "programs" / "cuda" / "02_vector_add.cu"


def test_a_program_and_its_modelled_timeline(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = profile(PROGRAM, "--device", "A100", "--timeline", str(tmp_path / "t.json"), "--", "1000")
    assert capfd.readouterr().out.endswith("1000 elements, 0 wrong\n")
    assert "1 launch on the virtual A100; times are bounds, no measurements" in text
    assert "measured" not in text.replace("no measured time", "")
    trace = json.loads((tmp_path / "t.json").read_text())
    assert "model" in trace["otherData"]["times"]
    assert [each["name"] for each in trace["traceEvents"] if each["ph"] == "X"][2] == "add"


def test_what_programs_and_kernels_alone_do_not_share(file: Path, tmp_path: Path) -> None:
    page = str(tmp_path / "t.html")
    with pytest.raises(FlashpathError, match="--timeline is for a whole program"):
        profile(file, "--grid", "1", "--block", "32", "--timeline", page)
    with pytest.raises(FlashpathError, match="--timeline is"):
        profile(PROGRAM, "--device", "A100", "--timeline", str(tmp_path / "t.txt"))
    with pytest.raises(FlashpathError, match="There is no launch 2: the program made 1"):
        profile(PROGRAM, "--device", "A100", "--launch", "2", "--", "1000")


@pytest.mark.skipif(device.count() > 0, reason="there is a GPU")
def test_without_a_gpu_nothing_is_measured() -> None:
    with pytest.raises(MissingDevice, match="no GPU with a driver that works") as refused:
        profile(PROGRAM, "--device", "cuda")
    assert "--device virtual" in str(refused.value)
