"""The host side of the rungs `unfused` and `fused`: memory for scores, and the launches."""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple

from flashpath.kernels.attention.plain import (
    LOG2E,
    is_causal,
    outputs,
    padded,
    require_plain,
    tile_for,
)
from flashpath.kernels.attention.problem import Problem
from flashpath.kernels.building import triton_device

ALIGNED = 16  # elements: rows of scores are a multiple of it long, which Triton then knows
SOFTMAX_BLOCK = 1024  # elements of a row that a program has at a time


def unfused_kernels() -> Any:
    return importlib.import_module("flashpath.kernels.attention.triton_unfused")


def fused_kernel() -> Any:
    return importlib.import_module("flashpath.kernels.attention.triton_fused").fused_kernel


class Squares(NamedTuple):
    """Memory that grows with the square of the length: (batch, heads, queries, pitch)."""

    scores: Any  # float32
    weights: Any  # in the type of q


def squares_for(problem: Problem) -> Squares:
    import torch

    pitch = -(-problem.keys // ALIGNED) * ALIGNED
    shape = (problem.batch, problem.heads, problem.queries, pitch)
    return Squares(problem.q.new_empty(shape, dtype=torch.float32), problem.q.new_empty(shape))


def unfused(problem: Problem, out: Any | None = None, lse: Any | None = None) -> tuple[Any, Any]:
    require_plain("unfused", problem)
    results = outputs(problem, out, lse)
    if not results.lse.numel():
        return results
    q, k, v = problem.q, problem.k, problem.v
    (scores, weights), tile, kernels = squares_for(problem), tile_for(problem), unfused_kernels()
    pitch = scores.shape[-1]
    sizes = (problem.heads, problem.group, problem.queries, problem.keys)
    heads, tiles_q, tiles_k = (
        problem.batch * problem.heads,
        -(-problem.queries // tile.queries),
        -(-problem.keys // tile.keys),
    )
    options = {
        "CAUSAL": is_causal(problem),
        "BLOCK_QUERIES": tile.queries,
        "BLOCK_KEYS": tile.keys,
        "num_warps": tile.warps,
        "num_stages": tile.stages,
    }
    with triton_device(q):
        if tiles_k:
            kernels.scores_kernel[(heads, tiles_q, tiles_k)](
                q,
                k,
                scores,
                problem.strides(q),
                problem.strides(k),
                pitch,
                float(problem.scale),
                *sizes,
                DIM=problem.dim,
                BLOCK_DIM=padded(problem.dim),
                **options,
            )
        block = min(SOFTMAX_BLOCK, padded(max(1, pitch)))
        kernels.softmax_kernel[(heads * problem.queries,)](
            scores, weights, results.lse, pitch, BLOCK=block, num_warps=max(1, block // 256)
        )
        kernels.values_kernel[(heads, tiles_q)](
            weights,
            v,
            results.out,
            pitch,
            problem.strides(v),
            problem.strides(results.out),
            *sizes,
            DIM=problem.v_dim,
            BLOCK_DIM=padded(problem.v_dim),
            **options,
        )
    return results


def fused(problem: Problem, out: Any | None = None, lse: Any | None = None) -> tuple[Any, Any]:
    require_plain("fused", problem)
    results = outputs(problem, out, lse)
    if not results.lse.numel():
        return results
    q, k, v, tile = problem.q, problem.k, problem.v, tile_for(problem)
    with triton_device(q):
        fused_kernel()[(problem.batch * problem.heads, -(-problem.queries // tile.queries))](
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
            BLOCK_DIM=padded(problem.dim),
            BLOCK_V_DIM=padded(problem.v_dim),
            num_warps=tile.warps,
            num_stages=tile.stages,
        )
    return results
