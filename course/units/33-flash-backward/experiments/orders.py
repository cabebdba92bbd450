"""The same dQ from blocks that come in 20 different orders: how many results, and how far from float64."""

from pathlib import Path

import numpy as np

import flashpath as fp

TILES = 32
N = 32 * TILES

kernels = fp.compile(
    Path(__file__).with_name("sums.cu").read_text(),
    name_expressions=["adds<float>", "adds<__half>", "owns"],
)
rng = np.random.default_rng(33)
ds = rng.standard_normal((32, N), dtype=np.float32)
k = rng.standard_normal((N, 32), dtype=np.float32)
exact = ds.astype(np.float64) @ k

for name, dtype in (("adds<float>", np.float32), ("adds<__half>", np.float16), ("owns", np.float32)):
    results = []
    for _ in range(20):
        order = rng.permutation(TILES).astype(np.int32)
        dq = np.zeros((32, 32), dtype)
        kernels[name][TILES, 32](N, order, ds, k, dq)
        results.append(dq)
    different = len({each.tobytes() for each in results})
    error = max(np.abs(each - exact).max() for each in results) / np.abs(exact).max()
    print(f"{name:12} {different:2} different results of 20, at most {error:.1e} off")
