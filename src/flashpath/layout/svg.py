"""Panels as one SVG file, which follows the light or dark scheme of whoever looks at it."""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Sequence
from xml.sax.saxutils import escape

from flashpath.layout.picture import HUES, Cell, Panel

LIGHT = {"page": "#ffffff", "ink": "#3a424c"}
DARK = {"page": "#0d1117", "ink": "#c9d1d9"}
ON_CELL = "#14181d"
# Light enough for dark letters on both pages.
COLOURS = ("#9ecae9", "#ffbf79", "#a5d8a1", "#eba0ac", "#cbb4e0", "#f2d35e", "#8fd3d1", "#d9c3a5")
EMPTY = "#ccd2d9"

_FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'Noto Sans Mono CJK SC', monospace"
_SIZE, _LETTER = 12, 7.3
_HEIGHT, _PADDING, _MARGIN, _GAP = 20, 8, 12, 18


def draw(panels: Sequence[Panel], heading: Sequence[str] = (), footing: Sequence[str] = ()) -> str:
    """Returns the text of an SVG file: lines of text, the panels one under the other, and lines below."""
    shapes: list[str] = []
    width, y = 0.0, float(_MARGIN)
    for number, line in enumerate(heading):
        y += _HEIGHT
        shapes.append(_words(_MARGIN, y - 6, line, bold=number == 0))
        width = max(width, _width(line))
    for panel in panels:
        y += _GAP
        drawn, panel_width, y = _panel(panel, y)
        shapes += drawn
        width = max(width, panel_width)
    y += _GAP if footing else 0
    for line in footing:
        y += _HEIGHT
        shapes.append(_words(_MARGIN, y - 6, line))
        width = max(width, _width(line))
    return _document(width + 2 * _MARGIN, y + _MARGIN, shapes)


def _panel(panel: Panel, y: float) -> tuple[list[str], float, float]:
    """Returns the shapes of a panel that begins at that height, its width, and where it ends."""
    title = panel.title.text()
    shapes = [_words(_MARGIN, y + 12, title)]
    wide = max(_width(cell.label) for row in panel.cells for cell in row) + _PADDING
    left = _MARGIN + _width(f"{panel.row_name}{len(panel.cells) - 1}") + _PADDING
    y += 24
    for column in range(len(panel.cells[0])):
        x = left + (column + 0.5) * wide
        shapes.append(_words(x, y + 12, f"{panel.column_name}{column}", anchor="middle"))
    for number, row in enumerate(panel.cells):
        y += _HEIGHT
        shapes.append(_words(left - _PADDING, y + 14, f"{panel.row_name}{number}", anchor="end"))
        for column, cell in enumerate(row):
            shapes += _cell(cell, left + column * wide, y, wide)
    width = max(left + wide * len(panel.cells[0]) - _MARGIN, _width(title))
    return shapes, width, y + _HEIGHT


def _cell(cell: Cell, x: float, y: float, wide: float) -> tuple[str, str]:
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{wide - 1:g}" height="{_HEIGHT - 1}" fill="{fill(cell)}"/>',
        f'<text class="cell" x="{x + (wide - 1) / 2:g}" y="{y + 14:g}">{escape(cell.label)}</text>',
    )


def fill(cell: Cell) -> str:
    """Returns the colour of a cell: its hue, the paler the higher its value is."""
    colour = COLOURS[cell.hue % HUES] if cell.hue >= 0 else EMPTY
    return _faded(colour, min(cell.shade, 7))


@functools.cache
def _faded(colour: str, steps: int) -> str:
    """Mixes a colour with white."""
    parts = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    by = steps / 12
    return "#" + "".join(f"{round(part + (255 - part) * by):02x}" for part in parts)


def _words(x: float, y: float, text: str, *, anchor: str = "start", bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text class="ink" x="{x:g}" y="{y:g}" text-anchor="{anchor}"{weight}>{escape(text)}</text>'


def _width(text: str) -> float:
    return _LETTER * sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def _document(width: float, height: float, shapes: Sequence[str]) -> str:
    style = (
        f".page{{fill:{LIGHT['page']}}}.ink{{fill:{LIGHT['ink']}}}"
        f".cell{{fill:{ON_CELL};text-anchor:middle}}"
        f"@media(prefers-color-scheme:dark){{.page{{fill:{DARK['page']}}}.ink{{fill:{DARK['ink']}}}}}"
    )
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" xml:space="preserve" font-family="{_FONT}" font-size="{_SIZE}">'
    )
    page = f'<rect class="page" width="{width:g}" height="{height:g}"/>'
    return "\n".join((head, f"<style>{style}</style>", page, *shapes, "</svg>\n"))
