"""Whole kernels on the virtual GPU, against NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

import flashpath as fp

Array = np.ndarray[Any, Any]


def build(source: str, name: str = "k", **options: Any) -> fp.Kernel:
    return fp.compile(source, "sm_80", **options)[name]


def floats(*shape: int) -> Array:
    return np.random.default_rng(sum(shape)).standard_normal(shape, dtype=np.float32)


# ---- Control flow --------------------------------------------------------------------------------------


def test_lanes_part_and_meet_again() -> None:
    kernel = build("""
        extern "C" __global__ void k(int* out) {
            int i = threadIdx.x, x = 0;
            if (i % 3 == 0) { for (int j = 0; j < i; j++) x += j * j % 7; }
            else if (i % 3 == 1) x = -i;
            else { x = i; if (i > 16) x *= 2; else x *= 3; }
            __syncwarp();
            out[i] = x + __popc(__activemask());
        }""")
    out = np.zeros(64, np.int32)
    kernel[1, 64](out)
    expected = [
        sum(j * j % 7 for j in range(i)) if i % 3 == 0 else -i if i % 3 == 1 else i * (2 if i > 16 else 3)
        for i in range(64)
    ]
    assert np.array_equal(out, np.array(expected) + 32)  # all lanes are together again


def test_loops_with_break_continue_and_early_return() -> None:
    kernel = build("""
        extern "C" __global__ void k(const int* x, int* out, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i >= n) return;
            int steps = 0;
            unsigned v = x[i];
            while (v != 1) {
                if (steps > 100) break;
                steps++;
                if (v & 1) { v = 3 * v + 1; continue; }
                v >>= 1;
            }
            out[i] = steps;
        }""")
    x = np.arange(1, 100, dtype=np.int32)
    out = np.full(99, -1, np.int32)
    kernel[4, 32](x, out, 99)

    def steps(v: int) -> int:
        count = 0
        while v != 1 and count <= 100:
            v = 3 * v + 1 if v & 1 else v >> 1
            count += 1
        return count

    assert out.tolist() == [steps(int(v)) for v in x]


def test_a_switch_is_a_jump_anywhere() -> None:
    cases = "".join(f"case {k}: r = x * {k + 3} + {k * k}; break;" for k in range(5))
    kernel = build(f"""
        extern "C" __global__ void k(int* out) {{
            int x = threadIdx.x, r = 0;
            switch (x % 6) {{ {cases} default: r = -1; }}
            out[x] = r;
        }}""")
    out = np.zeros(32, np.int32)
    kernel[1, 32](out)
    assert out.tolist() == [x * (x % 6 + 3) + (x % 6) ** 2 if x % 6 < 5 else -1 for x in range(32)]


def test_a_spin_lock_inside_a_warp_ends() -> None:
    kernel = build("""
        extern "C" __global__ void k(int* lock, int* counter) {
            bool done = false;
            while (!done) {
                if (atomicCAS(lock, 0, 1) == 0) {
                    *(volatile int*)counter = *(volatile int*)counter + 1;
                    __threadfence();
                    atomicExch(lock, 0);
                    done = true;
                }
            }
        }""")
    lock, counter = np.zeros(1, np.int32), np.zeros(1, np.int32)
    kernel[3, 64](lock, counter)
    assert counter[0] == 192


def test_a_lock_taken_in_a_naive_loop_ends() -> None:
    kernel = build("""
        extern "C" __global__ void k(int* lock, int* counter) {
            while (atomicCAS(lock, 0, 1) != 0) {}
            *(volatile int*)counter = *(volatile int*)counter + 1;
            __threadfence();
            atomicExch(lock, 0);
        }""")
    lock, counter = np.zeros(1, np.int32), np.zeros(1, np.int32)
    kernel[1, 32](lock, counter)
    assert counter[0] == 32


def test_a_warp_waits_for_a_later_warp_of_its_block() -> None:
    kernel = build("""
        extern "C" __global__ void k(int* out) {
            __shared__ volatile int flag;
            if (threadIdx.x == 0) flag = 0;
            __syncthreads();
            if (threadIdx.x < 32) { while (flag == 0) {} out[threadIdx.x] = flag; }
            else flag = 7;
        }""")
    out = np.zeros(32, np.int32)
    kernel[1, 64](out)
    assert (out == 7).all()


# ---- Grids and blocks ----------------------------------------------------------------------------------


def test_grids_and_blocks_of_three_dimensions() -> None:
    kernel = build("""
        extern "C" __global__ void k(int* out) {
            int b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
            int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
            out[b * blockDim.x * blockDim.y * blockDim.z + t] = b * 1000 + t;
        }""")
    out = np.zeros(2 * 3 * 4 * 5 * 3 * 2, np.int32)
    kernel[(2, 3, 4), (5, 3, 2)](out)
    assert np.array_equal(out.reshape(24, 30), np.arange(24)[:, None] * 1000 + np.arange(30))


@pytest.mark.parametrize("grid", [1, 3, 100])
def test_a_grid_stride_loop_works_for_any_grid(grid: int) -> None:
    kernel = build("""
        extern "C" __global__ void k(float a, const float* x, float* y, int n) {
            for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
                y[i] = a * x[i] + y[i];
        }""")
    x, y = floats(1000), floats(1000) + 1
    wide = np.float64(np.float32(2.5)) * x.astype(np.float64) + y.astype(np.float64)
    expected = wide.astype(np.float32)  # fused: rounded once
    kernel[grid, 64](2.5, x, y, 1000)
    assert np.array_equal(y, expected)


# ---- Shared memory and barriers ------------------------------------------------------------------------


def test_a_tiled_transpose() -> None:
    kernel = build("""
        extern "C" __global__ void k(const float* in, float* out, int rows, int columns) {
            __shared__ float tile[32][33];
            int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
            for (int j = 0; j < 32; j += 8)
                if (x < columns && y + j < rows)
                    tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * columns + x];
            __syncthreads();
            x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
            for (int j = 0; j < 32; j += 8)
                if (x < rows && y + j < columns) out[(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
        }""")
    rows, columns = 70, 45
    x, out = floats(rows, columns), np.full((columns, rows), np.nan, np.float32)
    kernel[(2, 3), (32, 8)](x, out, rows, columns)
    assert np.array_equal(out, x.T)


def test_a_tiled_matmul() -> None:
    kernel = build("""
        extern "C" __global__ void k(const float* a, const float* b, float* c, int n) {
            __shared__ float sa[16][16], sb[16][16];
            int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
            float sum = 0;
            for (int t = 0; t < n; t += 16) {
                sa[y][x] = a[row * n + t + x];
                sb[y][x] = b[(t + y) * n + column];
                __syncthreads();
                for (int k = 0; k < 16; k++) sum = fmaf(sa[y][k], sb[k][x], sum);
                __syncthreads();
            }
            c[row * n + column] = sum;
        }""")
    n = 64
    a, b = floats(n, n), floats(n, n)[::-1].copy()
    c = np.full((n, n), np.nan, np.float32)
    kernel[(4, 4), (16, 16)](a, b, c, n)
    expected = np.zeros((n, n), np.float32)
    for k in range(n):  # the same fused steps in the same order
        product = a[:, k : k + 1].astype(np.float64) * b[k].astype(np.float64)
        expected = (product + expected).astype(np.float32)
    np.testing.assert_allclose(c, expected, rtol=0, atol=1e-6)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64), rtol=0, atol=1e-4)


@pytest.mark.parametrize("threads", [32, 100, 256, 1024])
def test_a_block_reduction(threads: int) -> None:
    kernel = build("""
        extern "C" __global__ void k(const int* x, int* out) {
            extern __shared__ int sums[];
            int t = threadIdx.x;
            sums[t] = x[blockIdx.x * blockDim.x + t];
            for (int n = blockDim.x; n > 1;) {
                int half = (n + 1) / 2;
                __syncthreads();
                if (t < n / 2) sums[t] += sums[t + half];
                n = half;
            }
            if (t == 0) out[blockIdx.x] = sums[0];
        }""")
    x = np.arange(3 * threads, dtype=np.int32) ** 2 % 1013
    out = np.zeros(3, np.int32)
    kernel[3, threads, threads * 4](x, out)
    assert np.array_equal(out, x.reshape(3, threads).sum(axis=1))


def test_dynamic_shared_memory_is_aligned_as_declared() -> None:
    """Behind static memory too, whatever that leaves free: swizzles count on it."""
    kernel = build("""
        extern "C" __global__ void k(unsigned* out) {
            __shared__ int before;
            extern __shared__ __align__(1024) char more[];
            before = 1;
            more[0] = 2;
            out[0] = (unsigned)__cvta_generic_to_shared(more) % 1024;
            out[1] = (unsigned)__cvta_generic_to_shared(&before) + before + more[0];
        }""")
    out = np.full(2, 77, np.uint32)
    kernel[1, 1, 64](out)
    assert out[0] == 0


def test_a_barrier_of_some_warps() -> None:
    kernel = build("""
        extern "C" __global__ void k(int* out) {
            __shared__ int value;
            int warp = threadIdx.x / 32;
            if (warp == 0) { out[threadIdx.x] = -1; return; }
            if (warp == 1) value = 42;
            asm volatile("bar.sync 1, 64;" ::: "memory");
            out[threadIdx.x] = value;
        }""")
    out = np.zeros(96, np.int32)
    kernel[1, 96](out)
    assert (out[:32] == -1).all()
    assert (out[32:] == 42).all()


# ---- Lanes of a warp -----------------------------------------------------------------------------------


def test_shuffles() -> None:
    kernel = build("""
        extern "C" __global__ void k(const int* x, int* out) {
            int t = threadIdx.x, v = x[t];
            out[t] = __shfl_sync(~0u, v, 5);
            out[32 + t] = __shfl_up_sync(~0u, v, 3);
            out[64 + t] = __shfl_down_sync(~0u, v, 3);
            out[96 + t] = __shfl_xor_sync(~0u, v, 9);
            out[128 + t] = __shfl_sync(~0u, v, t + 1, 8);
            out[160 + t] = __shfl_up_sync(~0u, v, 1, 8);
            out[192 + t] = __shfl_down_sync(~0u, v, 1, 8);
        }""")
    x = (np.arange(32) * 7 + 1).astype(np.int32)
    out = np.zeros(7 * 32, np.int32)
    kernel[1, 32](x, out)
    t = np.arange(32)
    sources = [
        np.full(32, 5),
        np.where(t >= 3, t - 3, t),
        np.where(t + 3 < 32, t + 3, t),
        t ^ 9,
        t // 8 * 8 + (t + 1) % 8,
        np.where(t % 8 >= 1, t - 1, t),
        np.where(t % 8 < 7, t + 1, t),
    ]
    assert np.array_equal(out.reshape(7, 32), x[np.array(sources)])


def test_votes_matches_and_warp_reductions() -> None:
    kernel = build("""
        extern "C" __global__ void k(const int* x, unsigned* out) {
            int t = threadIdx.x, v = x[t];
            out[t] = __ballot_sync(~0u, v & 1);
            out[32 + t] = __any_sync(~0u, v == 3) + 2 * __all_sync(~0u, v < 100);
            out[64 + t] = __match_any_sync(~0u, v);
            out[96 + t] = __reduce_add_sync(~0u, v);
            out[128 + t] = __reduce_max_sync(~0u, v);
            int same;
            out[160 + t] = __match_all_sync(~0u, v, &same) + same;
        }""")
    x = (np.arange(32) ** 2 % 11).astype(np.int32)
    out = np.zeros(6 * 32, np.uint32)
    kernel[1, 32](x, out)
    rows = out.reshape(6, 32)

    def bits(flags: Array) -> int:
        return sum(int(flag) << lane for lane, flag in enumerate(flags))

    assert (rows[0] == bits(x & 1)).all()
    assert (rows[1] == 3).all()
    assert rows[2].tolist() == [bits(x == v) for v in x]
    assert (rows[3] == x.sum()).all()
    assert (rows[4] == x.max()).all()
    assert (rows[5] == 0).all()


def test_a_warp_operation_waits_for_lanes_that_come_later() -> None:
    kernel = build("""
        extern "C" __global__ void k(int* out) {
            int t = threadIdx.x, v = 0;
            if (t < 16) { for (int j = 0; j < t; j++) v += j; } else v = 1000;
            __syncwarp();
            for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d);
            out[t] = v;
        }""")
    out = np.zeros(32, np.int32)
    kernel[1, 32](out)
    assert (out == 16_000 + sum(t * (t - 1) // 2 for t in range(16))).all()


# ---- Atomics -------------------------------------------------------------------------------------------


def test_a_histogram_with_shared_and_global_atomics() -> None:
    kernel = build("""
        extern "C" __global__ void k(const int* x, int* bins, int n) {
            __shared__ int mine[16];
            if (threadIdx.x < 16) mine[threadIdx.x] = 0;
            __syncthreads();
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) atomicAdd(&mine[x[i]], 1);
            __syncthreads();
            if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
        }""")
    x = np.random.default_rng(1).integers(0, 16, 1000, dtype=np.int32)
    bins = np.zeros(16, np.int32)
    kernel[8, 128](x, bins, 1000)
    assert np.array_equal(bins, np.bincount(x, minlength=16))


@pytest.mark.plain_schedule("lanes may come in any order")
def test_every_atomic() -> None:
    kernel = build("""
        extern "C" __global__ void k(int* i, unsigned* u, unsigned long long* w, float* f, double* d) {
            int t = threadIdx.x;
            atomicMin(&i[0], t - 7); atomicMax(&i[1], t); atomicSub(&i[2], t);
            atomicAnd(&u[0], ~(1u << t)); atomicOr(&u[1], 1u << t); atomicXor(&u[2], 3u << t);
            atomicInc(&u[3], 9); atomicDec(&u[4], 9); u[8 + t] = atomicExch(&u[5], t);
            atomicAdd(&w[0], (unsigned long long)t << 40); atomicMax(&w[1], (unsigned long long)t << 33);
            atomicAdd(f, t * 0.5f); atomicAdd(d, t * 0.25);
        }""")
    i, u = np.zeros(3, np.int32), np.zeros(40, np.uint32)
    u[0] = 0xFFFFFFFF
    w, f, d = np.zeros(2, np.uint64), np.zeros(1, np.float32), np.zeros(1)
    kernel[1, 32](i, u, w, f, d)
    assert i.tolist() == [-7, 31, -496]
    xor = 0
    for t in range(32):
        xor ^= (3 << t) & 0xFFFFFFFF
    assert u[:6].tolist() == [0, 0xFFFFFFFF, xor, 32 % 10, 8, 31]
    assert u[8:].tolist() == [0, *range(31)]
    assert w.tolist() == [496 << 40, 31 << 33]
    assert (f[0], d[0]) == (248.0, 124.0)


# ---- Memory of other kinds -----------------------------------------------------------------------------


def test_local_arrays() -> None:
    kernel = build("""
        extern "C" __global__ void k(const int* order, int* out) {
            int mine[16];
            for (int j = 0; j < 16; j++) mine[j] = threadIdx.x * 100 + j;
            int sum = 0;
            for (int j = 0; j < 16; j++) { mine[order[j]] += j; }
            for (int j = 0; j < 16; j++) sum = sum * 3 + mine[order[15 - j]];
            out[threadIdx.x] = sum;
        }""")
    order: Any = np.random.default_rng(2).permutation(16).astype(np.int32)
    out = np.zeros(40, np.int32)
    kernel[1, 40](order, out)
    for thread in range(40):
        mine: list[int] = [thread * 100 + j for j in range(16)]
        for j in range(16):
            mine[order[j]] += j
        total = 0
        for j in range(16):
            total = total * 3 + mine[int(order[15 - j])]
        assert out[thread] == np.int64(total).astype(np.int32)


def test_constant_and_device_variables() -> None:
    kernel = build("""
        __constant__ float table[4] = {1.5f, -2.0f, 3.25f, 0.5f};
        __device__ int counter = 10;
        __device__ int* place = &counter;
        extern "C" __global__ void k(float* out, int* seen) {
            out[threadIdx.x] = table[threadIdx.x % 4];
            if (threadIdx.x == 0) { *seen = atomicAdd(place, 1); }
        }""")
    out, seen = np.zeros(32, np.float32), np.zeros(1, np.int32)
    for expected in (10, 11, 12):  # a __device__ variable keeps its value between launches
        kernel[1, 32](out, seen)
        assert seen[0] == expected
    assert np.array_equal(out, np.tile(np.array([1.5, -2.0, 3.25, 0.5], np.float32), 8))


def test_struct_parameters() -> None:
    kernel = build("""
        struct Point { char tag; double x; short y; int z[3]; };
        extern "C" __global__ void k(Point p, double* out) {
            double v[6] = {(double)p.tag, p.x, (double)p.y, (double)p.z[0], (double)p.z[1], (double)p.z[2]};
            for (int j = 0; j < 6; j++) out[j] = v[j];
        }""")
    layout = np.dtype([("tag", "i1"), ("x", "f8"), ("y", "i2"), ("z", "i4", 3)], align=True)
    point = np.zeros((), layout)
    point["tag"], point["x"], point["y"], point["z"] = -5, 2.25, -300, (7, 8, 9)
    out = np.zeros(6)
    kernel[1, 1](point, out)
    assert out.tolist() == [-5, 2.25, -300, 7, 8, 9]


def test_a_struct_parameter_indexed_at_run_time() -> None:
    kernel = build("""
        struct Table { int v[8]; };
        extern "C" __global__ void k(Table t, int* out) { out[threadIdx.x] = t.v[(threadIdx.x * 3) % 8]; }
        """)
    table = np.arange(8, dtype=np.int32) * 11
    out = np.zeros(32, np.int32)
    kernel[1, 32](table, out)
    assert np.array_equal(out, table[np.arange(32) * 3 % 8])


# ---- Arrays of the host --------------------------------------------------------------------------------

ADD_ONE = 'extern "C" __global__ void k(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] += 1; }'


def test_torch_tensors_on_the_cpu_and_numpy_views_of_them() -> None:
    kernel = build(ADD_ONE)
    tensor: Any = torch.zeros(8)
    kernel[1, 32](tensor[2:6], 4)
    kernel[1, 32](tensor.numpy()[3:5], 2)
    assert tensor.tolist() == [0, 0, 1, 2, 2, 1, 0, 0]


def test_two_views_of_one_array_share_memory() -> None:
    kernel = build("""
        extern "C" __global__ void k(const int* from, int* to, long long* apart) {
            to[threadIdx.x] = from[threadIdx.x] + 1;
            *apart = to - from;
        }""")
    x = np.arange(64, dtype=np.int32)
    apart = np.zeros(1, np.int64)
    kernel[1, 32](x[:32], x[20:52], apart)  # one warp: all reads come first
    assert x.tolist() == [*range(20), *range(1, 33), *range(52, 64)]
    assert apart[0] == 20


def test_strided_arrays_reach_over_their_whole_range() -> None:
    kernel = build("""
        extern "C" __global__ void k(float* x, int stride, int n) {
            if (threadIdx.x < n) x[(int)threadIdx.x * stride] = threadIdx.x;
        }""")
    x = np.full(10, -1, np.float32)
    kernel[1, 32](fp.jit.strided(x[::-3]), -3, 4)
    assert x.tolist() == [3, -1, -1, 2, -1, -1, 1, -1, -1, 0]


def test_empty_arrays_and_null_pointers() -> None:
    kernel = build("""
        extern "C" __global__ void k(const float* x, const float* y, int* out) {
            out[0] = (x != nullptr) + 2 * (y == nullptr);
        }""")
    out = np.zeros(1, np.int32)
    kernel[1, 1](np.zeros(0, np.float32), None, out)
    assert out[0] == 3


def test_bf16_arrays_of_ml_dtypes() -> None:
    kernel = build("""
        #include <cuda_bf16.h>
        extern "C" __global__ void k(const __nv_bfloat16* x, __nv_bfloat16* y) {
            y[threadIdx.x] = x[threadIdx.x] * x[threadIdx.x];
        }""")
    x: Any = floats(32).astype(ml_dtypes.bfloat16)
    y = np.zeros(32, ml_dtypes.bfloat16)
    kernel[1, 32](x, y)
    assert np.array_equal(y.view(np.uint16), (x * x).view(np.uint16))


def test_the_launch_is_printed_where_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FLASHPATH_DEBUG", "1")
    build(ADD_ONE)[2, 32](np.zeros(3, np.float32), 3)
    assert "k <<<(2, 1, 1), (32, 1, 1), 0 B, virtual A100>>>" in capsys.readouterr().err
