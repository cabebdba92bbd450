// C (M, N) = A (M, K) · B (N, K)^T in fp16, as fast kernels for Hopper are built: one warpgroup loads tiles by TMA, two multiply
// them by wgmma, a ring of stages between them. Two blocks of a cluster share the tiles of B by multicast.
//
// BUG chooses a mistake; 0 is none. Each is at the line that says so.
#ifndef BUG
#define BUG 0
#endif
#ifndef CLUSTER
#define CLUSTER 2
#endif

struct alignas(64) Map { unsigned char bytes[128]; };
typedef unsigned long long u64;

constexpr int BM = 128, BN = 128, BK = 64, STAGES = 3;

__device__ unsigned smem(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
__device__ void init(u64* bar, int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(smem(bar)), "r"(count) : "memory");
}
__device__ void wait(u64* bar, int parity) {
    asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra W; }"
                 :: "r"(smem(bar)), "r"(parity) : "memory");
}
__device__ void expect(u64* bar, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(smem(bar)), "r"(bytes) : "memory");
}
__device__ void arrive(u64* bar, int rank) {
    asm volatile("{ .reg .b32 remote; mapa.shared::cluster.u32 remote, %0, %1;"
                 "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote]; }"
                 :: "r"(smem(bar)), "r"(rank) : "memory");
}
__device__ void load(void* to, const Map* map, int x, int y, u64* bar) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 :: "r"(smem(to)), "l"(map), "r"(x), "r"(y), "r"(smem(bar)) : "memory");  // load
}
__device__ void load_for_all(void* to, const Map* map, int x, int y, u64* bar) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1, {%2, %3}], [%4], %5;"
                 :: "r"(smem(to)), "l"(map), "r"(x), "r"(y), "r"(smem(bar)), "h"((unsigned short)((1 << CLUSTER) - 1))  // load for all
                 : "memory");
}
__device__ u64 descriptor(const void* tile) {  // K-major, 128-byte swizzle: eight rows are 1,024 bytes
    return (smem(tile) >> 4) | (u64)1 << 16 | (u64)(1024 >> 4) << 32 | (u64)1 << 62;
}
__device__ int rank_in_cluster() {
    int rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}
__device__ void meet_cluster() {
    asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

#define D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define D16(i) D4(i), D4(i + 4), D4(i + 8), D4(i + 12)
__device__ void multiply(float (&d)[64], u64 a, u64 b) {
    asm volatile(
        "{ wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
        "%64, %65, 1, 1, 1, 0, 0; }"
        : D16(0), D16(16), D16(32), D16(48) : "l"(a), "l"(b));
}

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(384, 1)
gemm(const __grid_constant__ Map a, const __grid_constant__ Map b, float* c, int n, int k) {
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ u64 full[STAGES], empty[STAGES];
    const int rank = rank_in_cluster(), group = threadIdx.x / 128, thread = threadIdx.x % 128;
    const int row = blockIdx.x * BM, column = blockIdx.y * BN, tiles = k / BK;
    constexpr int A_BYTES = BM * BK * 2, B_BYTES = BN * BK * 2, STAGE = A_BYTES + B_BYTES;
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) { init(full + s, 1); init(empty + s, 2 * CLUSTER); }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    meet_cluster();

    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (thread == 0) {
            for (int t = 0; t < tiles; t++) {
                const int s = t % STAGES;
                unsigned char* stage = memory + s * STAGE;
#if BUG != 1
                wait(empty + s, t / STAGES + 1 & 1);  // BUG 1: a stage is overwritten while it is read
#endif
#if BUG == 2
                expect(full + s, STAGE - 1024);  // BUG 2: too few bytes are expected
#else
                expect(full + s, STAGE);
#endif
                load(stage, &a, t * BK, row, full + s);
                // Each block loads its part of B for all.
                constexpr int PART = BN / CLUSTER;
                load_for_all(stage + A_BYTES + rank * PART * BK * 2, &b, t * BK, column + rank * PART, full + s);
            }
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        float d[64] = {};
        for (int t = 0; t < tiles; t++) {
            const int s = t % STAGES;
            const unsigned char* stage = memory + s * STAGE;
#if BUG == 3
            wait(full + s, t / STAGES + 1 & 1);  // BUG 3: the parity is the other one
#elif BUG != 4
            wait(full + s, t / STAGES & 1);  // BUG 4: no wait for the tiles
#endif
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
            for (int kk = 0; kk < BK; kk += 16)
                multiply(d, descriptor(stage + (group - 1) * 64 * BK * 2) + (kk * 2 >> 4),  // multiply
                         descriptor(stage + A_BYTES) + (kk * 2 >> 4));
            asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#if BUG == 5
            asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");  // BUG 5: the last group still reads
#else
            asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#endif
            if (thread < CLUSTER) arrive(empty + s, thread);
        }
#if BUG == 5
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#endif
        const int first = row + (group - 1) * 64 + thread / 32 * 16 + thread % 32 / 4;
        for (int i = 0; i < 64; i += 2) {
            const int r = first + (i & 2) * 4, col = column + i / 4 * 8 + thread % 4 * 2;
            c[r * n + col] = d[i];
            c[r * n + col + 1] = d[i + 1];
        }
    }
#if BUG != 6
    meet_cluster();  // BUG 6: a block ends while another one still sends to it
#endif
}
