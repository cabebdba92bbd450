# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false
# What a kernel is given may be of any type, and so are the parameters of what is expected of it.
"""Correct kernels, their launches, and the results that they must give under every schedule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent / "correct"
ROOT = Path(__file__).parents[3]
OTHERS = {
    "benchmarks": ROOT / "benchmarks" / "vgpu_kernels",
    "vector_add": ROOT / "src" / "flashpath" / "kernels" / "vector_add",
}

Array = np.ndarray[Any, Any]
Check = Callable[[Sequence[Any], Sequence[Any]], None]  # the arguments before the launch and after it


@dataclass(frozen=True)
class Correct:
    """A kernel without a bug, its launch, and what must come out."""

    file: str  # of correct/, or folder/stem of OTHERS
    kernel: str
    arguments: Callable[[], Sequence[Any]]
    check: Check
    grid: Any = 1
    block: Any = 32
    shared: int = 0

    @property
    def source(self) -> Path:
        folder, _, stem = self.file.rpartition("/")
        return (OTHERS[folder] if folder else FOLDER) / f"{stem}.cu"

    @property
    def name_expressions(self) -> list[str]:
        return [self.kernel] if "<" in self.kernel else []


# ---- Inputs and results --------------------------------------------------------------------------------


def _random(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def _ints(seed: int, size: int, low: int = -50, high: int = 50) -> Array:
    return np.random.default_rng(seed).integers(low, high, size, dtype=np.int32)


def _bytes(seed: int, size: int) -> Array:
    return np.random.default_rng(seed).integers(0, 256, size, dtype=np.uint8)


def _zeros(*sizes: int, dtype: Any = np.int32) -> list[Array]:
    return [np.zeros(size, dtype) for size in sizes]


def _nans(*shape: int) -> Array:
    return np.full(shape, np.nan, np.float32)


def gives(index: int, expected: Callable[..., Any], tolerance: float = 0, any_order: bool = False) -> Check:
    """The array of that index becomes what `expected` makes of the arguments."""

    def check(before: Sequence[Any], after: Sequence[Any]) -> None:
        wanted = np.asarray(expected(*before))
        found = np.asarray(after[index]).reshape(-1)[: wanted.size].reshape(wanted.shape)
        if any_order:
            wanted, found = np.sort(wanted), np.sort(found)
        if tolerance:
            scale = np.abs(np.asarray(wanted, np.float64)).max()
            np.testing.assert_allclose(found.astype(np.float64), wanted, rtol=0, atol=tolerance * scale)
        else:
            np.testing.assert_array_equal(found, wanted)

    return check


def attention(q: Array, k: Array, v: Array, scale: float) -> Array:
    """softmax(scale · Q Kᵀ) V in float64."""
    scores = q.astype(np.float64) @ np.swapaxes(k.astype(np.float64), -1, -2) * scale
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v.astype(np.float64)


def _product(a: Array, b: Array) -> Array:
    return a.astype(np.float64) @ b.astype(np.float64)


def _softmax(x: Array) -> Array:
    powers = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def _layer_norm(x: Array, weight: Array, bias: Array) -> Array:
    x = x.astype(np.float64)
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * weight + bias


def _collatz(x: Array) -> list[int]:
    steps: list[int] = []
    for start in x:
        value, count = int(start), 0
        while value != 1:
            value = 3 * value + 1 if value % 2 else value // 2
            count += 1
        steps.append(count)
    return steps


def _votes(x: Array) -> Array:
    positive = sum(int(value > 0) << lane for lane, value in enumerate(x))
    same = [sum(int(other == value) << lane for lane, other in enumerate(x)) for value in x]
    total = int(x.sum()) % 2**32
    return np.array([positive ^ each ^ total for each in same], np.uint32)


def _local_table(index: Array) -> list[int]:
    out: list[int] = []
    for thread, at in enumerate(index):
        squares = [i * i + thread for i in range(16)]
        squares[at & 15] = -1
        out.append(sum(squares[(i * int(at)) & 15] for i in range(16)))
    return out


def _tiles_reversed(x: Array, rounds: int) -> Array:
    return x.reshape(rounds, 64)[:, ::-1].sum(0)


def _in_groups(x: Array, size: int) -> Array:
    return x.reshape(-1, size)[:, ::-1].reshape(-1)


_HALF = np.float16

# ---- The kernels ---------------------------------------------------------------------------------------

_MESSAGE = Correct(
    "between_blocks", "message_acquire_release", lambda: _zeros(1, 1, 1), gives(2, lambda *_: [42]), 2, 1
)

WARP = [
    Correct(
        "warp",
        "reduce_with_syncwarp",
        lambda: [_random(1, 128), _nans(4)],
        gives(1, lambda x, _: x.reshape(4, 32).sum(1, dtype=np.float64), 1e-6),
        block=128,
    ),
    Correct(
        "warp",
        "reverse_halves",
        lambda: [_ints(2, 32), *_zeros(32)],
        gives(1, lambda x, _: _in_groups(x, 16)),
    ),
    Correct(
        "warp",
        "reduce_with_shuffles",
        lambda: [np.abs(_random(3, 1000)), np.zeros(1, np.float32), 1000],
        gives(1, lambda x, *_: [x.sum(dtype=np.float64)], 1e-6),
        grid=2,
        block=128,
    ),
    Correct(
        "warp",
        "exchange_through_global",
        lambda: _zeros(32, 32),
        gives(1, lambda *_: (np.arange(32) ^ 1) ** 2),
    ),
    Correct(
        "warp",
        "compact",
        lambda: [_ints(4, 200), *_zeros(200, 1), 200],
        gives(1, lambda x, *_: x[x > 0], any_order=True),
        grid=2,
        block=128,
    ),
    Correct(
        "warp",
        "aggregate",
        lambda: [_ints(5, 128, 0, 8), *_zeros(8)],
        gives(1, lambda keys, _: np.bincount(keys, minlength=8)),
        grid=2,
        block=64,
    ),
    Correct(
        "warp",
        "votes",
        lambda: [_ints(6, 32, -3, 3), np.zeros(32, np.uint32)],
        gives(1, lambda x, _: _votes(x)),
    ),
    Correct(
        "warp",
        "sum_of_a_branch",
        lambda: [_ints(7, 32), *_zeros(32)],
        gives(1, lambda x, _: np.where(x % 2 != 0, x[x % 2 != 0].sum(), 0)),
    ),
]

BLOCK = [
    Correct(
        "block",
        "vector_add",
        lambda: [_random(1, 1000), _random(2, 1000), _nans(1000), 1000],
        gives(2, lambda a, b, *_: a + b),
        grid=4,
        block=256,
    ),
    Correct(
        "block",
        "collatz",
        lambda: [np.arange(1, 51, dtype=np.uint32), *_zeros(50), 50],
        gives(1, lambda x, *_: _collatz(x)),
        grid=2,
    ),
    Correct(
        "block",
        "matmul_tiled",
        lambda: [_random(3, 40, 40), _random(4, 40, 40), _nans(40, 40), 40],
        gives(2, lambda a, b, *_: _product(a, b), 1e-6),
        grid=(3, 3),
        block=(16, 16),
    ),
    *(
        Correct(
            "block",
            kernel,
            lambda: [_random(5, 64, 64), _nans(64, 64), 64],
            gives(1, lambda x, *_: x.T),
            grid=(2, 2),
            block=(32, 8),
        )
        for kernel in ("transpose_conflicts", "transpose_padded", "transpose_direct")
    ),
    Correct(
        "block",
        "reduce_tree",
        lambda: [_random(6, 256), _nans(2)],
        gives(1, lambda x, _: x.reshape(2, 128).sum(1, dtype=np.float64), 1e-6),
        grid=2,
        block=128,
    ),
    *(
        Correct(
            "block",
            kernel,
            lambda: [_ints(7, 64), *_zeros(64)],
            gives(1, lambda x, _: np.cumsum(x)),
            block=64,
        )
        for kernel in ("scan_two_buffers", "scan_in_place")
    ),
    Correct(
        "block",
        "double_buffer",
        lambda: [_random(8, 320), _nans(64), 5],
        gives(1, lambda x, _, rounds: _tiles_reversed(x, rounds), 1e-6),
        block=64,
    ),
    Correct(
        "block",
        "histogram",
        lambda: [_bytes(9, 2000), np.zeros(256, np.uint32), 2000],
        gives(1, lambda x, *_: np.bincount(x, minlength=256)),
        grid=2,
        block=256,
    ),
    Correct(
        "block",
        "stencil",
        lambda: [_random(10, 100), _nans(100), 100],
        gives(1, lambda x, *_: np.convolve(x.astype(np.float64), np.ones(3), "same"), 1e-6),
        grid=2,
        block=64,
    ),
    Correct(
        "block",
        "any_negative",
        lambda: [_ints(11, 128), *_zeros(1)],
        gives(1, lambda *_: [1]),
        grid=2,
        block=64,
    ),
    Correct(
        "block",
        "bytes_by_neighbours",
        lambda: [_bytes(12, 256), np.zeros(256, np.uint8)],
        gives(1, lambda x, _: _in_groups(x ^ 0x55, 128)),
        grid=2,
        block=128,
    ),
    Correct(
        "block", "fields_by_neighbours", lambda: _zeros(32), gives(0, lambda _: 6 * np.arange(32)), block=96
    ),
    Correct(
        "block",
        "local_table",
        lambda: [_ints(13, 32, 0, 16), *_zeros(32)],
        gives(1, lambda index, _: _local_table(index)),
    ),
    Correct(
        "block",
        "rotate_dynamic",
        lambda: [_random(14, 96), _nans(96)],
        gives(1, lambda x, _: np.roll(x, -1)),
        block=96,
        shared=96 * 4,
    ),
    Correct("block", "bitonic_sort", lambda: [_ints(15, 128)], gives(0, np.sort), block=128),
    Correct(
        "block",
        "softmax",
        lambda: [_random(16, 3, 200), _nans(3, 200), 200],
        gives(1, lambda x, *_: _softmax(x), 1e-5),
        grid=3,
        block=128,
    ),
    Correct(
        "block",
        "layer_norm",
        lambda: [_random(17, 3, 200), _random(18, 200), _random(19, 200), _nans(3, 200), 200],
        gives(3, lambda x, weight, bias, *_: _layer_norm(x, weight, bias), 1e-5),
        grid=3,
        block=128,
    ),
    Correct(
        "block",
        "to_half_types",
        lambda: [_random(20, 100), np.zeros(100, _HALF), np.zeros(100, np.uint16), 100],
        gives(1, lambda x, *_: x.astype(_HALF)),
        grid=2,
        block=64,
    ),
    Correct(
        "block",
        "warps_that_leave",
        lambda: [_ints(21, 64), *_zeros(64)],
        gives(1, lambda x, _: x[::-1]),
        block=128,
    ),
    Correct(
        "block",
        "return_before_barrier",
        lambda: [_random(24, 100), _nans(100), 100],
        gives(1, lambda x, *_: x[np.arange(100) ^ 1]),
        grid=2,
        block=64,
    ),
    Correct(
        "block",
        "produce_and_consume",
        lambda: [_ints(22, 160), *_zeros(160), 5],
        gives(1, lambda x, *_: _in_groups(x, 32)),
        block=64,
    ),
    Correct(
        "block",
        "counted_at_the_barrier",
        lambda: [_ints(23, 64), *_zeros(64)],
        gives(1, lambda x, _: np.full(64, (x > 0).sum())),
        block=64,
    ),
    Correct("block", "heap", lambda: [*_zeros(32), 4], gives(0, lambda *_: 3 + np.arange(31, -1, -1))),
]

BETWEEN_BLOCKS = [
    Correct(
        "between_blocks",
        "last_block_sums",
        lambda: [_random(1, 256), _nans(4), np.zeros(1, np.uint32), _nans(1)],
        gives(3, lambda x, *_: [x.sum(dtype=np.float64)], 1e-5),
        grid=4,
        block=64,
    ),
    Correct(
        "between_blocks",
        "last_block_volatile",
        lambda: [_nans(6), np.zeros(1, np.uint32), _nans(1)],
        gives(2, lambda *_: [21]),
        grid=6,
    ),
    Correct(
        "between_blocks",
        "message",
        lambda: _zeros(64, 1, 64),
        gives(2, lambda *_: 40 + (np.arange(64) ^ 1)),
        grid=2,
        block=64,
    ),
    _MESSAGE,
    Correct(
        "between_blocks",
        "chain",
        lambda: [_ints(2, 8), *_zeros(8, 8)],
        gives(1, lambda x, *_: np.cumsum(x)),
        grid=8,
    ),
    Correct(
        "between_blocks",
        "look_back_scan",
        lambda: [_ints(3, 384, 0, 50), *_zeros(384), np.zeros(6, np.uint64), np.zeros(1, np.uint32)],
        gives(1, lambda x, *_: np.cumsum(x)),
        grid=6,
        block=64,
    ),
    Correct(
        "between_blocks",
        "look_back_flags",
        lambda: [_ints(4, 192), *_zeros(192, 6, 6, 6), np.zeros(1, np.uint32)],
        gives(1, lambda x, *_: np.cumsum(x)),
        grid=6,
    ),
    Correct("between_blocks", "spin_lock", lambda: _zeros(1, 2), gives(1, lambda *_: [15, 6]), grid=6),
    Correct("between_blocks", "spin_lock_in_a_warp", lambda: _zeros(1, 1), gives(1, lambda *_: [64]), grid=2),
    Correct("between_blocks", "spin_lock_volatile", lambda: _zeros(1, 1), gives(1, lambda *_: [32])),
    Correct(
        "between_blocks",
        "ticket_lock",
        lambda: [*_zeros(1, 1, dtype=np.uint32), *_zeros(6, 1)],
        gives(2, lambda *_: np.arange(6)),
        grid=6,
    ),
    Correct(
        "between_blocks",
        "barrier_of_the_grid",
        lambda: [*_zeros(128, 128), np.zeros(1, np.uint32)],
        gives(1, lambda *_: np.arange(127, -1, -1) ** 2),
        grid=4,
    ),
    Correct(
        "between_blocks",
        "histogram_in_global",
        lambda: [_bytes(5, 500), *_zeros(256), 500],
        gives(1, lambda x, *_: np.bincount(x, minlength=256)),
        grid=4,
        block=128,
    ),
    Correct(
        "between_blocks",
        "work_queue",
        lambda: [_ints(6, 320), *_zeros(320, 1), 10],
        gives(1, lambda x, *_: x * 2),
        grid=3,
    ),
    Correct(
        "between_blocks",
        "stop_early",
        lambda: [np.where(np.arange(128) == 90, 77, 0).astype(np.int32), *_zeros(1, 1), 128],
        gives(2, lambda *_: [90]),
        grid=4,
    ),
    Correct(
        "between_blocks",
        "float_maximum",
        lambda: [_random(7, 100), np.full(1, -3e38, np.float32).view(np.int32), 100],
        gives(1, lambda x, *_: np.array([x.max()]).view(np.int32)),
        grid=4,
    ),
]

ASYNC_COPIES = [
    Correct(
        "async_copy",
        "own_copies",
        lambda: [_random(1, 64), _nans(64)],
        gives(1, lambda x, _: 2 * x),
        block=64,
    ),
    *(
        Correct(
            "async_copy",
            kernel,
            lambda: [_random(2, 64), _nans(64)],
            gives(1, lambda x, _: x[::-1]),
            block=64,
        )
        for kernel in ("wait_for_all", "copies_at_an_mbarrier")
    ),
    *(
        Correct(
            "async_copy",
            kernel,
            lambda: [_random(3, 320), _nans(64), 5],
            gives(1, lambda x, _, rounds: _tiles_reversed(x, rounds), 1e-6),
            block=64,
        )
        for kernel in ("two_buffers", "three_stages")
    ),
    Correct(
        "async_copy",
        "reused_for_stores",
        lambda: [_random(4, 64), _nans(64)],
        gives(1, lambda x, _: (x[::-1] + 1)[np.arange(64) ^ 1]),
        block=64,
    ),
]

COOPERATIVE = [
    Correct(
        "cooperative",
        "block_group",
        lambda: [_ints(1, 64), *_zeros(64)],
        gives(1, lambda x, _: x[::-1]),
        block=64,
    ),
    Correct(
        "cooperative",
        "tiles",
        lambda: [_ints(2, 64), *_zeros(4)],
        gives(1, lambda x, _: x.reshape(4, 16).sum(1)),
        block=64,
    ),
    Correct(
        "cooperative",
        "tiles_in_shared",
        lambda: [_ints(3, 64), *_zeros(64)],
        gives(1, lambda x, _: _in_groups(x, 8)),
        block=64,
    ),
    Correct(
        "cooperative", "tile_scan", lambda: [_ints(4, 32), *_zeros(32)], gives(1, lambda x, _: np.cumsum(x))
    ),
    Correct(
        "cooperative",
        "coalesced",
        lambda: [_ints(5, 64), *_zeros(64, 1)],
        gives(1, lambda x, *_: x[x > 0], any_order=True),
        block=64,
    ),
    Correct(
        "cooperative",
        "labeled",
        lambda: [_ints(6, 32, 0, 5), *_zeros(5)],
        gives(1, lambda keys, _: np.bincount(keys, minlength=5)),
    ),
    Correct(
        "cooperative",
        "group_copy",
        lambda: [_random(7, 192), _nans(64), 3],
        gives(1, lambda x, _, rounds: _tiles_reversed(x, rounds), 1e-6),
        block=64,
    ),
    Correct(
        "cooperative",
        "block_reduce",
        lambda: [_ints(8, 128), *_zeros(1)],
        gives(1, lambda x, _: [x.sum()]),
        grid=2,
        block=64,
    ),
]

LIBCUDACXX = [
    Correct(
        "libcudacxx",
        "pipeline_of_a_block",
        lambda: [_random(1, 320), _nans(64), 5],
        gives(1, lambda x, _, rounds: _tiles_reversed(x, rounds), 1e-6),
        block=64,
    ),
    Correct(
        "libcudacxx",
        "pipeline_of_a_thread",
        lambda: [_random(2, 320), _nans(64), 5],
        gives(1, lambda x, *_: x.reshape(5, 64).sum(0), 1e-6),
        block=64,
    ),
    Correct(
        "libcudacxx",
        "arrive_and_wait",
        lambda: [_ints(3, 64), *_zeros(64)],
        gives(1, lambda x, _: (x[::-1] + 1)[np.arange(64) ^ 1]),
        block=64,
    ),
    Correct(
        "libcudacxx",
        "barrier_with_copies",
        lambda: [_random(4, 64), _nans(64)],
        gives(1, lambda x, _: x[::-1]),
        block=64,
    ),
    *(
        Correct("libcudacxx", kernel, lambda: _zeros(1, 1, 1), gives(2, lambda *_: [42]), grid=2, block=1)
        for kernel in ("release_and_acquire", "relaxed_with_fences")
    ),
    Correct("libcudacxx", "lock_of_atomic_ref", lambda: _zeros(1, 1), gives(1, lambda *_: [6]), grid=6),
    Correct(
        "libcudacxx",
        "flag_of_a_block",
        lambda: [_ints(5, 1), *_zeros(64)],
        gives(1, lambda x, _: np.full(64, x[0])),
        block=64,
    ),
    Correct(
        "libcudacxx",
        "last_one_by_order",
        lambda: [*_zeros(6), np.zeros(1, np.uint32), *_zeros(1)],
        gives(2, lambda *_: [21]),
        grid=6,
    ),
]

TENSOR_CORES = [
    Correct(
        "tensor_core",
        "wmma_product",
        lambda: [_random(1, 32, 32).astype(_HALF), _random(2, 32, 32).astype(_HALF), _nans(32, 32), 32],
        gives(2, lambda a, b, *_: _product(a, b), 1e-5),
        grid=(2, 2),
    ),
    Correct(
        "tensor_core",
        "wmma_attention",
        lambda: [*(_random(seed, 32, 16).astype(_HALF) for seed in (3, 4, 5)), _nans(32, 16), 32, 0.25],
        gives(3, lambda q, k, v, _, n, scale: attention(q, k, v, scale), 2e-3),
        grid=2,
    ),
]

OURS = [
    Correct(
        "benchmarks/vector_add",
        "vector_add",
        lambda: [_random(1, 512), _random(2, 512), _nans(512), 512],
        gives(2, lambda a, b, *_: a + b),
        grid=2,
        block=256,
    ),
    Correct(
        "benchmarks/matmul",
        "matmul",
        lambda: [_random(3, 32, 32), _random(4, 32, 32), _nans(32, 32), 32, 32, 32],
        gives(2, lambda a, b, *_: _product(a, b), 1e-6),
        grid=(2, 2),
        block=(16, 16),
    ),
    Correct(
        "benchmarks/reduce",
        "reduce",
        lambda: [np.abs(_random(5, 1000)), np.zeros(1, np.float32), 1000],
        gives(1, lambda x, *_: [x.sum(dtype=np.float64)], 1e-5),
        grid=2,
        block=256,
    ),
    Correct(
        "benchmarks/gemm_fp16",
        "gemm_fp16",
        lambda: [
            _random(6, 64, 96).astype(_HALF),
            _random(7, 96, 64).astype(_HALF),
            _nans(64, 64),
            64,
            64,
            96,
        ],
        gives(2, lambda a, b, *_: _product(a, b), 1e-5),
        block=128,
    ),
    Correct(
        "benchmarks/flash_attention",
        "flash_attention",
        lambda: [*(_random(seed, 1, 64, 64) for seed in (8, 9, 10)), _nans(1, 64, 64), 64, 0.125, 0],
        gives(3, lambda q, k, v, *_: attention(q, k, v, 0.125), 1e-5),
        block=64,
    ),
]

CORRECT = [*WARP, *BLOCK, *BETWEEN_BLOCKS, *ASYNC_COPIES, *COOPERATIVE, *LIBCUDACXX, *TENSOR_CORES, *OURS]
