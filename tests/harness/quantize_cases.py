"""Inputs of all kinds for the rungs of quantize, and one function that runs and compares."""

from __future__ import annotations

from typing import Any

import torch

from flashpath import kernels
from flashpath.kernels.quantize.operations import PACKING
from tests.harness.guarded_output import Guarded, unchanged, value_bits

LADDER = kernels.ladder("quantize")
RUNGS = [rung.name for rung in LADDER]
OF_ROWS = [name for name in RUNGS if name != "ballot"]
QUANTIZE = ("quantize_int8", "quantize_fp8")
FLOATS = [torch.float32, torch.float16, torch.bfloat16]
INF, NAN = float("inf"), float("nan")
TINY = torch.finfo(torch.float32).tiny

SEGMENTS = {
    "none": [],
    "all empty": [0, 0],
    "one": [1031],
    "tiny": [k % 4 for k in range(700)],
    "ragged": [3000, 0, 1, 9, 0, 2047, 8, 5, 0],
}
# Rows for 8, 32, 128 and 512 threads, of whole packs and not, too long for registers, and all that they hold.
SHAPES: list[tuple[tuple[int, ...], int]] = [((1, 1), 0), ((7, 13), 1), ((9, 64), 0), ((3, 5, 520), 0)]
LONG: list[tuple[tuple[int, ...], int]] = [((2, 5000), 0), ((1, 40_000), 0), ((3, 8192), 0), ((3, 16_384), 0)]


def flags(n: int, dtype: torch.dtype = torch.bool, offset: int = 0, device: str = "cpu") -> Any:
    """Random bools, or bytes of which half are 0; `offset` bytes into their storage."""
    generator = torch.Generator(device=device).manual_seed(n + offset)
    full = torch.randint(2, (n + offset,), generator=generator, device=device, dtype=torch.uint8)
    if dtype == torch.uint8:  # any byte that is not 0 is a 1, also one with its top bit alone
        full *= torch.randint(1, 256, (n + offset,), generator=generator, device=device, dtype=torch.uint8)
        full[offset : offset + 40 : 5] = 0x80
    return full[offset:].view(dtype)


def matrix(shape: tuple[int, ...], dtype: torch.dtype, offset: int = 0, device: str = "cpu") -> Any:
    """Rows of very different sizes, with both zeros, ties between codes, and a row of zeros."""
    n = torch.Size(shape).numel()
    generator = torch.Generator(device=device).manual_seed(n + offset)
    full = torch.randn(n + offset, generator=generator, device=device)
    x = full[offset:].view(shape)
    rows = x.view(-1, shape[-1])
    rows *= torch.randn(rows.shape[0], 1, generator=generator, device=device).mul(4).exp()
    if shape[-1] >= 40 and rows.shape[0] >= 3:
        rows[0] = (
            torch.arange(shape[-1], device=device) % 509 / 2 - 127
        )  # largest 127: scale 1, halves are ties
        rows[0, -1] = 127
        rows[1] = 0
        rows[2, :2] = torch.tensor([-0.0, 0.0])
    return full.to(dtype)[offset:].view(shape)


def indptr(lengths: list[int], dtype: torch.dtype, device: str = "cpu") -> Any:
    result = torch.zeros(len(lengths) + 1, dtype=dtype)
    result[1:] = torch.tensor(lengths).cumsum(0)
    return result.to(device)


def as_tuple(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)  # type: ignore[return-value]


def verify(name: str, *given: Any) -> Any:
    """Run with poisoned outputs and compare with the reference to the bit; inputs stay as they are."""
    x, operation, *_ = given
    expected = as_tuple(LADDER.reference(*given))
    guarded = [Guarded(tensor) for tensor in (expected[:1] if operation in PACKING else expected)]
    outputs: Any = tuple(one.output for one in guarded)
    with unchanged(*given):
        result = LADDER[name](*given, out=outputs if len(outputs) > 1 else outputs[0])
    results = as_tuple(result)
    assert results[0].data_ptr() == outputs[0].data_ptr()
    for ours, reference in zip(results, expected, strict=True):
        assert (ours.dtype, ours.shape) == (reference.dtype, reference.shape)
        assert torch.equal(value_bits(ours), value_bits(reference)), (
            name,
            operation,
            tuple(x.shape),
            x.dtype,
        )
    for one in guarded:
        one.check()
    LADDER.check(result, given)
    return result
