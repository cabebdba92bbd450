"""Every rung of quantize: NumPy's and torch's bits, for any size, alignment, order, type and value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import flashpath as fp
from flashpath import kernels
from flashpath.errors import FlashpathError
from flashpath.kernels.quantize import host
from flashpath.kernels.quantize.operations import LARGEST, OPERATIONS, PACKING
from flashpath.kernels.quantize.reference import TORCH

LADDER = kernels.ladder("quantize")
RUNGS = [rung.name for rung in LADDER]
OF_ROWS = [name for name in RUNGS if name != "ballot"]
QUANTIZE = ("quantize_int8", "quantize_fp8")
FLOATS = [torch.float32, torch.float16, torch.bfloat16]
INF, NAN = float("inf"), float("nan")
TINY = torch.finfo(torch.float32).tiny


def bits(tensor: Any) -> Any:
    """For comparison to the bit; a NaN of floats has many."""
    if tensor.dtype in FLOATS:
        tensor = torch.where(tensor.isnan(), torch.full_like(tensor, NAN), tensor)
    return tensor.contiguous().view(torch.uint8)


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


def poisoned(like: Any) -> tuple[Any, Any]:
    """An output full of other bytes, and the guarded buffer it lies in."""
    n = like.numel() * like.itemsize
    guarded = torch.full((n + 32,), 0xA5, dtype=torch.uint8, device=like.device)
    return guarded[16 : 16 + n].view(like.dtype).view(like.shape), guarded


def as_tuple(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)  # type: ignore[return-value]


def verify(name: str, *given: Any) -> Any:
    """Run with poisoned outputs and compare with the reference to the bit; inputs stay as they are."""
    x, operation, *_ = given
    expected = LADDER.reference(*given)
    tensors = [each for each in given if isinstance(each, torch.Tensor)]
    copies = [each.clone() for each in tensors]
    outputs = as_tuple(expected)
    made = [poisoned(each) for each in outputs]
    out: Any = tuple(each for each, _ in made)
    if operation in PACKING:
        made, out = made[:1], out[0]
    elif operation == "dequantize":
        out = out[0]
    result = LADDER[name](*given, out=out)
    results = as_tuple(result)
    assert results[0].data_ptr() == made[0][0].data_ptr()
    for one, other in zip(results, outputs, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        assert torch.equal(bits(one), bits(other)), (name, operation, tuple(x.shape), x.dtype)
    for _, guarded in made:
        assert bool((guarded[:16] == 0xA5).all() & (guarded[-16:] == 0xA5).all()), (
            "it wrote beside its output"
        )
    for each, copy in zip(tensors, copies, strict=True):
        assert torch.equal(bits(each), bits(copy)), "it changed an input"
    LADDER.check(result, given)
    return result


# ---- Bits, on the virtual GPU --------------------------------------------------------------------------


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


SEGMENTS = {
    "none": [],
    "all empty": [0, 0],
    "one": [1031],
    "tiny": [k % 4 for k in range(700)],
    "ragged": [3000, 0, 1, 9, 0, 2047, 8, 5, 0],
}


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


# ---- Rows, on the virtual GPU --------------------------------------------------------------------------

# Rows for 8, 32, 128 and 512 threads, of whole packs and not, and too long for registers.
SHAPES: list[tuple[tuple[int, ...], int]] = [((1, 1), 0), ((7, 13), 1), ((9, 64), 0), ((3, 5, 520), 0)]
LONG: list[tuple[tuple[int, ...], int]] = [((2, 5000), 0), ((1, 40_000), 0)]


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


# ---- Without a fault ------------------------------------------------------------------------------------


class Sanitized:
    """Stands for a kernel: each launch runs under several schedules, and what is found is kept."""

    def __init__(self, kernel: Any, findings: list[Any]) -> None:
        self.kernel, self.findings = kernel, findings

    def __getitem__(self, shape: Any) -> Callable[..., None]:
        def launch(*args: Any, **options: Any) -> None:
            if options:
                self.findings += fp.sanitize(self.kernel, shape, args=args, **options)
            else:
                grid, block = shape
                self.findings += fp.sanitize(self.kernel, grid, block, args, seeds=2)

        return launch


@pytest.mark.parametrize("name", RUNGS[1:])
def test_nothing_is_wrong_in_any_schedule(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    findings: list[Any] = []
    real, real_triton = host.cuda_kernel, host.triton_kernel

    def cuda_kernel(*args: Any) -> Sanitized:
        return Sanitized(real(*args), findings)

    def triton_kernel(operation: str) -> Sanitized:
        return Sanitized(real_triton(operation), findings)

    monkeypatch.setattr(host, "cuda_kernel", cuda_kernel)
    monkeypatch.setattr(host, "triton_kernel", triton_kernel)
    verify(name, flags(1031, torch.uint8, 1), "packbits")
    verify(name, flags(1024 + 9), "packbits", "little")
    lengths = SEGMENTS["ragged"]
    verify(name, flags(sum(lengths), torch.uint8, 1), "segment_packbits", indptr(lengths, torch.int32))
    if name in OF_ROWS:
        codes, scale = verify(name, matrix((7, 13), torch.float32, 1), "quantize_int8")
        verify(name, codes, "dequantize", scale)
        codes, scale = verify(name, matrix((3, 5000), torch.bfloat16), "quantize_fp8")
        verify(name, codes, "dequantize", scale, torch.bfloat16)
    assert findings == []


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


# ---- Without running anything --------------------------------------------------------------------------


@pytest.mark.parametrize("name", RUNGS)
def test_wrong_arguments_are_refused_before_anything_runs(name: str) -> None:
    x, rows = flags(64), torch.ones(4, 8)
    codes, scale = torch.ones(4, 8, dtype=torch.int8), torch.ones(4)
    for given, says in [
        ((x, "packbit"), "segment_packbits"),
        ((x, "packbits", "middle"), "little"),
        ((x, "packbits", "big", 1), "Write rung"),
        ((x.int(), "packbits"), "bool, uint8"),
        ((x[::2], "packbits"), r"contiguous\(\)"),
        ((x, "segment_packbits"), "Write rung"),
        ((x, "segment_packbits", torch.ones(2)), "int32, int64"),
        ((x, "segment_packbits", torch.ones(0, dtype=torch.int32)), "one more than"),
        ((rows, "quantize_int8", 1), "Write rung"),
        ((rows.double(), "quantize_fp8"), "bfloat16"),
        ((rows.T, "quantize_fp8"), r"contiguous\(\)"),
        ((torch.tensor(1.0), "quantize_int8"), "a row"),
        ((rows, "dequantize", scale), "float8_e4m3fn"),
        ((codes, "dequantize", scale[1:]), r"shape \(4,\)"),
        ((codes, "dequantize", scale, torch.float64), "bfloat16"),
    ]:
        with pytest.raises(FlashpathError, match=says):
            LADDER[name](*given)
    for out in (torch.empty(4, 8), (codes, torch.empty(5)), (codes.float(), scale)):
        with pytest.raises(FlashpathError, match=r"It (is a pair|must)"):
            LADDER[name](rows, "quantize_int8", out=out)
    with pytest.raises(FlashpathError, match="overlaps"):
        LADDER[name](x, "packbits", out=x.view(torch.uint8)[:8])


def test_ballot_says_who_takes_rows() -> None:
    with pytest.raises(FlashpathError, match="vectorized"):
        LADDER["ballot"](torch.ones(4, 8), "quantize_int8")


@pytest.mark.parametrize("name", OF_ROWS)
def test_rows_of_nothing(name: str) -> None:
    for shape in ((0, 8), (3, 0)):
        for operation in QUANTIZE:
            codes, scale = verify(name, torch.empty(shape), operation)
            verify(name, codes, "dequantize", scale)


def test_the_ladders_check_can_fail() -> None:
    x = matrix((9, 64), torch.float32)
    for operation in QUANTIZE:
        codes, scale = LADDER.reference(x, operation)
        LADDER.check((codes, scale), (x, operation))
        off = codes.clone()
        off.view(torch.uint8)[3, 7] += 1
        for wrong in ((off, scale), (codes, scale * 1.00001), (codes[1:], scale), (codes.float(), scale)):
            with pytest.raises(AssertionError):
                LADDER.check(wrong, (x, operation))
    packed = LADDER.reference(y := flags(64), "packbits")
    with pytest.raises(AssertionError):
        LADDER.check(packed ^ 1, (y, "packbits"))


def test_cases_count_every_tensor_once() -> None:
    for case in LADDER.cases():
        if "shape" in case.parameters:
            rows, n = case.parameters["shape"]
            assert case.bytes == rows * (n * (getattr(torch, case.dtype).itemsize + 1) + 4)
        else:
            assert case.bytes >= case.parameters["n"] * 9 // 8
    assert {case.parameters["operation"] for case in LADDER.cases()} == {*OPERATIONS}
    segmented = LADDER.cases()[4]
    x, _, ends, _, size = segmented.inputs("cpu")
    packed = int(((ends.diff() + 7) // 8).sum())
    assert packed == size
    assert segmented.bytes == x.numel() + packed + 2 * 4 * ends.numel()


@pytest.mark.parametrize("arch", ["sm_75", "sm_90a", "sm_100a"])
@pytest.mark.parametrize("name", RUNGS[1:])
def test_rung_compiles_for_old_and_new_architectures(name: str, arch: str) -> None:
    compile_for = LADDER[name].compile_for
    assert compile_for is not None
    assert compile_for(arch) is not None


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
