"""FlashAttention 2 in Triton: what the kernels are told at compile time, the sizes of tiles, the launches."""

from __future__ import annotations

import functools
import importlib
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from flashpath.kernels.attention.dropout import threshold
from flashpath.kernels.attention.problem import Problem
from flashpath.kernels.building import triton_device


@dataclass(frozen=True)
class Features:
    """What a kernel is compiled for: code for what is not asked for is not there."""

    folded: bool  # a positive scale is all that lies between products and scores
    softcap: bool
    alibi: bool
    left: bool
    right: bool
    ends_masked: bool  # the last tile of keys has a mask: of the right bound, or because it is not full
    dropout: bool
    sinks: bool
    varlen: bool


class Config(NamedTuple):
    """Tiles of queries and keys, and how a program works on them."""

    m: int
    n: int
    warps: int
    stages: int


SMALL = Config(64, 32, 4, 2)  # where there are few queries
# (largest of dim and v_dim, right bound) → tiles
FORWARD = {
    (64, False): Config(128, 128, 8, 3),
    (64, True): Config(128, 64, 4, 3),
    (128, False): Config(128, 128, 8, 2),
    (128, True): Config(128, 128, 8, 2),
    (256, False): Config(128, 64, 8, 2),
    (256, True): Config(128, 64, 8, 2),
}


def forward_config(problem: Problem) -> Config:
    if problem.queries <= SMALL.m:
        return SMALL
    largest = max(64, block_of(problem.dim), block_of(problem.v_dim))
    return FORWARD[largest, problem.options.right >= 0]


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
    with triton_device(problem.q):
        kernel("forward", "attention_forward")[(programs,)](
            problem.q,
            tiles_of(problem, problem.k, config.n),
            tiles_of(problem, problem.v, config.n),
            *results,
            problem.strides(problem.q),
            problem.strides(results[0]),
            problem.lse_strides,
            **numbers_of(problem),
            FEATURES=features_of(problem, config.n),
            MOD=mod_of(problem),
            BLOCK_M=config.m,
            BLOCK_N=config.n,
            BLOCK_D=block_of(problem.dim),
            BLOCK_V=block_of(problem.v_dim),
            num_warps=config.warps,
            num_stages=config.stages,
        )
    return results


# ---- Arguments -----------------------------------------------------------------------------------------


@functools.cache
def kernel(module: str, name: str) -> Any:
    return getattr(importlib.import_module(f"flashpath.kernels.attention.flash_v2.triton.{module}"), name)


def block_of(dim: int) -> int:
    """A power of two, and at least what an instruction of the tensor cores takes; the rest is zeros."""
    return max(16, 1 << (dim - 1).bit_length())


def out_and_lse(problem: Problem, out: Any | None, lse: Any | None) -> tuple[Any, Any]:
    return problem.new_out() if out is None else out, problem.new_lse() if lse is None else lse


def without_keys(problem: Problem, out: Any, lse: Any) -> tuple[Any, Any]:
    """What is left where there is not one key: nothing, or the sinks."""
    sinks = problem.options.sinks
    lse.fill_(-math.inf) if sinks is None else lse.copy_(sinks[:, None].expand_as(lse))
    return out.zero_(), lse


def tiles_of(problem: Problem, x: Any, rows: int) -> Any:
    """A descriptor of k or v, or of what is like them, in tiles of so many rows of a head."""
    describe: Any = importlib.import_module("triton.tools.tensor_descriptor").TensorDescriptor
    of_heads = (x if problem.sequences is None else x[None]).transpose(1, 2)
    return describe(x, list(of_heads.shape), list(of_heads.stride()), [1, 1, rows, block_of(x.shape[-1])])


def mod_of(problem: Problem) -> Any | None:
    mod = problem.options.score_mod
    return None if mod is None else mod.form("triton")


def features_of(problem: Problem, block_n: int) -> Features:
    options = problem.options
    between = bool(options.softcap) or options.alibi_slopes is not None or options.score_mod is not None
    varlen = problem.sequences is not None
    return Features(
        folded=not between and problem.scale > 0,
        softcap=bool(options.softcap),
        alibi=options.alibi_slopes is not None,
        left=options.left >= 0,
        right=options.right >= 0,
        ends_masked=options.right >= 0 or varlen or problem.keys % block_n != 0,
        dropout=bool(options.dropout_p),
        sinks=options.sinks is not None,
        varlen=varlen,
    )


def numbers_of(problem: Problem) -> dict[str, Any]:
    """The arguments that say what is asked for, by the names that both kernels have for them."""
    options, sequences = problem.options, problem.sequences
    return {
        "cu_q_ptr": None if sequences is None else sequences.cu_q,
        "cu_k_ptr": None if sequences is None else sequences.cu_k,
        "queries": problem.queries,
        "keys": problem.keys,
        "heads": problem.heads,
        "group": problem.group,
        "dim": problem.dim,
        "v_dim": problem.v_dim,
        "scale": float(problem.scale),
        "softcap": float(options.softcap),
        "slopes_ptr": options.alibi_slopes,
        "slope_strides": problem.slope_strides,
        "sinks_ptr": options.sinks,
        "left": options.left,
        "right": options.right,
        "seed_ptr": options.seed if options.dropout_p else None,
        "threshold": threshold(options.dropout_p),
        "keep_scale": 1 / (1 - options.dropout_p),
    }
