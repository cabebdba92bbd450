"""FlashAttention 2 in Triton: the launches, forward and backward."""

from __future__ import annotations

import functools
import importlib
import math
from typing import Any

from flashpath.errors import FlashpathError
from flashpath.kernels.attention.device.features import block_of
from flashpath.kernels.attention.flash_v2.triton.arguments import (
    describe,
    mod_of,
    numbers_of,
    row_shape,
    tiles_of,
)
from flashpath.kernels.attention.flash_v2.triton.configs import (
    PREPARED,
    Config,
    backward_config,
    backward_queries_config,
    forward_config,
)
from flashpath.kernels.attention.flash_v2.triton.features import along_keys, along_queries
from flashpath.kernels.attention.problem import Problem, with_whole_rows
from flashpath.kernels.attention.score_mod import compiles_with
from flashpath.kernels.attention.tiled import Gradients
from flashpath.kernels.building import triton_device


def forward(
    problem: Problem, out: Any | None = None, lse: Any | None = None, *, config: Config | None = None
) -> tuple[Any, Any]:
    results = out_and_lse(problem, out, lse)
    if not results[0].numel():
        return results
    if not problem.k.numel():
        return without_keys(problem, *results)
    config = config or forward_config(problem)
    programs = -(-problem.queries // config.m) * problem.heads * problem.batch
    with triton_device(problem.q), compiles_with(problem.options.score_mod):
        kernel("forward", "attention_forward")[(programs,)](
            problem.q,
            tiles_of(problem, problem.k, config.n),
            tiles_of(problem, problem.v, config.n),
            *results,
            problem.strides(problem.q),
            problem.strides(results[0]),
            problem.lse_strides,
            **numbers_of(problem),
            FEATURES=along_keys(problem, config),
            MOD=mod_of(problem),
            AHEAD=config.ahead,
            HEADS_ABREAST=config.heads_abreast,
            BLOCK_M=config.m,
            BLOCK_N=config.n,
            BLOCK_D=block_of(problem.dim),
            BLOCK_V=block_of(problem.v_dim),
            num_warps=config.warps,
            num_stages=config.stages,
        )
    return results


def backward(
    problem: Problem,
    out: Any,
    lse: Any,
    dout: Any,
    dlse: Any | None = None,
    deterministic: bool = False,
    *,
    adds_dq: bool = False,
    config: Config | None = None,
    queries_config: Config | None = None,
) -> Gradients:
    """dq by a kernel of its own, so that no sum depends on the order in which programs run.

    `adds_dq`: the programs that have keys add to dq in memory, in any order, for two products less.
    """
    import torch

    if adds_dq and deterministic:
        raise FlashpathError("kernels.adds-dq-deterministic")
    q, k, v = problem.q, problem.k, problem.v
    dq, dk, dv = (torch.empty_like(each) for each in (q, k, v))
    if not out.numel() or not k.numel():
        return Gradients(dq.zero_(), dk.zero_(), dv.zero_(), of_sinks(problem, out, lse, dout, dlse))
    config = config or backward_config(problem)
    dout = with_whole_rows(dout)
    whole = problem.sequences is None
    delta, exponent = (torch.empty(row_shape(problem), device=q.device) for _ in range(2))
    row_strides = (delta.stride(0) if whole else 0, delta.stride(1))
    sums = None
    if adds_dq:
        shape = (*problem.lse_shape, problem.dim)
        sums = torch.zeros(shape if whole else (1, *shape), dtype=torch.float32, device=q.device)
    common = numbers_of(problem)
    common.pop("sinks_ptr")
    mod = problem.options.score_mod
    blocks = {"BLOCK_D": block_of(problem.dim), "BLOCK_V": block_of(problem.v_dim)}
    mods = {"MOD": mod_of(problem), "MOD_DERIVATIVE": None if mod is None else mod.triton_derivative}
    with triton_device(q), compiles_with(mod):
        kernel("backward", "backward_prepare")[
            (-(-problem.queries // PREPARED) * problem.heads * problem.batch,)
        ](
            out,
            dout,
            lse,
            dlse,
            delta,
            exponent,
            problem.strides(out),
            problem.strides(dout),
            problem.lse_strides,
            (0, 0, 0) if dlse is None else dlse.stride() if whole else (0, *dlse.stride()),
            row_strides,
            common["cu_q_ptr"],
            problem.queries,
            problem.heads,
            problem.v_dim,
            VARLEN=not whole,
            ROWS=PREPARED,
            BLOCK_V=blocks["BLOCK_V"],
        )
        kernel("backward", "backward_keys")[
            (-(-problem.keys // config.n) * problem.kv_heads * problem.batch,)
        ](
            tiles_of(problem, q, config.m),
            tiles_of(problem, dout, config.m),
            None if sums is None else describe(sums, config.m, block_of(problem.dim)),
            k,
            v,
            dk,
            dv,
            describe(exponent, config.m),
            describe(delta, config.m),
            *(problem.strides(each) for each in (k, v, dk, dv)),
            **common,
            **mods,
            FEATURES=along_queries(problem, config),
            WITH_DQ=adds_dq,
            PREPARED=PREPARED,
            BLOCK_M=config.m,
            BLOCK_N=config.n,
            **blocks,
            num_warps=config.warps,
            num_stages=config.stages,
        )
        if sums is None:
            config = queries_config or backward_queries_config(problem)
            kernel("backward_queries", "backward_queries")[
                (-(-problem.queries // config.m) * problem.heads * problem.batch,)
            ](
                q,
                dout,
                tiles_of(problem, k, config.n),
                tiles_of(problem, v, config.n),
                dq,
                exponent,
                delta,
                row_strides,
                *(problem.strides(each) for each in (q, dout, dq)),
                **common,
                **mods,
                FEATURES=along_keys(problem, config),
                PREPARED=PREPARED,
                BLOCK_M=config.m,
                BLOCK_N=config.n,
                **blocks,
                num_warps=config.warps,
                num_stages=config.stages,
            )
        else:
            torch.mul((sums if whole else sums[0]).transpose(-2, -3), problem.scale, out=dq)
    return Gradients(dq, dk, dv, of_sinks(problem, out, lse, dout, dlse))


def of_sinks(problem: Problem, out: Any, lse: Any, dout: Any, dlse: Any | None) -> Any | None:
    """-Σ e^(sink - lse) delta over all queries of a head: there is nothing that a kernel would do better."""
    import torch

    sinks: Any = problem.options.sinks
    if sinks is None:
        return None
    delta: Any = (out.float() * dout.float()).sum(-1).transpose(-1, -2)
    if dlse is not None:
        delta = delta - dlse
    parts: Any = -torch.exp(sinks[:, None] - lse) * delta
    return parts.sum(-1) if parts.dim() == 2 else parts.sum((0, 2))


@functools.cache
def kernel(module: str, name: str) -> Any:
    return getattr(importlib.import_module(f"flashpath.kernels.attention.flash_v2.triton.{module}"), name)


def out_and_lse(problem: Problem, out: Any | None, lse: Any | None) -> tuple[Any, Any]:
    return problem.new_out() if out is None else out, problem.new_lse() if lse is None else lse


def without_keys(problem: Problem, out: Any, lse: Any) -> tuple[Any, Any]:
    """What is left where there is not one key: nothing, or the sinks."""
    sinks = problem.options.sinks
    lse.fill_(-math.inf) if sinks is None else lse.copy_(sinks[:, None].expand_as(lse))
    return out.zero_(), lse
