"""Panels of a layout in the terminal: coloured cells within its width, and what the banks do."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from flashpath.layout.svg import ON_CELL, fill
from flashpath.messages import say

if TYPE_CHECKING:
    from rich.console import Console

    from flashpath.cli.layout import Drawing
    from flashpath.layout.banks import BankAccess
    from flashpath.layout.picture import Cell, Panel

_RULER = "0       8       16      24    31"
_MOST_LINES = 100  # of a panel; a larger one is cut in the middle
_MOST_ROWS = 40
_PLAIN = str.maketrans({"·": ".", "…": "...", "×": "x", "–": "-"})


def show(out: Console, drawing: Drawing, everything: bool) -> None:
    """Prints the lines above, the panels and the banks."""
    width = out.width if out.is_terminal else None
    printed = _Printer(out)
    for number, line in enumerate(drawing.heading):
        printed.line(Text(line, "bold" if number == 0 else ""))
    for panel in drawing.panels:
        printed.line(Text())
        printed.line(panel.title.text())
        for line in _panel(panel, width, everything, coloured=out.color_system is not None):
            printed.line(line, wraps=False)
    if drawing.banks:
        printed.line(Text())
        for line in bank_lines(drawing.banks):
            printed.line(line)


class _Printer:
    """Prints lines in the characters that the output has."""

    def __init__(self, out: Console) -> None:
        self._out = out
        try:
            "·…×–".encode(sys.stdout.encoding or "utf-8")
            self._is_plain = False
        except (UnicodeEncodeError, LookupError):
            self._is_plain = True

    def line(self, line: Text | str, *, wraps: bool = True) -> None:
        text = Text(line) if isinstance(line, str) else line
        if self._is_plain:
            text.plain = text.plain.translate(_PLAIN)
        self._out.print(text, soft_wrap=not (wraps and self._out.is_terminal))


def bank_lines(accesses: Sequence[BankAccess]) -> list[str]:
    """Says for each order of reading how many words each bank gives to the worst request."""
    if not accesses:
        return []
    names = {
        "columns": say("cli.layout-by-columns"),
        "rows": say("cli.layout-by-rows"),
        "matrices": "ldmatrix",
    }
    label = max(cell_len(name) for name in ("bank", *names.values()))
    lines = [say("cli.layout-bank-title"), f"{'bank':<{label}}  {_RULER}"]
    for access in accesses:
        name = names[access.order]
        counts = "".join("·" if count == 0 else str(count) if count < 10 else "+" for count in access.worst)
        if access.conflicts:
            verdict = say("cli.layout-conflicts", ways=access.ways, passes=access.passes, least=access.least)
        else:
            verdict = say("cli.layout-no-conflicts", passes=access.passes)
        lines.append(f"{name}{' ' * (label - cell_len(name))}  {counts}  {verdict}")
    return lines


# ---- Grids -----------------------------------------------------------------------------------------------


def _panel(panel: Panel, width: int | None, everything: bool, coloured: bool) -> Iterator[Text]:
    """Yields the lines of a grid: whole where it fits, else in pieces, else cut in the middle."""
    labels = [[cell.label if coloured else cell.label + cell.mark for cell in row] for row in panel.cells]
    rows, columns = len(labels), len(labels[0])
    side = len(f"{panel.row_name}{rows - 1}")
    wide = max(len(label) for row in labels for label in row)
    wide = max(wide, len(f"{panel.column_name}{columns - 1}")) + 1
    fit = columns if width is None else max(1, (width - side) // wide)
    pieces = -(-columns // fit)
    row_numbers: list[int | None] = list(range(rows))
    column_numbers: list[int | None] = list(range(columns))
    if not everything and width is not None:
        if pieces * (rows + 2) > _MOST_LINES and columns > fit:
            column_numbers = [*range(max(1, fit - 3)), None, columns - 1]
        if rows > _MOST_ROWS:
            row_numbers = [*range(_MOST_ROWS - 2), None, rows - 1]
    per_piece = -(-len(column_numbers) // -(-len(column_numbers) // fit))  # pieces of the same width
    for first in range(0, len(column_numbers), per_piece):
        if first:
            yield Text()
        piece = column_numbers[first : first + per_piece]
        names = "".join(
            "…".rjust(wide) if at is None else f"{panel.column_name}{at}".rjust(wide) for at in piece
        )
        yield Text(" " * side + names, "dim")
        for row in row_numbers:
            if row is None:
                yield Text("…".rjust(side) + "…".rjust(wide) * len(piece), "dim")
                continue
            name = f"{panel.row_name}{row}".rjust(side)
            yield _row(
                name,
                [None if at is None else (panel.cells[row][at], labels[row][at]) for at in piece],
                wide,
                coloured,
            )
    if None in row_numbers or None in column_numbers:
        yield Text(say("cli.layout-cut", rows=rows, columns=columns), "dim")


def _row(name: str, cells: Sequence[tuple[Cell, str] | None], wide: int, coloured: bool) -> Text:
    """Draws one row; a run of cells of one colour is one piece of text."""
    parts: list[tuple[str, str]] = [(name, "dim")]
    for found in cells:
        if found is None:
            parts.append(("…".rjust(wide), "dim"))
            continue
        cell, label = found
        if not coloured:
            parts.append((label.rjust(wide), ""))
            continue
        style = f"{ON_CELL} on {fill(cell)}"
        if parts[-1][1] == style:
            parts[-1] = parts[-1][0] + label.rjust(wide), style
        else:
            parts.append((label.rjust(wide), style))
    return Text.assemble(*parts)
