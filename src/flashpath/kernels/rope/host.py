"""The host side of the rope rungs: the shape of each launch."""

from __future__ import annotations

import importlib
import math
from pathlib import Path
from typing import Any

from flashpath.jit.arguments import strided
from flashpath.kernels.building import CPP_TYPES, cuda_kernel, dtype_name, triton_device
from flashpath.kernels.rope.problem import INDICES, Problem, prepare

FOLDER = Path(__file__).parent
ONE_PAIR = FOLDER / "one_pair.cu"
BY_TOKEN = FOLDER / "by_token.cu"
VECTORIZED = FOLDER / "vectorized.cu"
THREADS = 256
HEADS = 4  # of a thread of vectorized: eight loads of 16 bytes under way
TRITON_ELEMENTS, TRITON_WARPS = 2048, 4  # of a program at a time


def one_pair(
    q: Any,
    k: Any | None,
    cos: Any,
    sin: Any,
    positions: Any | None = None,
    offset: int = 0,
    interleaved: bool = False,
    inverse: bool = False,
    out: tuple[Any, Any | None] | None = None,
    *,
    threads: int = THREADS,
) -> tuple[Any, Any | None]:
    problem = prepare(q, k, cos, sin, positions, offset, interleaved, inverse, out)
    kernel = cuda_kernel(ONE_PAIR, kernel_name(ONE_PAIR, problem), q)
    for is_k, (x, result) in enumerate(zip((q, k), problem.results, strict=True)):
        n = 0 if x is None else problem.tokens * x.shape[2] * (problem.dim - problem.pairs)
        if n:
            kernel[-(-n // threads), threads](
                n, problem.heads[is_k], strided(x), result, *_angles(problem), problem.shape(), bool(is_k)
            )
    return problem.results


def by_token(
    q: Any,
    k: Any | None,
    cos: Any,
    sin: Any,
    positions: Any | None = None,
    offset: int = 0,
    interleaved: bool = False,
    inverse: bool = False,
    out: tuple[Any, Any | None] | None = None,
    *,
    threads: int = THREADS,
) -> tuple[Any, Any | None]:
    problem = prepare(q, k, cos, sin, positions, offset, interleaved, inverse, out)
    if not _is_empty(problem):
        kernel = cuda_kernel(BY_TOKEN, kernel_name(BY_TOKEN, problem), q)
        kernel[problem.tokens, threads, 8 * problem.pairs](
            *_heads(problem), *_angles(problem), problem.shape()
        )
    return problem.results


def vectorized(
    q: Any,
    k: Any | None,
    cos: Any,
    sin: Any,
    positions: Any | None = None,
    offset: int = 0,
    interleaved: bool = False,
    inverse: bool = False,
    out: tuple[Any, Any | None] | None = None,
    *,
    threads: int = THREADS,
    heads: int = HEADS,
) -> tuple[Any, Any | None]:
    """`heads` are those of a thread, `threads` the most of a block."""
    problem = prepare(q, k, cos, sin, positions, offset, interleaved, inverse, out)
    if not _is_empty(problem):
        width = widest(problem)
        turning = problem.pairs // width
        units = turning + (problem.dim - 2 * problem.pairs) // width
        work = units * -(-sum(problem.heads) // heads)
        across = -(-work // -(-work // threads))
        together = max(threads // across, 1)
        kernel = cuda_kernel(VECTORIZED, kernel_name(VECTORIZED, problem, width, heads), q)
        kernel[-(-problem.tokens // together), (across, together)](
            problem.tokens,
            turning,
            units,
            work,
            *_heads(problem),
            *_angles(problem),
            problem.shape(),
        )
    return problem.results


def triton(
    q: Any,
    k: Any | None,
    cos: Any,
    sin: Any,
    positions: Any | None = None,
    offset: int = 0,
    interleaved: bool = False,
    inverse: bool = False,
    out: tuple[Any, Any | None] | None = None,
    *,
    elements: int = TRITON_ELEMENTS,
    warps: int = TRITON_WARPS,
) -> tuple[Any, Any | None]:
    """`elements` are those of a program at a time."""
    problem = prepare(q, k, cos, sin, positions, offset, interleaved, inverse, out)
    if not _is_empty(problem):
        shape, rest = problem.shape(), problem.dim - 2 * problem.pairs
        pairs = _power(problem.pairs)
        with triton_device(q):
            triton_kernel()[(problem.tokens,)](
                *(q, k, *problem.results, cos, sin, positions),
                *(tuple(each) for each in (shape.q, shape.k, shape.cosine, shape.sine, shape.position)),
                *(offset, shape.sequence, shape.rows, *problem.heads, shape.dim, shape.pairs, shape.sign),
                COUNTS=problem.counts,
                INTERLEAVED=interleaved,
                HEADS=min(max(elements // (2 * pairs), 1), _power(max(problem.heads))),
                PAIRS=pairs,
                REST=_power(rest) if rest else 0,
                num_warps=warps,
            )
    return problem.results


def triton_kernel() -> Any:
    return importlib.import_module("flashpath.kernels.rope.triton_rope").rope_kernel


# ---- Launches ----------------------------------------------------------------------------------------------


def _is_empty(problem: Problem) -> bool:
    return not (problem.tokens and sum(problem.heads) and problem.dim)


def _power(n: int) -> int:
    """The least power of two that is no less; 1 of nothing."""
    return 1 << max(n - 1, 0).bit_length()


def _heads(problem: Problem) -> tuple[Any, ...]:
    k = None if problem.k is None else strided(problem.k)
    return strided(problem.q), k, *problem.results


def _angles(problem: Problem) -> tuple[Any, ...]:
    positions = None if problem.positions is None else strided(problem.positions)
    return strided(problem.cos), strided(problem.sin), positions


def kernel_name(file: Path, problem: Problem, *sizes: int) -> str:
    """The instance of a file's kernel for a problem, as C++ names it."""
    index = "int64" if problem.positions is None else dtype_name(problem.positions)
    types = [CPP_TYPES[dtype_name(problem.q)], CPP_TYPES[dtype_name(problem.cos)], INDICES[index]]
    arguments = ", ".join([*types, str(problem.interleaved).lower(), *map(str, sizes)])
    return f"rope_{file.stem}<{arguments}>"


def widest(problem: Problem) -> int:
    """How many elements of q and k, up to 16 bytes of them, each access can move: a power of two."""
    heads = [x for x in (problem.q, problem.k, *problem.results) if x is not None]
    angles = problem.cos, problem.sin
    lengths = [problem.pairs, problem.dim, *(step for x in (problem.q, problem.k) for step in _steps(x))]
    lengths += [step for x in angles for step in problem.angle_strides(x)]
    width = math.gcd(16 // problem.q.element_size(), *lengths)
    while width > 1 and (
        any(x.data_ptr() % (width * x.element_size()) for x in heads)
        or any(x.data_ptr() % min(width * x.element_size(), 16) for x in angles)
    ):
        width //= 2
    return width


def _steps(x: Any | None) -> list[int]:
    """The strides that addresses are made with: none of dimensions of one."""
    if x is None:
        return []
    sizes, strides = x.shape[:3], x.stride()[:3]
    return [step for size, step in zip(sizes, strides, strict=True) if size > 1]
