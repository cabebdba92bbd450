"""The host side of the rung `online_softmax`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flashpath.jit import strided
from flashpath.kernels.attention.device.plain import (
    LOG2E,
    is_causal,
    outputs,
    packed_strides,
    require_plain,
)
from flashpath.kernels.attention.problem import Problem
from flashpath.kernels.building import CPP_TYPES, cuda_kernel, dtype_name

FILE = Path(__file__).with_name("online_softmax.cu")
WARPS = 4  # kWarps


def kernel_name(dtype: str, dim: int, v_dim: int) -> str:
    return f"online_softmax<{CPP_TYPES[dtype]}, {-(-dim // 32)}, {-(-v_dim // 32)}>"


def forward(problem: Problem, out: Any | None = None, lse: Any | None = None) -> tuple[Any, Any]:
    require_plain("online_softmax", problem)
    results = outputs(problem, out, lse)
    rows = results.lse.numel()
    if rows:
        q, k, v = problem.q, problem.k, problem.v
        kernel = cuda_kernel(FILE, kernel_name(dtype_name(q), problem.dim, problem.v_dim), q)
        kernel[-(-rows // WARPS), 32 * WARPS](
            *map(strided, (q, k, v)),
            *results,
            *(packed_strides(problem, each) for each in (q, k, v, results.out)),
            problem.scale * LOG2E,
            problem.batch,
            problem.heads,
            problem.group,
            problem.queries,
            problem.keys,
            problem.dim,
            problem.v_dim,
            is_causal(problem),
        )
    return results
