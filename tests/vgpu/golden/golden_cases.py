"""The launches whose counters are compared: kernels of kernels.cu, shapes and arguments, always the same."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
SOURCE = Path(__file__).parent / "kernels.cu"


def source_digest() -> str:
    """Tells whether counts were taken with these kernels."""
    return hashlib.sha256(SOURCE.read_bytes()).hexdigest()


@dataclass(frozen=True)
class Case:
    """One launch. `make_arguments` gives fresh arguments; each array is an allocation of its own."""

    name: str
    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    make_arguments: Callable[[], list[Any]]
    shared: int = 0


def _random(name: str) -> np.random.Generator:
    return np.random.default_rng(sum(name.encode()))


def _floats(n: int, seed: str = "") -> Array:
    return _random(seed).standard_normal(n, dtype=np.float32)


def _zeros(n: int, dtype: Any = np.float32) -> Array:
    return np.zeros(n, dtype)


def _indices(n: int, most: int, seed: str) -> Array:
    return _random(seed).integers(0, most, n, dtype=np.int32)


# ---- Global memory, atomics, whole kernels -------------------------------------------------------------

# Not a multiple of the block: the last block has whole warps, and one warp's part, without work.
N = 5000
BLOCKS, BLOCK = (20,), (256,)


def _global_cases() -> Iterator[Case]:
    def case(name: str, make: Callable[[], list[Any]], kernel: str | None = None) -> Case:
        return Case(name, f"golden_{kernel or name}", BLOCKS, BLOCK, make)

    yield case("vector_add", lambda: [N, _floats(N), _floats(N, "y"), _zeros(N)])
    for stride in (2, 3, 8, 32):
        yield case(
            f"strided_add by {stride}",
            lambda s=stride: [N, s, 0, _floats(N * s), _floats(N), _zeros(N * s)],
            "strided_add",
        )
    for offset in (1, 5, 8):
        yield case(
            f"strided_add from {offset}",
            lambda o=offset: [N, 1, o, _floats(N + o), _floats(N), _zeros(N + o)],
            "strided_add",
        )
    yield case("copy_float4", lambda: [N, _floats(4 * N), _zeros(4 * N)])
    for stride in (2, 3, 8):
        yield case(
            f"copy_float4_strided by {stride}",
            lambda s=stride: [N, s, _floats(4 * N * s), _zeros(4 * N * s)],
            "copy_float4_strided",
        )
    yield case("scale_double", lambda: [N, 2.5, _floats(N).astype(np.float64), _zeros(N, np.float64)])
    yield case("invert_bytes", lambda: [N, _indices(N, 256, "b").astype(np.uint8), _zeros(N, np.uint8)])
    yield case("add_halves", lambda: [N, _indices(N, 999, "h").astype(np.uint16), _zeros(N, np.uint16)])
    yield case("array_of_structs", lambda: [N, _floats(8 * N).view(np.uint8), _zeros(N)])
    yield case("struct_of_arrays", lambda: [N, _floats(N), _floats(N, "v"), _floats(N, "c"), _zeros(N)])
    yield case("packed_triples", lambda: [N, _floats(3 * N), _zeros(N)])
    yield case("gather", lambda: [N, _indices(N, 3000, "gather"), _floats(3000), _zeros(N)])
    yield case("gather of few", lambda: [N, _indices(N, 60, "few"), _floats(3000), _zeros(N)], "gather")
    yield case("scatter", lambda: [N, _indices(N, 3000, "scatter"), _floats(N), _zeros(3000)])
    yield case(
        "gather_double2",
        lambda: [N, _indices(N, 900, "g"), _floats(1800).astype(np.float64), _zeros(2 * N, np.float64)],
    )
    yield case("broadcast", lambda: [_floats(20), _zeros(20 * 256)])
    yield case("predicated", lambda: [5120, _floats(5120), _floats(5120, "y"), _zeros(5120)])
    yield Case("grid_stride", "golden_grid_stride", (3,), (96,), lambda: [N, _floats(2 * N), _zeros(N)])
    yield Case(
        "block of 48 threads",
        "golden_vector_add",
        (50,),
        (48,),
        lambda: [2390, _floats(2390), _floats(2390, "y"), _zeros(2390)],
    )
    yield Case(
        "matrix_scale",
        "golden_matrix_scale",
        (7, 6),
        (16, 16),
        lambda: [100, 90, _floats(9000), _zeros(9000)],
    )
    yield case("atomic_add", lambda: [N, _indices(N, 500, "atomic"), _zeros(500)])
    yield case("atomic_add to few", lambda: [N, _indices(N, 3, "bins"), _zeros(500)], "atomic_add")
    yield case("reduction", lambda: [N, _indices(N, 500, "atomic"), _zeros(500)])
    yield case("reduction to few", lambda: [N, _indices(N, 3, "bins"), _zeros(500)], "reduction")
    yield case(
        "atomic_exchange",
        lambda: [N, _indices(N, 500, "exchange"), _zeros(500, np.int32), _zeros(N, np.int32)],
    )


def _whole_cases() -> Iterator[Case]:
    for kind in ("naive", "conflicts", "padded"):
        yield Case(
            f"transpose_{kind}",
            f"golden_transpose_{kind}",
            (4, 4),
            (32, 8),
            lambda: [128, _floats(128 * 128), _zeros(128 * 128)],
        )
    yield Case(
        "matmul_tiled",
        "golden_matmul_tiled",
        (4, 4),
        (16, 16),
        lambda: [64, _floats(64 * 64), _floats(64 * 64, "b"), _zeros(64 * 64)],
    )
    for kind in ("interleaved", "sequential"):
        yield Case(
            f"reduce_{kind}", f"golden_reduce_{kind}", (12,), BLOCK, lambda: [_floats(12 * 256), _zeros(12)]
        )
    yield Case("reduce_shuffle", "golden_reduce_shuffle", (6,), BLOCK, lambda: [N, _floats(N), _zeros(1)])
    yield Case("stencil", "golden_stencil", (40,), (128,), lambda: [N, _floats(N), _zeros(N)])
    yield Case(
        "softmax_rows",
        "golden_softmax_rows",
        (10,),
        (128,),
        lambda: [300, _floats(3000), _zeros(3000)],
    )
    yield Case(
        "histogram",
        "golden_histogram",
        (4,),
        BLOCK,
        lambda: [N, _indices(N, 256, "values"), _zeros(256, np.int32)],
    )
    yield Case(
        "local_array",
        "golden_local_array",
        (4,),
        (128,),
        lambda: [_random("order").permutation(32).astype(np.int32), _zeros(512)],
    )
    for kind in ("conflicts", "padded"):
        yield Case(
            f"mma_{kind}",
            f"golden_mma_{kind}",
            (2,),
            (128,),
            lambda: [_floats(4096).astype(np.float16), _floats(4096, "b").astype(np.float16), _zeros(4096)],
        )


# ---- Bank conflicts, pattern by pattern ----------------------------------------------------------------

SHARED_BYTES = 16 * 1024
LANE = np.arange(32)


def patterns(width: int) -> dict[str, Array]:
    """Which element of `width` bytes each lane asks for, -1 for none; several warps are rows."""
    elements = SHARED_BYTES // width
    random = np.random.default_rng(width)
    chosen: dict[str, Array] = {
        "in order": LANE,
        "reversed": LANE[::-1],
        "one for all": LANE * 0,
        "one for each half": LANE // 16,
        "one for each quarter": LANE // 8,
        "pairs of neighbours": LANE // 2,
        "pairs across two": LANE // 4 * 2 + LANE % 2,
        "pairs across halves": LANE % 16,
        "two rows in turn": LANE % 2 * (128 // width) + LANE // 2,
        "upper half a row apart": LANE % 16 + LANE // 16 * (128 // width),
        "first half only": np.where(LANE < 16, LANE, -1),
        "every other lane": np.where(LANE % 2 == 0, LANE, -1),
        "every other lane, by 2": np.where(LANE % 2 == 0, 2 * LANE, -1),
        "one lane": np.where(LANE == 5, 7, -1),
        "padded rows": LANE * (128 // width + 1),
        "random permutation": random.permutation(32),
    }
    for stride in (2, 3, 4, 8, 16, 32):
        if 31 * stride < elements:
            chosen[f"by {stride}"] = LANE * stride
    chosen["random, 64 warps"] = random.integers(0, elements, (64, 32))
    chosen["random of few, 64 warps"] = random.integers(0, 4 * 128 // width, (64, 32))
    chosen["random with gaps, 64 warps"] = np.where(
        random.random((64, 32)) < 0.4, -1, random.integers(0, 8 * 128 // width, (64, 32))
    )
    if width > 4:  # where half and quarter warps take turns, single warps tell more than a sum
        for k in range(12):
            chosen[f"random warp {k}"] = random.integers(0, (2 + k) * 128 // width, 32)
    return chosen


def _bank_cases() -> Iterator[Case]:
    out = {1: (np.uint8, 1), 2: (np.uint16, 1), 4: (np.uint32, 1), 8: (np.uint32, 2), 16: (np.uint32, 4)}
    for width, (dtype, parts) in out.items():
        for name, pattern in patterns(width).items():
            index = np.ascontiguousarray(pattern.reshape(-1), np.int32)
            yield Case(
                f"banks of {width} bytes, {name}",
                f"golden_banks_{width}",
                (len(index) // 32,),
                (32,),
                lambda index=index, dtype=dtype, parts=parts: [
                    index.copy(),
                    _zeros(len(index) * parts, dtype),
                ],
                SHARED_BYTES,
            )


CASES: dict[str, Case] = {
    case.name: case for cases in (_global_cases(), _whole_cases(), _bank_cases()) for case in cases
}
