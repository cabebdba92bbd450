"""What zipped_divide gives for a matrix that is stored row by row."""

import numpy as np


def divide(rows, cols, pitch, tile_rows, tile_cols):
    """Returns the indices of (rows, cols):(pitch, 1), divided into tiles of (tile_rows, tile_cols).

    corners: for each tile, by its row and column of tiles, the index of its first element.
    zipped: an array with a row for each place inside of a tile and a column for each tile.
    Rows and cols are multiples of the tile.
    """
    down = np.arange(rows // tile_rows) * (tile_rows * pitch)
    corners = down[:, None] + np.arange(cols // tile_cols) * tile_cols
    inside = np.arange(tile_rows * tile_cols)  # the single number of each place in a tile
    offsets = inside % tile_rows * pitch + inside // tile_rows
    zipped = corners.T.reshape(-1) + offsets[:, None]
    return corners, zipped
