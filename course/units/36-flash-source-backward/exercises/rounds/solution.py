"""Which tiles of queries the block of a tile of keys meets, under a causal mask."""


def rounds(queries, keys, block_m, block_n, n_block):
    """Returns the tile of queries that the loop begins with, the one it ends with, and how many there are.

    The loop runs down. Query i sees the keys 0 to i + keys - queries; the tile has the keys from n_block * block_n on.
    """
    first = -(-queries // block_m) - 1
    last = max(0, (n_block * block_n + queries - keys) // block_m)
    return first, last, first - last + 1
