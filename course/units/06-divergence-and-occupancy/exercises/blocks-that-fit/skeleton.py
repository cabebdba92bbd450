"""How many blocks of a kernel fit on an SM, and which resource stops the next one."""

REGISTERS = 65536  # of 32 bits, of an SM: a quarter of them for each of its four parts


def resident(threads, registers, shared, max_warps, max_blocks, max_shared):
    """Returns by_warps, by_places, by_registers, by_shared, blocks and limit, in this order.

    threads: of a block; registers: of a thread; shared: bytes of a block. An SM has room for max_warps warps,
    max_blocks blocks and max_shared bytes. The first four say how many blocks each resource allows by itself, blocks
    how many fit, and limit which of the four decides, from 0 to 3; of equal ones the first.
    """
    by_warps, by_places, by_registers, by_shared = 1, max_blocks, 1, 1  # TODO
    blocks = 1
    limit = 0
    return by_warps, by_places, by_registers, by_shared, blocks, limit
