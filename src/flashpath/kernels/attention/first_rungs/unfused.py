"""The host side of triton_unfused.py: memory for scores and weights, and three launches."""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple

from flashpath.kernels.attention.device.features import block_of
from flashpath.kernels.attention.device.plain import (
    is_causal,
    outputs,
    require_plain,
    tile_for,
)
from flashpath.kernels.attention.problem import Problem
from flashpath.kernels.building import triton_device

ALIGNED = 16  # elements: rows of scores are a multiple of it long, which Triton then knows
SOFTMAX_BLOCK = 1024  # elements of a row that a program has at a time


def kernels() -> Any:
    return importlib.import_module("flashpath.kernels.attention.first_rungs.triton_unfused")


class Squares(NamedTuple):
    """Memory that grows with the square of the length: (batch, heads, queries, pitch)."""

    scores: Any  # float32
    weights: Any  # in the type of q


def squares_for(problem: Problem) -> Squares:
    import torch

    pitch = -(-problem.keys // ALIGNED) * ALIGNED
    shape = (problem.batch, problem.heads, problem.queries, pitch)
    return Squares(problem.q.new_empty(shape, dtype=torch.float32), problem.q.new_empty(shape))


def forward(problem: Problem, out: Any | None = None, lse: Any | None = None) -> tuple[Any, Any]:
    require_plain("unfused", problem)
    results = outputs(problem, out, lse)
    if not results.lse.numel():
        return results
    q, k, v = problem.q, problem.k, problem.v
    (scores, weights), tile, steps = squares_for(problem), tile_for(problem), kernels()
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
            steps.scores_kernel[(heads, tiles_q, tiles_k)](
                q,
                k,
                scores,
                problem.strides(q),
                problem.strides(k),
                pitch,
                float(problem.scale),
                *sizes,
                DIM=problem.dim,
                BLOCK_DIM=block_of(problem.dim),
                **options,
            )
        block = min(SOFTMAX_BLOCK, block_of(max(1, pitch)))
        steps.softmax_kernel[(heads * problem.queries,)](
            scores, weights, results.lse, pitch, BLOCK=block, num_warps=max(1, block // 256)
        )
        steps.values_kernel[(heads, tiles_q)](
            weights,
            v,
            results.out,
            pitch,
            problem.strides(v),
            problem.strides(results.out),
            *sizes,
            DIM=problem.v_dim,
            BLOCK_DIM=block_of(problem.v_dim),
            **options,
        )
    return results
