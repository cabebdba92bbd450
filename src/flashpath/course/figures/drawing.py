"""A picture in parts, one under the other, drawn twice: as SVG, and in characters for the terminal.

    picture = Picture()
    picture.grid([range(8)], groups=[[0, 0, 0, 0, 1, 1, 1, 1]], title="threads")
    picture.links([(i, i) for i in range(8)])
    picture.grid([[f"x[{i}]" for i in range(8)]], title="memory")
    return picture.both()

Colours stand for groups: numbers from 0, None for none. In characters a bar stands between two groups, and
letters do for colours where there is a legend. No line is wider than a terminal of 80 columns has room for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from flashpath.course.figures import svg
from flashpath.course.figures.parts import (
    Bars,
    Beside,
    Flow,
    Grid,
    Group,
    Legend,
    Links,
    Part,
    Span,
    Stack,
    Timeline,
    Words,
)

__all__ = ["Figure", "Group", "Picture", "Span"]

Figure = tuple[str, str]  # SVG, and the same in characters

_GAP = 14.0  # between parts
_MARGIN = 10.0


@dataclass
class Picture(Part):
    parts: list[Part] = field(default_factory=list[Part])

    # ---- What there is to draw ---------------------------------------------------------------------

    def heading(self, text: str) -> Picture:
        """A line in bold."""
        return self._with(Words(text, bold=True))

    def note(self, text: str) -> Picture:
        """A line of text."""
        return self._with(Words(text))

    def grid(
        self,
        cells: Sequence[Sequence[object]],
        groups: Sequence[Sequence[Group]] | None = None,
        *,
        title: str = "",
        rows: Sequence[object] = (),
        columns: Sequence[object] = (),
        note: str = "",
    ) -> Picture:
        """Rows of cells, coloured by group; `rows` and `columns` are what stands beside and above them."""
        labels = [[str(each) for each in row] for row in cells]
        colours: list[list[Group]] = [list(row) for row in groups or ([None] * len(row) for row in labels)]
        return self._with(
            Grid(labels, colours, title, [str(each) for each in rows], [str(each) for each in columns], note)
        )

    def links(self, pairs: Sequence[tuple[int, int]]) -> Picture:
        """Arrows from cells of the grid before, by number, to cells of the grid after."""
        return self._with(Links(list(pairs)))

    def bars(self, values: Sequence[tuple[str, float] | tuple[str, float, str]]) -> Picture:
        """A bar for each (label, value) or (label, value, what stands after it)."""
        return self._with(
            Bars(
                [(each[0], float(each[1]), each[2] if len(each) == 3 else f"{each[1]:g}") for each in values]
            )
        )

    def timeline(
        self, rows: Sequence[tuple[str, Sequence[Span]]], unit: str, *, end: float | None = None
    ) -> Picture:
        """What runs when: rows of (label, spans); with `end`, several timelines have one scale."""
        last = max((span.end for _, spans in rows for span in spans), default=1.0)
        return self._with(Timeline([(label, list(spans)) for label, spans in rows], end or last, unit))

    def flow(self, steps: Sequence[str], groups: Sequence[Group] | None = None) -> Picture:
        """Boxes in a line, with an arrow from each to the next."""
        return self._with(Flow(list(steps), list(groups or [None] * len(steps))))

    def stack(self, layers: Sequence[tuple[str, str]], groups: Sequence[Group] | None = None) -> Picture:
        """Boxes one on another, each wider than the one above it: a name, and what is said of it."""
        return self._with(Stack(list(layers), list(groups or [None] * len(layers))))

    def legend(self, entries: Sequence[tuple[Group, str]]) -> Picture:
        """What the colours stand for."""
        return self._with(Legend(list(entries)))

    def side_by_side(self, *pictures: Picture) -> Picture:
        return self._with(Beside(list(pictures)))

    def _with(self, part: Part) -> Picture:
        self.parts.append(part)
        return self

    # ---- Both drawings -----------------------------------------------------------------------------

    def both(self) -> Figure:
        return self.svg(), self.text()

    def svg(self) -> str:
        width, height = self.size()
        return svg.document(width + 2 * _MARGIN, height + 2 * _MARGIN, self.shapes(_MARGIN, _MARGIN))

    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self.lines()) + "\n"

    def size(self) -> tuple[float, float]:
        self._join()
        sizes = [part.size() for part in self.parts]
        height = sum(each[1] + self._gap(number) for number, each in enumerate(sizes))
        return max((each[0] for each in sizes), default=0), height

    def shapes(self, x: float, y: float) -> list[str]:
        self._join()
        found: list[str] = []
        for number, part in enumerate(self.parts):
            found += part.shapes(x, y)
            y += part.size()[1] + self._gap(number)
        return found

    def lines(self) -> list[str]:
        self._join()
        has_legend = any(isinstance(part, Legend) for part in self.parts)
        found: list[str] = []
        rest = list(self.parts)
        before: Part | None = None
        while rest:
            together = _joined_straight(rest)
            part = rest[0]
            for each in rest[:together]:
                if isinstance(each, Grid):
                    each.has_legend = has_legend
            if found and not isinstance(part, Links) and not isinstance(before, (Links, Words)):
                found.append("")
            found += _in_pieces(rest[:together]) if together > 1 else part.lines()
            before, rest = rest[together - 1], rest[together:]
        return found

    def _join(self) -> None:
        """Arrows know the grids that they join, and those have cells of one width."""
        for number, part in enumerate(self.parts):
            if isinstance(part, Links):
                part.join(self.parts[number - 1 : number], self.parts[number + 1 : number + 2])

    def _gap(self, number: int) -> float:
        """After a part: arrows touch the grids that they join."""
        after = self.parts[number : number + 2]
        if len(after) < 2 or any(isinstance(each, Links) for each in after):
            return 0
        return 0 if isinstance(after[0], Words) else _GAP


def _joined_straight(parts: Sequence[Part]) -> int:
    """How many parts, from the first on, are grids that arrows join straight down, with those arrows."""
    count = 1
    while count + 1 < len(parts):
        arrows = parts[count]
        if not isinstance(arrows, Links) or not arrows.is_straight:
            break
        count += 2
    return count


def _in_pieces(parts: Sequence[Part]) -> list[str]:
    """Grids and the arrows between them, cut at the same columns where they are too wide."""
    grids = [each for each in parts if isinstance(each, Grid)]
    found: list[str] = []
    for first, last in max((each.pieces() for each in grids), key=len):
        found += [""] if found else []
        for each in parts:
            if isinstance(each, (Grid, Links)):
                found += each.piece(first, last)
    return found
