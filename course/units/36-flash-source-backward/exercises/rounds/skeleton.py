"""Which tiles of queries the block of a tile of keys meets, under a causal mask."""


def rounds(queries, keys, block_m, block_n, n_block):
    """Returns the tile of queries that the loop begins with, the one it ends with, and how many there are.

    The loop runs down. Query i sees the keys 0 to i + keys - queries; the tile has the keys from n_block * block_n on.
    """
    first = 0  # TODO: the last tile of queries that exists
    last = 0  # TODO: the first tile with a query that sees one of these keys
    return first, last, first - last + 1
