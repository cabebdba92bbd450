"""The rungs that multiply float32 with ordinary instructions: no tensor cores, no rounded inputs."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, NamedTuple

from flashpath.kernels.arguments import widest_pack
from flashpath.kernels.building import (
    CPP_TYPES,
    cuda_kernel,
    cuda_rung,
    dtype_name,
    sm_count,
)
from flashpath.kernels.matmul.problem import FOLDER, prepare, takes_only

NAIVE = FOLDER / "naive.cu"
COALESCED = FOLDER / "coalesced.cu"
SHARED_TILE = FOLDER / "shared_tile.cu"
REGISTER_1D = FOLDER / "register_1d.cu"
REGISTER_2D = FOLDER / "register_2d.cu"
VECTORIZED = FOLDER / "vectorized.cu"
DOUBLE_BUFFERED = FOLDER / "double_buffered.cu"
WARP_TILED = FOLDER / "warp_tiled.cu"

SIMPLE_DTYPES = ("float32", "float64")  # of the rungs whose code does not depend on the type
SIMPLE_TILE = 32  # rows and columns of a block of theirs, one thread for each element


def blocks(m: int, n: int, tile: tuple[int, int]) -> int:
    """How many tiles cover the result."""
    return -(-m // tile[0]) * -(-n // tile[1])


# ---- One element per thread ----------------------------------------------------------------------------


def _simple(file: Path, a: Any, b: Any, precision: str, out: Any | None, side: int) -> Any:
    m, n, k, result = prepare(a, b, precision, out, dtypes=SIMPLE_DTYPES)
    if m and n:
        kernel = cuda_kernel(file, f"matmul_{file.stem}<{CPP_TYPES[dtype_name(a)]}, {side}>", a)
        tile = side, side
        kernel[blocks(m, n, tile), tile](m, n, k, a, b, result)
    return result


def naive(a: Any, b: Any, precision: str = "ieee", out: Any | None = None, *, tile: int = SIMPLE_TILE) -> Any:
    return _simple(NAIVE, a, b, precision, out, tile)


def coalesced(
    a: Any, b: Any, precision: str = "ieee", out: Any | None = None, *, tile: int = SIMPLE_TILE
) -> Any:
    return _simple(COALESCED, a, b, precision, out, tile)


def shared_tile(
    a: Any, b: Any, precision: str = "ieee", out: Any | None = None, *, tile: int = SIMPLE_TILE
) -> Any:
    return _simple(SHARED_TILE, a, b, precision, out, tile)


# ---- Many elements per thread --------------------------------------------------------------------------


def _blocked(
    file: Path,
    tile: tuple[int, int],
    threads: int,
    a: Any,
    b: Any,
    precision: str,
    out: Any | None,
    *,
    by_quads: bool = True,
) -> Any:
    m, n, k, result = prepare(a, b, precision, out, dtypes=("float32",))
    if m and n:
        name = f"matmul_{file.stem}"
        if by_quads:
            name += f"<{_aligned(a, b, result)}>"
        cuda_kernel(file, name, a)[blocks(m, n, tile), threads](m, n, k, a, b, result)
    return result


def _aligned(*matrices: Any) -> str:
    """Whether all rows of all of them begin and end at a multiple of 16 bytes, as C++ spells it."""
    return str(all(widest_pack(each, multiple=each.shape[1]) == 4 for each in matrices)).lower()


def register_1d(a: Any, b: Any, precision: str = "ieee", out: Any | None = None) -> Any:
    return _blocked(REGISTER_1D, (64, 64), 512, a, b, precision, out, by_quads=False)


def register_2d(a: Any, b: Any, precision: str = "ieee", out: Any | None = None) -> Any:
    return _blocked(REGISTER_2D, (128, 128), 256, a, b, precision, out, by_quads=False)


def vectorized(a: Any, b: Any, precision: str = "ieee", out: Any | None = None) -> Any:
    return _blocked(VECTORIZED, (128, 128), 256, a, b, precision, out)


def double_buffered(a: Any, b: Any, precision: str = "ieee", out: Any | None = None) -> Any:
    return _blocked(DOUBLE_BUFFERED, (128, 128), 256, a, b, precision, out)


class Tiling(NamedTuple):
    """How warp_tiled cuts a product: what a block, a warp and a thread compute, and how it is staged."""

    block_m: int
    block_n: int
    block_k: int
    warp_m: int
    warp_n: int
    thread_m: int
    thread_n: int
    stages: int
    blocks_per_sm: int
    speed: float = 1.0  # of a full GPU, relative to the fastest; asked of those in TILINGS

    def __str__(self) -> str:
        block = f"{self.block_m}×{self.block_n}×{self.block_k}"
        parts = f"{self.warp_m}×{self.warp_n} a warp, {self.thread_m}×{self.thread_n} a thread"
        return f"{block}, {parts}, {self.stages} stages"

    @property
    def kernel_arguments(self) -> str:
        return ", ".join(map(str, self[:-1]))

    @property
    def threads(self) -> int:
        return 32 * (self.block_m // self.warp_m) * (self.block_n // self.warp_n)

    @property
    def shared_bytes(self) -> int:
        return 4 * self.stages * self.block_k * (self.block_m + 4 + self.block_n)

    def time(self, m: int, n: int, sms: int) -> float:
        """Returns the cost per step of k, in no unit: the last wave takes as long as a full one."""
        waves = -(-blocks(m, n, self[:2]) // (sms * self.blocks_per_sm))
        return waves * self.blocks_per_sm * self.block_m * self.block_n / self.speed


# The larger a tile, the less is read for each multiply-add; but a small result makes few large tiles.
TILINGS = (
    Tiling(128, 256, 16, 64, 64, 8, 16, 3, 1, 1.0),
    Tiling(64, 128, 16, 32, 32, 8, 4, 3, 2, 0.8),
)
# What else `flashpath tune` tries: more and fewer stages, shorter steps, the other way round, squares.
MORE_TILINGS = (
    Tiling(128, 256, 16, 64, 64, 8, 16, 2, 1),
    Tiling(128, 256, 16, 64, 64, 8, 16, 4, 1),
    Tiling(128, 256, 8, 64, 64, 8, 16, 3, 1),
    Tiling(256, 128, 16, 64, 64, 16, 8, 3, 1),
    Tiling(128, 128, 16, 64, 32, 8, 8, 3, 2),
)


def warp_tiled(
    a: Any, b: Any, precision: str = "ieee", out: Any | None = None, *, tiling: Tiling | None = None
) -> Any:
    m, n, k, result = prepare(a, b, precision, out, dtypes=("float32",))
    if m and n:
        sms = sm_count(a)
        tiling = tiling or min(TILINGS, key=lambda each: each.time(m, n, sms))
        name = f"matmul_warp_tiled<{_aligned(a, b, result)}, {tiling.kernel_arguments}>"
        shape = blocks(m, n, tiling[:2]), tiling.threads, tiling.shared_bytes
        cuda_kernel(WARP_TILED, name, a)[shape](m, n, k, a, b, result)
    return result


# ---- The ladder's entries ------------------------------------------------------------------------------

_cuda = functools.partial(cuda_rung, declines=takes_only(("float32",)))


_TILES = {"tile": (8, 16, 32)}

RUNGS = (
    _cuda(naive, "matmul_naive<float>", improves_on="reference", choices=_TILES, readability=5, debugging=5),
    _cuda(
        coalesced, "matmul_coalesced<float>", improves_on="naive", choices=_TILES, readability=5, debugging=5
    ),
    _cuda(
        shared_tile,
        "matmul_shared_tile<float>",
        improves_on="coalesced",
        choices=_TILES,
        readability=5,
        debugging=4,
    ),
    _cuda(register_1d, "matmul_register_1d", improves_on="shared_tile", readability=4, debugging=4),
    _cuda(register_2d, "matmul_register_2d", improves_on="register_1d", readability=4, debugging=3),
    _cuda(vectorized, "matmul_vectorized<true>", improves_on="register_2d", readability=3, debugging=3),
    _cuda(
        double_buffered, "matmul_double_buffered<true>", improves_on="vectorized", readability=3, debugging=3
    ),
    _cuda(
        warp_tiled,
        f"matmul_warp_tiled<true, {TILINGS[0].kernel_arguments}>",
        arch="sm_80",
        improves_on="double_buffered",
        choices={"tiling": (*TILINGS, *MORE_TILINGS)},
        readability=2,
        debugging=2,
    ),
)
