"""How many blocks of a kernel fit on an SM, and which resource stops the next one."""

REGISTERS = 65536  # of 32 bits, of an SM: a quarter of them for each of its four parts


def resident(threads, registers, shared, max_warps, max_blocks, max_shared):
    """Returns by_warps, by_places, by_registers, by_shared, blocks and limit, in this order.

    threads: of a block; registers: of a thread; shared: bytes of a block. An SM has room for max_warps warps,
    max_blocks blocks and max_shared bytes. The first four say how many blocks each resource allows by itself, blocks
    how many fit, and limit which of the four decides, from 0 to 3; of equal ones the first.
    """
    warps = -(-threads // 32)
    of_warp = -(-32 * registers // 256) * 256
    warps_by_registers = 4 * (REGISTERS // 4 // of_warp)
    of_block = -(-(shared + 1024) // 128) * 128
    allowed = max_warps // warps, max_blocks, warps_by_registers // warps, max_shared // of_block
    blocks = min(allowed)
    return *allowed, blocks, allowed.index(blocks)
