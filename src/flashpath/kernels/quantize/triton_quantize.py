"""Quantisation, rung 4: Triton. Tiles of bytes and of rows; the compiler chooses threads and widths.

maths    as in the rungs before: packbits, segment_packbits, quantize (a scale per row), dequantize
layout   x (n) bytes, out (⌈n / 8⌉) bytes; rows: x (rows, n), codes (rows, n) of one byte, scale (rows)
cost     packbits: at least 9/8 n bytes; rows: 2 rows n FLOPs, at least rows (n (sizeof(T) + 1) + 4) bytes
improves vectorized: the same ideas in half of the lines
idea     a byte is a sum along the short side of a (bytes, 8) tile. A row is one tile, so the compiler keeps
         it in registers between its maximum and its codes. Before sm_90 fp8 is rounded with integers.
watch    where a thread has more than the 8 halves of one load, its stores want them in another order, and the
         compiler rather reads the row twice. The second time it is in the cache.
"""

import triton
import triton.language as tl


@triton.jit
def packed(x_ptr, first, count, IS_BIG: tl.constexpr):
    """The byte of up to eight elements from each `first` on, of which `count` exist."""
    k = tl.arange(0, 8)
    bit = tl.load(x_ptr + first[:, None] + k[None, :], mask=k[None, :] < count[:, None], other=0) != 0
    shift = 7 - k if IS_BIG else k
    return tl.sum(bit.to(tl.int32) << shift[None, :], axis=1).to(tl.uint8)  # (BLOCK)


@triton.jit
def packbits_kernel(x_ptr, out_ptr, n, IS_BIG: tl.constexpr, BLOCK: tl.constexpr):
    # 64 bits: program_id * BLOCK passes 2^31 for tensors of more elements.
    byte = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK)
    out = packed(x_ptr, 8 * byte, n - 8 * byte, IS_BIG)
    tl.store(out_ptr + byte, out, mask=8 * byte < n)


@triton.jit(do_not_specialize=["segments", "steps"])  # a 1 would come as a Python number
def segment_packbits_kernel(
    x_ptr, begin_ptr, out_begin_ptr, out_ptr, segments, steps, IS_BIG: tl.constexpr, BLOCK: tl.constexpr
):
    byte = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK)
    inside = byte < tl.load(out_begin_ptr + segments)
    # The last segment that begins at or before the byte, by all bytes at once: a step halves what is left.
    low = tl.zeros((BLOCK,), tl.int64)
    high = low + (segments - 1)
    for _ in range(steps):
        middle = (low + high + 1) // 2
        is_before = tl.load(out_begin_ptr + middle) <= byte
        low = tl.where(is_before, middle, low)
        high = tl.where(is_before, high, tl.maximum(middle - 1, low))
    first = tl.load(begin_ptr + low) + 8 * (byte - tl.load(out_begin_ptr + low))
    count = tl.where(inside, tl.load(begin_ptr + low + 1) - first, 0)
    tl.store(out_ptr + byte, packed(x_ptr, first, count, IS_BIG), mask=inside)


@triton.jit
def size_bits(x):
    """|x| as an integer, which orders as |x| does, with NaN above infinity."""
    return x.to(tl.int32, bitcast=True) & 0x7FFFFFFF


@triton.jit
def int8_code(quotient):
    # 1.5 * 2^23 has no room for fractions: the sum is rounded to an integer, whose last byte is the code.
    return (quotient + 12582912.0).to(tl.int32, bitcast=True).to(tl.int8)


@triton.jit
def fp8_code(quotient):
    bits = quotient.to(tl.int32, bitcast=True)
    sign = (bits >> 24) & 0x80
    size = bits & 0x7FFFFFFF
    # 20 bits of mantissa go, to the nearest, ties to even; the exponent's bias becomes 7.
    normal = ((size + 0x7FFFF + ((size >> 20) & 1)) >> 20) - (120 << 3)
    # Below 2^-6 codes are multiples of 2^-9, which is the last place of 2^14.
    multiple = (tl.abs(quotient) + 16384.0).to(tl.int32, bitcast=True) - 0x46800000
    return (tl.where(size < 0x3C800000, multiple, normal) | sign).to(tl.uint8)


@triton.jit
def encoded(x, scale, is_finite, IS_FP8: tl.constexpr, HAS_FP8: tl.constexpr):
    quotient = tl.where(is_finite, tl.div_rn(x, scale), 0.0)
    if not IS_FP8:
        codes = int8_code(quotient)
    elif HAS_FP8:
        codes = quotient.to(tl.float8e4nv).to(tl.uint8, bitcast=True)
    else:
        codes = fp8_code(quotient)
    return codes


@triton.jit
def quantize_kernel(
    x_ptr,
    codes_ptr,
    scale_ptr,
    n,
    IS_FP8: tl.constexpr,
    HAS_FP8: tl.constexpr,  # Triton rounds to it by one instruction
    BLOCK: tl.constexpr,
    FITS: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * n
    codes_ptr += row * n
    column = tl.arange(0, BLOCK)
    inside = column < n
    x = tl.load(x_ptr + column, mask=inside, other=0).to(tl.float32)
    largest = size_bits(x)
    if not FITS:
        for start in range(BLOCK, n, BLOCK):
            # column < n - start: start + column passes 2^31 in the last piece of a row of nearly as many.
            more = tl.load(x_ptr + start + column, mask=column < n - start, other=0).to(tl.float32)
            largest = tl.maximum(largest, size_bits(more))
    bits = tl.max(largest, axis=0)
    limit: tl.constexpr = 448.0 if IS_FP8 else 127.0
    scale = tl.div_rn(bits.to(tl.float32, bitcast=True), limit)
    scale = tl.where(scale < 1.1754943508222875e-38, 1.1754943508222875e-38, scale)
    is_finite = bits < 0x7F800000
    tl.store(scale_ptr + row, scale)
    tl.store(codes_ptr + column, encoded(x, scale, is_finite, IS_FP8, HAS_FP8), mask=inside)
    if not FITS:
        for start in range(BLOCK, n, BLOCK):
            inside = column < n - start
            x = tl.load(x_ptr + start + column, mask=inside, other=0).to(tl.float32)
            tl.store(codes_ptr + start + column, encoded(x, scale, is_finite, IS_FP8, HAS_FP8), mask=inside)


@triton.jit
def fp8_value(code):
    # e4m3's bits in float's places, 120 too low an exponent: the product puts that right, subnormals too.
    # What is no number is 0x7f, with either sign.
    code = code.to(tl.int32)
    bits = ((code & 0x80) << 24) | ((code & 0x7F) << 20)
    value = bits.to(tl.float32, bitcast=True) * 1.329227995784916e36  # 2^120
    return tl.where((code & 0x7F) == 0x7F, float("nan"), value)


@triton.jit
def dequantize_kernel(codes_ptr, scale_ptr, out_ptr, n, IS_FP8: tl.constexpr, BLOCK: tl.constexpr):
    # One dimension of programs, piece after piece of row after row: a second one ends at 65,535.
    pieces = tl.cdiv(n, BLOCK)
    row = (tl.program_id(0) // pieces).to(tl.int64)
    column = (tl.program_id(0) % pieces).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = column < n
    code = tl.load(codes_ptr + row * n + column, mask=inside, other=0)
    value = fp8_value(code) if IS_FP8 else code.to(tl.int8, bitcast=True).to(tl.float32)
    out = value * tl.load(scale_ptr + row)
    tl.store(out_ptr + row * n + column, out.to(out_ptr.dtype.element_ty), mask=inside)
