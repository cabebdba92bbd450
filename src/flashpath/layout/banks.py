"""Banks of shared memory: how often a warp has to go over them to reach its elements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from flashpath.layout.swizzle import AnyLayout

BANKS = 32
WORD = 32  # bits of a bank's word
_ROW = 128  # bits of a row of `ldmatrix`


@dataclass(frozen=True)
class BankAccess:
    """How a layout in shared memory meets the banks when a tile is read in one order.

    `order` is "columns" or "rows" (32 neighbouring threads read 32 elements that follow each other down the
    columns, or along the rows), or "matrices" (`ldmatrix`: eight rows of 16 bytes at a time).
    """

    order: str
    requests: int
    """How many times a warp, or a matrix of ldmatrix, asks."""
    passes: int
    """How many times the banks are gone over for all of them."""
    least: int
    """How many times would do if no two words shared a bank."""
    worst: tuple[int, ...]
    """How many words each bank has to give in the request with the most passes."""

    @property
    def conflicts(self) -> int:
        """The passes that another layout would spare."""
        return self.passes - self.least

    @property
    def ways(self) -> int:
        """The most words that one bank has to give for one request."""
        return max(self.worst)


def bank(index: int, bits: int) -> int:
    """Returns the bank that an element of so many bits lies in, or begins in."""
    return index * bits // WORD % BANKS


def bank_accesses(layout: AnyLayout, bits: int) -> list[BankAccess]:
    """Returns what reading the tile costs, by columns, by rows and, where rows allow it, by ldmatrix."""
    grid = rows_of(layout)
    by_column = [index for column in zip(*grid, strict=True) for index in column]
    by_row = [index for row in grid for index in row]
    found = [_access("columns", _warps(by_column, bits))] if len(grid) > 1 else []
    if len(grid[0]) > 1:
        found.append(_access("rows", _warps(by_row, bits)))
    matrices = list(_matrices(grid, bits)) or list(_matrices(list(zip(*grid, strict=True)), bits))
    return [*found, _access("matrices", iter(matrices))] if matrices else found


def rows_of(layout: AnyLayout) -> list[list[int]]:
    """Returns the indices as a grid: mode 0 counts rows, all others columns; one mode alone is a row."""
    indices = layout.indices()
    rows = layout[0].size if layout.rank > 1 else 1
    return [indices[row::rows] for row in range(rows)]


def _warps(indices: Sequence[int], bits: int) -> Iterator[list[set[int]]]:
    """Yields for each warp the sets of words that are asked for at once: 128 bytes, of 32 bits or less all.

    Two such parts go as one where each lane's element is also its neighbour's, or its next but one's.
    """
    for first in range(0, len(indices), BANKS):
        warp = indices[first : first + BANKS]
        lanes = BANKS * WORD // max(bits, WORD)
        if bits > WORD and any(_is_paired(warp, distance) for distance in (1, 2)):
            lanes *= 2
        yield [
            {word for index in warp[lane : lane + lanes] for word in _words(index, bits)}
            for lane in range(0, len(warp), lanes)
        ]


def _is_paired(warp: Sequence[int], distance: int) -> bool:
    """Whether each lane has the element of the lane whose number differs in that bit."""
    partners = ((lane, lane ^ distance) for lane in range(len(warp)))
    return all(other >= len(warp) or warp[lane] == warp[other] for lane, other in partners)


def _words(index: int, bits: int) -> range:
    return range(index * bits // WORD, -(-(index + 1) * bits // WORD))


def _matrices(grid: Sequence[Sequence[int]], bits: int) -> Iterator[list[set[int]]]:
    """Yields the words of each matrix of eight rows of 16 bytes; nothing where a row is not in one piece."""
    wide = _ROW // bits
    if len(grid) % 8 or len(grid[0]) % wide:
        return
    starts = range(0, len(grid[0]), wide)
    for row in grid:
        for start in starts:
            if row[start] * bits % _ROW or any(
                row[start + step] != row[start] + step for step in range(1, wide)
            ):
                return
    for first in range(0, len(grid), 8):
        for start in starts:
            words: set[int] = set()
            for row in grid[first : first + 8]:
                word = row[start] * bits // WORD
                words.update(range(word, word + _ROW // WORD))
            yield [words]


def _access(order: str, requests: Iterator[list[set[int]]]) -> BankAccess:
    count = passes = least = 0
    worst: list[int] = [0] * BANKS
    for request in requests:
        count += 1
        for words in request:
            load = [0] * BANKS
            for word in words:
                load[word % BANKS] += 1
            passes += max(load)
            least += 1
            if max(load) > max(worst):
                worst = load
    return BankAccess(order, count, passes, least, tuple(worst))
