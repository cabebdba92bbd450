"""Pictures: cells and their colours, and the SVG on light and dark pages."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from flashpath.layout import Layout, mma_atom, parse_layout, zipped_product
from flashpath.layout.picture import Cell, atom_panels, block_panel, index_panel, tile_panel
from flashpath.layout.svg import COLOURS, DARK, EMPTY, LIGHT, ON_CELL, draw, fill
from flashpath.messages import speaking


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_letters_can_be_read_on_every_page_and_cell() -> None:
    assert contrast(LIGHT["ink"], LIGHT["page"]) > 7
    assert contrast(DARK["ink"], DARK["page"]) > 7
    for hue in range(len(COLOURS)):
        for value in range(64):
            assert contrast(ON_CELL, fill(Cell("", hue, value))) > 7
    assert contrast(ON_CELL, EMPTY) > 7


def test_colours_change_every_16_bytes() -> None:
    panel = index_panel(parse_layout("(8,64):(64,1)"), 16)
    assert [cell.hue for cell in panel.cells[3]] == [column // 8 for column in range(64)]
    swizzled = index_panel(parse_layout("Sw<3,3,3> o 0 o (8,64):(64,1)"), 16)
    for column in range(64):
        assert sorted(row[column].hue for row in swizzled.cells) == list(range(8))
    assert [cell.label for cell in swizzled.cells[1][:2]] == ["72", "73"]


def test_tiles_have_colours_and_letters() -> None:
    panel = tile_panel(Layout((4, 4)), (2, 2))
    assert ["".join(cell.mark for cell in row) for row in panel.cells] == ["aacc", "aacc", "bbdd", "bbdd"]
    many = tile_panel(Layout(64), 2)
    assert many.cells[0][-1].mark == "af"


def test_blocks_of_a_product() -> None:
    block, tiler = Layout((2, 2)), Layout((1, 2))
    panel = block_panel(Layout((2, (2, 2)), (1, (2, 4))), block, zipped_product(block, tiler)[1])
    assert ["".join(cell.mark for cell in row) for row in panel.cells] == ["aabb", "aabb"]


def test_panels_of_an_instruction() -> None:
    a, b, c = atom_panels(mma_atom("SM80_16x8x16_F32F16F16F32_TN"))
    assert (len(a.cells), len(a.cells[0]), a.row_name, a.column_name) == (16, 16, "m", "k")
    assert (len(b.cells), len(b.cells[0]), b.row_name, b.column_name) == (16, 8, "k", "n")
    assert c.count == 128
    assert a.cells[8][9].label == "T0V7"
    assert b.cells[9][1].label == "T4V3"
    assert len(atom_panels(mma_atom("SM90_64x64x16_F32F16F16_SS"))) == 1


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_drawing_is_a_document_that_follows_the_page(lang: str) -> None:
    with speaking(lang):
        text = draw(atom_panels(mma_atom("SM70_8x8x4_F32F16F16F32_NT")), ["a < b"], ["banks  &"])
    document = ElementTree.fromstring(text)
    assert "prefers-color-scheme:dark" in text
    labels = [element.text for element in document.iter("{http://www.w3.org/2000/svg}text")]
    assert labels[0] == "a < b"
    assert labels[-1] == "banks  &"
    assert "T19V7" in labels
    width = float(document.attrib["width"])
    for element in document.iter("{http://www.w3.org/2000/svg}rect"):
        assert float(element.attrib.get("x", "0")) + float(element.attrib["width"]) <= width
