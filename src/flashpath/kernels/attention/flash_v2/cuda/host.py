"""Which kernel of FlashAttention 2 in CUDA C++ a call gets, and its launch."""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from flashpath.errors import FlashpathError
from flashpath.jit import strided
from flashpath.kernels.attention import dropout
from flashpath.kernels.attention.problem import Options, Problem, with_whole_rows
from flashpath.kernels.attention.tiled import Gradients
from flashpath.kernels.building import CPP_TYPES, Defines, cuda_kernel, dtype_name, max_shared_per_block

FOLDER = Path(__file__).parent
FORWARD, BACKWARD = FOLDER / "forward.cu", FOLDER / "backward.cu"
PREPROCESS, POSTPROCESS = FOLDER / "backward_preprocess.cu", FOLDER / "backward_postprocess.cu"
UNBOUNDED = 2**29
_PADDING = 128
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
    raise _no_room(problem, plans[-1].shared(dim, v_dim), room)


def _no_room(problem: Problem, wanted: int, room: int) -> FlashpathError:
    return FlashpathError(
        f"flash_v2 in CUDA C++ needs {wanted} bytes of shared memory for dimensions of "
        f"{problem.dim} and {problem.v_dim}; a block of this GPU has {room}.",
        "Use a rung of flash_v2 in Triton.",
    )


@dataclass(frozen=True)
class BackwardPlan:
    """The template of the same name, without what the tensors say."""

    m: int  # queries of a step
    n: int  # keys of a block
    warps: int
    warps_q: int  # of these, over the queries, for the gradient of q
    blocks_per_sm: int
    passes: tuple[int, ...] = (7,)  # gradients of v (1), k (2) and q (4) that a launch computes

    @property
    def threads(self) -> int:
        return 32 * self.warps

    def shared(self, dim: int, v_dim: int) -> int:
        """In bytes: k and v; two stages of q, dout, lse and delta; two places of the scores' gradient."""
        of_dim, of_v_dim, of_m = (-(-each // 64) * 128 for each in (dim, v_dim, self.m))
        return (self.n + 2 * self.m) * (of_dim + of_v_dim) + 16 * self.m + 2 * self.n * of_m

    def name(self, dtype: str, dim: int, v_dim: int, parts: int) -> str:
        sizes = dim, v_dim, self.m, self.n, self.warps, self.warps_q, parts, self.blocks_per_sm
        return f"BackwardPlan<{CPP_TYPES[dtype]}, {', '.join(map(str, sizes))}>"


def backward_plan(problem: Problem) -> BackwardPlan:
    dim, v_dim = padded(problem.dim), padded(problem.v_dim)
    larger = max(dim, v_dim)
    if larger <= 64:
        plans = [BackwardPlan(64, 128, 4, 2, 2)]
    elif larger <= 128 and dim % 64 == 0:
        plans = [BackwardPlan(64, 128, 8, 2, 1)]
    else:
        plans = []
    passes = (7,) if dim + v_dim <= 320 else (1, 6)
    plans += [
        BackwardPlan(64, 64, 4, 2, 1, passes),
        BackwardPlan(32, 64, 4, 1 if dim % 64 == 0 else 2, 1, passes),
    ]
    room = max_shared_per_block(problem.q)
    for plan in plans:
        if plan.shared(dim, v_dim) <= room:
            return plan
    raise _no_room(problem, plans[-1].shared(dim, v_dim), room)


class Shape(ctypes.Structure):
    """`Shape` of block_info.cuh."""

    _fields_ = (
        *((name, ctypes.c_longlong * 3) for name in ("q", "k", "v", "out", "dout", "dq", "dk", "dv")),
        *((name, ctypes.c_longlong * 2) for name in ("lse", "slopes")),
        ("padded_rows", ctypes.c_longlong),
        *((name, ctypes.c_int) for name in ("batch", "heads", "group", "queries", "keys", "dim", "v_dim")),
        *((name, ctypes.c_int) for name in ("left", "right", "together")),
        *((name, ctypes.c_float) for name in ("scale", "softcap")),
        ("drop_below", ctypes.c_uint),
        ("kept_factor", ctypes.c_float),
    )


def shape_of(problem: Problem, out: Any, of_backward: tuple[Any, ...] = ()) -> Shape:
    """`of_backward`: dout, dq, dk and dv."""
    options = problem.options
    bytes_of_head = problem.keys * (problem.dim + problem.v_dim) * problem.k.element_size() // problem.group
    together = max(1, min(problem.batch * problem.heads, _AT_WORK_BYTES // max(1, bytes_of_head)))
    return Shape(
        *(problem.strides(each) for each in (problem.q, problem.k, problem.v, out)),
        *([problem.strides(each) for each in of_backward] or [(0, 0, 0)] * 4),
        problem.lse_strides,
        problem.slope_strides,
        padded_rows(problem),
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


def backward(
    problem: Problem,
    out: Any,
    lse: Any,
    dout: Any,
    dlse: Any | None = None,
    deterministic: bool = False,
    *,
    plan: BackwardPlan | None = None,
) -> Gradients:
    """Two numbers of each query, then all gradients, then dq from its sums."""
    if deterministic:
        raise FlashpathError(
            "flash_v2 in CUDA C++ has no deterministic backward.",
            "Use deterministic=False, or a Triton rung.",
        )
    q, k, v = problem.q, problem.k, problem.v
    out, dout = with_whole_rows(out), with_whole_rows(dout)
    dq, dk, dv = q.new_empty(q.shape), k.new_empty(k.shape), v.new_empty(v.shape)
    dtype, dims = dtype_name(q), (padded(problem.dim), padded(problem.v_dim))
    plan = plan or backward_plan(problem)
    rows = padded_rows(problem)
    logs, deltas = _scratch(problem, rows)
    sums = q.new_empty((problem.heads * rows, dims[0]), dtype=torch.float32)
    bounds, shape = _sequence_bounds(problem), shape_of(problem, out, (dout, dq, dk, dv))
    rows_of_all = problem.queries, problem.heads, problem.batch
    if q.numel():
        name = f"flash_v2_backward_preprocess<{CPP_TYPES[dtype]}, {dims[0]}>"
        grid = _PADDING // 32 * math.ceil(problem.queries / _PADDING), *rows_of_all[1:]
        cuda_kernel(PREPROCESS, name, q)[grid, 256](
            strided(out), strided(dout), lse, dlse, logs, deltas, sums, *bounds, shape
        )
    if k.numel():
        features, defines = features_of(problem)
        for parts in plan.passes:
            name = f"flash_v2_backward<{plan.name(dtype, *dims, parts)}, {features}>"
            kernel = cuda_kernel(BACKWARD, name, q, defines)
            blocks = math.ceil(problem.keys / plan.n) * problem.kv_heads * problem.batch
            kernel[blocks, plan.threads, plan.shared(*dims)](
                *(strided(each) for each in (q, k, v, dout)),
                *(logs, deltas, sums, dk, dv),
                *bounds,
                *_of_options(problem)[::2],
                shape,
            )
    if q.numel():
        name = f"flash_v2_backward_postprocess<{CPP_TYPES[dtype]}, {dims[0]}>"
        grid = math.ceil(problem.queries / 64), *rows_of_all[1:]
        cuda_kernel(POSTPROCESS, name, q)[grid, 128](sums, dq, *bounds, shape)
    return Gradients(dq, dk, dv, _of_sinks(problem, logs, deltas))


def _scratch(problem: Problem, rows: int) -> tuple[Any, Any]:
    """For lse and delta of padded rows. Between sequences nothing is written, and sinks read weights of 0."""
    logs, deltas = (problem.q.new_empty((problem.heads, rows), dtype=torch.float32) for _ in range(2))
    if problem.options.sinks is not None:
        logs.fill_(math.inf)
        deltas.zero_()
    return logs, deltas


def _of_sinks(problem: Problem, logs: Any, deltas: Any) -> Any | None:
    """A sink is a score whose value is nothing: its gradient is -weight · delta, of all queries together."""
    sinks = problem.options.sinks
    if sinks is None:
        return None
    return -(torch.exp2(sinks[:, None] * math.log2(math.e) - logs) * deltas).sum(1)


def padded_rows(problem: Problem) -> int:
    """Of a head in backward's scratch, where every sequence begins at a multiple of _PADDING."""
    if problem.sequences is None:
        return problem.batch * math.ceil(problem.queries / _PADDING) * _PADDING
    return (problem.q.shape[0] // _PADDING + problem.batch + 1) * _PADDING


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
