"""Lines 11 and 12 of algorithm 1: what earlier tiles left, and one tile more."""

import numpy as np


def add_tile(m, l, o, m_tile, l_tile, pv_tile):
    """The attention to the keys of all tiles, the new one included.

    m, l: (rows), o: (rows, d): what earlier tiles left, with o divided by l. m = -inf: nothing was seen.
    m_tile, l_tile: (rows), pv_tile: (rows, d): the tile's maximum, Σ e^(s - m_tile) and Σ e^(s - m_tile) v.
    """
    m_new = np.maximum(m, m_tile)
    # TODO: this adds sums of different maxima, and a numerator to a quotient.
    l_new = l + l_tile
    return m_new, l_new, (o + pv_tile) / l_new[:, None]
