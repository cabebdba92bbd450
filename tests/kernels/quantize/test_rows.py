"""Rows as int8 and fp8 codes and back, by every rung: torch's codes, for any length, type and value."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import flashpath as fp
from flashpath.kernels.quantize import host
from flashpath.kernels.quantize.operations import LARGEST
from tests.harness.quantize_cases import (
    FLOATS,
    INF,
    LADDER,
    LONG,
    NAN,
    OF_ROWS,
    QUANTIZE,
    RUNGS,
    SHAPES,
    TINY,
    matrix,
    verify,
)


@pytest.mark.parametrize("operation", QUANTIZE)
@pytest.mark.parametrize("name", OF_ROWS)
def test_rows_have_torchs_codes(name: str, operation: str) -> None:
    # Compiling takes the time: the types take turns.
    for turn, (shape, offset) in enumerate(SHAPES + (LONG if name == "vectorized" else LONG[:1])):
        dtype = FLOATS[(turn + RUNGS.index(name) + QUANTIZE.index(operation)) % 3]
        codes, scale = verify(name, matrix(shape, dtype, offset), operation)
        if turn % 2 == QUANTIZE.index(operation):
            verify(name, codes, "dequantize", scale, dtype)


@pytest.mark.parametrize("name", OF_ROWS)
def test_rows_of_nothing(name: str) -> None:
    for shape in ((0, 8), (3, 0)):
        for operation in QUANTIZE:
            codes, scale = verify(name, torch.empty(shape), operation)
            verify(name, codes, "dequantize", scale)


@pytest.mark.parametrize("name", OF_ROWS)
def test_what_comes_back_is_within_half_a_step(name: str) -> None:
    x = matrix((9, 64), torch.float32)
    codes, scale = LADDER[name](x, "quantize_int8")
    back = LADDER[name](codes, "dequantize", scale)
    assert bool(((back - x).abs() <= scale[:, None] * 0.500001).all())
    assert bool((back[1] == 0).all())
    codes, scale = LADDER[name](x, "quantize_fp8")
    back = LADDER[name](codes, "dequantize", scale)
    assert bool(((back - x).abs() <= (x.abs() / 15.9).maximum(scale[:, None] * 2**-9)).all())
    assert bool((back[1] == 0).all())


@pytest.mark.parametrize("operation", QUANTIZE)
@pytest.mark.parametrize("name", OF_ROWS)
def test_extreme_rows(name: str, operation: str) -> None:
    """From float32's smallest number to its largest: the smallest scale is the smallest normal number."""
    sizes = torch.tensor([2.0**-149, 1e-44, TINY, 1e-37, 1.5e-36, 1e-30, 2.0**-64, 1e-19, 1.0, 1e30, 3.4e38])
    steps = torch.linspace(-1, 1, 64)
    x = (sizes[:, None].double() * steps).float()
    codes, scale = verify(name, x, operation)
    assert scale[0].item() == TINY
    largest = LARGEST["int8" if operation == "quantize_int8" else "float8_e4m3fn"]
    assert bool((codes[5:].float().abs().amax(dim=1) == largest).all())


@pytest.mark.parametrize("operation", QUANTIZE)
@pytest.mark.parametrize("name", OF_ROWS)
def test_a_row_with_nan_or_infinity_comes_back_as_nan(name: str, operation: str) -> None:
    """Its scale is NaN or infinite, as torch's maximum has it; its codes are 0. Other rows are as ever."""
    x = matrix((6, 64), torch.float32)
    x[3, 5], x[4, 60], x[5, 0], x[5, 1] = NAN, -INF, INF, NAN
    codes, scale = verify(name, x, operation)
    assert scale[3].isnan()
    assert scale[4] == INF
    assert scale[5].isnan()
    assert not codes[3:].view(torch.uint8).any()
    back = LADDER[name](codes, "dequantize", scale)
    assert back[3:].isnan().all()
    assert back[:3].isfinite().all()


@pytest.mark.parametrize("name", OF_ROWS)
def test_every_code_comes_back(name: str) -> None:
    """All 256 bytes, two of which are no number in fp8; products are rounded once to the output's type."""
    every = torch.arange(256, dtype=torch.uint8)[None].repeat(2, 1)
    scale = torch.tensor([0.1, 3e36])
    for kind, dtype in ((torch.int8, torch.float32), (torch.float8_e4m3fn, torch.float16)):
        out = verify(name, every.view(kind), "dequantize", scale, dtype)
        assert int(out.isnan().sum()) == (4 if kind == torch.float8_e4m3fn else 0)


def test_triton_uses_the_instruction_for_fp8_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def yes(_: Any) -> bool:
        return True

    monkeypatch.setattr(host, "has_fp8", yes)
    with fp.vgpu.triton(arch="sm_90"):
        verify("triton", matrix((9, 64), torch.bfloat16), "quantize_fp8")


def test_the_last_piece_of_a_row_is_not_read_again() -> None:
    """A row of bfloat16 moves 3 bytes an element where simple moves 5, beyond what the caches keep."""
    x = matrix((4, 4096), torch.bfloat16)
    codes, scale = torch.empty(4, 4096, dtype=torch.uint8), torch.empty(4)
    counted: dict[str, int] = {}
    for name, shape, args in (
        ("quantize<Int8, __nv_bfloat16>", (4, 256), (4096, x, codes, scale)),
        ("quantize<Int8, __nv_bfloat16, 8, 128>", (4, 128), (4, 4096, x, codes, scale)),
    ):
        file = host.SIMPLE if name.endswith("bfloat16>") else host.VECTORIZED
        report = fp.profile(host.cuda_kernel(file, name, x), *shape, args)
        counted[file.stem] = report.global_load.sectors
    assert counted["vectorized"] == x.numel() * 2 // 32
    assert counted["simple"] == 2 * counted["vectorized"]


# ---- On a GPU ------------------------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", OF_ROWS)
def test_rows_on_a_gpu(name: str, dtype: torch.dtype) -> None:
    for shape, offset in (*SHAPES, *LONG, ((1000, 1024), 0), ((300, 4099), 1), ((3, 100_003), 0)):
        for operation in QUANTIZE:
            codes, scale = verify(name, matrix(shape, dtype, offset, "cuda"), operation)
            verify(name, codes, "dequantize", scale, dtype)


@pytest.mark.gpu
@pytest.mark.parametrize("name", OF_ROWS)
def test_special_values_on_a_gpu(name: str) -> None:
    x = matrix((6, 64), torch.float32, device="cuda")
    x[3, 5], x[4, 60], x[5, 0] = NAN, -INF, TINY
    for operation in QUANTIZE:
        codes, scale = verify(name, x, operation)
        verify(name, codes, "dequantize", scale)


@pytest.mark.gpu
@pytest.mark.parametrize("name", OF_ROWS[1:])
@pytest.mark.parametrize("rows", [2**20 + 1, 8])
def test_more_elements_of_rows_than_32_bits_count(name: str, rows: int) -> None:
    """Of many rows, and of few, whose pieces are more than a second dimension of a grid has blocks."""
    n = 2048 if rows > 8 else 2**28 + 8
    free, _ = torch.cuda.mem_get_info()
    if free < 6 * rows * n:
        pytest.skip(f"needs {6 * rows * n / 1e9:.0f} GB of GPU memory, {free / 1e9:.0f} are free")
    x = torch.zeros(rows, n, device="cuda", dtype=torch.bfloat16)
    x[-1, 5], x[-1, n - 3] = 127, -64
    codes, scale = LADDER[name](x, "quantize_int8")
    assert (codes[-1, 5].item(), codes[-1, n - 3].item(), scale[-1].item()) == (127, -64, 1.0)
    assert int(codes.count_nonzero()) == 2
    back = LADDER[name](codes, "dequantize", scale, torch.bfloat16)
    assert torch.equal(back, x)


@pytest.mark.gpu
@pytest.mark.parametrize("name", OF_ROWS[1:])
def test_a_graph_replays_it(name: str) -> None:
    x = matrix((64, 1000), torch.bfloat16, device="cuda")
    LADDER[name](x, "quantize_fp8")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = LADDER[name](x, "quantize_fp8")
    for scale in (2, 3):
        x *= scale
        graph.replay()
        LADDER.check(out, (x, "quantize_fp8"))
