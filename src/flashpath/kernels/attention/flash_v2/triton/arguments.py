"""FlashAttention 2 in Triton: tensors and numbers as its kernels take them."""

from __future__ import annotations

import importlib
from typing import Any

from flashpath.kernels.attention.device.features import block_of
from flashpath.kernels.attention.dropout import threshold
from flashpath.kernels.attention.flash_v2.triton.configs import PREPARED
from flashpath.kernels.attention.problem import Problem


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


def row_shape(problem: Problem) -> tuple[int, ...]:
    """(batch, heads, queries), with every sequence filled up to whole tiles."""
    if problem.sequences is None:
        return problem.batch, problem.heads, -(-problem.queries // PREPARED) * PREPARED
    return 1, problem.heads, (problem.q.shape[0] // PREPARED + problem.batch) * PREPARED
