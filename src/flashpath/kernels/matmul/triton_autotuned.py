"""Matrix multiplication in Triton, rung 5: the configuration is measured, not chosen.

maths    out[i, j] = Σ_p a[i, p] b[p, j], summed in float32; float32 inputs are rounded to tf32 first
layout   a: (m, k), b: (k, n), out: (m, n), row-major, every row at a multiple of 16 bytes
cost     2 m n k FLOPs; at least sizeof(T) (m k + k n + m n) bytes
improves triton_persistent: whose one configuration is the best for some sizes and some GPUs only
idea     `triton.autotune` compiles the kernel for each of a list of tiles, groups, stages and warps, times
         them on the first call for a size, and keeps the fastest for that size. The first call takes seconds.
         A descriptor holds the shape of its tile, so each configuration sets that before it runs.
"""

import functools

import triton

from flashpath.kernels.matmul.triton_persistent import matmul_persistent

# (BLOCK_M, BLOCK_N, GROUP, SPLIT, warps, stages)
CANDIDATES = (
    (128, 256, 8, 1, 8, 3),
    (128, 256, 8, 2, 8, 4),
    (128, 256, 16, 2, 8, 4),
    (256, 128, 8, 1, 8, 3),
    (256, 128, 8, 2, 8, 4),
    (128, 128, 8, 1, 4, 4),
)
ROW_BYTES = 128  # of a tile of a: its step along k


def shape_descriptors(arguments):
    """Give each descriptor the tile of the configuration that is about to run."""
    m, n, k = (arguments[f"BLOCK_{size}"] for size in "MNK")
    for name, shape in (("a", [m, k]), ("b", [k, n]), ("out", [m, n // arguments["SPLIT"]])):
        arguments[f"{name}_tiles"].block_shape = shape


@functools.cache
def autotuned(element_size):
    """The tuner for elements of that many bytes: a size alone would not tell bfloat16 from float32."""
    block_k = ROW_BYTES // element_size
    configs = [
        triton.Config(
            {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": block_k, "GROUP": group, "SPLIT": split},
            num_warps=warps,
            num_stages=stages,
            pre_hook=shape_descriptors,
        )
        for m, n, group, split, warps, stages in CANDIDATES
    ]
    return triton.autotune(configs, key=["m", "n", "k"])(matmul_persistent)
