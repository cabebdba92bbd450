"""The host side of FlashAttention 1, in Triton and in CUDA C++: scratch memory, a block for each head."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any, NamedTuple

from flashpath.jit import strided
from flashpath.kernels.attention.device.features import block_of
from flashpath.kernels.attention.device.plain import (
    LOG2E,
    is_causal,
    outputs,
    packed_strides,
    require_plain,
    tile_for,
)
from flashpath.kernels.attention.problem import Problem
from flashpath.kernels.building import CPP_TYPES, cuda_kernel, dtype_name, triton_device

FOLDER = Path(__file__).parent
CUDA = FOLDER / "forward.cu"
TRITON = FOLDER / "triton_forward.py"
TILE = 32  # kTile, kWarps and kPadding of forward.cu
WARPS = 8
PADDING = 2


class State(NamedTuple):
    """What a step of the outer loop leaves for the next: 4 · v_dim + 8 bytes for each query of each head."""

    o: Any
    m: Any
    total: Any  # the paper's l


def state(problem: Problem) -> State:
    m, total = problem.new_lse(), problem.new_lse()
    return State(m.new_empty((*m.shape, problem.v_dim)), m, total)


def shared_bytes(problem: Problem) -> int:
    """Returns the bytes of shared memory, as flash_v1_shared() of forward.cu has it."""
    tiles = TILE * (problem.dim + PADDING + problem.v_dim + PADDING) * problem.q.element_size()
    return 4 * WARPS * problem.dim + tiles


def cuda(problem: Problem, out: Any | None = None, lse: Any | None = None) -> tuple[Any, Any]:
    require_plain("flash_v1_cuda", problem)
    results = outputs(problem, out, lse)
    if results.lse.numel():
        q, k, v = problem.q, problem.k, problem.v
        kernel = cuda_kernel(CUDA, f"flash_v1<{CPP_TYPES[dtype_name(q)]}>", q)
        kernel[problem.batch * problem.heads, 32 * WARPS, shared_bytes(problem)](
            *map(strided, (q, k, v)),
            *results,
            *state(problem),
            *(packed_strides(problem, each) for each in (q, k, v, results.out)),
            problem.scale * LOG2E,
            problem.heads,
            problem.group,
            problem.queries,
            problem.keys,
            problem.dim,
            problem.v_dim,
            is_causal(problem),
        )
    return results


def triton_kernel() -> Any:
    return importlib.import_module("flashpath.kernels.attention.flash_v1.triton_forward").flash_v1_kernel


def triton(problem: Problem, out: Any | None = None, lse: Any | None = None) -> tuple[Any, Any]:
    require_plain("flash_v1_triton", problem)
    results = outputs(problem, out, lse)
    if results.lse.numel():
        q, k, v, tile = problem.q, problem.k, problem.v, tile_for(problem)
        with triton_device(q):
            triton_kernel()[(problem.batch * problem.heads,)](
                q,
                k,
                v,
                *results,
                *state(problem),
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
                num_stages=1,
            )
    return results
