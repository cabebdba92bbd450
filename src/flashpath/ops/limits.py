"""How large a call of attention on CPU tensors may be, in work and in memory: counted and refused here.

The virtual GPU is asked for multiply-adds that its kernels really do: tiles of which no query of a block sees
a key are left out, so that a window costs its width. torch's formula is asked for memory, where it has to
keep scores for a gradient; without one it goes through them a few at a time.
"""

from typing import Any

import torch

from flashpath.errors import FlashpathError
from flashpath.kernels.attention.decode.cache import Step
from flashpath.kernels.attention.problem import Problem, block_pairs
from flashpath.ops.checking import refuse
from flashpath.ops.registration import tell_if_slow

# More multiply-adds than this on CPU tensors are refused: one would wait for long, and not know for how long.
MOST_PRODUCTS_ON_CPU = 2**32
# More bytes than this, kept for a gradient on the CPU, are refused: the system would end the process.
MOST_KEPT_BYTES_ON_CPU = 2**33
# Elements that torch keeps, or has at the peak of the backward direction, for each score of the formula: 6.4
# of a causal mask alone and 7.7 of everything between scores and weights, measured.
_KEPT_FOR_A_SCORE = 8


# ---- Work ------------------------------------------------------------------------------------------------


def attention_products(problem: Problem) -> int:
    """Multiply-adds of the forward direction."""
    left, right = problem.options.left, problem.options.right
    pairs = sum(block_pairs(queries, keys, left, right) for queries, keys in _lengths(problem))
    return problem.heads * pairs * (problem.dim + problem.v_dim)


def decode_products(step: Step) -> int:
    """Multiply-adds of a step, new keys with them; without memory to look into, of a cache that is full."""
    cache, left, right = step.cache, step.options.left, step.options.right
    keys = [cache.capacity] * step.batch
    if not cache.lengths.is_meta:
        pads = [0] * step.batch if cache.left_pad is None else cache.left_pad.tolist()
        keys = [length + step.new - pad for length, pad in zip(cache.lengths.tolist(), pads, strict=True)]
    pairs = sum(block_pairs(step.queries, each, left, right) for each in keys)
    return step.heads * pairs * (step.dim + step.v_dim)


def _lengths(problem: Problem) -> list[tuple[int, int]]:
    """(queries, keys) of each sequence; without memory to look into, all are as long as the longest."""
    sequences = problem.sequences
    if sequences is None or sequences.cu_q.is_meta:
        return [(problem.queries, problem.keys)] * problem.batch
    queries, keys = (cu.diff().tolist() for cu in (sequences.cu_q, sequences.cu_k))
    return list(zip(queries, keys, strict=True))


def require_few_products(operator: str, products: int) -> None:
    """Refuses more products than the virtual GPU computes in a bearable time."""
    if products > MOST_PRODUCTS_ON_CPU:
        raise FlashpathError(
            "ops.many-products",
            operator=operator,
            products=products,
            most_products_on_cpu=MOST_PRODUCTS_ON_CPU,
        )


def tell_or_refuse_if_large(operator: str, q: torch.Tensor, products: int) -> None:
    """Warns of a call on CPU tensors that is slow, and refuses one that is too large."""
    require_few_products(operator, products)
    tell_if_slow(operator, q, products=products)


# ---- Memory ----------------------------------------------------------------------------------------------


def require_memory_for_gradients(problem: Problem, dtype: Any) -> None:
    """Refuses CPU tensors whose scores, kept for the gradient in this type, need too much memory."""
    scores = problem.heads * sum(queries * keys for queries, keys in _lengths(problem))
    kept = scores * _KEPT_FOR_A_SCORE * dtype.itemsize
    if kept > MOST_KEPT_BYTES_ON_CPU:
        refuse(
            "ops.many-scores",
            operator=problem.operator,
            scores=scores,
            kept=f"{kept / 2**30:,.1f}",
            most_kept_bytes_on_cpu=MOST_KEPT_BYTES_ON_CPU >> 30,
        )
