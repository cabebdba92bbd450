"""What the rungs before FlashAttention 2 take, flash_v1 with them, and what their hosts have in common.

They take causal or not, any scale, grouped heads, any lengths and head dimensions. What else there is between
scores and weights would hide the one idea of each: it is in flash_v2.
"""

from __future__ import annotations

import math
import struct
from typing import Any, NamedTuple

from flashpath.errors import FlashpathError
from flashpath.kernels.arguments import output
from flashpath.kernels.attention.problem import Problem

LOG2E = math.log2(math.e)


def not_plain(problem: Problem) -> list[str]:
    """What is asked for beyond that, by the names it was asked with."""
    options = problem.options
    asked = {
        "window": options.left >= 0 or options.right > 0,
        "softcap": options.softcap != 0,
        "alibi_slopes": options.alibi_slopes is not None,
        "sinks": options.sinks is not None,
        "dropout_p": options.dropout_p != 0,
        "score_mod": options.score_mod is not None,
        "cu_seqlens": problem.sequences is not None,
    }
    return [name for name, is_asked in asked.items() if is_asked]


def require_plain(rung: str, problem: Problem) -> None:
    asked = not_plain(problem)
    if asked:
        raise FlashpathError("kernels.not-plain", rung=rung, asked=list(asked))


def is_causal(problem: Problem) -> bool:
    """As a plain problem can be: a query sees no key behind its place."""
    return problem.options.right == 0


class Outputs(NamedTuple):
    out: Any  # (batch, queries, heads, v_dim)
    lse: Any  # float32, (batch, heads, queries)


def outputs(problem: Problem, out: Any | None, lse: Any | None) -> Outputs:
    """The caller's tensors, checked, or new ones."""
    import torch

    q = problem.q
    return Outputs(
        output("attention", out, (*q.shape[:-1], problem.v_dim), q.dtype, q.device),
        output("attention", lse, problem.lse_shape, torch.float32, q.device),
    )


def packed_strides(problem: Problem, x: Any) -> bytes:
    """Returns the strides as the `Strides` of rows.cuh."""
    return struct.pack("<3q", *problem.strides(x))


class Tile(NamedTuple):
    """Queries and keys that a program of a Triton rung has at a time; `stages` of keys that are under way."""

    queries: int
    keys: int
    warps: int
    stages: int


# Of the virtual GPU: several tiles of small problems.
SMALL = Tile(32, 32, 4, 2)
LARGE = Tile(64, 64, 4, 3)
# Of head dimensions above 128: an output tile that 4 warps have no registers for, and two stages that fit
# into the shared memory of every GPU from sm_80 on.
WIDE = Tile(64, 32, 8, 2)


def tile_for(problem: Problem) -> Tile:
    if not problem.q.is_cuda:
        return SMALL
    return WIDE if max(problem.dim, problem.v_dim) > 128 else LARGE
