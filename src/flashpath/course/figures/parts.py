"""The parts of a picture: what each looks like as SVG shapes, and in characters."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from flashpath.course.figures import svg

Group = int | None  # a colour: numbers from 0, None for none

WIDE = 78  # columns that a terminal of 80 has for a picture

_ROW = 26.0
_LINE = 20.0
_LINKS = 44.0


class Part(ABC):
    """One part of a picture: its size and shapes, its lines of characters."""

    @abstractmethod
    def size(self) -> tuple[float, float]: ...

    @abstractmethod
    def shapes(self, x: float, y: float) -> list[str]: ...

    @abstractmethod
    def lines(self) -> list[str]: ...


# ---- Words ---------------------------------------------------------------------------------------------


@dataclass
class Words(Part):
    text: str
    bold: bool = False

    def size(self) -> tuple[float, float]:
        return svg.text_width(self.text) * (1.08 if self.bold else 1), _LINE + 4

    def shapes(self, x: float, y: float) -> list[str]:
        return [svg.words(x, y + 14, self.text, bold=self.bold)]

    def lines(self) -> list[str]:
        return wrapped(self.text, WIDE)


@dataclass
class Legend(Part):
    entries: list[tuple[Group, str]]

    def size(self) -> tuple[float, float]:
        return sum(svg.text_width(text) + 40 for _, text in self.entries), _LINE

    def shapes(self, x: float, y: float) -> list[str]:
        found: list[str] = []
        for group, text in self.entries:
            found.append(svg.rectangle(x, y + 3, 14, 14, svg.colour(group)))
            found.append(svg.words(x + 20, y + 14, text))
            x += svg.text_width(text) + 40
        return found

    def lines(self) -> list[str]:
        found = [""]
        for entry in (f"{glyph(group)}: {text}" for group, text in self.entries):
            longer = f"{found[-1]}   {entry}" if found[-1] else entry
            found = [*found[:-1], longer] if svg.columns(longer) <= WIDE else [*found, entry]
        return found


# ---- Cells ---------------------------------------------------------------------------------------------


@dataclass
class Grid(Part):
    cells: list[list[str]]
    groups: list[list[Group]]
    title: str
    row_labels: list[str]
    column_labels: list[str]
    note: str
    least_columns: int = 1  # of a cell: as wide as those of a grid that arrows join it to
    least_label_width: float = 0
    is_joined_from_above: bool = False  # its title stands under it, out of the arrows' way
    has_legend: bool = (
        False  # in characters each cell then has the glyph of its group: nothing hangs on colour
    )

    @property
    def columns(self) -> int:
        """Returns the columns of a terminal for one cell."""
        every = [*self.column_labels, *(each for row in self.cells for each in row)]
        return max(self.least_columns, *(svg.columns(each) for each in every))

    @property
    def cell_width(self) -> float:
        return max(22.0, self.columns * svg.LETTER + 10)

    @property
    def label_width(self) -> float:
        return max(self.least_label_width, *(svg.text_width(each) + 10 for each in self.row_labels), 0)

    @property
    def top(self) -> float:
        """The height of what stands above the cells."""
        return _LINE * (bool(self.title and not self.is_joined_from_above) + bool(self.column_labels))

    def size(self) -> tuple[float, float]:
        across = max((len(row) for row in self.cells), default=0) * self.cell_width
        note = svg.text_width(self.note) + 12 if self.note else 0
        width = max(self.label_width + across + note, svg.text_width(self.title))
        under = _LINE if self.title and self.is_joined_from_above else 0
        return width, self.top + _ROW * len(self.cells) + under

    def centre(self, number: int) -> float:
        """Where a cell of a row lies, from the left of the part."""
        return self.label_width + (number + 0.5) * self.cell_width

    def shapes(self, x: float, y: float) -> list[str]:
        title = y + 13 + (_ROW * len(self.cells) + self.top + 2 if self.is_joined_from_above else 0)
        found: list[str] = [svg.words(x, title, self.title, bold=True)] if self.title else []
        for number, label in enumerate(self.column_labels):
            found.append(svg.words(x + self.centre(number), y + self.top - 6, label, anchor="middle"))
        for number, (row, groups) in enumerate(zip(self.cells, self.groups, strict=True)):
            below = y + self.top + number * _ROW
            if number < len(self.row_labels):
                found.append(
                    svg.words(x + self.label_width - 8, below + 17, self.row_labels[number], anchor="end")
                )
            for place, (cell, group) in enumerate(zip(row, groups, strict=True)):
                left = x + self.label_width + place * self.cell_width
                found.append(
                    svg.rectangle(left + 1, below + 1, self.cell_width - 2, _ROW - 2, svg.colour(group))
                )
                if cell:
                    middle = left + self.cell_width / 2
                    found.append(svg.words(middle, below + 17, cell, anchor="middle", fill=svg.DARK))
        if self.note:
            right = x + self.label_width + len(self.cells[0]) * self.cell_width + 12
            found.append(svg.words(right, y + self.top + 17, self.note))
        return found

    # In characters.

    @property
    def _has_one_grouping(self) -> bool:
        """All rows are grouped alike: a line of glyphs under them does for all."""
        return all(row == self.groups[0] for row in self.groups)

    @property
    def text_columns(self) -> int:
        return self.columns + (self.has_legend and not self._has_one_grouping)

    @property
    def margin(self) -> int:
        return max((svg.columns(each) for each in self.row_labels), default=-1) + 1

    def pieces(self) -> list[tuple[int, int]]:
        """The columns to draw together: all where they fit, else parts that are cut between groups."""
        count = max((len(row) for row in self.cells), default=0)
        fitting = max(1, (WIDE - self.margin - 1) // (self.text_columns + 1))
        found: list[tuple[int, int]] = []
        start = 0
        while count - start > fitting:
            left = count - start
            even = start + -(-left // -(-left // fitting))
            borders = [
                place
                for place in range(start + 1, start + fitting + 1)
                if all(row[place - 1] != row[place] for row in self.groups if place < len(row))
            ]
            stop = min(borders, key=lambda each: (abs(each - even), -each), default=even)
            found.append((start, stop))
            start = stop
        return [*found, (start, count)]

    def lines(self) -> list[str]:
        pieces = [self.piece(*each) for each in self.pieces()]
        return [line for number, piece in enumerate(pieces) for line in ([""] if number else []) + piece]

    def piece(self, first: int, last: int) -> list[str]:
        """Some of its columns."""
        wide, margin = self.text_columns, self.margin
        found = [self.title] if self.title and not self.is_joined_from_above else []
        if self.column_labels:
            shown = " ".join(_padded(each, wide) for each in self.column_labels[first:last])
            found.append(" " * margin + " " + shown)
        for number, row in enumerate(self.cells):
            label = self.row_labels[number] if number < len(self.row_labels) else ""
            cells = [each or "·" for each in row[first:last]]
            groups = self.groups[number][first:last]
            if self.has_legend and not self._has_one_grouping:
                marked = zip(cells, groups, strict=True)
                cells = [each if each == "·" else each + glyph(group) for each, group in marked]
            text = self._row(label, cells, groups)
            found.append(text + (f"  {self.note}" if self.note and number == 0 else ""))
        if self.has_legend and self._has_one_grouping:
            groups = self.groups[0][first:last]
            found.append(self._row("", [glyph(each) for each in groups], groups))
        return [*found, self.title] if self.title and self.is_joined_from_above else found

    def _row(self, label: str, cells: Sequence[str], groups: Sequence[Group]) -> str:
        text = _padded(label, self.margin - 1) + " " if self.margin else ""
        for place, cell in enumerate(cells):
            starts = place == 0 or groups[place] != groups[place - 1]
            text += ("│" if starts else " ") + _padded(cell, self.text_columns)
        return text + "│"


@dataclass
class Links(Part):
    pairs: list[tuple[int, int]]
    above: Grid | None = None
    below: Grid | None = None

    def join(self, before: Sequence[Part], after: Sequence[Part]) -> None:
        first, last = before[0] if before else None, after[0] if after else None
        if not isinstance(first, Grid) or not isinstance(last, Grid):
            raise ValueError("links stand between two grids")
        self.above, self.below = first, last
        last.is_joined_from_above = True
        first.least_columns = last.least_columns = max(first.columns, last.columns)
        first.least_label_width = last.least_label_width = max(first.label_width, last.label_width)

    def size(self) -> tuple[float, float]:
        return 0, _LINKS

    def shapes(self, x: float, y: float) -> list[str]:
        if self.above is None or self.below is None:
            return []
        return [
            svg.line(x + self.above.centre(a), y + 2, x + self.below.centre(b), y + _LINKS - 4, arrow=True)
            for a, b in self.pairs
        ]

    @property
    def is_straight(self) -> bool:
        """Each cell is joined to the one under it."""
        return all(a == b for a, b in self.pairs)

    def lines(self) -> list[str]:
        if self.above is not None and self.is_straight:
            return self.piece(0, len(self.above.cells[-1]))
        shown = ", ".join(f"{a}→{b}" for a, b in self.pairs[:10])
        return [f"  ↓ {shown}{', …' if len(self.pairs) > 10 else ''}"]

    def piece(self, first: int, last: int) -> list[str]:
        """The straight ones from some of the columns."""
        assert self.above is not None
        joined = {a for a, _ in self.pairs}
        cells = ("↓" if number in joined else "" for number in range(first, last))
        arrows = "".join(" " + _padded(each, self.above.text_columns) for each in cells)
        return [" " * self.above.margin + arrows]


# ---- Boxes and bars ------------------------------------------------------------------------------------


@dataclass
class Bars(Part):
    values: list[tuple[str, float, str]]
    _FULL = 320.0
    _COLUMNS = 40

    def _labels(self) -> float:
        return max(svg.text_width(label) for label, _, _ in self.values) + 12

    def _most(self) -> float:
        return max((value for _, value, _ in self.values), default=0) or 1

    def size(self) -> tuple[float, float]:
        after = max(svg.text_width(text) for _, _, text in self.values) + 12
        return self._labels() + self._FULL + after, _ROW * len(self.values)

    def shapes(self, x: float, y: float) -> list[str]:
        found: list[str] = []
        for label, value, text in self.values:
            length = max(1.0, round(self._FULL * value / self._most(), 1))
            start = x + self._labels()
            found.append(svg.words(start - 8, y + 17, label, anchor="end"))
            found.append(svg.rectangle(start, y + 4, length, _ROW - 8, svg.colour(0)))
            found.append(svg.words(start + length + 8, y + 17, text))
            y += _ROW
        return found

    def lines(self) -> list[str]:
        wide = max(svg.columns(label) for label, _, _ in self.values)
        return [
            f"{_padded(label, wide)} {'█' * max(1, round(self._COLUMNS * value / self._most()))} {text}"
            for label, value, text in self.values
        ]


@dataclass(frozen=True)
class Span:
    """Something that lasts: from when to when, its colour, what stands in it."""

    begin: float
    end: float
    group: Group = None
    text: str = ""


@dataclass
class Timeline(Part):
    """What runs when: a row for each stream or engine, all on one scale from 0 to `end`."""

    rows: list[tuple[str, list[Span]]]
    end: float
    unit: str
    _FULL = 480.0
    _COLUMNS = 60

    def _labels(self) -> float:
        return max(svg.text_width(label) for label, _ in self.rows) + 12

    def _shown_end(self) -> str:
        return f"{self.end:.3g} {self.unit}"

    def size(self) -> tuple[float, float]:
        return self._labels() + self._FULL + svg.text_width(self._shown_end()) / 2, _ROW * len(
            self.rows
        ) + _LINE

    def shapes(self, x: float, y: float) -> list[str]:
        found: list[str] = []
        start = x + self._labels()
        for label, spans in self.rows:
            found.append(svg.words(start - 8, y + 17, label, anchor="end"))
            for span in spans:
                left = round(start + self._FULL * span.begin / self.end, 2)
                width = max(1.0, round(self._FULL * (span.end - span.begin) / self.end, 2))
                left = min(left, round(start + self._FULL - width, 2))
                colour = svg.colour(span.group)
                found.append(svg.rectangle(left, y + 3, max(1.0, width - 1), _ROW - 6, colour))
                if span.text and svg.text_width(span.text) <= width - 4:
                    found.append(
                        svg.words(left + width / 2, y + 17, span.text, anchor="middle", fill=svg.DARK)
                    )
            y += _ROW
        found.append(svg.line(start, y + 1, start + self._FULL, y + 1))
        found.append(svg.words(start, y + 15, "0", anchor="middle"))
        found.append(svg.words(start + self._FULL, y + 15, self._shown_end(), anchor="middle"))
        return found

    def lines(self) -> list[str]:
        wide = max(svg.columns(label) for label, _ in self.rows)
        room = min(self._COLUMNS, WIDE - wide - 1)
        found: list[str] = []
        for label, spans in self.rows:
            cells = ["·"] * room
            for span in spans:
                first = min(round(room * span.begin / self.end), room - 1)
                last = min(max(first + 1, round(room * span.end / self.end)), room)
                text = span.text if span.text.isascii() else ""
                shown = (text + glyph(span.group) * room)[: last - first]
                cells[first:last] = shown
            found.append(f"{_padded(label, wide)} {''.join(cells)}")
        shown_end = self._shown_end()
        scale = "0" + " " * (room - 1 - svg.columns(shown_end)) + shown_end
        return [*found, f"{' ' * wide} {scale}"]


@dataclass
class Flow(Part):
    steps: list[str]
    groups: list[Group]
    _ARROW = 30.0

    def size(self) -> tuple[float, float]:
        boxes = sum(svg.text_width(each) + 20 for each in self.steps)
        return boxes + self._ARROW * (len(self.steps) - 1), 32

    def shapes(self, x: float, y: float) -> list[str]:
        found: list[str] = []
        for number, (step, group) in enumerate(zip(self.steps, self.groups, strict=True)):
            width = svg.text_width(step) + 20
            if number:
                found.append(svg.line(x + 4, y + 15, x + self._ARROW - 3, y + 15, arrow=True))
                x += self._ARROW
            found.append(svg.rectangle(x, y + 1, width, 28, svg.colour(group)))
            found.append(svg.words(x + width / 2, y + 20, step, anchor="middle", fill=svg.DARK))
            x += width
        return found

    def lines(self) -> list[str]:
        found = [""]
        for number, step in enumerate(self.steps):
            longer = f"{found[-1]} → [{step}]" if number else f"[{step}]"
            found = [*found[:-1], longer] if svg.columns(longer) <= WIDE else [*found, f"  → [{step}]"]
        return found


@dataclass
class Stack(Part):
    layers: list[tuple[str, str]]
    groups: list[Group]
    _STEP = 50.0

    def _name(self) -> float:
        return max(svg.text_width(name) for name, _ in self.layers) + 30

    def _widest(self) -> float:
        return self._name() + self._STEP * (len(self.layers) - 1)

    def size(self) -> tuple[float, float]:
        said = max(svg.text_width(text) for _, text in self.layers)
        return self._widest() + 16 + said, 34.0 * len(self.layers)

    def shapes(self, x: float, y: float) -> list[str]:
        found: list[str] = []
        widest = self._widest()
        for number, ((name, text), group) in enumerate(zip(self.layers, self.groups, strict=True)):
            width = self._name() + number * self._STEP
            left = x + (widest - width) / 2
            found.append(svg.rectangle(left, y + 2, width, 28, svg.colour(group)))
            found.append(svg.words(x + widest / 2, y + 21, name, anchor="middle", fill=svg.DARK))
            found.append(svg.words(x + widest + 16, y + 21, text))
            y += 34
        return found

    def lines(self) -> list[str]:
        names = max(svg.columns(name) for name, _ in self.layers)
        widest = names + 4 * len(self.layers)
        found: list[str] = []
        for number, (name, text) in enumerate(self.layers):
            inside = names + 4 * number + 2
            left = (widest - inside) // 2
            box = " " * left + "[" + _centred(name, inside - 2) + "]"
            start = widest + 4
            first, *more = wrapped(text, WIDE - start)
            found.append(f"{_padded(box, start, right=False)}{first}")
            found += [" " * start + each for each in more]
        return found


@dataclass
class Beside(Part):
    pictures: Sequence[Part]
    _SPACE = 36.0

    def size(self) -> tuple[float, float]:
        sizes = [each.size() for each in self.pictures]
        return sum(each[0] for each in sizes) + self._SPACE * (len(sizes) - 1), max(each[1] for each in sizes)

    def shapes(self, x: float, y: float) -> list[str]:
        found: list[str] = []
        for each in self.pictures:
            found += each.shapes(x, y)
            x += each.size()[0] + self._SPACE
        return found

    def lines(self) -> list[str]:
        """Beside each other where they fit into a terminal, else one under the other."""
        blocks = [each.lines() for each in self.pictures]
        widths = [max((svg.columns(line) for line in block), default=0) for block in blocks]
        if sum(widths) + 4 * (len(blocks) - 1) > WIDE:
            return [line for number, block in enumerate(blocks) for line in ([""] if number else []) + block]
        height = max(len(block) for block in blocks)
        padded = [block + [""] * (height - len(block)) for block in blocks]
        return [
            "    ".join(_padded(text, width, right=False) for text, width in zip(row, widths, strict=True))
            for row in zip(*padded, strict=True)
        ]


def glyph(group: Group) -> str:
    """What stands for a group in characters: a letter; a dash for none."""
    return "–" if group is None else chr(ord("a") + group)


def wrapped(text: str, columns: int) -> list[str]:
    """Lines of at most so many columns, broken at spaces, and between Chinese characters."""
    found = [""]
    for word in re.findall(
        r"[^\s\u2e80-\uffef]+[，。；：！？、）]*\s*|[\u2e80-\uffef][，。；：！？、）]*\s*|^\s+", text
    ):
        if found[-1] and svg.columns(found[-1] + word.rstrip()) > columns:
            found.append("")
        found[-1] += word
    return [each.rstrip() for each in found]


def _padded(text: str, columns: int, *, right: bool = True) -> str:
    """To so many columns; labels of numbers stand at the right."""
    space = " " * max(0, columns - svg.columns(text))
    return space + text if right else text + space


def _centred(text: str, columns: int) -> str:
    space = max(0, columns - svg.columns(text))
    return " " * (space // 2) + text + " " * (space - space // 2)
