"""The rules of NVIDIA's occupancy calculator for compute capability 8.0 and later, without clusters."""

import math

import numpy as np


def reference(threads, registers, shared, max_warps, max_blocks, max_shared):
    warps = math.ceil(threads / 32)
    registers_of_warp = math.ceil(registers * 32 / 256) * 256
    in_a_quarter = 65536 // 4 // registers_of_warp
    shared_of_block = math.ceil((shared + 1024) / 128) * 128
    allowed = [max_warps // warps, max_blocks, in_a_quarter * 4 // warps, max_shared // shared_of_block]
    return *allowed, min(allowed), int(np.argmin(allowed))
