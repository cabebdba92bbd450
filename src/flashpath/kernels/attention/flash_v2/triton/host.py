"""FlashAttention 2 in Triton: what the kernels are told at compile time, the sizes of tiles, the launches."""

from __future__ import annotations

import functools
import importlib
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch

from flashpath.errors import FlashpathError
from flashpath.kernels.attention.dropout import threshold
from flashpath.kernels.attention.problem import Problem, with_whole_rows
from flashpath.kernels.attention.tiled import Gradients
from flashpath.kernels.building import triton_device


@dataclass(frozen=True)
class Features:
    """What a kernel is compiled for: code for what is not asked for is not there."""

    folded: bool  # a positive scale is all that lies between products and scores
    softcap: bool
    alibi: bool
    left: bool
    right: bool
    begins_masked: bool  # the first tiles that a program walks over need a mask, the last ones
    ends_masked: bool
    dropout: bool
    sinks: bool
    varlen: bool

    @property
    def masked(self) -> bool:
        return self.begins_masked or self.ends_masked


class Config(NamedTuple):
    """Tiles of queries and keys, and how a program works on them."""

    m: int
    n: int
    warps: int
    stages: int
    ahead: bool = False  # forward: the next tile's products before this one's softmax (forward.py)
    # Forward: programs of all heads at the same rows start together, which lie side by side in memory. Their
    # keys and values have to stay in L2 meanwhile, so it is for short sequences.
    heads_abreast: bool = False


SHORT = 128  # queries and keys at most: few programs, and no tile is full
SMALL = Config(64, 32, 4, 2)
LONG = 2048  # keys: beyond, what a program does before and after its loop is little
# (largest of dim and v_dim, right bound) → tiles for keys up to LONG, for more
FORWARD = {
    (64, False): (Config(64, 128, 4, 2, heads_abreast=True), Config(64, 128, 4, 2)),
    (64, True): (Config(64, 64, 4, 3, heads_abreast=True), Config(64, 128, 4, 2)),
    (128, False): (Config(64, 64, 4, 3, ahead=True), Config(64, 64, 4, 3, ahead=True)),
    (128, True): (Config(64, 64, 4, 3), Config(64, 64, 4, 3, ahead=True)),
    (256, False): (Config(128, 64, 8, 2), Config(128, 64, 8, 2)),
    (256, True): (Config(128, 64, 8, 2), Config(128, 64, 8, 2)),
}

SMALL_BACKWARD = Config(32, 32, 4, 2)
PREPARED = 128  # queries of a program that prepares backward: whole tiles of any config
BACKWARD = {64: Config(64, 64, 4, 3), 128: Config(64, 64, 4, 2), 256: Config(32, 64, 8, 1)}
# (largest of dim and v_dim, right bound) → tiles
BACKWARD_QUERIES = {
    (64, False): Config(64, 64, 4, 3),
    (64, True): Config(64, 64, 4, 3),
    (128, False): Config(128, 32, 4, 3),
    (128, True): Config(64, 32, 4, 3),
    (256, False): Config(64, 32, 8, 1),
    (256, True): Config(64, 32, 8, 1),
}


def is_short(problem: Problem) -> bool:
    return max(problem.queries, problem.keys) <= SHORT


def largest_block(problem: Problem) -> int:
    return max(64, block_of(problem.dim), block_of(problem.v_dim))


def forward_config(problem: Problem) -> Config:
    if is_short(problem):
        return SMALL
    return FORWARD[largest_block(problem), problem.options.right >= 0][problem.keys > LONG]


def backward_config(problem: Problem) -> Config:
    return SMALL_BACKWARD if is_short(problem) else BACKWARD[largest_block(problem)]


def backward_queries_config(problem: Problem) -> Config:
    if is_short(problem):
        return SMALL_BACKWARD
    return BACKWARD_QUERIES[largest_block(problem), problem.options.right >= 0]


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
    if adds_dq and deterministic:
        raise FlashpathError("backward got adds_dq and deterministic.", "Sums in memory have no order.")
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
    with triton_device(q):
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
    sinks: Any = problem.options.sinks
    if sinks is None:
        return None
    delta: Any = (out.float() * dout.float()).sum(-1).transpose(-1, -2)
    if dlse is not None:
        delta = delta - dlse
    parts: Any = -torch.exp(sinks[:, None] - lse) * delta
    return parts.sum(-1) if parts.dim() == 2 else parts.sum((0, 2))


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


def row_shape(problem: Problem) -> tuple[int, ...]:
    """(batch, heads, queries), with every sequence filled up to whole tiles."""
    if problem.sequences is None:
        return problem.batch, problem.heads, -(-problem.queries // PREPARED) * PREPARED
    return 1, problem.heads, (problem.q.shape[0] // PREPARED + problem.batch) * PREPARED


def tiles_of(problem: Problem, x: Any, rows: int) -> Any:
    """A descriptor of k or v, or of what is like them, in tiles of so many rows of a head."""
    of_heads = (x if problem.sequences is None else x[None]).transpose(1, 2)
    return describe(of_heads, rows, block_of(x.shape[-1]))


def describe(x: Any, *tile: int) -> Any:
    """A tensor in tiles of its last dimensions."""
    descriptor: Any = importlib.import_module("triton.tools.tensor_descriptor").TensorDescriptor
    return descriptor(x, list(x.shape), list(x.stride()), [1] * (x.dim() - len(tile)) + list(tile))


def mod_of(problem: Problem) -> Any | None:
    mod = problem.options.score_mod
    return None if mod is None else mod.form("triton")


def along_keys(problem: Problem, config: Config) -> Features:
    """Of a kernel that walks over keys."""
    ends = problem.options.right >= 0 or problem.sequences is not None or problem.keys % config.n != 0
    return features_of(problem, problem.options.left >= 0, ends)


def along_queries(problem: Problem, config: Config) -> Features:
    """Of one that walks over queries."""
    varlen = problem.sequences is not None
    begins = problem.options.right >= 0 or varlen or problem.keys % config.n != 0
    ends = problem.options.left >= 0 or varlen or problem.queries % config.m != 0
    return features_of(problem, begins, ends)


def features_of(problem: Problem, begins_masked: bool, ends_masked: bool) -> Features:
    options = problem.options
    between = bool(options.softcap) or options.alibi_slopes is not None or options.score_mod is not None
    return Features(
        folded=not between and problem.scale > 0,
        softcap=bool(options.softcap),
        alibi=options.alibi_slopes is not None,
        left=options.left >= 0,
        right=options.right >= 0,
        begins_masked=begins_masked,
        ends_masked=ends_masked,
        dropout=bool(options.dropout_p),
        sinks=options.sinks is not None,
        varlen=problem.sequences is not None,
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
