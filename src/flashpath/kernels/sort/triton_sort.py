"""Sort, rung 5: Triton. Radix passes over digits of 4 bits, ranks by sums down the columns of a table.

maths    out = x in rising order; equal keys stay in the order they came in
layout   x, out: (n), contiguous; counts: (DIGITS, tiles); totals: (DIGITS)
cost     at least 2 n sizeof(T) bytes; here 8 passes for keys of 32 bits, each with two reads and one write
improves radix: the same three kernels, with no thread, counter or barrier in them
idea     a table of tile × digits holds a 1 where a key has a digit. The sums down its columns count the keys
         of the same digit so far, which is each key's rank; so a program ranks a tile with one `tl.cumsum`.
         Sorting the tile itself with `tl.sort`, by words "digit, then place", would make the stores coalesce;
         a network for 2,048 words keeps the compiler busy for 15 seconds per kernel.
"""

import triton
import triton.language as tl


@triton.jit
def digit_of(key, shift, DIGITS: tl.constexpr):
    # Adding 0 makes +0 of -0, and one NaN, larger than all numbers, of every NaN.
    if key.dtype.is_int():
        bits = key ^ (-(2**31))
    elif key.dtype.primitive_bitwidth == 32:
        bits = (key + 0.0).to(tl.int32, bitcast=True)
        bits = bits ^ ((bits >> 31) | (-(2**31)))
    else:
        bits = (key.to(tl.float32) + 0.0).to(key.dtype).to(tl.int16, bitcast=True).to(tl.int32)
        bits = bits ^ ((bits >> 15) | 0x8000)
    return (bits >> shift) & (DIGITS - 1)


@triton.jit
def table_of(x_ptr, tile, n, shift, DIGITS: tl.constexpr, TILE: tl.constexpr):
    """A tile's keys, where they stand, which of them are there, and (TILE, DIGITS) who has which digit."""
    in_tile = tl.arange(0, TILE)
    place = tile * TILE + in_tile
    inside = in_tile < n - tile * TILE  # place < n, but for places that pass 2^31 and count as below 0
    key = tl.load(x_ptr + place, mask=inside, other=0)
    digit = digit_of(key, shift, DIGITS)
    table = (digit[:, None] == tl.arange(0, DIGITS)[None, :]) & inside[:, None]
    return key, place, inside, table.to(tl.int32)


@triton.jit(do_not_specialize=["n", "tiles", "shift"])
def count_kernel(x_ptr, counts_ptr, n, tiles, shift, DIGITS: tl.constexpr, TILE: tl.constexpr):
    tile = tl.program_id(0)
    _, _, _, table = table_of(x_ptr, tile, n, shift, DIGITS, TILE)
    digits = tl.arange(0, DIGITS)
    tl.store(counts_ptr + digits.to(tl.int64) * tiles + tile, tl.sum(table, 0))


@triton.jit(do_not_specialize=["tiles"])
def scan_kernel(counts_ptr, totals_ptr, tiles, CHUNK: tl.constexpr):
    """Each row of counts becomes the sums of what stands before, and its sum goes to totals."""
    row = counts_ptr + tl.program_id(0).to(tl.int64) * tiles
    before = tl.zeros((), tl.int32)
    for start in range(0, tiles, CHUNK):
        offsets = start + tl.arange(0, CHUNK)
        count = tl.load(row + offsets, mask=offsets < tiles, other=0)
        tl.store(row + offsets, before + tl.cumsum(count, 0) - count, mask=offsets < tiles)
        before += tl.sum(count, 0)
    tl.store(totals_ptr + tl.program_id(0), before)


@triton.jit(do_not_specialize=["n", "tiles", "shift"])
def scatter_kernel(
    x_ptr,
    index_ptr,  # not read in the first pass, of shift 0: there a key's index is its place
    counts_ptr,
    totals_ptr,
    out_ptr,
    out_index_ptr,  # None where no indices are wanted
    n,
    tiles,
    shift,
    DIGITS: tl.constexpr,
    TILE: tl.constexpr,
):
    tile = tl.program_id(0)
    key, place, inside, table = table_of(x_ptr, tile, n, shift, DIGITS, TILE)
    digits = tl.arange(0, DIGITS)
    totals = tl.load(totals_ptr + digits)
    in_tiles_before = tl.load(counts_ptr + digits.to(tl.int64) * tiles + tile)
    first = (
        tl.cumsum(totals, 0) - totals + in_tiles_before
    )  # (DIGITS): where the tile's keys of a digit begin
    rank = tl.cumsum(table, 0) - 1  # (TILE, DIGITS): of a key in the column of its digit
    to = tl.sum(table * (first[None, :] + rank), 1)  # (TILE)
    tl.store(out_ptr + to, key, mask=inside)
    if out_index_ptr is not None:
        index = tl.load(index_ptr + place, mask=inside & (shift > 0))
        index = tl.where(shift > 0, index.to(tl.int32), place)
        tl.store(out_index_ptr + to, index.to(out_index_ptr.dtype.element_ty), mask=inside)
