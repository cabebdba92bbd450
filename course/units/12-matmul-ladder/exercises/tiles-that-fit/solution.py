def choose(t, step, blocks, copies):
    """Returns the side of a thread's square, the side of the block's tile, and its FLOPs for each byte."""
    warps = t * t // 32
    for s in (16, 12, 8, 4):
        tile = t * s
        registers = s * s + 2 * s + 24
        if copies == 2:
            registers += 2 * tile * step // (t * t)  # the next elements, on their way
        of_warp = (32 * registers + 255) // 256 * 256
        of_shared = (copies * 2 * tile * step * 4 + 1024 + 127) // 128 * 128
        fit = min(64 // warps, 32, 4 * (16384 // of_warp) // warps, 167936 // of_shared)
        if registers <= 255 and fit >= blocks:
            return s, tile, tile / 4  # 2 tile² step FLOPs, 8 tile step bytes
    return 0, 0, 0.0
