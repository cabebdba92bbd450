"""A matrix in tiles, three ways of saying where a tile lies.

flashpath run units/21-triton-first/experiments/tiles.py
"""

import warnings

import torch
import triton
import triton.language as tl

import flashpath as fp

warnings.filterwarnings("ignore", message="tl.make_block_ptr is deprecated")


@triton.jit
def outer_kernel(
    u_ptr, v_ptr, out_ptr, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr
):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)  # (ROWS)
    column = tl.program_id(1) * COLS + tl.arange(0, COLS)  # (COLS)
    u = tl.load(u_ptr + row, mask=row < rows)
    v = tl.load(v_ptr + column, mask=column < cols)
    tile = u[:, None] * v[None, :]  # (ROWS, 1) × (1, COLS) → (ROWS, COLS)
    inside = (row[:, None] < rows) & (column[None, :] < cols)
    tl.store(out_ptr + row[:, None] * cols + column[None, :], tile, mask=inside)


@triton.jit
def halve_blocks(x_ptr, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    tile = tl.make_block_ptr(
        x_ptr,
        shape=(rows, cols),
        strides=(cols, 1),
        offsets=(tl.program_id(0) * ROWS, tl.program_id(1) * COLS),
        block_shape=(ROWS, COLS),
        order=(1, 0),
    )
    x = tl.load(tile, boundary_check=(0, 1), padding_option="zero")
    tl.store(tile, 0.5 * x, boundary_check=(0, 1))


@triton.jit
def halve_descriptor(x_ptr, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    matrix = tl.make_tensor_descriptor(
        x_ptr, shape=[rows, cols], strides=[cols, 1], block_shape=[ROWS, COLS]
    )
    place = [tl.program_id(0) * ROWS, tl.program_id(1) * COLS]
    matrix.store(place, 0.5 * matrix.load(place))


def main():
    rows, cols = 100, 72
    grid = (triton.cdiv(rows, 32), triton.cdiv(cols, 64))
    u, v, out = torch.rand(rows), torch.rand(cols), torch.empty(rows, cols)
    with fp.vgpu.triton(profile=True) as gpu:
        outer_kernel[grid](u, v, out, rows, cols, ROWS=32, COLS=64)
        right = [torch.equal(out, torch.outer(u, v))]
        for kernel in (halve_blocks, halve_descriptor):
            expected = out / 2
            kernel[grid](out, rows, cols, ROWS=32, COLS=64)
            right.append(torch.equal(out, expected))
    print(f"{'kernel':17} {'programs':>8} {'right':>6} {'bytes loaded':>13} {'bytes stored':>13}")
    for report, each in zip(gpu.reports, right, strict=True):
        loaded, stored = report.global_load.bytes, report.global_store.bytes
        print(f"{report.kernel:17} {grid[0]} × {grid[1]:<4} {each!s:>6} {loaded:13,} {stored:13,}")


if __name__ == "__main__":
    main()
