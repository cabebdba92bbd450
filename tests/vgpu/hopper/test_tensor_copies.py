"""cp.async.bulk.tensor: boxes of tensors of one to five dimensions, in and out of shared memory."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flashpath as fp

Array = np.ndarray[Any, Any]


def source(rank: int, mode: str = "tile", offsets: int = 0) -> str:
    """Loads a box into shared memory and hands it out; and stores a box from what it is given."""
    coordinates = ", ".join(f"%{k + 2}" for k in range(rank))
    given = ", ".join(f'"r"(at[{k}])' for k in range(rank))
    extra = ""
    if offsets:
        extra = ", {" + ", ".join(f"%{rank + 3 + k}" for k in range(offsets)) + "}"
        given_offsets = "".join(f', "h"((short)at[{rank + k}])' for k in range(offsets))
    else:
        given_offsets = ""
    return f"""
struct alignas(64) Map {{ unsigned char bytes[128]; }};
struct At {{ int at[8]; }};
#define SMEM(p) static_cast<unsigned>(__cvta_generic_to_shared(p))
extern __shared__ __align__(1024) unsigned char data[];

extern "C" __global__ void load(const __grid_constant__ Map map, At coordinates, int bytes, unsigned char* out) {{
    __shared__ unsigned long long bar;
    const int* at = coordinates.at;
    for (int i = threadIdx.x; i < bytes; i += blockDim.x) data[i] = 0xcd;
    if (threadIdx.x == 0) {{
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(SMEM(&bar)));
        asm volatile("fence.proxy.async.shared::cta;");
    }}
    __syncthreads();
    if (threadIdx.x == 0) {{
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(SMEM(&bar)), "r"(bytes));
        asm volatile("cp.async.bulk.tensor.{rank}d.shared::cluster.global.{mode}.mbarrier::complete_tx::bytes "
            "[%0], [%1, {{{coordinates}}}], [%{rank + 2}]{extra};"
            :: "r"(SMEM(data)), "l"(&map), {given}, "r"(SMEM(&bar)){given_offsets} : "memory");
    }}
    asm volatile("{{ .reg .pred p; L: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra L; }}"
                 :: "r"(SMEM(&bar)) : "memory");
    for (int i = threadIdx.x; i < bytes; i += blockDim.x) out[i] = data[i];
}}
""" + (
        ""
        if offsets
        else f"""
extern "C" __global__ void store(const __grid_constant__ Map map, At coordinates, int bytes, const unsigned char* in) {{
    const int* at = coordinates.at;
    for (int i = threadIdx.x; i < bytes; i += blockDim.x) data[i] = in[i];
    asm volatile("fence.proxy.async.shared::cta;");
    __syncthreads();
    if (threadIdx.x != 0) return;
    asm volatile("cp.async.bulk.tensor.{rank}d.global.shared::cta.{mode}.bulk_group [%1, {{{coordinates}}}], [%0];"
        :: "r"(SMEM(data)), "l"(&map), {given} : "memory");
    asm volatile("cp.async.bulk.commit_group;");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}}
extern "C" __global__ void add(const __grid_constant__ Map map, At coordinates, int bytes, const unsigned char* in) {{
    const int* at = coordinates.at;
    for (int i = threadIdx.x; i < bytes; i += blockDim.x) data[i] = in[i];
    asm volatile("fence.proxy.async.shared::cta;");
    __syncthreads();
    if (threadIdx.x != 0) return;
    asm volatile("cp.reduce.async.bulk.tensor.{rank}d.global.shared::cta.add.{mode}.bulk_group [%1, {{{coordinates}}}], [%0];"
        :: "r"(SMEM(data)), "l"(&map), {given} : "memory");
    asm volatile("cp.async.bulk.commit_group;");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}}
"""
    )


MODULES: dict[Any, fp.Module] = {}


def module(*which: Any) -> fp.Module:
    if which not in MODULES:
        MODULES[which] = fp.compile(source(*which), "sm_90a")
    return MODULES[which]


def at(*coordinates: int) -> Array:
    """Coordinates as PTX has them, the innermost first."""
    given = np.zeros(8, np.int32)
    given[: len(coordinates)] = coordinates
    return given


def box_of(tensor: Array, start: tuple[int, ...], box: tuple[int, ...], steps: tuple[int, ...], fill: Any) -> Array:
    """The elements of a box, in NumPy's order of dimensions."""
    counts = [-(-extent // step) for extent, step in zip(box, (*steps[:-1], 1), strict=True)]
    found = np.full(counts, fill, tensor.dtype)
    for place in itertools.product(*map(range, counts)):
        where = tuple(s + k * t for s, k, t in zip(start, place, (*steps[:-1], 1), strict=True))
        if all(0 <= w < extent for w, extent in zip(where, tensor.shape, strict=True)):
            found[place] = tensor[where]
    return found


def swizzled(data: Array, width: int) -> Array:
    """Bytes as they lie in shared memory that begins at a multiple of 1,024."""
    if width == 0:
        return data
    places = np.arange(len(data) // 16)
    moved = places ^ (places >> 3 & (width // 16 - 1))
    lines = np.zeros_like(data).reshape(-1, 16)
    lines[moved] = data.reshape(-1, 16)
    return lines.reshape(-1)


SHAPES = [
    ((100,), (64,)),
    ((50, 72), (8, 64)),
    ((9, 11, 40), (3, 4, 16)),
    ((3, 5, 7, 24), (2, 2, 3, 8)),
    ((2, 3, 4, 5, 32), (1, 2, 2, 3, 16)),
]


def starts(shape: tuple[int, ...], box: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Inside, across the beginning and across the end of each dimension."""
    inside = tuple(min(1, extent - size) for extent, size in zip(shape, box, strict=True))
    before = tuple(-(size // 2) for size in box)
    behind = tuple(extent - (size + 1) // 2 for extent, size in zip(shape, box, strict=True))
    return [inside, before, behind, tuple(extent + 3 for extent in shape)]


@pytest.mark.parametrize(("shape", "box"), SHAPES, ids=[f"{len(shape)}d" for shape, _ in SHAPES])
@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.int32, np.float64])
def test_boxes_of_all_ranks(shape: tuple[int, ...], box: tuple[int, ...], dtype: Any) -> None:
    rng = np.random.default_rng(0)
    size = np.dtype(dtype).itemsize
    shape, box = (*shape[:-1], shape[-1] * 16), (*box[:-1], max(16 // size, box[-1] // size))
    tensor = rng.integers(0, 100, shape).astype(dtype)
    kernels = module(len(shape))
    tensor_map = fp.TensorMap(tensor, box)
    for start in starts(shape, box):
        expected = box_of(tensor, start, box, (1,) * len(shape), 0)
        out = np.zeros(expected.nbytes, np.uint8)
        coordinates = at(*reversed(start))
        kernels["load"].launch(1, 64, (tensor_map, coordinates, expected.nbytes, out), shared=1024 + len(out))
        assert out.tobytes() == expected.tobytes(), start


@pytest.mark.parametrize("swizzle", [32, 64, 128])
def test_swizzles(swizzle: int) -> None:
    tensor = np.random.default_rng(1).integers(0, 2**16, (64, 256)).astype(np.uint16)
    box = (32, swizzle // 2)
    expected = box_of(tensor, (3, 24), box, (1, 1), 0)
    out = np.zeros(expected.nbytes, np.uint8)
    given = fp.TensorMap(tensor, box, swizzle=swizzle), at(24, 3), expected.nbytes, out
    module(2)["load"].launch(1, 64, given, shared=1024 + len(out))
    assert out.tobytes() == swizzled(expected.view(np.uint8).reshape(-1), swizzle).tobytes()


def test_steps_fills_and_strides() -> None:
    wide = np.random.default_rng(2).standard_normal((40, 6, 64)).astype(ml_dtypes.bfloat16)
    tensor = wide[::2, 1:4, :48]  # its strides are the wide one's
    box, steps = (7, 3, 16), (3, 2, 1)
    tensor_map = fp.TensorMap(tensor, box, fill="nan", steps=steps)
    expected = box_of(tensor, (16, -1, 40), box, steps, np.nan)
    out = np.zeros(expected.nbytes, np.uint8)
    module(3)["load"].launch(1, 64, (tensor_map, at(40, -1, 16), expected.nbytes, out), shared=1024 + len(out))
    got = out.view(ml_dtypes.bfloat16).reshape(expected.shape)
    np.testing.assert_array_equal(got.astype(np.float32), expected.astype(np.float32))


@pytest.mark.parametrize("name", ["store", "add"])
@pytest.mark.parametrize(("shape", "box"), SHAPES[1:4])
def test_boxes_are_stored(shape: tuple[int, ...], box: tuple[int, ...], name: str) -> None:
    rng = np.random.default_rng(3)
    kernels = module(len(shape))
    box = (*box[:-1], max(4, box[-1] // 4))
    for start in starts(shape, box):
        tensor = rng.integers(0, 1000, shape).astype(np.int32)
        data = rng.integers(0, 1000, box).astype(np.int32)
        expected = tensor.copy()
        for place in itertools.product(*map(range, box)):
            where = tuple(s + k for s, k in zip(start, place, strict=True))
            if all(0 <= w < extent for w, extent in zip(where, shape, strict=True)):
                expected[where] = data[place] + (expected[where] if name == "add" else 0)
        given = fp.TensorMap(tensor, box), at(*reversed(start)), data.nbytes, data.view(np.uint8).reshape(-1)
        kernels[name].launch(1, 64, given, shared=1024 + data.nbytes)
        assert tensor.tolist() == expected.tolist(), start


def test_what_a_map_must_be() -> None:
    x = np.zeros((64, 64), np.float16)
    for box, options, code in (
        ((8,), {}, "jit.map-rank"),
        ((8, 257), {}, "vgpu.map-box"),
        ((8, 4), {}, "vgpu.map-inner-bytes"),
        ((8, 64), {"swizzle": 64}, "vgpu.map-inner-span"),
        ((8, 8), {"swizzle": 48}, "jit.map-swizzle"),
        ((8, 8), {"fill": "ones"}, "jit.map-fill"),
        ((8, 8), {"steps": (9, 1)}, "vgpu.map-element-stride"),
    ):
        with pytest.raises(fp.FlashpathError) as caught:
            fp.TensorMap(x, box, **options).packed()
        assert caught.value.said.code == code
    with pytest.raises(fp.FlashpathError) as caught:
        fp.TensorMap(x.T, (8, 8)).packed()
    assert caught.value.said.code == "jit.map-inner-stride"
    with pytest.raises(fp.FlashpathError) as caught:
        fp.TensorMap(x[:, 1:], (8, 8)).packed()
    assert caught.value.said.code == "vgpu.map-address"


def test_what_is_no_map_is_a_fault() -> None:
    with pytest.raises(fp.KernelFault) as caught:
        module(2)["load"].launch(1, 64, (np.zeros(128, np.uint8), at(0, 0), 64, np.zeros(64, np.uint8)), shared=2048)
    assert "tensor map" in caught.value.message
