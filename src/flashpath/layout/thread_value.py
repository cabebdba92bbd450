"""Thread–value layouts: which thread holds which element of a tile, and as which of its values."""

from __future__ import annotations

from dataclasses import dataclass

from flashpath.layout.algebra import right_inverse
from flashpath.layout.layout import Layout, LayoutError
from flashpath.layout.tiling import raked_product

Owner = tuple[int, int]  # thread, value


@dataclass(frozen=True)
class ThreadValue:
    """A layout (thread, value) → element of a tile, its elements counted down the columns.

    `threads` gives the number within the warp of each thread of the layout, where that differs.
    """

    layout: Layout
    tile: tuple[int, int]
    threads: Layout | None = None

    def __post_init__(self) -> None:
        rows, columns = self.tile
        if self.layout.rank != 2:
            raise LayoutError("layout.not-thread-value", layout=self.layout, rank=self.layout.rank)
        if self.layout.cosize > rows * columns:
            raise LayoutError(
                "layout.tile-too-small",
                layout=self.layout,
                largest=self.layout.cosize - 1,
                rows=rows,
                columns=columns,
                count=rows * columns,
            )

    def element(self, thread: int, value: int) -> tuple[int, int]:
        """Returns row and column of a thread's value."""
        column, row = divmod(self.layout(thread, value), self.tile[0])
        return row, column

    def owners(self) -> list[list[list[Owner]]]:
        """Returns for each row and column of the tile the threads that hold it, and as which value."""
        rows, columns = self.tile
        found: list[list[list[Owner]]] = [[[] for _ in range(columns)] for _ in range(rows)]
        threads = self.layout[0].size
        names = self.threads.indices() if self.threads is not None else range(threads)
        for number, index in enumerate(self.layout.indices()):
            value, thread = divmod(number, threads)
            found[index % rows][index // rows].append((names[thread], value))
        return found


def thread_value(threads: Layout, values: Layout) -> ThreadValue:
    """Returns the tile that `threads` (rows, columns) cover where each holds `values` (rows, columns).

    `thread_value(row_major(32, 8), Layout((1, 4)))` is how a copy hands out a tile of 32 by 32.
    """
    tile = raked_product(threads, values)
    layout = right_inverse(tile).with_shape(threads.size, values.size)
    rows, columns = (mode.size for mode in tile)
    return ThreadValue(layout, (rows, columns))
