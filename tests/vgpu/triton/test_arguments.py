# type: ignore - device code is Python in syntax only: its names are typed by Triton's compiler
"""What a kernel may be handed: scalars of every type, tuples, views, descriptors, tables of pointers."""

import math
import struct
from typing import NamedTuple

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from flashpath.errors import FlashpathError
from flashpath.vgpu.findings import KernelFault

# ---- Scalars -------------------------------------------------------------------------------------------


@triton.jit
def store_scalar(x_ptr, value):
    tl.store(x_ptr, value)


def test_integers_choose_the_width_that_holds_them(gpu):
    for value in (0, 1, -1, 16, 2**31 - 1, -(2**31), 2**31, -(2**40), 2**63 - 1, -(2**63)):
        x = torch.full((1,), 99, dtype=torch.int64)
        store_scalar[(1,)](x, value)
        assert x.item() == value
    x = torch.zeros(1, dtype=torch.uint64)
    store_scalar[(1,)](x, 2**64 - 1)
    assert x.item() == 2**64 - 1


def test_booleans_and_floats(gpu):
    x = torch.zeros(1, dtype=torch.float32)
    for value, stored in (
        (True, 1.0),
        (False, 0.0),
        (0.1, np.float32(0.1)),
        (-math.inf, -math.inf),
        (1e300, math.inf),  # too large for a float: C makes it infinity
        (-1e300, -math.inf),
    ):
        store_scalar[(1,)](x, value)
        assert x.item() == stored
    store_scalar[(1,)](x, math.nan)
    assert x.isnan().all()


@triton.jit
def annotated(
    out_ptr,
    b: tl.int1,
    i8: tl.int8,
    u8: tl.uint8,
    i16: tl.int16,
    u16: tl.uint16,
    i32: tl.int32,
    u32: tl.uint32,
    i64: tl.int64,
    u64: tl.uint64,
):
    tl.store(out_ptr + 0, b.to(tl.int64))
    tl.store(out_ptr + 1, i8.to(tl.int64))
    tl.store(out_ptr + 2, u8.to(tl.int64))
    tl.store(out_ptr + 3, i16.to(tl.int64))
    tl.store(out_ptr + 4, u16.to(tl.int64))
    tl.store(out_ptr + 5, i32.to(tl.int64))
    tl.store(out_ptr + 6, u32.to(tl.int64))
    tl.store(out_ptr + 7, i64)
    tl.store(out_ptr + 8, u64.to(tl.int64))


def test_annotated_integers_of_every_width_are_packed_at_their_places(gpu):
    """Odd sizes in a row: each parameter is aligned to its own size."""
    out = torch.zeros(9, dtype=torch.int64)
    values = (True, -100, 200, -30000, 60000, -(2**31), 2**32 - 1, -(2**63), 2**63 - 1)
    annotated[(1,)](out, *values)
    assert out.tolist() == list(values)


@triton.jit
def annotated_floats(out_ptr, f16: tl.float16, b16: tl.bfloat16, f32: tl.float32, f64: tl.float64):
    tl.store(out_ptr + 0, f16.to(tl.float64))
    tl.store(out_ptr + 1, b16.to(tl.float64))
    tl.store(out_ptr + 2, f32.to(tl.float64))
    tl.store(out_ptr + 3, f64)


def test_annotated_floats_of_every_width(gpu):
    out = torch.zeros(4, dtype=torch.float64)
    value = 1 / 3
    annotated_floats[(1,)](out, value, value, value, value)
    cut = struct.unpack(
        "<f", (struct.unpack("<I", struct.pack("<f", value))[0] & 0xFFFF0000).to_bytes(4, "little")
    )
    # Triton's own launcher cuts a number to bf16, where torch would round it.
    assert out.tolist() == [float(np.float16(value)), cut[0], float(np.float32(value)), value]


def test_a_number_that_does_not_fit_its_annotation_is_refused(gpu):
    out = torch.zeros(9, dtype=torch.int64)
    with pytest.raises(FlashpathError, match=r"type i8 was given 1000"):
        annotated[(1,)](out, True, 1000, 1, 1, 1, 1, 1, 1, 1)


# ---- Tuples, nothing, constants ------------------------------------------------------------------------


@triton.jit
def add_tuples(out_ptr, pointers, numbers, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(pointers[0] + i)
    b = tl.load(pointers[1][0] + i)
    tl.store(out_ptr + i, a * numbers[0] + b * numbers[1])


def test_tuples_also_inside_tuples(gpu):
    a, b, out = torch.randn(32), torch.randn(32), torch.full((32,), math.nan)
    add_tuples[(1,)](out, (a, (b, None)), (3, 2.5), BLOCK=32)
    torch.testing.assert_close(out, 3 * a + 2.5 * b, rtol=1e-6, atol=1e-6)


class Pair(NamedTuple):
    x: object
    y: object


@triton.jit
def add_named(out_ptr, pair, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(pair.x + i) + pair.y)


def test_named_tuples(gpu):
    x, out = torch.randn(32), torch.full((32,), math.nan)
    add_named[(1,)](out, Pair(x, 7), BLOCK=32)
    assert torch.equal(out, x + 7)


@triton.jit
def add_if_there(x_ptr, bias_ptr, scale, BLOCK: tl.constexpr, NEGATE: tl.constexpr = False):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    if bias_ptr is not None:
        x += tl.load(bias_ptr + i)
    if scale is not None:
        x *= scale
    if NEGATE:
        x = -x
    tl.store(x_ptr + i, x)


def test_none_and_constants(gpu):
    bias = torch.randn(32)
    for given, scale, negate in ((None, None, False), (bias, None, True), (None, 2, False), (bias, 2, True)):
        x = torch.randn(32)
        expected = (x + (0 if given is None else bias)) * (scale or 1) * (-1 if negate else 1)
        add_if_there[(1,)](x, given, scale, BLOCK=32, NEGATE=negate)
        torch.testing.assert_close(x, expected, rtol=0, atol=0)


@triton.jit(do_not_specialize=["n"])
def count_to(x_ptr, n):
    tl.store(x_ptr, n)


def test_a_parameter_that_is_not_specialized_keeps_its_place(gpu):
    x = torch.zeros(1, dtype=torch.int32)
    for n in (1, 16, 17):
        count_to[(1,)](x, n)
        assert x.item() == n


# ---- Tensors -------------------------------------------------------------------------------------------


@triton.jit
def copy_strided(x_ptr, out_ptr, rows, columns, row_stride, column_stride, BLOCK: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    inside = column < columns
    x = tl.load(x_ptr + row * row_stride + column * column_stride, mask=inside)
    tl.store(out_ptr + row * columns + column, x, mask=inside)


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x,
        lambda x: x.t(),
        lambda x: x[1:, 3:],  # starts inside its storage, and misaligned
        lambda x: x[::2, ::3],
        lambda x: x[:1].expand(5, 13),
        lambda x: x[:, :1],
    ],
)
def test_views_with_the_strides_that_the_user_passes(gpu, view):
    x = view(torch.randn(11, 13))
    out = torch.full(x.shape, math.nan)
    copy_strided[(x.shape[0],)](x, out, *x.shape, *x.stride(), BLOCK=16)
    assert torch.equal(out, x)


@triton.jit
def add_one(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) + 1, mask=i < n)


def test_tensors_of_one_element_and_of_no_dimension(gpu):
    for x in (torch.tensor(3.0), torch.tensor([3.0]), torch.tensor([[3.0]])):
        add_one[(1,)](x, 1, BLOCK=16)
        assert x.item() == 4.0


def test_a_view_is_written_and_what_is_around_it_is_not(gpu):
    storage = torch.zeros(300)
    add_one[(2,)](storage[7:207], 200, BLOCK=128)
    assert torch.equal(storage, torch.cat([torch.zeros(7), torch.ones(200), torch.zeros(93)]))


def test_memory_of_numpy_at_any_address(gpu):
    """Triton makes accesses wide by the host's address; on the device it must be as aligned as that."""
    memory = np.zeros(4096 + 64, np.uint8)
    for offset in range(0, 64, 4):
        array = memory[offset : offset + 4096].view(np.float32)
        array[:] = 5
        add_one[(1,)](torch.from_numpy(array), 1024, BLOCK=1024)
        assert (array == 6).all()
    detached = torch.frombuffer(bytearray(4100), dtype=torch.float32, offset=4)
    add_one[(1,)](detached, 1024, BLOCK=1024)
    assert (detached == 1).all()


def test_a_tensor_given_twice_is_one_memory(gpu):
    x = torch.arange(32, dtype=torch.float32)
    copy_strided[(1,)](x[:16], x[16:], 1, 16, 16, 1, BLOCK=16)
    assert torch.equal(x[16:], torch.arange(16.0))


def test_empty_tensors_and_empty_grids(gpu):
    empty = torch.empty(0)
    add_one[(1,)](empty, 0, BLOCK=16)
    x = torch.zeros(16)
    for grid in ((0,), (1, 0), (1, 1, 0), lambda meta: (0,)):
        add_one[grid](x, 16, BLOCK=16)
    assert not x.any()


def test_a_grid_that_no_gpu_takes_is_refused(gpu):
    with pytest.raises(FlashpathError, match=r"grid\.y is 65536"):
        add_one[(1, 65536)](torch.zeros(16), 16, BLOCK=16)


@triton.jit
def where_am_i(out_ptr):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    wide, high = tl.num_programs(0), tl.num_programs(1)
    tl.store(out_ptr + (z * high + y) * wide + x, x + 10 * y + 100 * z)


def test_grids_of_three_dimensions(gpu):
    out = torch.full((2, 3, 4), -1, dtype=torch.int32)
    where_am_i[(4, 3, 2)](out)
    z, y, x = torch.meshgrid(torch.arange(2), torch.arange(3), torch.arange(4), indexing="ij")
    assert torch.equal(out.long(), x + 10 * y + 100 * z)


def test_a_tensor_seen_as_another_type(gpu):
    x = torch.full((16,), 1.0)
    add_one[(1,)](triton.reinterpret(x, tl.int32), 16, BLOCK=16)
    assert torch.equal(x, torch.full((16,), 1.0 + 2.0**-23))


# ---- Pointers in memory --------------------------------------------------------------------------------


@triton.jit
def add_through_table(table_ptr, sizes_ptr, BLOCK: tl.constexpr):
    problem = tl.program_id(0)
    x_ptr = tl.load(table_ptr + problem).to(tl.pointer_type(tl.float32))
    n = tl.load(sizes_ptr + problem)
    i = tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) + 1, mask=i < n)


def test_a_table_of_pointers(gpu):
    tensors = [torch.full((n,), float(n)) for n in (3, 17, 32)]
    table = torch.tensor([x.data_ptr() for x in tensors])
    add_through_table[(3,)](table, torch.tensor([3, 17, 32]), BLOCK=32)
    for x in tensors:
        assert torch.equal(x, torch.full_like(x, len(x) + 1.0))


def test_a_table_does_not_open_what_it_does_not_name(gpu):
    x = torch.zeros(3)
    table = torch.tensor([x.data_ptr()])
    with pytest.raises(KernelFault, match="out-of-bounds"):
        add_through_table[(1,)](table, torch.tensor([32]), BLOCK=32)


# ---- Descriptors ---------------------------------------------------------------------------------------


@triton.jit
def transpose_blocks(source, target, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row, column = tl.program_id(0) * ROWS, tl.program_id(1) * COLUMNS
    target.store([row, column], source.load([row, column]) * 2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
def test_descriptors_made_on_the_host(gpu, dtype):
    """For sm_80 Triton takes them apart into pointer, shape and strides; blocks may stick out."""
    x = torch.randn(20, 24).to(dtype)
    out = torch.full_like(x, math.nan)
    block = [8, 16]
    transpose_blocks[(3, 2)](
        TensorDescriptor.from_tensor(x, block), TensorDescriptor.from_tensor(out, block), *block
    )
    assert torch.equal(out, x * 2)


@triton.jit
def scale_described(x_ptr, out_ptr, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [rows, columns], [columns, 1], [ROWS, COLUMNS])
    out = tl.make_tensor_descriptor(out_ptr, [rows, columns], [columns, 1], [ROWS, COLUMNS])
    at = [tl.program_id(0) * ROWS, tl.program_id(1) * COLUMNS]
    out.store(at, x.load(at) * 3)


def test_descriptors_made_on_the_device(gpu):
    x = torch.randn(20, 24)
    out = torch.full_like(x, math.nan)
    scale_described[(3, 2)](x, out, 20, 24, ROWS=8, COLUMNS=16)
    assert torch.equal(out, x * 3)


def test_descriptors_are_tensor_maps_from_sm_90_on():
    import flashpath as fp

    x = torch.randn(16, 16)
    y = torch.zeros(16, 16)
    made = (TensorDescriptor.from_tensor(each, [16, 16]) for each in (x, y))
    with fp.vgpu.triton("sm_90"):
        transpose_blocks[(1, 1)](*made, 16, 16)
    assert torch.equal(y, x * 2)


def test_scratch_memory_comes_from_the_users_allocator():
    """Descriptors made on the device take scratch memory from sm_90 on."""
    import flashpath as fp

    asked = []

    def allocate(size, alignment, stream):
        asked.append((size, alignment))
        return torch.empty(size, dtype=torch.int8)

    x = torch.randn(20, 24)
    with fp.vgpu.triton("sm_90"):
        with pytest.raises(RuntimeError, match="allocator"):
            scale_described[(3, 2)](x, x, 20, 24, ROWS=8, COLUMNS=16)
        triton.set_allocator(allocate)
        try:
            out = torch.zeros_like(x)
            scale_described[(3, 2)](x, out, 20, 24, ROWS=8, COLUMNS=16)
            assert torch.equal(out, x * 3)
        finally:
            triton.set_allocator(triton.runtime._allocation.NullAllocator())
        compiled = scale_described.warmup(x, x, 20, 24, ROWS=8, COLUMNS=16, grid=(1,))
    size, alignment = compiled.metadata.global_scratch_size, compiled.metadata.global_scratch_align
    assert asked == [(6 * size, alignment)]
    assert size > 0
