# type: ignore - device code is Python in syntax only: its names are typed by Triton's compiler
"""Element by element: sums in every type, conversions, mathematical functions, random numbers."""

import math

import pytest
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

import flashpath as fp

FLOATS = [torch.float64, torch.float32, torch.float16, torch.bfloat16]
INTEGERS = [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64]
EIGHT_BITS_IN_SOFTWARE = pytest.mark.skipif(
    triton.__version__ < "3.7", reason="what Triton writes for it before 3.7 is refused by ptxas"
)


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    y = tl.load(y_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x + y, mask=i < n)


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS, ids=str)
def test_a_sum_equals_torchs_to_the_bit(gpu, dtype):
    """bf16 too: each sum is rounded once."""
    for n in (1, 127, 1000):
        if dtype in FLOATS:
            special = torch.tensor([0.0, -0.0, math.inf, -math.inf, 1e38, 1e-45, 65504.0, 3.0])
            x = torch.cat([special, torch.randn(n) * 100 + 3])[:n].to(dtype)
        else:
            info = torch.iinfo(dtype)
            x = torch.randint(info.min, info.max, (n,), dtype=dtype)
        y, out = x.flip(0), torch.zeros_like(x)
        add[(triton.cdiv(n, 256),)](x, y, out, n, BLOCK=256)
        torch.testing.assert_close(out, x + y, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90"])
def test_on_every_architecture(arch):
    x, y = torch.randn(1000).bfloat16(), torch.randn(1000).bfloat16()
    out = torch.full_like(x, math.nan)
    with fp.vgpu.triton(arch):
        add[(4,)](x, y, out, 1000, BLOCK=256)
    assert torch.equal(out, x + y)


@triton.jit
def convert(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x.to(out_ptr.dtype.element_ty), mask=i < n)


@pytest.mark.parametrize("to", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("eight", [torch.float8_e5m2, torch.float8_e4m3fn], ids=str)
def test_every_float_of_eight_bits_widens_exactly(eight, to):
    every = torch.arange(256, dtype=torch.uint8).view(eight)
    if (eight, to) == (torch.float8_e5m2, torch.bfloat16):
        # What Triton compiles takes infinity and NaN for the numbers beyond the largest one.
        every = every[every.float().isfinite()]
    out = torch.zeros(len(every), dtype=to)
    with fp.vgpu.triton("sm_89"):
        convert[(1,)](every, out, len(every), BLOCK=256)
    torch.testing.assert_close(out, every.to(to), rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("wide", [torch.float32, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("eight", [torch.float8_e5m2, torch.float8_e4m3fn], ids=str)
def test_floats_narrow_to_eight_bits_as_torch_rounds_them(eight, wide):
    limit = torch.finfo(eight).max
    x = (torch.randn(2048) * 2.0 ** torch.randint(-12, 9, (2048,))).clamp(-limit, limit).to(wide)
    out = torch.zeros(2048, dtype=torch.uint8).view(eight)
    with fp.vgpu.triton("sm_89"):
        convert[(2,)](x, out, 2048, BLOCK=1024)
    if wide == torch.float32:  # Triton narrows these in two steps: first, towards zero, to fp16
        half = x.half()
        x = (half.view(torch.int16) - (half.float().abs() > x.abs()).short()).view(torch.float16)
    assert torch.equal(out.view(torch.uint8), x.to(eight).view(torch.uint8))


@triton.jit
def add_eights(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.load(x_ptr + i).to(tl.float32) + tl.load(y_ptr + i).to(tl.float32)
    tl.store(out_ptr + i, total.to(out_ptr.dtype.element_ty))


@pytest.mark.parametrize(
    ("eight", "arch"),
    [
        pytest.param(torch.float8_e5m2, "sm_80", marks=EIGHT_BITS_IN_SOFTWARE),
        (torch.float8_e5m2, "sm_89"),
        (torch.float8_e4m3fn, "sm_89"),
    ],
    ids=str,
)
def test_sums_of_eight_bit_floats(eight, arch):
    x, y = (torch.randn(512).to(eight) for _ in "xy")
    out = torch.zeros(512, dtype=torch.uint8).view(eight)
    with fp.vgpu.triton(arch):
        add_eights[(1,)](x, y, out, BLOCK=512)
    exact = x.float() + y.float()
    # As near as torch's. Before sm_89 Triton rounds in software, and halfway cases away from zero.
    assert torch.equal((out.float() - exact).abs(), (exact.to(eight).float() - exact).abs())


@triton.jit
def round_to_bf16(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i).to(tl.bfloat16))


def test_bf16_rounds_to_the_nearest_and_ties_to_even(gpu):
    """Halfway between two neighbours, below and above it, and what overflows."""
    bits = torch.randint(0, 2**31 - 1, (1024,), dtype=torch.int32) & ~0xFFFF
    bits[0] = 0x7F7F0000
    x = torch.cat([(bits | low).view(torch.float32) for low in (0x7FFF, 0x8000, 0x8001, 0)])
    out = torch.zeros(4096, dtype=torch.bfloat16)
    round_to_bf16[(1,)](x, out, BLOCK=4096)
    torch.testing.assert_close(out, x.bfloat16(), rtol=0, atol=0, equal_nan=True)


# ---- Functions -----------------------------------------------------------------------------------------


@triton.jit
def language_functions(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + 0 * n + i, tl.exp(x))
    tl.store(out_ptr + 1 * n + i, tl.log(tl.abs(x)))
    tl.store(out_ptr + 2 * n + i, tl.sin(x))
    tl.store(out_ptr + 3 * n + i, tl.cos(x))
    tl.store(out_ptr + 4 * n + i, tl.sqrt(tl.abs(x)))
    tl.store(out_ptr + 5 * n + i, tl.rsqrt(tl.abs(x)))
    tl.store(out_ptr + 6 * n + i, tl.sigmoid(x))
    tl.store(out_ptr + 7 * n + i, tl.erf(x))
    tl.store(out_ptr + 8 * n + i, tl.floor(x))
    tl.store(out_ptr + 9 * n + i, tl.fdiv(x, x + 10.0))


def test_functions_of_the_language(gpu):
    n = 256
    x = torch.linspace(-4, 4, n) + 1e-3
    out = torch.full((10, n), math.nan)
    language_functions[(1,)](x, out, n, BLOCK=n)
    exact = x.double()
    expected = torch.stack(
        [
            exact.exp(),
            exact.abs().log(),
            exact.sin(),
            exact.cos(),
            exact.abs().sqrt(),
            exact.abs().rsqrt(),
            exact.sigmoid(),
            exact.erf(),
            exact.floor(),
            exact / (exact + 10),
        ]
    )
    torch.testing.assert_close(out.double(), expected, rtol=2e-6, atol=2e-6)


@triton.jit
def library_functions(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + 0 * n + i, libdevice.asin(x))
    tl.store(out_ptr + 1 * n + i, libdevice.tanh(x))
    tl.store(out_ptr + 2 * n + i, libdevice.pow(tl.abs(x), tl.full([BLOCK], 1.75, x.dtype)))
    tl.store(out_ptr + 3 * n + i, libdevice.log1p(x))
    tl.store(out_ptr + 4 * n + i, libdevice.lgamma(x + 2))
    tl.store(out_ptr + 5 * n + i, libdevice.rint(x * 9))
    tl.store(out_ptr + 6 * n + i, libdevice.atan2(x, tl.full([BLOCK], 0.5, x.dtype)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_functions_of_libdevice(gpu, dtype):
    n = 128
    x = (torch.linspace(-0.95, 0.95, n) + 1e-4).to(dtype)
    out = torch.full((7, n), math.nan, dtype=dtype)
    library_functions[(1,)](x, out, n, BLOCK=n)
    exact = x.double()
    expected = torch.stack(
        [
            exact.asin(),
            exact.tanh(),
            exact.abs() ** 1.75,
            exact.log1p(),
            (exact + 2).lgamma(),
            (exact * 9).round(),
            torch.atan2(exact, torch.tensor(0.5).double()),
        ]
    )
    tolerance = 3e-6 if dtype == torch.float32 else 1e-14
    torch.testing.assert_close(out.double(), expected, rtol=tolerance, atol=tolerance)


# ---- Random numbers ------------------------------------------------------------------------------------


@triton.jit
def dropout(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    keep = tl.rand(seed, i) > p
    tl.store(out_ptr + i, tl.where(keep, x / (1 - p), 0.0), mask=i < n)


def test_dropout_keeps_its_share_and_repeats_with_its_seed(gpu):
    n, p = 5000, 0.3
    x = torch.randn(n) + 5
    first, again, other = (torch.full((n,), math.nan) for _ in range(3))
    for out, seed in ((first, 123), (again, 123), (other, 512)):
        dropout[(triton.cdiv(n, 1024),)](x, out, n, p, seed, BLOCK=1024)
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    kept = first != 0
    assert abs(kept.float().mean().item() - (1 - p)) < 0.03
    torch.testing.assert_close(first[kept], x[kept] / (1 - p), rtol=1e-6, atol=0)


@triton.jit
def philox_integers(out_ptr, seed, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.randint(seed, i))


def _philox(seed, counter):
    """Philox 4x32 with ten rounds, after its paper; the first of its four words."""
    words = [counter, 0, 0, 0]
    keys = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        high_a, low_a = divmod(0xD2511F53 * words[0], 2**32)
        high_b, low_b = divmod(0xCD9E8D57 * words[2], 2**32)
        words = [high_b ^ words[1] ^ keys[0], low_b, high_a ^ words[3] ^ keys[1], low_a]
        keys = [(keys[0] + 0x9E3779B9) % 2**32, (keys[1] + 0xBB67AE85) % 2**32]
    return words[0]


def test_random_integers_are_philoxs(gpu):
    out = torch.zeros(64, dtype=torch.int32)
    philox_integers[(1,)](out, 0x1234567, BLOCK=64)
    assert [value % 2**32 for value in out.tolist()] == [_philox(0x1234567, i) for i in range(64)]
