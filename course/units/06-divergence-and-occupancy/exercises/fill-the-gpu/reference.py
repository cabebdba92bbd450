"""What the data sheets say of the three GPUs, and what a launch makes of it."""

import math

# SMs, L2 in MiB, GB/s, warps, blocks and bytes of shared memory of an SM.
GPUS = [
    (108, 40, 2039, 64, 32, 164 * 1024),
    (82, 6, 936, 48, 16, 100 * 1024),
    (128, 72, 1008, 48, 24, 100 * 1024),
]


def reference(gpu, n, threads, shared):
    sms, l2_mib, gb_per_s, warps, places, shared_of_sm = GPUS[gpu]
    by_warps = warps // math.ceil(threads / 32)
    by_shared = shared_of_sm // (math.ceil((shared + 1024) / 128) * 128)
    blocks_per_sm = min(by_warps, places, by_shared)
    needed = math.ceil(n / threads)
    at_once = sms * blocks_per_sm
    total = sum(3 * (i % 1000) + 1 for i in range(n))
    return sms, l2_mib, gb_per_s, blocks_per_sm, math.ceil(needed / at_once), min(needed, at_once), total
