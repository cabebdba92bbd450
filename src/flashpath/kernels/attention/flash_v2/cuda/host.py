"""Which kernel of FlashAttention 2 in CUDA C++ a call gets, and its launch."""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flashpath.errors import FlashpathError
from flashpath.jit import strided
from flashpath.kernels.attention import dropout
from flashpath.kernels.attention.problem import Options, Problem
from flashpath.kernels.building import CPP_TYPES, Defines, cuda_kernel, dtype_name, max_shared_per_block

FOLDER = Path(__file__).parent
FORWARD = FOLDER / "forward.cu"
UNBOUNDED = 2**29
# Of k and v: what the blocks at work should find in the L2 cache, of which an A100 has 40 MB, an H200 60.
_AT_WORK_BYTES = 24 * 2**20


@dataclass(frozen=True)
class ForwardPlan:
    """The template of the same name, without what the tensors say: type and dimensions."""

    m: int  # queries of a block
    n: int  # keys of a step
    warps: int
    stages: int
    holds_q: bool
    blocks_per_sm: int

    @property
    def threads(self) -> int:
        return 32 * self.warps

    def shared(self, dim: int, v_dim: int) -> int:
        """In bytes: q, and a ring of k and v; a row of each takes panels of 128 bytes."""
        of_dim, of_v_dim = (-(-each // 64) * 128 for each in (dim, v_dim))
        return self.m * of_dim + self.stages * self.n * (of_dim + of_v_dim)

    def name(self, dtype: str, dim: int, v_dim: int) -> str:
        sizes = dim, v_dim, self.m, self.n, self.warps, self.stages
        last = f"{_boolean(self.holds_q)}, {self.blocks_per_sm}"
        return f"ForwardPlan<{CPP_TYPES[dtype]}, {', '.join(map(str, sizes))}, {last}>"


def forward_plan(problem: Problem) -> ForwardPlan:
    """By the larger dimension, and by the shared memory that there is."""
    dim, v_dim = padded(problem.dim), padded(problem.v_dim)
    larger = max(dim, v_dim)
    plans = [
        *([ForwardPlan(128, 64, 4, 2, True, 2)] if larger <= 64 else []),
        *([ForwardPlan(128, 64, 4, 2, False, 2)] if larger <= 128 else []),
        ForwardPlan(128, 32, 8, 2, False, 1),
        ForwardPlan(64, 32, 4, 2, False, 1),
    ]
    room = max_shared_per_block(problem.q)
    for plan in plans:
        if plan.shared(dim, v_dim) <= room:
            return plan
    raise FlashpathError(
        f"flash_v2 in CUDA C++ needs {plans[-1].shared(dim, v_dim)} bytes of shared memory for dimensions of "
        f"{problem.dim} and {problem.v_dim}; a block of this GPU has {room}.",
        "Use a rung of flash_v2 in Triton.",
    )


class Shape(ctypes.Structure):
    """`Shape` of block_info.cuh."""

    _fields_ = (
        *((name, ctypes.c_longlong * 3) for name in ("q", "k", "v", "out")),
        *((name, ctypes.c_longlong * 2) for name in ("lse", "slopes")),
        *((name, ctypes.c_int) for name in ("batch", "heads", "group", "queries", "keys", "dim", "v_dim")),
        *((name, ctypes.c_int) for name in ("left", "right", "together")),
        *((name, ctypes.c_float) for name in ("scale", "softcap")),
        ("drop_below", ctypes.c_uint),
        ("kept_factor", ctypes.c_float),
    )


def shape_of(problem: Problem, out: Any) -> Shape:
    options = problem.options
    bytes_of_head = problem.keys * (problem.dim + problem.v_dim) * problem.k.element_size() // problem.group
    together = max(1, min(problem.batch * problem.heads, _AT_WORK_BYTES // max(1, bytes_of_head)))
    return Shape(
        *(problem.strides(each) for each in (problem.q, problem.k, problem.v, out)),
        problem.lse_strides,
        problem.slope_strides,
        problem.batch,
        problem.heads,
        problem.group,
        problem.queries,
        problem.keys,
        problem.dim,
        problem.v_dim,
        *(UNBOUNDED if side < 0 else min(side, UNBOUNDED) for side in (options.left, options.right)),
        together,
        problem.scale,
        options.softcap,
        dropout.threshold(options.dropout_p),
        1 / (1 - options.dropout_p),
    )


def features_of(problem: Problem) -> tuple[str, Defines]:
    """What of the options is compiled in: the template of that name, and the macros of a score_mod."""
    options = problem.options
    flags = (
        # The plain softmax takes maxima before it scales.
        problem.scale <= 0,
        options.softcap > 0,
        options.alibi_slopes is not None,
        options.score_mod is not None,
        options.dropout_p > 0,
    )
    return f"Features<{', '.join(map(_boolean, flags))}>", _defines(options)


def _defines(options: Options) -> Defines:
    mod = options.score_mod
    if mod is None:
        return ()
    derivative = (("SCORE_MOD_DERIVATIVE", f"({mod.cuda_derivative})"),) if mod.cuda_derivative else ()
    return ("SCORE_MOD", f"({mod.form('cuda')})"), *derivative


def padded(dim: int) -> int:
    """As tiles have it: 32 columns at a time."""
    return -(-dim // 32) * 32


def forward(
    problem: Problem, out: Any | None = None, lse: Any | None = None, *, plan: ForwardPlan | None = None
) -> tuple[Any, Any]:
    """(out, lse) by one kernel."""
    out = problem.new_out() if out is None else out
    lse = problem.new_lse() if lse is None else lse
    if not problem.q.numel():
        return out, lse
    plan = plan or forward_plan(problem)
    dims = padded(problem.dim), padded(problem.v_dim)
    features, defines = features_of(problem)
    name = f"flash_v2_forward<{plan.name(dtype_name(problem.q), *dims)}, {features}>"
    kernel = cuda_kernel(FORWARD, name, problem.q, defines)
    blocks = math.ceil(problem.queries / plan.m) * problem.heads * problem.batch
    kernel[blocks, plan.threads, plan.shared(*dims)](
        *(strided(each) for each in (problem.q, problem.k, problem.v, out)),
        lse,
        *_sequence_bounds(problem),
        *_of_options(problem),
        shape_of(problem, out),
    )
    return out, lse


def _sequence_bounds(problem: Problem) -> tuple[Any, Any]:
    sequences = problem.sequences
    return (None, None) if sequences is None else (sequences.cu_q, sequences.cu_k)


def _of_options(problem: Problem) -> tuple[Any, ...]:
    """Slopes, sinks and seed: each a tensor or none."""
    options = problem.options
    slopes = None if options.alibi_slopes is None else strided(options.alibi_slopes)
    return slopes, options.sinks, options.seed if options.dropout_p else None


def _boolean(value: bool) -> str:
    return "true" if value else "false"
