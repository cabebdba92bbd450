"""What algorithm 1 moves between HBM and the chip, for a given SRAM."""


def plan(n, d, m):
    """Block sizes of algorithm 1, and the numbers that it and standard attention move to and from HBM.

    n queries and n keys of d numbers; m is how many numbers the SRAM holds. Everything is counted in numbers, whole ones:
    every line of the algorithm that loads or writes, with m_i and l_i, each time it is executed. Returns block_keys (B_c),
    block_queries (B_r), the count of algorithm 1 and that of algorithm 0.
    """
    block_keys = -(-m // (4 * d))
    block_queries = min(block_keys, d)
    blocks = -(-n // block_keys)
    flash = n * d + 2 * n + 2 * n * d + blocks * (3 * n * d + 4 * n)
    standard = 4 * n * n + 4 * n * d
    return block_keys, block_queries, flash, standard
