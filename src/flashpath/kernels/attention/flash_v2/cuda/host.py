"""Which kernel of FlashAttention 2 in CUDA C++ a call gets, and its launch."""

from __future__ import annotations

import math
from typing import Any

from flashpath.jit import strided
from flashpath.kernels.attention import dropout
from flashpath.kernels.attention.device.shape import UNBOUNDED, AttentionShape
from flashpath.kernels.attention.flash_v2.cuda.plans import (
    FOLDER,
    QUERIES,
    BackwardPlan,
    ForwardPlan,
    backward_plan,
    features_of,
    forward_plan,
    padded,
    queries_plan,
)
from flashpath.kernels.attention.problem import Problem, with_whole_rows
from flashpath.kernels.attention.tiled import Gradients
from flashpath.kernels.building import CPP_TYPES, cuda_kernel, dtype_name

FORWARD = FOLDER / "forward.cu"
PREPROCESS, POSTPROCESS = FOLDER / "backward_preprocess.cu", FOLDER / "backward_postprocess.cu"
_PADDING = 128
# Of k and v: what the blocks at work should find in the L2 cache, of which an A100 has 40 MB, an H200 60.
_AT_WORK_BYTES = 24 * 2**20
_SHORT_KEYS = 1024


def together(problem: Problem, is_backward: bool) -> int:
    """Returns how many heads have blocks at work at the same time: as many as have k and v in the L2 cache.

    Under a causal mask, all: the longest blocks of every head come first, and none is left for the end. Not
    so backward of short sequences, many heads of which are at work: blocks of one head share its queries and
    add to the same sums, if they run at the same time.
    """
    every = problem.batch * problem.heads
    is_short = is_backward and problem.keys <= _SHORT_KEYS
    if problem.options.right >= 0 and problem.options.left < 0 and not is_short:
        return max(1, every)
    bytes_of_head = problem.keys * (problem.dim + problem.v_dim) * problem.k.element_size() // problem.group
    return max(1, min(every, _AT_WORK_BYTES // max(1, bytes_of_head)))


def shape_of(problem: Problem, out: Any, of_backward: tuple[Any, ...] = ()) -> AttentionShape:
    """`of_backward`: dout, dq, dk and dv."""
    options = problem.options
    return AttentionShape(
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
        together(problem, bool(of_backward)),
        problem.scale,
        options.softcap,
        dropout.threshold(options.dropout_p),
        1 / (1 - options.dropout_p),
    )


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
    """Two numbers of each query, then all gradients, then dq from its sums; or dq by itself."""
    import torch

    q, k, v = problem.q, problem.k, problem.v
    out, dout = with_whole_rows(out), with_whole_rows(dout)
    dq, dk, dv = q.new_empty(q.shape), k.new_empty(k.shape), v.new_empty(v.shape)
    dtype, dims = dtype_name(q), (padded(problem.dim), padded(problem.v_dim))
    plan = plan or backward_plan(problem, deterministic)
    rows = padded_rows(problem)
    logs, deltas = _scratch(problem, rows)
    sums = None if deterministic else q.new_empty((problem.heads * rows, dims[0]), dtype=torch.float32)
    bounds, shape = _sequence_bounds(problem), shape_of(problem, out, (dout, dq, dk, dv))
    features, defines = features_of(problem)
    inputs = [*(strided(each) for each in (q, k, v, dout)), logs, deltas]
    options = *bounds, *_of_options(problem)[::2], shape
    if q.numel():
        name = f"flash_v2_backward_preprocess<{CPP_TYPES[dtype]}, {dims[0]}>"
        grid = _PADDING // 32 * math.ceil(problem.queries / _PADDING), problem.heads, problem.batch
        cuda_kernel(PREPROCESS, name, q)[grid, 256](
            strided(out), strided(dout), lse, dlse, logs, deltas, sums, *bounds, shape
        )
    if k.numel():
        for parts in plan.passes:
            kernel = cuda_kernel(plan.file, f"{plan.name(dtype, *dims, parts)}, {features}>", q, defines)
            blocks = math.ceil(problem.keys / plan.n) * problem.kv_heads * problem.batch
            kernel[blocks, plan.threads, plan.shared(*dims)](*inputs, sums, dk, dv, *options)
    if q.numel() and deterministic:
        of_q = queries_plan(problem)
        kernel = cuda_kernel(QUERIES, f"{of_q.name(dtype, *dims)}, {features}>", q, defines)
        blocks = math.ceil(problem.queries / of_q.m) * problem.heads * problem.batch
        kernel[blocks, of_q.threads, of_q.shared(*dims)](*inputs, dq, *options)
    elif q.numel():
        name = f"flash_v2_backward_postprocess<{CPP_TYPES[dtype]}, {dims[0]}>"
        grid = math.ceil(problem.queries / 64), problem.heads, problem.batch
        cuda_kernel(POSTPROCESS, name, q)[grid, 128](sums, dq, *bounds, shape)
    return Gradients(dq, dk, dv, _of_sinks(problem, logs, deltas))


def _scratch(problem: Problem, rows: int) -> tuple[Any, Any]:
    """For lse and delta of padded rows. Between sequences nothing is written, and sinks read weights of 0."""
    import torch

    logs, deltas = (problem.q.new_empty((problem.heads, rows), dtype=torch.float32) for _ in range(2))
    if problem.options.sinks is not None:
        logs.fill_(math.inf)
        deltas.zero_()
    return logs, deltas


def _of_sinks(problem: Problem, logs: Any, deltas: Any) -> Any | None:
    """A sink is a score whose value is nothing: its gradient is -weight · delta, of all queries together."""
    import torch

    sinks = problem.options.sinks
    if sinks is None:
        return None
    return -(torch.exp2(sinks[:, None] * math.log2(math.e) - logs) * deltas).sum(1)


def padded_rows(problem: Problem) -> int:
    """Returns the rows of a head in backward's scratch, where sequences begin at multiples of _PADDING."""
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
