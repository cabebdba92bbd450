"""The arithmetic under the rows: division by a reciprocal, and rounding to fp8, right wherever it is hard."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import flashpath as fp
from flashpath.kernels.quantize import host
from tests.harness.guarded_output import bits
from tests.harness.quantize_cases import NAN

DIVIDE = """
#include "division.cuh"
extern "C" __global__ void divide(long long n, const float* x, const float* scale, float* out) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) out[i] = quotient(x[i], divisor(scale[i]));
}"""


def divided(x: Any, scale: Any) -> Any:
    """`quotient` of division.cuh"""
    kernel = fp.compile(DIVIDE, arch="sm_80", includes=[host.FOLDER])["divide"]
    out = torch.full_like(x, NAN)
    kernel[-(-x.numel() // 256), 256](x.numel(), x, scale, out)
    return out


def hard_divisions() -> list[tuple[int, int]]:
    """All x, s of 24 bits whose quotient lies within 2^-22 units of the middle of a tie and its neighbour.

    Ties between codes are odd numbers up to 253 times powers of two. With the tie t as an integer of 24 bits
    the middle is c / 2 with c = 2 t ± 1, and x 2^k / s is near to it where x 2^(k + 1) = c s + d for a small
    d: one s for each c, k and d, since c is odd.
    """
    found: set[tuple[int, int]] = set()
    for odd in range(1, 255, 2):
        tie = odd << (24 - odd.bit_length())
        below = 2 * tie - 1 if tie > 2**23 else 2**25 - 1  # below a power of two floats lie closer
        for c in (2 * tie + 1, below):
            for k in (23, 24):
                for d in (*range(-8, 0), *range(1, 9)):
                    s = int(-d * pow(c, -1, 1 << (k + 1)) % (1 << (k + 1)))
                    x = (c * s + d) >> (k + 1)
                    if all(2**23 <= each < 2**24 for each in (x, s)):
                        found.add((x, s))
    return sorted(found)


def test_division_by_a_reciprocal_is_right_where_it_is_hard() -> None:
    pairs = hard_divisions()
    assert len(pairs) == 1424
    x, scale = (torch.tensor(each, dtype=torch.float32) for each in zip(*pairs, strict=True))
    for power in (0, -100, 60):  # of both: the quotient stays
        assert torch.equal(divided(x * 2.0**power, scale * 2.0**power), x / scale)


def test_division_by_a_reciprocal_has_the_code_of_the_quotient() -> None:
    """For scales of all sizes, at and beside every tie."""
    n = 2**17
    generator = torch.Generator().manual_seed(5)
    mantissa = torch.randint(2**23, (n,), generator=generator, dtype=torch.int32)
    exponent = torch.randint(1, 248, (n,), generator=generator, dtype=torch.int32)
    scale = (mantissa | exponent << 23).view(torch.float32)
    tie = torch.randint(1, 255, (n,), generator=generator).float() / 2
    tie[::2] = torch.rand(n // 2, generator=generator) * 127
    near = (tie.double() * scale).float().view(torch.int32) + torch.randint(-2, 3, (n,), generator=generator)
    x = near.to(torch.int32).view(torch.float32)
    x[::7] *= -1
    found, expected = divided(x, scale), x / scale
    assert torch.equal(found.round(), expected.round())
    assert torch.equal(bits(found.to(torch.float8_e4m3fn)), bits(expected.to(torch.float8_e4m3fn)))


@pytest.mark.parametrize("arch", ["sm_80", "sm_89"])
def test_fp8_is_torchs_with_the_instruction_and_without(arch: str) -> None:
    """sm_89 brought it; every tie and its neighbours, subnormals, both zeros."""
    source = """
#include "codes.cuh"
extern "C" __global__ void encode(const float* x, unsigned char* codes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  codes[i] = Fp8::encode(x[i]);
}"""
    kernel = fp.compile(source, arch=arch, includes=[host.FOLDER])["encode"]
    values = torch.arange(0x7F, dtype=torch.uint8).view(torch.float8_e4m3fn).float()
    ties = torch.cat([values, (values[1:] + values[:-1]) / 2])
    near = torch.cat([ties, *(ties.view(torch.int32).add(step).view(torch.float32) for step in (1, -1))])
    near = near[near.isfinite()]
    x = torch.cat([near, -near, torch.rand(4096) * 448])
    x = torch.cat([x, x.new_zeros(-x.numel() % 256)])
    codes = torch.full(x.shape, 0xA5, dtype=torch.uint8)
    kernel[x.numel() // 256, 256](x, codes)
    assert torch.equal(codes, x.to(torch.float8_e4m3fn).view(torch.uint8))
