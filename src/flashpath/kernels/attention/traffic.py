"""Bytes that attention moves to and from memory, by formula: what counts are compared with.

Dao, Fu, Ermon, Rudra, Ré: "FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness", 2022
(arXiv:2205.14135). For a head of N queries and keys of d elements, and M elements of memory on the chip with
d <= M <= N d, Theorem 2: standard attention has Θ(N d + N²) accesses to memory, FlashAttention Θ(N² d² / M).
Proposition 3: no exact algorithm needs less than that for all such M. Under a mask the pairs that are seen
stand in the place of N². Where M is more than N d, all fits on the chip, and each tensor once is the least.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from flashpath.kernels.attention.device.plain import tile_for
from flashpath.kernels.attention.flash_v1 import host as flash_v1
from flashpath.kernels.attention.flash_v2.cuda import plans
from flashpath.kernels.attention.flash_v2.triton import configs
from flashpath.kernels.attention.problem import Problem, visible_pairs

ON_CHIP_BYTES = 48 * 1024  # shared memory that every GPU gives a block without being asked for more


def pairs(problem: Problem) -> int:
    """Queries and keys that see each other, of all heads and sequences."""
    options = problem.options
    of_head = visible_pairs(problem.queries, problem.keys, options.left, options.right)
    return problem.batch * problem.heads * of_head


def io_bound(problem: Problem, on_chip_bytes: int = ON_CHIP_BYTES) -> float:
    """N² d² / M elements of every head, in bytes: the forward direction."""
    size = problem.q.element_size()
    on_chip = on_chip_bytes / size
    return size * pairs(problem) * problem.dim * problem.v_dim / on_chip


# ---- The loops of each rung ------------------------------------------------------------------------------


class Loops(NamedTuple):
    """What the loops of a rung move, of elements with two bytes and without a mask."""

    words: str  # for a head of N queries and keys, with tiles of m queries and n keys
    of_pair: float  # bytes for each pair of a query and a key
    of_row: float  # and for each query with its key

    def bytes(self, problem: Problem) -> float:
        return pairs(problem) * self.of_pair + problem.batch * problem.heads * problem.queries * self.of_row


def _unfused(problem: Problem) -> Loops:
    """s in float32 is written, and read three times; p is written and read; q, k and v for every tile."""
    tile, d = tile_for(problem), problem.dim
    return Loops("20 N² + 2 d N²/n + 4 d N²/m", 20 + 2 * d / tile.keys + 4 * d / tile.queries, 2 * d + 4)


def _fused(problem: Problem) -> Loops:
    """k twice and v once for every tile of queries."""
    d = problem.dim
    return Loops("6 d N²/m + 4 d N", 6 * d / tile_for(problem).queries, 4 * d + 4)


def _online_softmax(problem: Problem) -> Loops:
    """k and v for every query."""
    d = problem.dim
    return Loops("4 d N² + 4 d N", 4 * d, 4 * d + 4)


def _version_1(keys: int, d: int) -> Loops:
    """q is read, o, m and l in float32 read and written, for every tile of keys."""
    return Loops("10 d N²/n + 16 N²/n + 6 d N", (10 * d + 16) / keys, 6 * d + 4)


def _version_2(queries: int, d: int) -> Loops:
    """k and v for every tile of queries."""
    return Loops("4 d N²/m + 4 d N", 4 * d / queries, 4 * d + 4)


def _backward(keys: int, d: int, queries: int | None = None) -> Loops:
    """q, dout and two numbers for every tile of keys; dq by sums in memory, or k and v for every of queries.

    Before it, out, dout and lse make delta.
    """
    once = 4 * d + 12 + 8 * d  # the two numbers of a query are made; k, v, dk, dv
    if queries is None:
        return Loops("8 d N²/n + 8 N²/n + 22 d N", (8 * d + 8) / keys, once + 10 * d)
    return Loops("4 d N²/n + 8 N²/n + 4 d N²/m + 18 d N", (4 * d + 8) / keys + 4 * d / queries, once + 6 * d)


def _cuda_backward(problem: Problem) -> Loops:
    return _backward(plans.backward_plan(problem).n, problem.dim)


def _triton_backward(adds: bool) -> Callable[[Problem], Loops]:
    def loops(problem: Problem) -> Loops:
        queries = None if adds else configs.backward_queries_config(problem).m
        return _backward(configs.backward_config(problem).n, problem.dim, queries)

    return loops


LOOPS: Mapping[str, Callable[[Problem], Loops]] = {
    "unfused": _unfused,
    "fused": _fused,
    "online_softmax": _online_softmax,
    "flash_v1_cuda": lambda problem: _version_1(flash_v1.TILE, problem.dim),
    "flash_v1_triton": lambda problem: _version_1(tile_for(problem).keys, problem.dim),
    "flash_v2_triton": lambda problem: _version_2(configs.forward_config(problem).m, problem.dim),
    "flash_v2_cuda": lambda problem: _version_2(plans.forward_plan(problem).m, problem.dim),
    "flash_v2_triton_backward_adds": _triton_backward(adds=True),
    "flash_v2_cuda_backward": _cuda_backward,
    "flash_v2_triton_backward": _triton_backward(adds=False),
}
