"""Outputs of commands and figures: made anew, compared, the same on every machine."""

from __future__ import annotations

import re
import shutil
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import ModuleType

import pytest

from flashpath.course import making
from flashpath.course.content import ContentError, Course, Figure, Unit
from flashpath.course.content.directives import output_name
from flashpath.course.figures import svg
from flashpath.course.figures.drawing import Picture, Span
from flashpath.errors import FlashpathError

TINY = Path(__file__).parent / "fixtures" / "tiny"
COURSE = Path(__file__).parents[2] / "course"
COMMAND = "flashpath explain-finding race"


@pytest.fixture
def unit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Unit:
    module = ModuleType("flashpath.course.figures.units.tiny")
    vars(module)["cells"] = lambda: Picture().grid([range(4)]).both()
    monkeypatch.setitem(sys.modules, module.__name__, module)
    shutil.copytree(TINY, tmp_path / "course")
    return Course(tmp_path / "course").unit("doubling")


def test_what_lessons_show_is_made_and_compared(unit: Unit) -> None:
    course = Course(unit.folder.parent.parent)
    made = making.make(course, unit)
    name = output_name(COMMAND)
    assert [file.name for file in sorted(made)] == [
        "cells.svg", "cells.txt", f"{name}.en.txt", f"{name}.zh.txt",
    ]  # fmt: skip
    assert made[unit.folder / "outputs" / f"{name}.en.txt"].startswith("# race: two threads")
    assert "is missing" in making.differences(unit, made)[0]

    assert len(making.store(unit, made)) == 4
    assert making.differences(unit, made) == []
    assert making.store(unit, made) == []

    (unit.folder / "figures" / "cells.txt").write_text("by hand\n")
    (unit.folder / "outputs" / "old.txt").write_text("of no command\n")
    changed, orphan = making.differences(unit, made)
    assert "-by hand" in changed
    assert "old.txt belongs to no command" in orphan
    making.store(unit, made)
    assert making.differences(unit, made) == []
    assert not (unit.folder / "outputs" / "old.txt").exists()


def test_a_command_runs_among_the_courses_files_with_no_colour(unit: Unit) -> None:
    course = Course(unit.folder.parent.parent)
    file = "units/01-doubling/exercises/twice/solution.cu"
    words = ["flashpath", "explain", file, "--kernel", "twice", "--stage", "source"]
    text = making.output_of(course, words, "en")
    assert "\x1b" not in text
    assert str(unit.folder) not in text
    assert "y[i] = 2 * x[i];" in text
    assert text == making.output_of(course, words, "en")


def test_a_command_that_cannot_be_read_is_an_error(unit: Unit) -> None:
    with pytest.raises(FlashpathError, match="cannot be run"):
        making.output_of(Course(unit.folder.parent.parent), ["flashpath", "no-such-command"], "en")


def test_a_figure_of_nobody_is_named(unit: Unit) -> None:
    with pytest.raises(ContentError, match="no_such_module"):
        making.draw(unit, Figure("x", "flashpath.course.figures.no_such_module:x"))
    with pytest.raises(ContentError, match="no attribute"):
        making.draw(unit, Figure("x", "flashpath.course.figures.drawing:x"))


def test_names_of_outputs_tell_commands_apart() -> None:
    first, second = (
        output_name("flashpath profile a.cu --arg 1"),
        output_name("flashpath profile a.cu --arg 2"),
    )
    assert first != second
    assert first.startswith("profile-a-cu-arg-1-")


# ---- The drawings --------------------------------------------------------------------------------------


def whole() -> Picture:
    left = Picture().heading("a & b").grid([range(3)], [[0, 1, 1]], title="threads")
    left.links([(0, 2), (2, 0)]).grid([["x[0]", "x[1]", "x[2]"]], title="内存", note="one sector")
    right = Picture().grid([["", "1"], ["2", ""]], rows=["r0", "r1"], columns=["c0", "c1"])
    picture = Picture().side_by_side(left, right)
    picture.bars([("naive", 10, "10 GB/s"), ("tiled", 40)]).flow(["load", "add"], [0, 1])
    picture.stack([("registers", "1 cycle"), ("HBM", "500 cycles")], [0, 1])
    picture.timeline(
        [("copy", [Span(0, 4, 0, "c0"), Span(4, 8, 1, "c1")]), ("add", [Span(7.99, 8, 2)])], "µs"
    )
    return picture.legend([(0, "sector 0"), (None, "nothing")]).note("the end")


def test_a_picture_is_an_svg_that_can_be_read() -> None:
    tree = ElementTree.fromstring(whole().svg())
    texts = [each.text for each in tree.iter() if each.tag.endswith("text")]
    for word in ("a & b", "threads", "x[2]", "内存", "one sector", "40", "registers", "sector 0", "the end"):
        assert word in texts
    width, height = float(tree.attrib["width"]), float(tree.attrib["height"])
    for each in tree.iter():
        if each.tag.endswith("rect"):
            assert 0 <= float(each.attrib["x"]) <= width - float(each.attrib["width"])
            assert 0 <= float(each.attrib["y"]) <= height - float(each.attrib["height"])
    assert whole().svg() == whole().svg()


def test_a_picture_in_characters() -> None:
    lines = whole().text().splitlines()
    assert lines[0].startswith("a & b")
    assert "│   0│   1    2│" in lines[2]
    assert "↓ 0→2, 2→0" in lines[3]
    assert any(line.startswith("naive ██████████ 10 GB/s") for line in lines)
    assert "[load] → [add]" in lines
    assert "copy c0" + 28 * "a" + "c1" + 28 * "b" in lines
    assert " add " + 59 * "·" + "c" in lines
    assert any(line.split() == ["0", "8", "µs"] for line in lines)
    assert lines[-1] == "the end"
    assert max(map(svg.columns, lines)) <= 78


def test_timelines_may_have_one_scale() -> None:
    short = Picture().timeline([("stream 1", [Span(0, 5, 0)])], "µs", end=10).text()
    assert short.splitlines() == ["stream 1 " + 30 * "a" + 30 * "·", 9 * " " + "0" + 54 * " " + "10 µs"]
    long_label = Picture().timeline([("a label of some length " * 2, [Span(0, 5, None)])], "µs").text()
    assert max(map(svg.columns, long_label.splitlines())) <= 78


def test_what_is_too_wide_is_cut_between_groups() -> None:
    cells, groups = [range(32)], [[each // 8 for each in range(32)]]
    picture = Picture().grid(cells, groups, title="lane").links([(each, each) for each in range(32)])
    picture.grid(cells, groups, title="x[i]").legend([(each, f"sector {each}") for each in range(4)])
    lines = picture.text().splitlines()
    rows = [line for line in lines if line.startswith("│")]
    assert [row.count("│") for row in rows] == [3] * 8  # two halves, of two groups each
    assert rows[1].replace("│", "").split() == ["a"] * 8 + ["b"] * 8
    assert sum("↓" in line for line in lines) == 2
    assert max(map(svg.columns, lines)) <= 78
    assert lines[-1] == "a: sector 0   b: sector 1   c: sector 2   d: sector 3"


def test_words_boxes_and_legends_are_wrapped() -> None:
    long = "a word and another " * 10
    picture = Picture().note(long).note("很长的一句话，" * 20).flow([f"step {each}" for each in range(12)])
    picture.stack([("top", long), ("bottom", "short")])
    picture.legend([(each, f"a group of some length, number {each}") for each in range(6)])
    text = picture.text()
    assert max(map(svg.columns, text.splitlines())) <= 78
    assert " ".join(text.split()).count("a word and another") == 20
    assert "很长的一句话，" * 20 in text.replace("\n", "")
    assert all(f"[step {each}]" in text for each in range(12))
    assert all(f"{chr(97 + each)}: a group" in text for each in range(6))


@pytest.mark.parametrize("file", sorted(COURSE.glob("units/*/figures/*.txt")), ids=lambda file: file.stem)
def test_every_figure_fits_into_80_columns_and_needs_no_colour(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert max(map(svg.columns, text.splitlines())) <= 78  # two are the margin of a block of code
    assert "▪" not in text  # the same mark for everything


@pytest.mark.parametrize(
    "file", sorted(COURSE.glob("units/*/lesson.*.md")), ids=lambda file: file.parent.name
)
def test_no_caption_speaks_of_colour(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    for caption in re.findall(r"^\{\{figure .+\}\}\n(.+)$", text, re.MULTILINE):
        assert not re.search(r"[Cc]olour|颜色|有色", caption)


def test_links_stand_between_grids() -> None:
    with pytest.raises(ValueError, match="between two grids"):
        Picture().links([(0, 0)]).text()
