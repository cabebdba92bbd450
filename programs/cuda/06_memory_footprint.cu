// Where a GPU's memory goes: what cudaMemGetInfo says before and after each allocation, and what a kernel itself uses:
// registers, shared memory, and local memory of every thread that can be resident.
//
//   flashpath run 06_memory_footprint.cu [-- MEGABYTES]
#include <cstring>

#include "check.cuh"

// An array that is indexed by data cannot stay in registers: every thread gets it in local memory.
__global__ void with_local_array(int n, const int* in, int* out) {
  int counts[64] = {};
  for (int i = threadIdx.x; i < n; i += blockDim.x) ++counts[in[i] & 63];
  for (int bin = 0; bin < 64; ++bin) atomicAdd(&out[bin], counts[bin]);
}

// The same in shared memory, where the block has one array.
__global__ void with_shared_array(int n, const int* in, int* out) {
  __shared__ int counts[64];
  if (threadIdx.x < 64) counts[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&counts[in[i] & 63], 1);
  __syncthreads();
  if (threadIdx.x < 64) out[threadIdx.x] += counts[threadIdx.x];
}

std::size_t used() {
  std::size_t free, total;
  CHECK(cudaMemGetInfo(&free, &total));
  return total - free;
}

using Kernel = void (*)(int, const int*, int*);

// What a kernel uses, and what that comes to; returns whether it counts right.
bool show(const char* name, Kernel kernel, int n, const int* in, int* out, const cudaDeviceProp& gpu) {
  cudaFuncAttributes its;
  CHECK(cudaFuncGetAttributes(&its, reinterpret_cast<const void*>(kernel)));
  int blocks;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 256, 0));
  const double local = double(its.localSizeBytes) * blocks * 256 * gpu.multiProcessorCount;
  std::printf("%-18s %3d registers a thread, %4zu B shared, %4zu B local a thread; %d blocks of 256 per SM\n", name,
              its.numRegs, its.sharedSizeBytes, its.localSizeBytes, blocks);
  std::printf("%-18s %.1f MB of local memory if all of them run at once\n", "", local / 1e6);

  CHECK(cudaMemset(out, 0, 64 * sizeof(int)));
  kernel<<<1, 256>>>(n, in, out);
  CHECK(cudaGetLastError());
  int counts[64];
  CHECK(cudaMemcpy(counts, out, sizeof(counts), cudaMemcpyDeviceToHost));
  for (int bin = 0; bin < 64; ++bin) {
    if (counts[bin] != n / 64) return false;
  }
  return true;
}

int main(int argc, char** argv) {
  const long long megabytes = argc > 1 ? std::atoll(argv[1]) : 64;
  if (megabytes < 1 || argc > 2) {
    std::fprintf(stderr, "usage: %s [MEGABYTES]\n", argv[0]);
    return 2;
  }
  cudaDeviceProp gpu;
  CHECK(cudaGetDeviceProperties(&gpu, 0));
  std::size_t free, total;
  CHECK(cudaMemGetInfo(&free, &total));
  std::printf("%s: %.2f of %.2f GB free\n\n", gpu.name, free / 1e9, total / 1e9);

  const std::size_t bytes = megabytes << 20;
  const std::size_t before = used();
  void* block = nullptr;
  const cudaError_t allocated = cudaMalloc(&block, bytes);
  if (allocated == cudaErrorMemoryAllocation) {
    std::fprintf(stderr, "%lld MiB are more than there is: %s\n", megabytes, cudaGetErrorString(allocated));
    return 1;
  }
  CHECK(allocated);
  const std::size_t with_block = used();
  std::printf("cudaMalloc of %10zu B takes %10zu B\n", bytes, with_block - before);
  void* byte;
  CHECK(cudaMalloc(&byte, 1));
  std::printf("cudaMalloc of %10d B takes %10zu B\n", 1, used() - with_block);
  CHECK(cudaFree(byte));
  CHECK(cudaFree(block));
  std::printf("after cudaFree of both %10zu B are taken\n", used() - before);
  if (is_virtual()) {
    std::printf("A GPU has a context of some hundred MB, and gives memory by 2 MiB; the virtual one models neither.\n");
  }
  std::printf("\n");

  const int n = 64 * 1024;
  int *in, *out;
  CHECK(cudaMalloc(&in, n * sizeof(int)));
  CHECK(cudaMalloc(&out, 64 * sizeof(int)));
  int* values = static_cast<int*>(std::malloc(n * sizeof(int)));
  for (int i = 0; i < n; ++i) values[i] = i * 7;  // 7 and 64 have no common factor: every bin gets n / 64
  CHECK(cudaMemcpy(in, values, n * sizeof(int), cudaMemcpyHostToDevice));
  std::free(values);
  const bool local_is_right = show("in local memory", with_local_array, n, in, out, gpu);
  const bool shared_is_right = show("in shared memory", with_shared_array, n, in, out, gpu);
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));

  const bool is_right = with_block - before >= bytes && local_is_right && shared_is_right;
  std::printf("\n%s\n", is_right ? "all counts are right" : "WRONG: counts or sizes do not add up");
  return !is_right;
}
