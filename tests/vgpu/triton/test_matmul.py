# type: ignore - device code is Python in syntax only: its names are typed by Triton's compiler
"""Matrix products in every type that tensor cores take, autotuned, and in groups of several sizes."""

import math

import pytest
import torch
import triton
import triton.language as tl

import flashpath as fp

EIGHT_BITS_IN_SOFTWARE = pytest.mark.skipif(
    triton.__version__ < "3.7", reason="what Triton writes for it before 3.7 is refused by ptxas"
)


@triton.jit
def matmul_tiles(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    a_row,
    a_column,
    b_row,
    b_column,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """C = A B, in tiles; neighbouring programs share columns of B, so that it is read from the cache."""
    tiles_m, tiles_n = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    program = tl.program_id(0)
    group = program // (GROUP_M * tiles_n)
    first = group * GROUP_M
    height = min(tiles_m - first, GROUP_M)
    tile_m = first + program % (GROUP_M * tiles_n) % height
    tile_n = program % (GROUP_M * tiles_n) // height
    rows = (tile_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    columns = (tile_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    inner = tl.arange(0, BLOCK_K)
    a_at = a_ptr + rows[:, None] * a_row + inner[None, :] * a_column
    b_at = b_ptr + inner[:, None] * b_row + columns[None, :] * b_column
    kind: tl.constexpr = tl.int32 if a_ptr.dtype.element_ty == tl.int8 else tl.float32
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=kind)
    for k in range(tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_at, mask=inner[None, :] < K - k * BLOCK_K, other=0.0)
        b = tl.load(b_at, mask=inner[:, None] < K - k * BLOCK_K, other=0.0)
        acc = tl.dot(a, b, acc, input_precision=PRECISION, out_dtype=kind)
        a_at += BLOCK_K * a_column
        b_at += BLOCK_K * b_row
    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    c_at = c_ptr + rows[:, None] * N + columns[None, :]
    tl.store(c_at, acc.to(c_ptr.dtype.element_ty), mask=inside)


def matmul(a, b, out_dtype, tile=(32, 32, 32), precision="tf32", **options):
    M, K = a.shape
    N = b.shape[1]
    c = torch.zeros(M, N, dtype=out_dtype)
    if out_dtype.is_floating_point:
        c.fill_(math.nan)
    grid = (triton.cdiv(M, tile[0]) * triton.cdiv(N, tile[1]),)
    matmul_tiles[grid](
        a, b, c, M, N, K, *a.stride(), *b.stride(), *tile, GROUP_M=2, PRECISION=precision, **options
    )
    return c


SHAPES = [(64, 64, 64), (33, 70, 45)]  # M, N, K; the second one fits no tile


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision(gpu, check_close, dtype, shape):
    M, N, K = shape
    a, b = (torch.randn(M, K) + 0.2).to(dtype), torch.randn(K, N).to(dtype)
    check_close(matmul(a, b, dtype), a @ b, a.double() @ b.double(), 1e-3)


def test_a_transposed_operand(gpu, check_close):
    a, b = torch.randn(48, 40).half(), torch.randn(64, 40).half().t()
    check_close(matmul(a, b, torch.float32), a @ b, a.double() @ b.double(), 1e-4)


@pytest.mark.parametrize(
    "options", [{"num_warps": 1}, {"num_warps": 8}, {"num_stages": 1}, {"num_stages": 4}], ids=str
)
def test_warps_and_stages(gpu, check_close, options):
    a, b = torch.randn(64, 96).half(), torch.randn(96, 64).half()
    check_close(matmul(a, b, torch.float32, **options), a @ b, a.double() @ b.double(), 1e-4)


def _to_tf32(x):
    """Ten bits of fraction remain; the rest is cut off, as the tensor cores do with what they are given."""
    return (x.view(torch.int32) & ~0x1FFF).view(torch.float32)


def test_tf32(gpu, check_close):
    a, b = torch.randn(33, 45), torch.randn(45, 40)
    low = _to_tf32(a) @ _to_tf32(b)
    check_close(matmul(a, b, torch.float32), low, a.double() @ b.double(), 1e-4)


def test_exact_fp32(gpu, check_close):
    a, b = torch.randn(33, 45), torch.randn(45, 40)
    check_close(matmul(a, b, torch.float32, precision="ieee"), a @ b, a.double() @ b.double(), 1e-5)


def test_int8_is_exact(gpu):
    a = torch.randint(-128, 128, (40, 64), dtype=torch.int8)
    b = torch.randint(-128, 128, (64, 48), dtype=torch.int8)
    assert torch.equal(matmul(a, b, torch.int32), a.int() @ b.int())


@pytest.mark.parametrize(
    ("eight", "arch"),
    [
        pytest.param(torch.float8_e5m2, "sm_80", marks=EIGHT_BITS_IN_SOFTWARE),
        (torch.float8_e5m2, "sm_89"),
        (torch.float8_e4m3fn, "sm_89"),
    ],
    ids=str,
)
def test_fp8(check_close, eight, arch):
    a, b = torch.randn(32, 64).to(eight), torch.randn(64, 32).to(eight)
    with fp.vgpu.triton(arch):
        c = matmul(a, b, torch.float32)
    check_close(c, (a.float() @ b.float()).half(), a.double() @ b.double(), 1e-3)


@pytest.mark.parametrize("arch", ["sm_86", "sm_89"])
def test_other_architectures(check_close, arch):
    a, b = torch.randn(32, 64).half(), torch.randn(64, 32).half()
    with fp.vgpu.triton(arch):
        c = matmul(a, b, torch.float16)
    check_close(c, a @ b, a.double() @ b.double(), 1e-3)


# ---- Autotuned -----------------------------------------------------------------------------------------

_tile = {"GROUP_M": 2, "PRECISION": "tf32"}
tuned_tiles = triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 16, **_tile}, num_warps=1, num_stages=2),
        triton.Config({"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, **_tile}, num_warps=4, num_stages=3),
        triton.Config({"BLOCK_M": 256, "BLOCK_N": 256, "BLOCK_K": 128, **_tile}, num_warps=8, num_stages=4),
    ],
    key=["M", "N", "K"],
)(matmul_tiles)


def test_an_autotuned_product(gpu, check_close):
    """The last configuration asks for more shared memory than an SM has, and is passed over."""
    a, b = torch.randn(64, 64).half(), torch.randn(64, 64).half()
    c = torch.full((64, 64), math.nan, dtype=torch.float16)
    tuned_tiles[lambda meta: (triton.cdiv(64, meta["BLOCK_M"]) * triton.cdiv(64, meta["BLOCK_N"]),)](
        a, b, c, 64, 64, 64, *a.stride(), *b.stride()
    )
    check_close(c, a @ b, a.double() @ b.double(), 1e-3)
    assert tuned_tiles.best_config.kwargs["BLOCK_M"] in (16, 64)
    assert tuned_tiles.configs_timings[tuned_tiles.configs[2]][0] == math.inf


# ---- In groups -----------------------------------------------------------------------------------------


@triton.jit
def grouped_tiles(
    a_table, b_table, c_table, sizes_ptr, PROBLEMS: tl.constexpr, PROGRAMS: tl.constexpr, BLOCK: tl.constexpr
):
    """Several products of different sizes in one launch; a few programs walk through all tiles."""
    tile = tl.program_id(0)
    before = 0
    for problem in range(PROBLEMS):
        M = tl.load(sizes_ptr + problem * 3)
        N = tl.load(sizes_ptr + problem * 3 + 1)
        K = tl.load(sizes_ptr + problem * 3 + 2)
        across = tl.cdiv(N, BLOCK)
        tiles = tl.cdiv(M, BLOCK) * across
        while tile >= before and tile < before + tiles:
            a_ptr = tl.load(a_table + problem).to(tl.pointer_type(tl.float16))
            b_ptr = tl.load(b_table + problem).to(tl.pointer_type(tl.float16))
            c_ptr = tl.load(c_table + problem).to(tl.pointer_type(tl.float16))
            rows = (tile - before) // across * BLOCK + tl.arange(0, BLOCK)
            columns = (tile - before) % across * BLOCK + tl.arange(0, BLOCK)
            inner = tl.arange(0, BLOCK)
            acc = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
            for k in range(0, K, BLOCK):
                a = tl.load(
                    a_ptr + rows[:, None] * K + k + inner[None, :],
                    mask=(rows[:, None] < M) & (k + inner[None, :] < K),
                    other=0.0,
                )
                b = tl.load(
                    b_ptr + (k + inner[:, None]) * N + columns[None, :],
                    mask=(k + inner[:, None] < K) & (columns[None, :] < N),
                    other=0.0,
                )
                acc = tl.dot(a, b, acc)
            tl.store(
                c_ptr + rows[:, None] * N + columns[None, :],
                acc.to(tl.float16),
                mask=(rows[:, None] < M) & (columns[None, :] < N),
            )
            tile += PROGRAMS
        before += tiles


def test_products_in_groups(gpu, check_close):
    sizes = [(32, 16, 48), (20, 40, 24), (64, 32, 16)]
    a = [torch.randn(M, K).half() for M, _, K in sizes]
    b = [torch.randn(K, N).half() for _, N, K in sizes]
    c = [torch.full((M, N), math.nan, dtype=torch.float16) for M, N, _ in sizes]
    tables = [torch.tensor([x.data_ptr() for x in group]) for group in (a, b, c)]
    grouped_tiles[(3,)](*tables, torch.tensor(sizes, dtype=torch.int32), PROBLEMS=3, PROGRAMS=3, BLOCK=16)
    for x, y, got in zip(a, b, c, strict=True):
        check_close(got, x @ y, x.double() @ y.double(), 1e-3)
