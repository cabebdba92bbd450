"""A product whose configuration @triton.autotune chooses: flashpath run tune.py"""

import torch
import triton

from flashpath.kernels.matmul.triton_pointers import matmul_pointers

# (BLOCK_M, BLOCK_N, BLOCK_K, warps, stages)
CANDIDATES = (
    (32, 32, 32, 4, 3),
    (64, 64, 32, 4, 3),
    (64, 128, 32, 4, 3),
    (128, 128, 32, 4, 3),
    (128, 128, 32, 8, 3),
    (128, 128, 64, 8, 8),
    (256, 128, 64, 4, 3),
)
LIMIT = triton.runtime.driver.active.utils.get_device_properties(0)["max_shared_mem"]  # bytes


def runs(config):
    """Whether it fits: tiles in shared memory, sums in registers."""
    m, n, k = (config.kwargs[f"BLOCK_{size}"] for size in "MNK")
    shared = (config.num_stages - 1) * (m + n) * k * 2
    sums = m * n // (32 * config.num_warps)
    return shared <= LIMIT and sums <= 128


def prune(configs, named_args, **kwargs):
    kept = [config for config in configs if runs(config)]
    print(f"{len(configs)} configurations, {len(kept)} of them run")
    return kept


tuned = triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "GROUP": 8}, num_warps=warps, num_stages=stages)
        for m, n, k, warps, stages in CANDIDATES
    ],
    key=["m", "n", "k"],  # other sizes: tuned anew
    prune_configs_by={"early_config_prune": prune},
)(matmul_pointers)


def tiles(meta):
    return (triton.cdiv(m, meta["BLOCK_M"]) * triton.cdiv(n, meta["BLOCK_N"]),)


for m, n, k in ((512, 512, 64), (2048, 1024, 32)):
    a, b = torch.randn(m, k).half(), torch.randn(k, n).half()
    c = torch.empty(m, n, dtype=torch.float16)
    print(f"{m} × {n} × {k}")
    tuned[tiles](a, b, c, m, n, k, ALIGNED=True, PRECISION="ieee")
    for config, cost in tuned.configs_timings.items():
        block_m, block_n, block_k = (config.kwargs[f"BLOCK_{size}"] for size in "MNK")
        chosen = "  <- chosen" if config is tuned.best_config else ""
        shape = f"{block_m} × {block_n} × {block_k}, {config.num_warps} warps"
        print(f"  {shape:26}{1000 * min(cost):6.2f} µs{chosen}")
