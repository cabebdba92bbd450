# type: ignore - device code is Python in syntax only: its names are typed by Triton's compiler
"""Across elements: softmax, layer norm with locks, scans, histograms, sorting, argmax, gather."""

import math

import pytest
import torch
import triton
import triton.language as tl
from triton.runtime import driver as triton_drivers

import flashpath as fp

# ---- Softmax, as a persistent kernel -------------------------------------------------------------------


@triton.jit
def softmax_rows(
    out_ptr, x_ptr, x_stride, out_stride, rows, columns, BLOCK: tl.constexpr, num_stages: tl.constexpr
):
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=num_stages):
        i = tl.arange(0, BLOCK)
        inside = i < columns
        x = tl.load(x_ptr + row * x_stride + i, mask=inside, other=-float("inf")).to(tl.float32)
        e = tl.exp(x - tl.max(x, axis=0))
        tl.store(out_ptr + row * out_stride + i, e / tl.sum(e, axis=0), mask=inside)


def softmax(x, num_stages):
    """As Triton's tutorial launches it: as many programs as the GPU holds at once."""
    rows, columns = x.shape
    block = triton.next_power_of_2(columns)
    out = torch.full_like(x, math.nan)
    properties = triton_drivers.active.utils.get_device_properties(
        triton_drivers.active.get_active_torch_device().index
    )
    args = (out, x, x.stride(0), out.stride(0), rows, columns)
    kernel = softmax_rows.warmup(*args, BLOCK=block, num_stages=num_stages, num_warps=4, grid=(1,))
    kernel._init_handles()
    occupancy = properties["max_num_regs"] // (kernel.n_regs * properties["warpSize"] * 4)
    if kernel.metadata.shared:
        occupancy = min(occupancy, properties["max_shared_mem"] // kernel.metadata.shared)
    programs = min(properties["multiprocessor_count"] * occupancy, rows)
    kernel[(programs, 1, 1)](*args, block, num_stages)
    return out, programs


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_persistent_softmax(gpu, check_close, dtype):
    for rows, columns in ((1, 1), (7, 781), (1000, 33)):
        x = (torch.randn(rows, columns) * 4 + 1).to(dtype)
        out, programs = softmax(x, num_stages=1)
        assert 1 <= programs <= rows
        check_close(out, x.softmax(-1), x.double().softmax(-1), 1e-6)


def test_pipelined_softmax(gpu, check_close):
    x = torch.randn(33, 256)
    out, _ = softmax(x, num_stages=3)
    check_close(out, x.softmax(-1), x.double().softmax(-1), 1e-6)


# ---- Layer norm ----------------------------------------------------------------------------------------


@triton.jit
def layer_norm_forward(x_ptr, y_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * columns + i, mask=i < columns, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / columns
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + i, mask=i < columns, other=0.0).to(tl.float32)
        centred = tl.where(i < columns, x - mean, 0.0)
        squares += centred * centred
    rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / columns + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    for start in range(0, columns, BLOCK):
        i = start + tl.arange(0, BLOCK)
        inside = i < columns
        w = tl.load(w_ptr + i, mask=inside)
        b = tl.load(b_ptr + i, mask=inside)
        x = tl.load(x_ptr + row * columns + i, mask=inside, other=0.0).to(tl.float32)
        tl.store(y_ptr + row * columns + i, (x - mean) * rstd * w + b, mask=inside)


@triton.jit
def layer_norm_backward(
    dx_ptr,
    dy_ptr,
    dw_ptr,
    db_ptr,
    x_ptr,
    w_ptr,
    mean_ptr,
    rstd_ptr,
    locks_ptr,
    columns,
    GROUPS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Gradients of weight and bias add up in GROUPS buffers, each behind a lock."""
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    inside = i < columns
    x = tl.load(x_ptr + row * columns + i, mask=inside, other=0).to(tl.float32)
    dy = tl.load(dy_ptr + row * columns + i, mask=inside, other=0).to(tl.float32)
    w = tl.load(w_ptr + i, mask=inside).to(tl.float32)
    mean = tl.load(mean_ptr + row)
    rstd = tl.load(rstd_ptr + row)
    normed = tl.where(inside, (x - mean) * rstd, 0.0)
    wdy = tl.where(inside, w * dy, 0.0)
    along = tl.sum(normed * wdy, axis=0) / columns
    average = tl.sum(wdy, axis=0) / columns
    tl.store(dx_ptr + row * columns + i, (wdy - (normed * along + average)) * rstd, mask=inside)
    group = row % GROUPS
    lock_ptr = locks_ptr + group
    used_ptr = locks_ptr + GROUPS + group
    partial_dw = dy * normed
    partial_db = dy
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    used = tl.load(used_ptr)
    if used == 0:
        tl.atomic_xchg(used_ptr, 1)
    else:
        partial_dw += tl.load(dw_ptr + group * columns + i, mask=inside)
        partial_db += tl.load(db_ptr + group * columns + i, mask=inside)
    tl.store(dw_ptr + group * columns + i, partial_dw, mask=inside)
    tl.store(db_ptr + group * columns + i, partial_db, mask=inside)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_layer_norm_forward_and_backward(gpu, check_close, dtype):
    rows, columns, groups = 13, 200, 4
    x = (torch.randn(rows, columns) * 2 + 0.5).to(dtype)
    w, b, dy = (
        torch.rand(columns).to(dtype),
        torch.rand(columns).to(dtype),
        torch.randn(rows, columns).to(dtype),
    )
    y, dx = torch.full_like(x, math.nan), torch.full_like(x, math.nan)
    mean, rstd = torch.full((rows,), math.nan), torch.full((rows,), math.nan)
    layer_norm_forward[(rows,)](x, y, w, b, mean, rstd, columns, 1e-5, BLOCK=128)
    # Zeros, as in the tutorial: warps may disagree about `used`, which they read with no barrier after it.
    dw, db = torch.zeros(groups, columns), torch.zeros(groups, columns)
    locks = torch.zeros(2 * groups, dtype=torch.int32)
    layer_norm_backward[(rows,)](dx, dy, dw, db, x, w, mean, rstd, locks, columns, GROUPS=groups, BLOCK=256)

    def reference(kind):
        inputs = [tensor.to(kind).detach().requires_grad_() for tensor in (x, w, b)]
        out = torch.nn.functional.layer_norm(inputs[0], (columns,), *inputs[1:], eps=1e-5)
        out.backward(dy.to(kind))
        return out.detach(), *(tensor.grad for tensor in inputs)

    for got, low, exact in zip(
        (y, dx, dw.sum(0), db.sum(0)), reference(dtype), reference(torch.float64), strict=True
    ):
        check_close(got, low, exact, 1e-5)
    assert not locks[:groups].any()


# ---- Scans ---------------------------------------------------------------------------------------------


@triton.jit
def scans(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    tl.store(out_ptr + i, tl.cumsum(x, 0), mask=i < n)
    tl.store(out_ptr + n + i, tl.cumsum(x, 0, reverse=True), mask=i < n)


@triton.jit
def first_order(a, x, b, y):
    return a * b, b * x + y


@triton.jit
def recurrence(a_ptr, x_ptr, out_ptr, BLOCK: tl.constexpr):
    """h[t] = a[t] h[t-1] + x[t]"""
    i = tl.arange(0, BLOCK)
    _, h = tl.associative_scan((tl.load(a_ptr + i), tl.load(x_ptr + i)), 0, first_order)
    tl.store(out_ptr + i, h)


def test_scans_of_integers_are_exact(gpu):
    for n in (1, 100, 1024):
        x = torch.randint(-50, 50, (n,), dtype=torch.int32)
        out = torch.full((2, n), 77, dtype=torch.int32)
        scans[(1,)](x, out, n, BLOCK=1024)
        assert torch.equal(out[0].long(), x.cumsum(0))
        assert torch.equal(out[1].long(), x.flip(0).cumsum(0).flip(0))


def test_a_linear_recurrence(gpu):
    a, x = torch.rand(256), torch.randn(256)
    out = torch.full((256,), math.nan)
    recurrence[(1,)](a, x, out, BLOCK=256)
    h, expected = 0.0, []
    for decay, step in zip(a.double().tolist(), x.double().tolist(), strict=True):
        h = decay * h + step
        expected.append(h)
    torch.testing.assert_close(out.double(), torch.tensor(expected).double(), rtol=1e-5, atol=1e-5)


# ---- Histogram, sort, argmax, gather -------------------------------------------------------------------


@triton.jit
def histogram(x_ptr, out_ptr, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    counts = tl.histogram(x, BINS, mask=i < n)
    tl.atomic_add(out_ptr + tl.arange(0, BINS), counts)


def test_histogram(gpu):
    n, bins = 3000, 64
    x = torch.randint(0, bins, (n,), dtype=torch.int32)
    out = torch.zeros(bins, dtype=torch.int32)
    histogram[(3,)](x, out, n, BLOCK=1024, BINS=bins)
    assert torch.equal(out.long(), torch.bincount(x, minlength=bins))


@triton.jit
def sort_rows(x_ptr, out_ptr, COLUMNS: tl.constexpr, DESCENDING: tl.constexpr):
    i = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    tl.store(out_ptr + i, tl.sort(tl.load(x_ptr + i), descending=DESCENDING))


@pytest.mark.parametrize("descending", [False, True])
def test_sort(gpu, descending):
    x = torch.randn(3, 64)
    out = torch.full_like(x, math.nan)
    sort_rows[(3,)](x, out, COLUMNS=64, DESCENDING=descending)
    assert torch.equal(out, x.sort(descending=descending).values)


@triton.jit
def extremes(x_ptr, places_ptr, values_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows = tl.arange(0, ROWS)
    x = tl.load(x_ptr + rows[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :])
    tl.store(places_ptr + rows, tl.argmax(x, 1))
    tl.store(places_ptr + ROWS + rows, tl.argmin(x, 1))
    tl.store(values_ptr + rows, tl.max(x, 1))
    tl.store(values_ptr + ROWS + rows, tl.min(x, 1))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int32], ids=str)
def test_extremes_and_their_places(gpu, dtype):
    """Of equal values the first place is named."""
    x = torch.randint(-20, 20, (8, 64)).to(dtype)
    places = torch.full((2, 8), -1, dtype=torch.int32)
    values = torch.zeros(2, 8, dtype=dtype)
    extremes[(1,)](x, places, values, ROWS=8, COLUMNS=64)
    for place, value, best in zip(places, values, (x.amax(1), x.amin(1)), strict=True):
        assert torch.equal(value, best)
        assert place.tolist() == [
            row.tolist().index(wanted) for row, wanted in zip(x, best.tolist(), strict=True)
        ]


@triton.jit
def gather_rows(x_ptr, index_ptr, out_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    i = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tl.store(out_ptr + i, tl.gather(tl.load(x_ptr + i), tl.load(index_ptr + i), axis=1))


def test_gather(gpu):
    x = torch.randn(4, 64)
    index = torch.randint(0, 64, (4, 64), dtype=torch.int32)
    out = torch.full_like(x, math.nan)
    gather_rows[(1,)](x, index, out, ROWS=4, COLUMNS=64)
    assert torch.equal(out, x.gather(1, index.long()))


@triton.jit
def sum_all(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out_ptr, tl.sum(tl.load(x_ptr + i, mask=i < n, other=0.0)))


def test_the_same_call_gives_the_same_bits(gpu):
    x = torch.randn(10_000)
    sums = set()
    for _ in range(20):
        out = torch.zeros(1)
        sum_all[(10,)](x, out, 10_000, BLOCK=1024)
        sums.add(out.item())
    assert len(sums) == 1
    assert abs(sums.pop() - x.double().sum().item()) < 1e-2


@pytest.mark.parametrize("arch", ["sm_86", "sm_89", "sm_90"])
def test_softmax_on_other_architectures(check_close, arch):
    x = torch.randn(5, 300)
    with fp.vgpu.triton(arch):
        out, _ = softmax(x, num_stages=1)
    check_close(out, x.softmax(-1), x.double().softmax(-1), 1e-6)
