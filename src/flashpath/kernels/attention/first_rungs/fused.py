"""The host side of triton_fused.py: one launch."""

from __future__ import annotations

import importlib
from typing import Any

from flashpath.kernels.attention.device.features import block_of
from flashpath.kernels.attention.device.plain import (
    LOG2E,
    is_causal,
    outputs,
    require_plain,
    tile_for,
)
from flashpath.kernels.attention.problem import Problem
from flashpath.kernels.building import triton_device


def kernel() -> Any:
    return importlib.import_module("flashpath.kernels.attention.first_rungs.triton_fused").fused_kernel


def forward(problem: Problem, out: Any | None = None, lse: Any | None = None) -> tuple[Any, Any]:
    require_plain("fused", problem)
    results = outputs(problem, out, lse)
    if not results.lse.numel():
        return results
    q, k, v, tile = problem.q, problem.k, problem.v, tile_for(problem)
    with triton_device(q):
        kernel()[(problem.batch * problem.heads, -(-problem.queries // tile.queries))](
            q,
            k,
            v,
            *results,
            *(problem.strides(each) for each in (q, k, v, results.out)),
            problem.scale * LOG2E,
            problem.heads,
            problem.group,
            problem.queries,
            problem.keys,
            CAUSAL=is_causal(problem),
            DIM=problem.dim,
            V_DIM=problem.v_dim,
            BLOCK_QUERIES=tile.queries,
            BLOCK_KEYS=tile.keys,
            BLOCK_DIM=block_of(problem.dim),
            BLOCK_V_DIM=block_of(problem.v_dim),
            num_warps=tile.warps,
            num_stages=tile.stages,
        )
    return results
