"""cp.async.bulk of ranges: to shared memory, between blocks, to global memory; barriers, groups and reductions."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flashpath as fp

Array = np.ndarray[Any, Any]
BF16 = np.dtype(ml_dtypes.bfloat16)

# Thread 0 loads 1,024 bytes of array 0; all wait. Shared memory: the barrier, and data from 128 on.
LOAD = """
    setp.eq.u32 %p0, %thread, 0;
    @%p0 mbarrier.init.shared::cta.b64 [base], 1;
    fence.mbarrier_init.release.cluster;
    bar.sync 0;
    @!%p0 bra WAIT;
    mbarrier.arrive.expect_tx.shared::cta.b64 %d0, [base], 1024;
    mov.u32 %r1, base;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1+128], [%array0], 1024, [%r1];
    {early}
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [base], 0;
    @!%p1 bra WAIT;
"""
COPY_OUT = """
    shl.b32 %r2, %thread, 4;
    cvt.u64.u32 %d1, %r2;
    mov.u32 %r3, base;
    add.u32 %r3, %r3, %r2;
    ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r3+128];
    add.u64 %d2, %array1, %d1;
    st.global.v4.u32 [%d2], {%r4, %r5, %r6, %r7};
"""


def words(count: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).integers(0, 2**32, count, np.uint32)


def test_a_barrier_tells_when_it_has_come(run_ptx: Any) -> None:
    x, out = words(256), np.zeros(256, np.uint32)
    run_ptx(LOAD.replace("{early}", "") + COPY_OUT, x, out, block=64, shared=2048, target="sm_90")
    assert out.tolist() == x.tolist()


def test_it_comes_as_late_as_possible(run_ptx: Any) -> None:
    """A thread that does not wait reads what was there before."""
    x, out = words(256), np.full(256, 9, np.uint32)
    early = "ld.shared.u32 %r8, [%r1+128]; st.global.u32 [%array1], %r8; exit;"
    run_ptx(LOAD.replace("{early}", early), x, out, block=1, shared=2048, target="sm_90")
    assert out[0] == 0


@pytest.mark.parametrize(
    ("bytes_", "offset", "kind"), [(1000, 0, "misaligned"), (1024, 8, "misaligned"), (1040, 0, "out-of-bounds")]
)
def test_ranges_that_are_wrong(run_ptx: Any, bytes_: int, offset: int, kind: str) -> None:
    x, out = words(256), np.zeros(256, np.uint32)
    text = LOAD.replace("{early}", "").replace("[%array0], 1024", f"[%array0+{offset}], {bytes_}")
    with pytest.raises(fp.KernelFault) as caught:
        run_ptx(text, x, out, block=64, shared=2048, target="sm_90")
    assert caught.value.kind == kind


STORE = """
    shl.b32 %r2, %thread, 4;
    cvt.u64.u32 %d1, %r2;
    mov.u32 %r3, base;
    add.u32 %r3, %r3, %r2;
    add.u64 %d2, %array0, %d1;
    ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%d2];
    st.shared.v4.u32 [%r3], {%r4, %r5, %r6, %r7};
    fence.proxy.async.shared::cta;
    bar.sync 0;
    setp.ne.u32 %p0, %thread, 0;
    @%p0 bra END;
    mov.u32 %r1, base;
    {copy} [%array1], [%r1], 1024;
    cp.async.bulk.commit_group;
    {after}
END:
"""


def test_groups_write_to_global_memory(run_ptx: Any) -> None:
    x, out = words(256), np.zeros(256, np.uint32)
    copy = "cp.async.bulk.global.shared::cta.bulk_group"
    text = STORE.replace("{copy}", copy)
    run_ptx(text.replace("{after}", "cp.async.bulk.wait_group 0;"), x, out, block=64, shared=2048, target="sm_90")
    assert out.tolist() == x.tolist()
    # Nobody waits: it is there when the kernel ends.
    out[:] = 0
    run_ptx(text.replace("{after}", ""), x, out, block=64, shared=2048, target="sm_90")
    assert out.tolist() == x.tolist()


@pytest.mark.parametrize(("wait", "kept"), [("cp.async.bulk.wait_group.read 0;", True), ("", False)])
def test_the_source_is_read_at_the_wait(run_ptx: Any, wait: str, kept: bool) -> None:
    x, out = words(256), np.zeros(256, np.uint32)
    copy = "cp.async.bulk.global.shared::cta.bulk_group"
    after = wait + "mov.u32 %r9, 77; st.shared.u32 [base], %r9;"
    text = STORE.replace("{copy}", copy).replace("{after}", after)
    run_ptx(text, x, out, block=64, shared=2048, target="sm_90")
    assert (out[0] == x[0]) == kept
    assert out[0] == (x[0] if kept else 77)


def _minimum(x: Array, y: Array) -> Array:
    return np.where(y < x, y, x)


REDUCTIONS: list[tuple[str, Any, Any]] = [
    ("add.u32", np.uint32, np.add),
    ("add.s32", np.int32, np.add),
    ("add.u64", np.uint64, np.add),
    ("min.u32", np.uint32, np.minimum),
    ("max.s32", np.int32, np.maximum),
    ("min.s64", np.int64, np.minimum),
    ("max.u64", np.uint64, np.maximum),
    ("inc.u32", np.uint32, lambda x, y: np.where(x >= y, 0, x + 1).astype(np.uint32)),
    ("dec.u32", np.uint32, lambda x, y: np.where((x == 0) | (x > y), y, x - 1).astype(np.uint32)),
    ("and.b32", np.uint32, np.bitwise_and),
    ("or.b64", np.uint64, np.bitwise_or),
    ("xor.b32", np.uint32, np.bitwise_xor),
    ("add.f32", np.float32, np.add),
    ("add.f64", np.float64, np.add),
    ("add.noftz.f16", np.float16, np.add),
    ("add.noftz.bf16", BF16, np.add),
    ("min.f16", np.float16, np.fmin),
    ("max.bf16", BF16, np.fmax),
]


@pytest.mark.parametrize(("operation", "dtype", "model"), REDUCTIONS, ids=[each[0] for each in REDUCTIONS])
def test_reductions(run_ptx: Any, operation: str, dtype: Any, model: Any) -> None:
    dtype = np.dtype(dtype)
    count = 1024 // dtype.itemsize
    rng = np.random.default_rng(1)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        x, y = (rng.integers(limits.min, limits.max, count, dtype, endpoint=True) for _ in range(2))
        x[:4], y[:4] = [0, 1, limits.max, limits.min], [limits.max, 1, 1, limits.max]
    else:
        x, y = (rng.standard_normal(count).astype(np.float32).astype(dtype) for _ in range(2))
    with np.errstate(over="ignore"):
        expected = model(y, x).astype(dtype)
    name = f"cp.reduce.async.bulk.global.shared::cta.bulk_group.{operation}"
    text = STORE.replace("{copy}", name).replace("{after}", "cp.async.bulk.wait_group 0;")
    run_ptx(text, x.view(np.uint8), out := y.copy().view(np.uint8), block=64, shared=2048, target="sm_90")
    assert out.tobytes() == expected.tobytes()


CLUSTER = r"""
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define SMEM(p) static_cast<unsigned>(__cvta_generic_to_shared(p))

__device__ void init(unsigned long long* bar, int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(SMEM(bar)), "r"(count));
    asm volatile("fence.mbarrier_init.release.cluster;");
}
__device__ void expect(unsigned long long* bar, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(SMEM(bar)), "r"(bytes) : "memory");
}
__device__ void wait(unsigned long long* bar, int parity) {
    asm volatile("{ .reg .pred p; L: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra L; }"
                 :: "r"(SMEM(bar)), "r"(parity) : "memory");
}
__device__ unsigned map(unsigned address, int rank) {
    unsigned d;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(d) : "r"(address), "r"(rank));
    return d;
}

// Each block loads a quarter, for all four.
extern "C" __global__ void __cluster_dims__(4, 1, 1) multicast(const int* x, int* out) {
    __shared__ alignas(128) int data[512];
    __shared__ unsigned long long bar;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) { init(&bar, 1); }
    cluster.sync();
    unsigned rank = cluster.block_rank();
    if (threadIdx.x == 0) {
        expect(&bar, sizeof data);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;"
            :: "r"(SMEM(data + 128 * rank)), "l"(x + 128 * rank), "r"(512), "r"(SMEM(&bar)), "h"((short)15) : "memory");
    }
    wait(&bar, 0);
    for (int i = threadIdx.x; i < 512; i += blockDim.x) out[512 * rank + i] = data[i];
    cluster.sync();
}

// Block 0 sends its shared memory to block 1, and values by st.async, and adds by red.async.
extern "C" __global__ void __cluster_dims__(2, 1, 1) sends(const int* x, int* out) {
    __shared__ alignas(128) int data[128];
    __shared__ alignas(16) int values[32 * 4];
    __shared__ int sum;
    __shared__ unsigned long long bar;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) { init(&bar, 1); sum = 5; }
    if (cluster.block_rank() == 0) for (int i = threadIdx.x; i < 128; i += 32) data[i] = x[i];
    asm volatile("fence.proxy.async.shared::cta;");
    cluster.sync();
    if (cluster.block_rank() == 0) {
        unsigned remote = map(SMEM(&bar), 1);
        if (threadIdx.x == 0)
            asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                :: "r"(map(SMEM(data), 1)), "r"(SMEM(data)), "r"(512), "r"(remote) : "memory");
        int t = threadIdx.x;
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];"
            :: "r"(map(SMEM(values + 4 * t), 1)), "r"(t), "r"(2 * t), "r"(3 * t), "r"(4 * t), "r"(remote) : "memory");
        asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];"
            :: "r"(map(SMEM(&sum), 1)), "r"(t), "r"(remote) : "memory");
    } else {
        if (threadIdx.x == 0) expect(&bar, 512 + 32 * 16 + 32 * 4);
        wait(&bar, 0);
        for (int i = threadIdx.x; i < 128; i += 32) { out[i] = data[i]; out[128 + i] = values[i]; }
        if (threadIdx.x == 0) out[256] = sum;
    }
    cluster.sync();
}

// Arrivals from all blocks at the barrier of block 0.
extern "C" __global__ void __cluster_dims__(4, 1, 1) arrives(int* out) {
    __shared__ unsigned long long bar;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) init(&bar, 4 * 32);
    cluster.sync();
    for (int phase = 0; phase < 3; phase++) {
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(map(SMEM(&bar), 0)) : "memory");
        if (cluster.block_rank() == 0) { wait(&bar, phase & 1); if (threadIdx.x == 0) out[phase] = phase + 1; }
        cluster.sync();
    }
}
"""


@pytest.fixture(scope="module")
def module() -> fp.Module:
    return fp.compile(CLUSTER, "sm_90a")


def test_a_multicast_comes_to_every_block(module: fp.Module) -> None:
    x, out = np.arange(512, dtype=np.int32), np.zeros(2048, np.int32)
    module["multicast"].launch(4, 64, (x, out))
    assert out.reshape(4, 512).tolist() == [x.tolist()] * 4
    assert fp.sanitize(module["multicast"], 4, 64, (x, out), seeds=5) == []


def test_what_one_block_sends_another(module: fp.Module) -> None:
    x, out = np.arange(128, dtype=np.int32) ** 2, np.zeros(257, np.int32)
    module["sends"].launch(2, 32, (x, out))
    assert out[:128].tolist() == x.tolist()
    assert out[128:256].reshape(32, 4).tolist() == [[t, 2 * t, 3 * t, 4 * t] for t in range(32)]
    assert out[256] == 5 + 31 * 16
    assert fp.sanitize(module["sends"], 2, 32, (x, out), seeds=5) == []


def test_arrivals_at_another_blocks_barrier(module: fp.Module) -> None:
    out = np.zeros(3, np.int32)
    module["arrives"].launch(4, 32, (out,))
    assert out.tolist() == [1, 2, 3]
    assert fp.sanitize(module["arrives"], 4, 32, (out,), seeds=5) == []
