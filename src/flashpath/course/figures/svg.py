"""SVG as text: a few shapes in colours that can be read on a white page and on a dark one."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from xml.sax.saxutils import escape

FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'Noto Sans Mono CJK SC', monospace"
SIZE = 13  # of letters
LETTER = 7.8  # how wide one is
INK = "#6b7683"  # text and lines on the page itself
DARK = "#1b1f24"  # text on a coloured cell
# Light enough for dark text, dark enough for a white page.
GROUPS = ("#9ecae9", "#ffbf79", "#a5d8a1", "#eba0ac", "#cbb4e0", "#f2d35e", "#8fd3d1", "#d9c3a5")
PLAIN = "#ccd2d9"  # of no group


def colour(group: int | None) -> str:
    return PLAIN if group is None or group < 0 else GROUPS[group % len(GROUPS)]


def columns(text: str) -> int:
    """How many columns of a terminal a text takes: a Chinese character takes two."""
    return sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text)


def text_width(text: str) -> float:
    return columns(text) * LETTER


def rectangle(x: float, y: float, width: float, height: float, fill: str, *, stroke: str = "none") -> str:
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="2" fill="{fill}" '
        f'stroke="{stroke}"/>'
    )


def words(
    x: float, y: float, text: str, *, anchor: str = "start", fill: str = INK, bold: bool = False
) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{fill}"{weight}>{escape(text)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, *, arrow: bool = False, stroke: str = INK) -> str:
    end = ' marker-end="url(#arrow)"' if arrow else ""
    return (
        f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{stroke}" stroke-width="1.2"{end}/>'
    )


def document(width: float, height: float, shapes: Sequence[str]) -> str:
    """A whole file; the background is the page's own."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" font-family="{FONT}" font-size="{SIZE}">'
    )
    marker = (
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        f'orient="auto"><path d="M0 0L8 4L0 8z" fill="{INK}"/></marker></defs>'
    )
    return "\n".join((head, marker, *shapes, "</svg>\n"))
