"""Device functions on the virtual GPU: calls by name and by address, recursion, and what CUDA provides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flashpath as fp

pytestmark = pytest.mark.usefixtures("on_the_virtual_gpu")


def build(source: str, name: str = "k") -> fp.Kernel:
    return fp.compile(source, "sm_80")[name]


def test_a_struct_goes_to_a_function_and_comes_back() -> None:
    kernel = build("""
        struct V { float x, y, z; };
        __device__ __noinline__ V scale(V v, double s) {
            return V{(float)(v.x * s), (float)(v.y * s), (float)(v.z * s)};
        }
        extern "C" __global__ void k(float* out) {
            int i = threadIdx.x;
            V v = scale(V{1.0f + i, 2.0f, 3.0f}, i * 0.5);
            out[3 * i] = v.x; out[3 * i + 1] = v.y; out[3 * i + 2] = v.z;
        }""")
    out = np.full((64, 3), np.nan, np.float32)
    kernel[1, 64](out)
    i = np.arange(64)
    expected = np.stack([1.0 + i, np.full(64, 2.0), np.full(64, 3.0)], 1) * (i * 0.5)[:, None]
    assert np.array_equal(out, expected.astype(np.float32))


def test_recursion_keeps_registers_and_local_arrays_of_every_call() -> None:
    kernel = build("""
        __device__ __noinline__ int walk(int n, int seed) {
            int kept[4];
            for (int j = 0; j < 4; j++) kept[j] = seed + n * 10 + j;
            if (n == 0) return kept[seed & 3];
            int left = walk(n - 1, seed + 1);
            int right = n > 1 ? walk(n - 2, seed) : 0;
            return left + right + kept[n & 3];
        }
        extern "C" __global__ void k(int* out) { out[threadIdx.x] = walk(threadIdx.x % 9, threadIdx.x); }
    """)

    def walk(n: int, seed: int) -> int:
        kept = [seed + n * 10 + j for j in range(4)]
        if n == 0:
            return kept[seed & 3]
        return walk(n - 1, seed + 1) + (walk(n - 2, seed) if n > 1 else 0) + kept[n & 3]

    out = np.zeros(96, np.int32)
    kernel[1, 96](out)
    assert out.tolist() == [walk(i % 9, i) for i in range(96)]


def test_functions_that_call_each_other() -> None:
    kernel = build("""
        __device__ int odd(int n);
        __device__ __noinline__ int even(int n) { return n == 0 ? 1 : odd(n - 1); }
        __device__ __noinline__ int odd(int n) { return n == 0 ? 0 : even(n - 1); }
        extern "C" __global__ void k(int* out) { out[threadIdx.x] = even(threadIdx.x % 40); }
    """)
    out = np.full(64, -1, np.int32)
    kernel[1, 64](out)
    assert out.tolist() == [int(i % 40 % 2 == 0) for i in range(64)]


def test_recursion_without_end_is_a_fault() -> None:
    kernel = build("""
        __device__ __noinline__ int sink(int n, int* out) { out[0] = n; int r = sink(n + 1, out);
                                                            return r + out[r & 1] * n; }
        extern "C" __global__ void k(int* out) { out[0] = sink(0, out); }
    """)
    with pytest.raises(fp.KernelFault, match=r"stack of the thread is full: .*sink"):
        kernel[1, 1](np.zeros(1, np.int32))


def test_calls_by_address_and_virtual_functions() -> None:
    kernel = build("""
        typedef int (*Function)(int);
        __device__ __noinline__ int square(int x) { return x * x; }
        __device__ __noinline__ int negate(int x) { return -x; }
        __device__ Function table[2] = {square, negate};
        struct Shape { __device__ virtual int area(int x) = 0; };
        struct Square : Shape { int side; __device__ Square(int s) : side(s) {}
                                __device__ int area(int x) override { return side * side + x; } };
        struct Strip : Shape { __device__ int area(int x) override { return 100 * x; } };
        extern "C" __global__ void k(int* out) {
            int i = threadIdx.x;
            Square a(i); Strip b;
            Shape* shape = i % 3 ? (Shape*)&a : (Shape*)&b;
            out[i] = table[i & 1](i) + shape->area(i);
        }""")
    out = np.zeros(64, np.int32)
    kernel[1, 64](out)
    expected = [(i * i if i % 2 == 0 else -i) + (i * i + i if i % 3 else 100 * i) for i in range(64)]
    assert out.tolist() == expected


@pytest.mark.plain_schedule("lanes need not meet again where they could")
def test_lanes_that_parted_in_a_function_meet_after_it() -> None:
    kernel = build("""
        __device__ __noinline__ int steps(int n) {
            int s = 0;
            for (; n > 1; s++) n = n & 1 ? 3 * n + 1 : n / 2;
            return s;
        }
        extern "C" __global__ void k(int* out) {
            int s = steps(threadIdx.x + 1);
            out[threadIdx.x] = s + 1000 * __popc(__activemask());
        }""")
    out = np.zeros(32, np.int32)
    kernel[1, 32](out)

    def steps(n: int) -> int:
        return 0 if n <= 1 else 1 + steps(3 * n + 1 if n & 1 else n // 2)

    assert out.tolist() == [32_000 + steps(i + 1) for i in range(32)]


@pytest.mark.plain_schedule("lanes may come in any order")
def test_printf_writes_what_c_writes(capsys: pytest.CaptureFixture[str]) -> None:
    kernel = build(r"""
        extern "C" __global__ void k(int n) {
            int i = threadIdx.x;
            if (i < 3)
                printf("%d|%5d|%-5d|%05d|%x|%#o|%u|%c|%%\n", i, i, i, i, 255 + i, 8, 4000000000u, 'a' + i);
            if (i == 1) {
                printf("%f %8.3f %e %g %s [%5s] %lld %llu %hd %*d\n", 1.5, 3.14159, 12345.678, 1e-7, "text",
                       "ab", -5000000000ll, 18446744073709551615ull, (short)-3, 6, 42);
                printf("%p %a\n", (void*)0x1234, 1.0);
            }
        }""")
    kernel[1, 32](0)
    lines = capsys.readouterr().out.splitlines()
    c = [f"{i}|{i:5d}|{i:<5d}|{i:05d}|{255 + i:x}|010|4000000000|{chr(97 + i)}|%" for i in range(3)]
    assert lines[:3] == c
    assert lines[3] == (
        "1.500000    3.142 1.234568e+04 1e-07 text [   ab] -5000000000 18446744073709551615 -3     42"
    )
    assert lines[4] == "0x1234 0x1p+0"


@pytest.mark.plain_schedule("any thread may fail first")
def test_a_failed_assert_says_where(capsys: pytest.CaptureFixture[str]) -> None:
    kernel = build("""
        extern "C" __global__ void k(const int* x) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i == 0) printf("before\\n");
            assert(x[i] < 7);
        }""")
    x = np.zeros(128, np.int32)
    kernel[2, 64](x)
    x[70] = 9
    with pytest.raises(fp.KernelFault, match=r"assertion `x\[i\] < 7` failed in .*k") as caught:
        kernel[2, 64](x)
    finding = caught.value.finding
    assert (finding.kind, finding.block, finding.thread) == ("assert", (1, 0, 0), (6, 0, 0))
    assert capsys.readouterr().out == "before\n" * 2  # nothing printed is lost


def test_a_trap_stops_the_launch() -> None:
    kernel = build("""
        extern "C" __global__ void k(int n) { if (threadIdx.x == n) __trap(); }""")
    kernel[1, 32](40)
    with pytest.raises(fp.KernelFault, match="trap") as caught:
        kernel[1, 32](5)
    assert (caught.value.kind, caught.value.finding.thread) == ("trap", (5, 0, 0))


HEAP = """
    extern "C" __global__ void k(int* out, int n) {
        int i = threadIdx.x;
        int* mine = (int*)malloc(n * sizeof(int));
        if (mine == nullptr) { out[i] = -1; return; }
        for (int j = 0; j < n; j++) mine[j] = i * j;
        int sum = 0;
        for (int j = 0; j < n; j++) sum += mine[j];
        out[i] = sum;
        free(mine);
    }
    extern "C" __global__ void twice() { int* p = (int*)malloc(16); free(p); free(p); }
    extern "C" __global__ void keep(int** kept) { *kept = (int*)malloc(sizeof(int)); **kept = 41; }
    extern "C" __global__ void use(int** kept, int* out) { *out = ++**kept; }
    extern "C" __global__ void give_back(int** kept) { free(*kept); }
"""


def test_the_heap_of_device_code() -> None:
    module = fp.compile(HEAP, "sm_80")
    out = np.zeros(64, np.int32)
    for _ in range(3):  # freed memory is given again
        module["k"][1, 64](out, 100)
        assert out.tolist() == [i * 4950 for i in range(64)]
    module["k"][1, 64](out, 1 << 16)  # 64 × 256 KiB do not fit into 8 MiB
    assert (out == -1).any()
    with pytest.raises(fp.KernelFault, match="freed before"):
        module["twice"][1, 1]()


def test_kernels_that_allocate_nothing_use_what_others_have() -> None:
    module = fp.compile(HEAP, "sm_80")
    kept, out = np.zeros(1, np.uint64), np.zeros(1, np.int32)
    module["keep"][1, 1](kept)
    module["use"][1, 1](kept, out)
    assert out.tolist() == [42]
    module["give_back"][1, 1](kept)
    with pytest.raises(fp.KernelFault, match="no array is near"):
        module["use"][1, 1](kept, out)


def test_dynamic_parallelism_is_refused_by_name() -> None:
    source = """
        .version 8.0
        .target sm_80
        .address_size 64
        .extern .func (.param .b32 r) cudaLaunchDeviceV2 (.param .b64 a, .param .b64 b);
        .visible .entry k() { .param .b64 a; .param .b64 b; .param .b32 r;
            call.uni (r), cudaLaunchDeviceV2, (a, b); ret; }
    """
    from flashpath.vgpu.device import UnsupportedInstruction, VirtualModule

    with pytest.raises(UnsupportedInstruction, match="dynamic parallelism"):
        VirtualModule(source).kernel("k")


def test_kernels_of_a_module_share_its_variables() -> None:
    module = fp.compile(
        """
        __device__ int counter = 40;
        extern "C" __global__ void add(int n) { if (threadIdx.x == 0) counter += n; }
        extern "C" __global__ void read(int* out) { out[threadIdx.x] = counter; }
        """,
        "sm_80",
    )
    out = np.zeros(2, np.int32)
    module["add"][1, 32](2)
    module["add"][1, 32](100)
    module["read"][1, 2](out)
    assert out.tolist() == [142, 142]


def test_a_struct_parameter_indexed_at_run_time() -> None:
    kernel = build("""
        struct Table { int values[16]; };
        extern "C" __global__ void k(const __grid_constant__ Table table, int* out) {
            const int* p = table.values;
            out[threadIdx.x] = table.values[(threadIdx.x * 7) % 16] + p[threadIdx.x % 16];
        }""")
    table: Any = np.arange(16, dtype=np.int32) ** 2
    out = np.zeros(32, np.int32)
    kernel[1, 32](table.tobytes(), out)
    i = np.arange(32)
    assert np.array_equal(out, table[i * 7 % 16] + table[i % 16])


def test_clocks_count_the_instructions_of_the_warp() -> None:
    kernel = build("""
        extern "C" __global__ void k(long long* out) {
            long long start = clock64();
            int x = threadIdx.x;
            #pragma unroll 1
            for (int j = 0; j < 100; j++) x = x * 3 + 1;
            out[threadIdx.x] = clock64() - start;
            if (x == 12345) out[0] = 0;
        }""")
    out = np.zeros(32, np.int64)
    kernel[1, 32](out)
    assert (out == out[0]).all()
    assert 300 <= out[0] <= 1500  # a hundred rounds of a few instructions
