"""Pictures of layouts as data: panels of cells with a label and a colour, drawn elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flashpath.layout.algebra import Tiler
from flashpath.layout.banks import bank, rows_of
from flashpath.layout.layout import Layout
from flashpath.layout.mma_atoms import MmaAtom
from flashpath.layout.swizzle import AnyLayout
from flashpath.layout.thread_value import Owner, ThreadValue
from flashpath.layout.tiling import zipped_divide
from flashpath.messages import Message, told

HUES = 8
_BANKS_OF_A_HUE = 4  # 16 bytes, what one thread moves at most


@dataclass(frozen=True)
class Cell:
    """One element: what is written on it, its colour, how strong that is, and a mark where there are none."""

    label: str
    hue: int
    shade: int = 0
    mark: str = ""


@dataclass(frozen=True)
class Panel:
    """A grid of cells under a title; rows and columns count from 0, after the names of their modes."""

    title: Message
    cells: list[list[Cell]]
    row_name: str = ""
    column_name: str = ""

    @property
    def count(self) -> int:
        """The number of cells."""
        return len(self.cells) * len(self.cells[0])


def index_panel(layout: AnyLayout, bits: int, shows_banks: bool = False) -> Panel:
    """Draws the index, or the bank, of every coordinate; the colours change every four banks (16 bytes)."""
    cells = [
        [
            Cell(str(bank(index, bits) if shows_banks else index), bank(index, bits) // _BANKS_OF_A_HUE)
            for index in row
        ]
        for row in rows_of(layout)
    ]
    if shows_banks:
        return Panel(told("layout.panel-banks", bits=bits), cells)
    return Panel(told("layout.panel-indices", bits=bits), cells)


def tile_panel(layout: AnyLayout, tiler: Tiler) -> Panel:
    """Draws a layout before it is divided, each element in the colour of its tile."""
    inner = layout if isinstance(layout, Layout) else layout.inner
    divided = zipped_divide(Layout(inner.shape), tiler)  # from (tile, rest) to the coordinate's number
    in_tile = divided[0].size
    tiles = {coordinate: number // in_tile for number, coordinate in enumerate(divided.indices())}
    grid, numbers = rows_of(layout), rows_of(Layout(inner.shape))
    cells = [
        [_tile_cell(index, tiles.get(number, 0)) for index, number in zip(row, row_numbers, strict=True)]
        for row, row_numbers in zip(grid, numbers, strict=True)
    ]
    return Panel(told("layout.panel-tiles", layout=str(layout), count=divided[1].size), cells)


def block_panel(product: AnyLayout, block: AnyLayout, repeats: Layout) -> Panel:
    """Draws a product, each element in the colour of its repetition of the block."""
    repetition = {
        index + start: number
        for number, start in enumerate(repeats.indices())
        for index in (block if isinstance(block, Layout) else block.inner).indices()
    }
    inner = product if isinstance(product, Layout) else product.inner
    grid, plain = rows_of(product), rows_of(inner)
    cells = [
        [
            _tile_cell(index, repetition.get(unswizzled, 0))
            for index, unswizzled in zip(row, plain_row, strict=True)
        ]
        for row, plain_row in zip(grid, plain, strict=True)
    ]
    return Panel(told("layout.panel-blocks", count=repeats.size), cells)


def _tile_cell(index: int, tile: int) -> Cell:
    return Cell(str(index), tile % HUES, mark=_letters(tile))


def _letters(number: int) -> str:
    """Names 0, 1, … as a, b, … z, aa, ab, …"""
    rest, letter = divmod(number, 26)
    return (_letters(rest - 1) if rest else "") + chr(ord("a") + letter)


# ---- Threads and values --------------------------------------------------------------------------------


def owner_panel(held: ThreadValue, title: Message, row_name: str = "", column_name: str = "") -> Panel:
    """Draws which thread holds which element; the colour is the thread's, its strength the value's."""
    cells = [[_owner_cell(owners) for owners in row] for row in held.owners()]
    return Panel(title, cells, row_name, column_name)


def atom_panels(atom: MmaAtom, operands: Sequence[str] = ("A", "B", "C")) -> list[Panel]:
    """Draws the matrices that threads hold: A (M,K), B as it multiplies (K,N), and C (M,N)."""
    panels: list[Panel] = []
    for name in operands:
        held = atom.operands[name]
        if held is None:
            continue
        axes = {"A": ("m", "k"), "B": ("n", "k"), "C": ("m", "n")}[name]
        kind = atom.types["DABC".index(name)]
        panel = owner_panel(held, told("layout.panel-operand", name=name, type=kind, layout=str(held.layout)))
        cells = panel.cells if name != "B" else [list(column) for column in zip(*panel.cells, strict=True)]
        rows, columns = axes if name != "B" else axes[::-1]
        panels.append(Panel(panel.title, cells, rows, columns))
    return panels


def _owner_cell(owners: Sequence[Owner]) -> Cell:
    if not owners:
        return Cell("-", -1)
    thread, value = owners[0]
    more = "+" if len(owners) > 1 else ""  # several threads hold it
    return Cell(f"T{thread}V{value}{more}", thread % HUES, value)
