import numpy as np


def reference(t, step, blocks, copies):
    s = np.array([16, 12, 8, 4])
    side = s * t
    registers = s * s + 2 * s + 24 + (2 * side * step // (t * t) if copies == 2 else 0)
    warps = t * t // 32
    by_registers = 4 * (16384 // (256 * -(-32 * registers // 256))) // warps
    by_shared = 167936 // (128 * -(-(8 * copies * side * step + 1024) // 128))
    fit = np.minimum(np.minimum(by_registers, by_shared), min(64 // warps, 32))
    fit[registers > 255] = 0
    for place in range(4):
        if fit[place] >= blocks:
            return int(s[place]), int(side[place]), side[place] / 4
    return 0, 0, 0.0
