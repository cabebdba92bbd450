"""One kernel on views of several strides, and on vectors of several lengths: what is counted.

flashpath run units/21-triton-first/experiments/views.py
"""

import torch
import triton
import triton.language as tl

import flashpath as fp


@triton.jit
def halve_view(x_ptr, out_ptr, rows, cols, row_stride, col_stride, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLS + tl.arange(0, COLS)
    inside = (row[:, None] < rows) & (column[None, :] < cols)
    x = tl.load(x_ptr + row[:, None] * row_stride + column[None, :] * col_stride, mask=inside)
    tl.store(out_ptr + row[:, None] * cols + column[None, :], 0.5 * x, mask=inside)


@triton.jit
def halve(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    tl.store(out_ptr + offsets, 0.5 * tl.load(x_ptr + offsets, mask=inside), mask=inside)


VIEWS = {
    "x": torch.randn(128, 256),
    "x.t()": torch.randn(256, 128).t(),
    "x[:, ::2]": torch.randn(128, 512)[:, ::2],
    "x.expand(128, 256)": torch.randn(256).expand(128, 256),
}


def of_views():
    """The report of each view's launch."""
    rows, cols = 128, 256
    out = torch.empty(rows, cols)
    reports = {}
    for name, x in VIEWS.items():
        with fp.vgpu.triton(profile=True) as gpu:
            halve_view[(4, 4)](x, out, rows, cols, *x.stride(), ROWS=32, COLS=64)
        assert torch.equal(out, x / 2)
        reports[name] = gpu.reports[-1]
    return reports


def of_lengths():
    """The report of each length's launch."""
    reports = {}
    for n in (4096, 4104, 4112):
        x, out = torch.randn(n), torch.empty(n)
        with fp.vgpu.triton(profile=True) as gpu:
            halve[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
        assert torch.equal(out, x / 2)
        reports[n] = gpu.reports[-1]
    return reports


def main():
    print(f"{'128 × 256 floats':19} {'strides':>10} {'requests':>9} {'sectors loaded':>15} {'shared loads':>13}")
    for name, report in of_views().items():
        load, strides = report.global_load, str(VIEWS[name].stride())
        print(f"{name:19} {strides:>10} {load.requests:9,} {load.sectors:15,} {report.shared_load.requests:13,}")
    print(f"\n{'n':>5} {'requests':>9} {'sectors loaded':>15} {'warp instructions':>18}")
    for n, report in of_lengths().items():
        load = report.global_load
        print(f"{n:5} {load.requests:9,} {load.sectors:15,} {report.warp_instructions:18,}")


if __name__ == "__main__":
    main()
