"""wmma through nvcuda::wmma: every fragment, both layouts of every matrix, global and shared memory."""

from __future__ import annotations

import functools
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flashpath as fp

Array = np.ndarray[Any, Any]
SHAPES = [(16, 16, 16), (32, 8, 16), (8, 32, 16)]
DTYPES: dict[str, Any] = {
    "__half": np.float16,
    "__nv_bfloat16": ml_dtypes.bfloat16,
    "float": np.float32,
    "double": np.float64,
    "signed char": np.int8,
    "unsigned char": np.uint8,
    "int": np.int32,
}
TF32 = "wmma::precision::tf32"

# Case → shape, element of A and B, what it is in memory, types of C and D.
CASES: dict[str, tuple[tuple[int, int, int], str, str, str, str]] = {}
for shape in SHAPES:
    suffix = "m{}n{}k{}".format(*shape)
    for c in ("__half", "float"):
        for d in ("__half", "float"):
            CASES[f"half_{suffix}_{c}_{d}".replace("__", "")] = shape, "__half", "__half", c, d
    CASES[f"bf16_{suffix}"] = shape, "__nv_bfloat16", "__nv_bfloat16", "float", "float"
    CASES[f"s8_{suffix}"] = shape, "signed char", "signed char", "int", "int"
    CASES[f"u8_{suffix}"] = shape, "unsigned char", "unsigned char", "int", "int"
CASES["tf32_m16n16k8"] = (16, 16, 8), TF32, "float", "float", "float"
CASES["f64_m8n8k4"] = (8, 8, 4), "double", "double", "double", "double"


def product_kernel(name: str) -> str:
    """Products of A and B in both layouts each; C and D change theirs on the way."""
    (m, n, k), element, memory, c, d = CASES[name]
    steps: list[str] = []
    for step, (layout_a, layout_b) in enumerate(
        (a, b) for a in ("row_major", "col_major") for b in ("row_major", "col_major")
    ):
        c_layout, lines_c = ("mem_row_major", n) if step < 2 else ("mem_col_major", m)
        d_layout, lines_d = ("mem_row_major", n) if step % 2 == 0 else ("mem_col_major", m)
        steps.append(f"""{{
    wmma::fragment<wmma::matrix_a, {m}, {n}, {k}, {element}, wmma::{layout_a}> fa;
    wmma::fragment<wmma::matrix_b, {m}, {n}, {k}, {element}, wmma::{layout_b}> fb;
    wmma::fragment<wmma::accumulator, {m}, {n}, {k}, {c}> fc;
    wmma::fragment<wmma::accumulator, {m}, {n}, {k}, {d}> fd;
    wmma::load_matrix_sync(fa, {f"a, {k}" if layout_a == "row_major" else f"a_columns, {m}"});
    wmma::load_matrix_sync(fb, {f"b, {n}" if layout_b == "row_major" else f"b_columns, {k}"});
    wmma::load_matrix_sync(fc, {"c" if step < 2 else "c_columns"}, {lines_c}, wmma::{c_layout});
    wmma::mma_sync(fd, fa, fb, fc);
    wmma::store_matrix_sync(d + {step * m * n}, fd, {lines_d}, wmma::{d_layout});
  }}""")
    return f"""
extern "C" __global__ void {name}(const {memory}* a, const {memory}* a_columns, const {memory}* b,
                                  const {memory}* b_columns, const {c}* c, const {c}* c_columns, {d}* d) {{
  {"".join(steps)}
}}"""


# Fragments as their lanes hold them: kind → shape, role, element, what it is in memory.
FRAGMENTS: dict[str, tuple[tuple[int, int, int], str, str, str]] = {}
for shape in SHAPES:
    suffix = "m{}n{}k{}".format(*shape)
    for role in ("matrix_a", "matrix_b"):
        for name, element in (("f16", "__half"), ("bf16", "__nv_bfloat16"), ("s8", "signed char")):
            FRAGMENTS[f"{name}_{role}_{suffix}"] = shape, role, element, element
    for name, element in (("f16", "__half"), ("f32", "float"), ("s32", "int")):
        FRAGMENTS[f"{name}_accumulator_{suffix}"] = shape, "accumulator", element, element
for role in ("matrix_a", "matrix_b"):
    FRAGMENTS[f"tf32_{role}_m16n16k8"] = (16, 16, 8), role, TF32, "float"
    FRAGMENTS[f"f64_{role}_m8n8k4"] = (8, 8, 4), role, "double", "double"
FRAGMENTS["f64_accumulator_m8n8k4"] = (8, 8, 4), "accumulator", "double", "double"


def fragment_kernel(name: str) -> str:
    (m, n, k), role, element, memory = FRAGMENTS[name]
    lines = k if role == "matrix_a" else n
    layout = "" if role == "accumulator" else ", wmma::row_major"
    how = ", wmma::mem_row_major" if role == "accumulator" else ""
    return f"""
extern "C" __global__ void {name}(const {memory}* matrix, {memory}* held) {{
  wmma::fragment<wmma::{role}, {m}, {n}, {k}, {element}{layout}> f;
  wmma::load_matrix_sync(f, matrix, {lines}{how});
  for (int i = 0; i < f.num_elements; ++i) held[threadIdx.x * f.num_elements + i] = f.x[i];
}}"""


PACKED = """
using wmma::experimental::precision::s4;
using wmma::experimental::precision::u4;
using wmma::experimental::precision::b1;
template <class T>
__device__ void small(const void* a, const void* b, const int* c, int* d) {
  wmma::fragment<wmma::matrix_a, 8, 8, 32, T, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 8, 8, 32, T, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 8, 8, 32, int> fc;
  wmma::load_matrix_sync(fa, a, 64);
  wmma::load_matrix_sync(fb, b, 32);
  wmma::load_matrix_sync(fc, c, 8, wmma::mem_col_major);
  wmma::mma_sync(fc, fa, fb, fc, true);
  wmma::store_matrix_sync(d, fc, 8, wmma::mem_row_major);
}
extern "C" __global__ void s4_m8n8k32(const int* a, const int* b, const int* c, int* d) {
  small<s4>(a, b, c, d);
}
extern "C" __global__ void u4_m8n8k32(const int* a, const int* b, const int* c, int* d) {
  small<u4>(a, b, c, d);
}
template <wmma::experimental::bmmaBitOp kOperation>
__device__ void bits(const void* a, const void* b, const int* c, int* d) {
  wmma::fragment<wmma::matrix_a, 8, 8, 128, b1, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 8, 8, 128, b1, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 8, 8, 128, int> fc;
  wmma::load_matrix_sync(fa, a, 256);
  wmma::load_matrix_sync(fb, b, 128);
  wmma::load_matrix_sync(fc, c, 8, wmma::mem_row_major);
  wmma::bmma_sync(fc, fa, fb, fc, kOperation);
  wmma::store_matrix_sync(d, fc, 8, wmma::mem_row_major);
}
extern "C" __global__ void xor_m8n8k128(const int* a, const int* b, const int* c, int* d) {
  bits<wmma::experimental::bmmaBitOpXOR>(a, b, c, d);
}
extern "C" __global__ void and_m8n8k128(const int* a, const int* b, const int* c, int* d) {
  bits<wmma::experimental::bmmaBitOpAND>(a, b, c, d);
}
"""

TILED = """
// Each warp a tile of 16×16, by way of shared memory: lines of A and B are padded by 8 halves.
extern "C" __global__ void tiled(const __half* a, const __half* b, float* c, int n) {
  __shared__ __align__(32) __half tile_a[16 * 24], tile_b[16 * 24];
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
  wmma::fill_fragment(sums, 0.0f);
  int row = blockIdx.y * 16, column = blockIdx.x * 16;
  for (int k = 0; k < n; k += 16) {
    for (int i = threadIdx.x; i < 256; i += 32) {
      tile_a[i / 16 * 24 + i % 16] = a[(row + i / 16) * n + k + i % 16];
      tile_b[i / 16 * 24 + i % 16] = b[(k + i / 16) * n + column + i % 16];
    }
    __syncthreads();
    wmma::load_matrix_sync(fa, tile_a, 24);
    wmma::load_matrix_sync(fb, tile_b, 24);
    wmma::mma_sync(sums, fa, fb, sums);
    __syncthreads();
  }
  for (int i = 0; i < sums.num_elements; ++i) sums.x[i] = 2.0f * sums.x[i];
  wmma::store_matrix_sync(c + row * n + column, sums, n, wmma::mem_row_major);
}
extern "C" __global__ void at(const __half* a, float* c, int offset, int stride) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
  wmma::load_matrix_sync(fa, a + offset, stride);
  wmma::fill_fragment(sums, fa.x[0]);
  wmma::store_matrix_sync(c, sums, 16, wmma::mem_row_major);
}
extern "C" __global__ void apart(const float* a, float* c) {
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
  wmma::load_matrix_sync(sums, a + threadIdx.x / 16 * 8, 32, wmma::mem_row_major);
  wmma::store_matrix_sync(c, sums, 16, wmma::mem_row_major);
}
"""


@functools.cache
def module() -> Any:
    source = "#include <mma.h>\n#include <cuda_bf16.h>\nusing namespace nvcuda;\n"
    source += "".join(product_kernel(name) for name in CASES)
    source += "".join(fragment_kernel(name) for name in FRAGMENTS)
    return fp.compile(source + PACKED + TILED, "sm_80")


def numbers(shape: tuple[int, ...], dtype: Any, seed: int) -> Array:
    low, high = (0, 9) if dtype == np.uint8 else (-4, 5)
    return np.random.default_rng(seed).integers(low, high, shape).astype(dtype)


@pytest.mark.parametrize("name", CASES)
def test_products_in_all_layouts(name: str) -> None:
    (m, n, k), _, memory, kind_c, kind_d = CASES[name]
    a, b = numbers((m, k), DTYPES[memory], 1), numbers((k, n), DTYPES[memory], 2)
    c = numbers((m, n), DTYPES[kind_c], 3)
    d = np.zeros((4, m * n), DTYPES[kind_d])
    columns = [np.ascontiguousarray(matrix.T) for matrix in (a, b, c)]
    module()[name][1, 32](a, columns[0], b, columns[1], c, columns[2], d)
    expected = a.astype(float) @ b.astype(float) + c.astype(float)
    for step in range(4):
        got = d[step].reshape(m, n) if step % 2 == 0 else d[step].reshape(n, m).T
        assert np.array_equal(got.astype(float), expected)


# Where the pieces of eight rows (of B: eight columns) stood on an H200, in the order of the elements that a
# lane holds, as (row, column). Four lanes share a row of a piece.
PIECES: dict[tuple[str, str, str], list[tuple[int, int]]] = {
    ("16", "matrix_a", "m16n16k16"): [(0, 0), (8, 0), (0, 8), (8, 8)],
    ("16", "matrix_b", "m16n16k16"): [(0, 0), (8, 0), (0, 8), (8, 8)],
    ("16", "matrix_a", "m32n8k16"): [(0, 0), (8, 0), (0, 8), (8, 8), (16, 0), (24, 0), (16, 8), (24, 8)],
    ("16", "matrix_b", "m32n8k16"): [(0, 0), (8, 0)],
    ("16", "matrix_a", "m8n32k16"): [(0, 0), (0, 8)],
    ("16", "matrix_b", "m8n32k16"): [(0, 0), (0, 8), (8, 0), (8, 8), (0, 16), (0, 24), (8, 16), (8, 24)],
    ("8", "matrix_a", "m16n16k16"): [(0, 0), (8, 0)],
    ("8", "matrix_b", "m16n16k16"): [(0, 0), (0, 8)],
    ("8", "matrix_a", "m32n8k16"): [(0, 0), (8, 0), (16, 0), (24, 0)],
    ("8", "matrix_b", "m32n8k16"): [(0, 0)],
    ("8", "matrix_a", "m8n32k16"): [(0, 0)],
    ("8", "matrix_b", "m8n32k16"): [(0, 0), (0, 8), (0, 16), (0, 24)],
    ("32", "matrix_a", "m16n16k8"): [(0, 0), (8, 0), (0, 4), (8, 4)],
    ("32", "matrix_b", "m16n16k8"): [(0, 0), (4, 0), (0, 8), (4, 8)],
    ("64", "matrix_a", "m8n8k4"): [(0, 0)],
    ("64", "matrix_b", "m8n8k4"): [(0, 0)],
    ("", "accumulator", "m16n16k16"): [(0, 0), (8, 0), (0, 8), (8, 8)],
    ("", "accumulator", "m32n8k16"): [(0, 0), (8, 0), (16, 0), (24, 0)],
    ("", "accumulator", "m8n32k16"): [(0, 0), (0, 8), (0, 16), (0, 24)],  # pairs run down a column
    ("", "accumulator", "m8n8k4"): [(0, 0)],
}
PER_LANE = {"f16": 2, "bf16": 2, "s8": 4, "tf32": 1, "f64": 1}
BITS = {"f16": "16", "bf16": "16", "s8": "8", "tf32": "32", "f64": "64"}


@pytest.mark.parametrize("name", FRAGMENTS)
def test_lanes_hold_what_they_held_on_hardware(name: str) -> None:
    (m, n, k), role, _, memory = FRAGMENTS[name]
    kind, shape = name.split("_")[0], name.split("_")[-1]
    rows, columns = {"matrix_a": (m, k), "matrix_b": (k, n), "accumulator": (m, n)}[role]
    pieces = PIECES["" if role == "accumulator" else BITS[kind], role, shape]
    per_lane = 2 if role == "accumulator" else PER_LANE[kind]
    down = role == "matrix_b" or (role == "accumulator" and shape == "m8n32k16")
    dtype = DTYPES[memory]
    repeats = 16 // (len(pieces) * 2) if kind == "f16" and role != "accumulator" else 1
    held = np.zeros((32, repeats, len(pieces), per_lane), dtype)
    # The row of each element, then its column: 8 bits would not number all of them.
    for axis in (0, 1):
        index = np.indices((rows, columns))[axis]
        module()[name][1, 32](np.ascontiguousarray(index.astype(dtype)), held)
        for lane in range(32):
            for p, (row, column) in enumerate(pieces):
                for i in range(per_lane):
                    along, across = lane % 4 * per_lane + i, lane // 4
                    place = (row + along, column + across) if down else (row + across, column + along)
                    assert (held[lane, :, p, i] == index[place]).all()


def pack_bits(matrix: Array, bits: int, line: int) -> Array:
    """Rows of small elements, the first in the low bits, each line padded to so many elements."""
    padded = np.zeros((len(matrix), line), np.uint64)
    padded[:, : matrix.shape[1]] = matrix.astype(np.int64) & ((1 << bits) - 1)
    words = padded.reshape(len(matrix), -1, 32 // bits)
    return (words << (np.arange(32 // bits, dtype=np.uint64) * np.uint64(bits))).sum(2).astype(np.uint32)


@pytest.mark.parametrize("kind", ["s4", "u4"])
def test_four_bits(kind: str) -> None:
    rng = np.random.default_rng(4)
    low = -8 if kind == "s4" else 0
    a, b = rng.integers(low, low + 16, (8, 32)), rng.integers(low, low + 16, (32, 8))
    c = rng.integers(-100, 100, (8, 8)).astype(np.int32)
    c[0] = 2**31 - 1
    d = np.zeros((8, 8), np.int32)
    kernel = module()[f"{kind}_m8n8k32"]
    packed_a, packed_b = pack_bits(a, 4, 64), pack_bits(b.T, 4, 32)
    kernel[1, 32](packed_a.view(np.int32), packed_b.view(np.int32), np.ascontiguousarray(c.T), d)
    assert np.array_equal(d, np.clip(a @ b + c.astype(np.int64), -(2**31), 2**31 - 1))


@pytest.mark.parametrize("operation", ["xor", "and"])
def test_one_bit(operation: str) -> None:
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 2, (8, 128)), rng.integers(0, 2, (128, 8))
    c = rng.integers(-100, 100, (8, 8)).astype(np.int32)
    d = np.zeros((8, 8), np.int32)
    packed_a, packed_b = pack_bits(a, 1, 256), pack_bits(b.T, 1, 128)
    module()[f"{operation}_m8n8k128"][1, 32](packed_a.view(np.int32), packed_b.view(np.int32), c, d)
    pairs = a[:, :, None] ^ b[None] if operation == "xor" else a[:, :, None] & b[None]
    assert np.array_equal(d, pairs.sum(1) + c)


def test_a_product_by_way_of_shared_memory() -> None:
    n = 64
    rng = np.random.default_rng(6)
    a, b = (rng.standard_normal((n, n)).astype(np.float16) for _ in range(2))
    c = np.full((n, n), np.nan, np.float32)
    report = fp.profile(module()["tiled"], grid=(4, 4), block=32, args=(a, b, c, n))
    exact = 2 * (a.astype(float) @ b.astype(float))
    sizes = 2 * (abs(a.astype(float)) @ abs(b.astype(float)))
    assert np.all(abs(c - exact) <= n * 2.0**-24 * sizes)
    # As the hardware does it: one ldmatrix.x4 for each matrix, without conflicts as lines are 48 bytes apart.
    steps = 16 * (n // 16)
    assert (report.shared_load.requests, report.shared_load.wavefronts) == (2 * steps, 8 * steps)
    assert report.shared_load.bank_conflicts == 0
    # D: four stores of two floats a lane, each of eight rows of 32 bytes.
    assert report.global_store.requests == 16 * 4
    assert report.global_store.sectors == 16 * 4 * 8
    assert report.tensor_operations == {"f16": 2 * n**3}


@pytest.mark.parametrize(
    ("offset", "stride", "kind"),
    [
        (0, 16, ""),
        (16, 16, "out-of-bounds"),
        (0, 24, "out-of-bounds"),
        (1, 16, "misaligned"),
        (0, 15, "misaligned"),
    ],
)
def test_addresses_are_checked(offset: int, stride: int, kind: str) -> None:
    a, c = np.ones((16, 16), np.float16), np.zeros((16, 16), np.float32)
    if not kind:
        module()["at"][1, 32](a, c, offset, stride)
        assert (c == 1).all()
        return
    with pytest.raises(fp.KernelFault) as caught:
        module()["at"][1, 32](a, c, offset, stride)
    assert caught.value.kind == kind
    assert not c.any()


def test_all_lanes_must_name_one_matrix() -> None:
    with pytest.raises(fp.KernelFault) as caught:
        module()["apart"][1, 32](np.zeros((16, 64), np.float32), np.zeros((16, 16), np.float32))
    assert caught.value.kind == "bad-mask"
    assert "different addresses" in str(caught.value)
    assert caught.value.finding.thread == (16, 0, 0)


@pytest.mark.parametrize("counted", [False, True])
def test_a_matrix_that_is_stored_beyond_its_array(counted: bool) -> None:
    arguments = np.ones((16, 16), np.float16), np.zeros((15, 16), np.float32), 0, 16
    kernel = module()["at"]
    run: Any = functools.partial(fp.profile, kernel) if counted else kernel.launch
    with pytest.raises(fp.KernelFault, match="out-of-bounds"):
        run(grid=1, block=32, args=arguments)
    assert not arguments[1].any()
