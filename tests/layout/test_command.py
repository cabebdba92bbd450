"""`flashpath layout`: as a person types it, in both languages, and as a program reads it."""

from __future__ import annotations

import io
import json
import re
import shlex
import sys
import time
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console
from typer.testing import CliRunner

from flashpath.cli import app
from flashpath.cli.layout import Drawing, drawing_of, save_svg
from flashpath.cli.layout_view import show
from flashpath.cli.messages import MESSAGES
from flashpath.errors import FlashpathError
from flashpath.messages import Text, speaking

ANSI = re.compile(r"\x1b\[[\d;]*m")


def run(*words: str) -> str:
    done = CliRunner().invoke(app, ["layout", *words])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


def examples(lang: str) -> list[str]:
    help_text = MESSAGES["layout-help"]
    assert isinstance(help_text, Text)
    return re.findall(r"^ +(flashpath layout .*)$", help_text.in_(lang), re.MULTILINE)


@pytest.mark.parametrize("line", examples("en"))
def test_the_examples_of_the_help_run(line: str) -> None:
    assert run(*shlex.split(line)[2:]).strip()


def test_both_languages_have_the_same_examples() -> None:
    assert examples("en") == examples("zh")
    assert len(examples("en")) == 8


def test_a_grid_of_indices() -> None:
    with speaking("en"):
        shown = run("((2,4),(8,2)):((8,32),(1,16))")
    assert "size 128, cosize 128, rank 2: every index from 0 to 127 once." in shown
    assert "2  32  33  34  35  36  37  38  39  48  49  50  51  52  53  54  55\n" in shown
    assert re.search(r"by columns +22··22··········22··22··········  2-way: 8 passes, 4 would do", shown)


def test_facts_of_gaps_and_of_shared_indices() -> None:
    with speaking("en"):
        assert "no index twice, and 3 between 0 and 18 left out" in run("(4,4):(1,5)")
        assert "only 4 different indices" in run("(4,4):(1,0)")


def test_operations_are_applied_in_order() -> None:
    with speaking("en"):
        shown = run("(8,8):(8,1)", "--compose", "(8,8):(8,1)", "--divide", "<4,2>", "--swizzle", "1,0,3")
    assert "o (8,8):(8,1) = (8,8):(1,8)" in shown
    assert "zipped_divide by <4,2> = ((4,2),(2,4)):((1,8),(4,16))" in shown
    assert "swizzled: Sw<1,0,3> o 0 o ((4,2),(2,4)):((1,8),(4,16))" in shown
    assert "cut into 8 tiles" in shown


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("8:1", "--divide", "2"), "zipped_divide by 2 = (2,4):(1,2)"),
        (("(4,4)", "--divide", "(2,2)", "--kind", "logical"), "((2,2),(2,2)):((1,2),(4,8))"),
        (("(4,4)", "--divide", "(2,2)", "--kind", "tiled"), "((2,2),2,2):((1,4),2,8)"),
        (("(2,2)", "--product", "(2,2)"), "((2,2),(2,2)):((1,4),(2,8))"),
        (("(2,2)", "--product", "3"), "((2,3),(2,1)):((1,4),(2,0))"),
        (("(2,2)", "--product", "(2,2):(2,1)", "--kind", "raked"), "((2,2),(2,2)):((8,1),(4,2))"),
        (("(2,2)", "--product", "4:1", "--kind", "logical"), "((2,2),4):((1,2),4)"),
        (("Sw<1,0,2> o 0 o (2,2)", "--product", "(2,2)"), "Sw<1,0,2> o 0 o ((2,2),(2,2)):((1,4),(2,8))"),
    ],
)
def test_kinds_of_divide_and_product(words: tuple[str, ...], expected: str) -> None:
    assert expected in run(*words)


def test_banks_instead_of_indices() -> None:
    assert "0 0 0 1 1 2 2" in run("(1,8)", "--banks")
    assert "0 0 2 4 6" in run("(1,4)", "--banks", "--bits", "64")


def test_threads_and_values() -> None:
    with speaking("en"):
        shown = run("((4,8),(2,2)):((32,1),(16,8))", "--tile", "16,8")
        assert "32 threads with 4 values each, on a tile of 16 × 8." in shown
        assert "T31V2" in shown
        shown = run("((4,8),2):((8,1),32)", "--tile", "16,8")
    assert " -" in shown, "some elements are held by no thread"


def test_an_instruction() -> None:
    with speaking("en"):
        shown = run("--mma", "SM80_16x8x16_F32F16F16F32_TN")
        assert "D (16×8, F32) = A (16×16, F16) · B (16×8, F16) + C (16×8, F32), by 32 threads." in shown
        assert "A (F16): ((4,8),(2,2,2)):((32,1),(16,8,128))" in shown
        assert "m9  T4V2" in shown
        only = run("--mma", "SM80_16x8x16_F32F16F16F32_TN", "--operand", "c")
        assert "C (F32)" in only
        assert "A (F16)" not in only
        assert "lanes 0, 1, 2, 3, 16, 17, 18, 19" in run("--mma", "SM70_8x8x4_F32F16F16F32_TN")
        assert "A, B: read from shared memory" in run("--mma", "SM90_64x8x16_F32F16F16_SS")
    names = run("--mma", "list").split()
    assert len(names) > 1000
    assert json.loads(run("--mma", "list", "--json")) == names


def test_json() -> None:
    data = json.loads(run("(8,64):(64,1)", "--swizzle", "3,3,3", "--json"))
    assert data["layout"] == "Sw<3,3,3> o 0 o (8,64):(64,1)"
    assert data["swizzle"] == {"bits": 3, "base": 3, "shift": 3}
    assert data["shape"] == [8, 64]
    assert data["indices"][1][:2] == [72, 73]
    assert data["banks"][1][:3] == [4, 4, 5]
    assert {access["order"]: access["passes"] - access["least"] for access in data["accesses"]} == {
        "columns": 0,
        "rows": 0,
        "matrices": 0,
    }
    atom = json.loads(run("--mma", "SM90_64x8x16_F32F16F16_RS", "--json"))
    assert atom["operands"]["B"] is None
    assert atom["operands"]["A"]["owners"][16][0] == [[32, 0]]
    tile = json.loads(run("(4,2):(2,1)", "--tile", "2,4", "--json"))
    assert tile["owners"][1][0] == [[0, 1]]


def test_save(tmp_path: Path) -> None:
    file = tmp_path / "layout.svg"
    with speaking("en"):
        assert run("(8,8):(8,1)", "--divide", "(4,2)", "--save", str(file)) == f"Saved {file}.\n"
        text = file.read_text(encoding="utf-8")
        assert text.startswith("<svg")
        assert "cut into 8 tiles" in text
        assert json.loads(run("(8,8):(8,1)", "--save", str(file), "--json"))["size"] == 64
    with speaking("zh"):
        run("(8,8):(8,1)", "--save", str(file))
    assert "的索引" in file.read_text(encoding="utf-8")


# ---- In a terminal -----------------------------------------------------------------------------------------


def terminal(drawing: Drawing, width: int = 80, everything: bool = False) -> list[str]:
    """Returns the lines that a terminal of that width shows, without their colours."""
    stream = io.StringIO()
    show(
        Console(file=stream, force_terminal=True, width=width, highlight=False, color_system="truecolor"),
        drawing,
        everything,
    )
    return ANSI.sub("", stream.getvalue()).splitlines()


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("everything", [False, True])
def test_no_line_is_wider_than_the_terminal(lang: str, everything: bool) -> None:
    with speaking(lang):
        drawing = drawing_of("(64,64):(64,1)", divide="(8,8)", swizzle="3,3,3")
        lines = terminal(drawing, everything=everything)
    assert max(map(cell_len, lines)) <= 80
    assert any("4095" in line for line in lines)


def test_a_large_grid_is_cut_and_says_so() -> None:
    with speaking("en"):
        drawing = drawing_of("(64,64):(64,1)")
        lines = terminal(drawing)
        assert len(lines) < 60
        assert any("64 rows, 64 columns: --all shows all of them" in line for line in lines)
        assert any(re.fullmatch(r"63 4032.* 4095", line) for line in lines)
        whole = terminal(drawing, everything=True)
    assert len(whole) > 5 * 64
    shown = {int(number) for line in whole for number in re.findall(r"\d+", line)}
    assert set(range(4096)) <= shown


def test_a_wide_grid_is_shown_in_pieces_of_one_width() -> None:
    lines = terminal(drawing_of("(4,32):(32,1)"))
    widths = [len(line) for line in lines if re.match(r"[0-3] ", line)]
    assert len(widths) == 8
    assert len(set(widths)) == 1


def test_ascii_where_nothing_else_can_be_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    class Ascii(io.StringIO):
        encoding = "ascii"

    stream = Ascii()
    monkeypatch.setattr(sys, "stdout", stream)
    with speaking("en"):
        out = Console(file=stream, width=80, highlight=False)
        show(out, drawing_of("(8,8):(8,1)", divide="(4,2)"), everything=False)
    stream.getvalue().encode("ascii")
    assert "11..11" in stream.getvalue()
    assert " 0a  1a  2c" in stream.getvalue(), "letters stand for colours"


def test_4096_elements_take_less_than_a_third_of_a_second(tmp_path: Path) -> None:
    began = time.process_time()
    terminal(drawing_of("(64,64):(64,1)", swizzle="3,3,3"), everything=True)
    assert time.process_time() - began < 0.3
    began = time.process_time()
    save_svg(drawing_of("(64,64):(64,1)", divide="(8,8)"), tmp_path / "tile.svg")
    assert time.process_time() - began < 0.3


# ---- What is wrong -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "neither a layout nor an MMA instruction"),
        (("((2,4),8:1",), "This ( is never closed"),
        (("8:1 4:1",), "two are composed with --compose"),
        (("(4,6):(8,1)", "--compose", "4:3"), "steps of 3 through a mode of 4"),
        (("(4,8)", "--divide", "2", "--product", "2"), "--divide and --product are both given"),
        (("(4,8)", "--kind", "raked"), "--kind raked is given, but neither"),
        (("(4,8)", "--divide", "2", "--kind", "raked"), "zipped, logical, tiled"),
        (("(4,8)", "--product", "2", "--kind", "zipped"), "blocked, raked, logical"),
        (("(4,8)", "--product", "<2,3:2>"), "takes one layout, not a tiler for each mode"),
        (("Sw<1,0,2> o 0 o 8", "--swizzle", "1,0,2"), "has a swizzle already"),
        (("(4,8)", "--swizzle", "3,3,2"), "There is no swizzle <3,3,2>"),
        (("(4,8)", "--swizzle", "3,3,999999999999"), "none is more than 64"),
        (("--mma", "SM80_16x8x16"), "--mma list"),
        (("(4,8)", "--mma", "SM80_16x8x16_F32F16F16F32_TN"), "no layout beside it"),
        (("--mma", "SM80_16x8x16_F32F16F16F32_TN", "--operand", "E"), "There is no operand E"),
        (("(1000,1000)",), "1,000,000 elements; at most 65,536"),
        (("(4,4)", "--product", "(100,100)"), "160,000 elements"),
        (("(4,8)", "--bits", "3"), "No element has 3 bits"),
        (("(4,8)", "--save", "layout.png"), "ends in .svg"),
        (("(4,8)", "--tile", "4,4"), "a tile of 4 by 4 has 16 elements"),
        (("8", "--tile", "4,4"), "it has 1 mode"),
        (("Sw<1,0,2> o 0 o (4,4)", "--tile", "4,4"), "it has a swizzle"),
        (("(4,4)", "--tile", "4"), "a comma and the number of columns"),
    ],
)
def test_a_mistake_says_what_to_do(words: tuple[str, ...], says: str) -> None:
    with speaking("en"), pytest.raises(FlashpathError) as error:
        run(*words)
    assert says in str(error.value)
    with speaking("zh"):
        error.value.lang = None
        assert re.search(r"[\u4e00-\u9fff]", str(error.value))
