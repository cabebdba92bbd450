"""packbits and segment_packbits of every rung: NumPy's bits, for any size, alignment and order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from flashpath.kernels.quantize.reference import TORCH
from tests.harness.quantize_cases import LADDER, RUNGS, SEGMENTS, flags, indptr, verify


@pytest.mark.parametrize("name", RUNGS)
@pytest.mark.parametrize("order", ["big", "little"])
def test_packbits_is_numpys(name: str, order: Any) -> None:
    sizes = (0, 1, 7, 8, 9, 15, 16, 17, 33, 255, 1024, 1031, 20_011)
    for i, n in enumerate((0, 9, 1031) if name == "triton" else sizes):
        x = flags(n, (torch.bool, torch.uint8)[i % 2])
        packed = verify(name, x, "packbits", order)
        assert np.array_equal(packed.numpy(), np.packbits(x.numpy(), bitorder=order))


@pytest.mark.parametrize("name", RUNGS[1:])
def test_packbits_at_any_address(name: str) -> None:
    for offset in (1, 3) if name == "triton" else (1, 2, 4, 8):
        verify(name, flags(1031, torch.uint8, offset), "packbits")
    odd = torch.empty(129, dtype=torch.uint8)[1:]  # an output where no two bytes are aligned
    LADDER[name](x := flags(1024), "packbits", out=odd)
    assert torch.equal(odd, LADDER.reference(x, "packbits"))


def test_the_examples_in_flashinfers_documentation() -> None:
    x = torch.tensor([1, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1], dtype=torch.bool)
    for name in RUNGS:
        assert LADDER[name](x[:8], "packbits").tolist() == [0b10110011]
        packed, ends = LADDER[name](x, "segment_packbits", torch.tensor([0, 4, 7, 11]))
        assert packed.tolist() == [0b10110000, 0b00100000, 0b11010000]
        assert ends.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("name", RUNGS)
@pytest.mark.parametrize("segments", SEGMENTS)
def test_segments_begin_at_bytes_of_their_own(name: str, segments: str) -> None:
    lengths = SEGMENTS[segments]
    order = "big" if segments in ("one", "ragged") else "little"
    for kind in (torch.int32, torch.int64) if segments == "ragged" else (torch.int32,):
        x = flags(sum(lengths), torch.uint8, 1)
        packed, ends = verify(name, x, "segment_packbits", indptr(lengths, kind), order)
        assert ends.dtype == kind
        assert packed.numel() == sum(-(-each // 8) for each in lengths)
        for size in ((), (packed.numel(),)):  # with no out=
            again = LADDER[name](x, "segment_packbits", indptr(lengths, kind), order, *size)[0]
            assert torch.equal(again, packed)


def test_torchs_own_packing_agrees() -> None:
    """What peers are timed with."""
    ends = indptr(SEGMENTS["ragged"], torch.int64)
    x = flags(int(ends[-1]), torch.uint8)
    for order in ("big", "little"):
        assert torch.equal(TORCH["packbits"](x, order), LADDER.reference(x, "packbits", order))
        for one, other in zip(
            TORCH["segment_packbits"](x, ends, order),
            LADDER.reference(x, "segment_packbits", ends, order),
            strict=True,
        ):
            assert torch.equal(one, other)


# ---- On a GPU ------------------------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize("name", RUNGS)
def test_bits_on_a_gpu(name: str) -> None:
    for n in (0, 1, 17, 1031, 1_000_003):
        for order in ("big", "little"):
            for offset in (0, 1, 2, 4):
                verify(name, flags(n, torch.uint8, offset, "cuda"), "packbits", order)
    for lengths in (*SEGMENTS.values(), [100_003] * 40, [k % 900 for k in range(3000)]):
        x = flags(sum(lengths), torch.uint8, 1, "cuda")
        for kind in (torch.int32, torch.int64):
            verify(name, x, "segment_packbits", indptr(lengths, kind, "cuda"))


@pytest.mark.gpu
@pytest.mark.parametrize("name", RUNGS[1:])
def test_more_elements_than_32_bits_count(name: str) -> None:
    n = 2**31 + 4099
    free, _ = torch.cuda.mem_get_info()
    if free < 3 * n:
        pytest.skip(f"needs {3 * n / 1e9:.0f} GB of GPU memory, {free / 1e9:.0f} are free")
    x = torch.zeros(n, device="cuda", dtype=torch.bool)
    x[n - 5] = x[7] = True
    packed = LADDER[name](x, "packbits")
    assert int(packed.count_nonzero()) == 2
    assert (packed[0].item(), packed[(n - 5) // 8].item()) == (1, 1 << (7 - (n - 5) % 8))
