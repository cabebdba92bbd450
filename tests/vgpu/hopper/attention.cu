// O = softmax(Q K^T) V in fp16, D = 64, as FlashAttention 3 is built: one warp loads tiles of K and V by TMA into a ring, two
// warpgroups of 64 queries each take turns (ping-pong, by named barriers): while one has its scores multiplied, the other
// makes shares of its own. Scores stay in registers: they are the left factor of the second product.
#include <cuda_fp16.h>

struct alignas(64) Map { unsigned char bytes[128]; };
typedef unsigned long long u64;

constexpr int D = 64, BN = 64, STAGES = 2;
constexpr int TILE = BN * D * 2;

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
__device__ void arrive(u64* bar) {
    asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" :: "r"(smem(bar)) : "memory");
}
__device__ void load(void* to, const Map* map, int row, u64* bar) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 :: "r"(smem(to)), "l"(map), "r"(0), "r"(row), "r"(smem(bar)) : "memory");
}
__device__ u64 descriptor(const void* tile) {  // 128-byte swizzle: groups of eight rows are 1,024 bytes
    return (smem(tile) >> 4) | (u64)(1024 >> 4) << 16 | (u64)(1024 >> 4) << 32 | (u64)1 << 62;
}
__device__ unsigned pair(float x, float y) {
    __half2 both = __floats2half2_rn(x, y);
    return *reinterpret_cast<unsigned*>(&both);
}

#define D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define D16(i) D4(i), D4(i + 4), D4(i + 8), D4(i + 12)
#define REGISTERS "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}"

// Scores of 64 queries and 64 keys; the first step begins from zero.
__device__ void multiply(float (&d)[32], u64 a, u64 b, int adds) {
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %34, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " REGISTERS
                 ", %32, %33, p, 1, 1, 0, 0; }" : D16(0), D16(16) : "l"(a), "l"(b), "r"(adds));
}
// Shares, from registers, times values, whose rows are k.
__device__ void multiply(float (&d)[32], const unsigned (&a)[4], u64 b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " REGISTERS
                 ", {%32, %33, %34, %35}, %36, 1, 1, 1, 1;"
                 : D16(0), D16(16) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
__device__ void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N>
__device__ void wait_group() { asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(N) : "memory"); }

extern "C" __global__ void __launch_bounds__(384, 1)
attention(const __grid_constant__ Map q, const __grid_constant__ Map k, const __grid_constant__ Map v, float* o, int length,
          float scale) {
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ u64 full[STAGES], empty[STAGES], queries;
    const int group = threadIdx.x / 128, thread = threadIdx.x % 128, tiles = length / BN;
    unsigned char* const own_queries = memory + 2 * STAGES * TILE;
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) { init(full + s, 1); init(empty + s, 2); }
        init(&queries, 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
        if (thread != 0) return;
        expect(&queries, 2 * TILE);
        load(own_queries, &q, blockIdx.x * 128, &queries);
        load(own_queries + TILE, &q, blockIdx.x * 128 + 64, &queries);
        for (int t = 0; t < tiles; t++) {
            const int s = t % STAGES;
            wait(empty + s, t / STAGES + 1 & 1);
            expect(full + s, 2 * TILE);
            load(memory + 2 * s * TILE, &k, t * BN, full + s);
            load(memory + (2 * s + 1) * TILE, &v, t * BN, full + s);
        }
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    float total[32] = {}, scores[32], largest[2] = {-INFINITY, -INFINITY}, weight[2] = {};
    if (group == 2) asm volatile("bar.arrive 1, 256;" ::: "memory");  // the first turn is the other one's
    wait(&queries, 0);
    const unsigned char* const rows = own_queries + (group - 1) * TILE;
    for (int t = 0; t < tiles; t++) {
        const int s = t % STAGES;
        const unsigned char *keys = memory + 2 * s * TILE, *values = keys + TILE;
        wait(full + s, t / STAGES & 1);
        asm volatile("bar.sync %0, 256;" :: "r"(group) : "memory");
        fence();
        for (int kk = 0; kk < D; kk += 16) multiply(scores, descriptor(rows) + (kk * 2 >> 4), descriptor(keys) + (kk * 2 >> 4), kk);
        commit();
        asm volatile("bar.arrive %0, 256;" :: "r"(3 - group) : "memory");
        wait_group<0>();
        unsigned shares[BN / 16][4];
        for (int half = 0; half < 2; half++) {  // a lane's two rows
            float now = largest[half];
            for (int i = 2 * half; i < 32; i += 4) now = fmaxf(now, fmaxf(scores[i], scores[i + 1]) * scale);
            now = fmaxf(now, __shfl_xor_sync(~0u, now, 1));
            now = fmaxf(now, __shfl_xor_sync(~0u, now, 2));
            const float fade = exp2f(largest[half] - now);
            float sum = 0;
            for (int i = 2 * half; i < 32; i += 4) {
                scores[i] = exp2f(scores[i] * scale - now);
                scores[i + 1] = exp2f(scores[i + 1] * scale - now);
                sum += scores[i] + scores[i + 1];
                total[i] *= fade;
                total[i + 1] *= fade;
                shares[i / 8][half + (i & 4) / 2] = pair(scores[i], scores[i + 1]);
            }
            weight[half] = weight[half] * fade + sum;
            largest[half] = now;
        }
        fence();
        for (int kk = 0; kk < BN; kk += 16) multiply(total, shares[kk / 16], descriptor(values) + (kk * D * 2 >> 4));
        commit();
        wait_group<0>();
        if (thread == 0) arrive(empty + s);
    }
    if (group == 1) asm volatile("bar.sync 1, 256;" ::: "memory");  // the last turn that was given back
    for (int half = 0; half < 2; half++) {
        weight[half] += __shfl_xor_sync(~0u, weight[half], 1);
        weight[half] += __shfl_xor_sync(~0u, weight[half], 2);
        const int row = blockIdx.x * 128 + (group - 1) * 64 + thread / 32 * 16 + thread % 32 / 4 + 8 * half;
        for (int i = 2 * half; i < 32; i += 4) {
            float* to = o + row * D + i / 4 * 8 + thread % 4 * 2;
            to[0] = total[i] / weight[half];
            to[1] = total[i + 1] / weight[half];
        }
    }
}
