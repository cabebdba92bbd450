"""Triton's kernels for sm_90: wgmma, TMA by descriptors of the host and of the device, mbarriers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch

import flashpath as fp

triton = pytest.importorskip("triton")
sys.path.insert(0, str(Path(__file__).parent))
kernels: Any = __import__("triton_hopper_kernels")
descriptors = pytest.importorskip("triton.tools.tensor_descriptor")


@pytest.fixture(autouse=True)
def _allocator() -> None:
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8))


def matrices(m: int, n: int, k: int, dtype: torch.dtype = torch.float16) -> tuple[Any, Any, Any]:
    generator = torch.Generator().manual_seed(0)
    a = torch.randn(m, k, generator=generator).to(dtype)
    b = torch.randn(k, n, generator=generator).to(dtype)
    return a, b, torch.zeros(m, n, dtype=torch.float16)


def arguments(name: str, a: Any, b: Any, c: Any, tile: tuple[int, int, int]) -> tuple[Any, ...]:
    (m, k), n = a.shape, b.shape[1]
    bm, bn, bk = tile
    if name == "product_of_pointers":
        return a, b, c, n, k
    if name == "product_of_made_descriptors":
        return a, b, c, m, n, k
    made = descriptors.TensorDescriptor.from_tensor
    return made(a, [bm, bk]), made(b, [bk, bn]), made(c, [bm, bn]), k


NAMES = ("product_of_pointers", "product_of_descriptors", "product_of_made_descriptors")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("tile", [(64, 64, 32), (128, 128, 64), (128, 256, 64)])
def test_products(name: str, tile: tuple[int, int, int]) -> None:
    m, n, k = 256, 256, 192
    a, b, c = matrices(m, n, k)
    bm, bn, bk = tile
    kernel = getattr(kernels, name)
    with fp.vgpu.triton(device="H200"):
        compiled = kernel[m // bm, n // bn](
            *arguments(name, a, b, c, tile), BM=bm, BN=bn, BK=bk, num_warps=4 if bn < 256 else 8
        )
    assert "wgmma.mma_async" in compiled.asm["ptx"]
    assert (name == "product_of_pointers") == ("cp.async.bulk.tensor" not in compiled.asm["ptx"])
    torch.testing.assert_close(c.float(), a.float() @ b.float(), atol=0.05, rtol=0.01)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_products_of_other_types(dtype: torch.dtype) -> None:
    a, b, c = matrices(128, 128, 64, dtype)
    with fp.vgpu.triton(device="H200"):
        compiled = kernels.product_of_pointers[1, 1](a, b, c, 128, 64, BM=128, BN=128, BK=32, num_warps=4)
    assert "wgmma.mma_async" in compiled.asm["ptx"]
    torch.testing.assert_close(c.float(), a.float() @ b.float(), atol=0.1, rtol=0.02)


def test_the_edge_of_a_tensor() -> None:
    a, b, c = matrices(200, 136, 88)
    with fp.vgpu.triton(device="H200"):
        kernels.product_of_made_descriptors[2, 2](a, b, c, 200, 136, 88, BM=128, BN=128, BK=64)
    torch.testing.assert_close(c.float(), a.float() @ b.float(), atol=0.05, rtol=0.01)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_found_in_them(name: str) -> None:
    tile = 64, 64, 64
    a, b, c = matrices(128, 64, 256)
    given = arguments(name, a, b, c, tile)
    options = dict(zip(("BM", "BN", "BK"), tile, strict=True))
    assert fp.sanitize(getattr(kernels, name), (2, 1), args=given, device="H200", seeds=3, **options) == []


def inputs(heads: int, length: int, size: int) -> tuple[Any, Any, Any, Any]:
    generator = torch.Generator().manual_seed(1)
    q, k, v = (torch.randn(heads, length, size, generator=generator).half() for _ in range(3))
    return q, k, v, torch.zeros_like(q)


def test_attention() -> None:
    q, k, v, o = inputs(2, 256, 64)
    scale = 64**-0.5
    with fp.vgpu.triton(device="H200"):
        compiled = kernels.attention[2, 2](q, k, v, o, scale * 1.4426950408889634, 256, D=64, BM=128, BN=64)
    assert "wgmma.mma_async" in compiled.asm["ptx"]
    expected = torch.nn.functional.scaled_dot_product_attention(q.float(), k.float(), v.float())
    torch.testing.assert_close(o.float(), expected, atol=2e-3, rtol=2e-2)


def test_nothing_is_found_in_attention() -> None:
    q, k, v, o = inputs(1, 128, 64)
    given = q, k, v, o, 0.18, 128
    assert fp.sanitize(kernels.attention, (2, 1), args=given, device="H200", D=64, BM=64, BN=64, seeds=2) == []
