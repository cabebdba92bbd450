"""What zipped_divide gives for a matrix that is stored row by row."""

import numpy as np


def divide(rows, cols, pitch, tile_rows, tile_cols):
    """Returns the indices of (rows, cols):(pitch, 1), divided into tiles of (tile_rows, tile_cols).

    corners: for each tile, by its row and column of tiles, the index of its first element.
    zipped: an array with a row for each place inside of a tile and a column for each tile.
    Rows and cols are multiples of the tile.
    """
    corners = np.zeros((rows // tile_rows, cols // tile_cols), int)
    inside = np.arange(tile_rows * tile_cols)  # the single number of each place in a tile
    zipped = np.zeros((len(inside), corners.size), int)
    return corners, zipped
