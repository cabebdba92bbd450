// One gradient, dq = ds k, of 32 queries and n keys in tiles of 32, summed in
// two ways. ds: (32, n); k: (n, 32); dq: (32, 32). 32 threads, one a column.
#include <cuda_fp16.h>

// What a tile of keys adds to an element of dq.
__device__ float part(int n, int tile, int query, const float* ds,
                      const float* k) {
  float sum = 0.0f;
  for (int key = tile * 32; key < tile * 32 + 32; ++key) {
    sum += ds[query * n + key] * k[key * 32 + threadIdx.x];
  }
  return sum;
}

// A block has a tile of keys, `order` says which one. dq begins with zeros.
template <class T>
__global__ void adds(int n, const int* order, const float* ds, const float* k,
                     T* dq) {
  for (int query = 0; query < 32; ++query) {
    const T mine = part(n, order[blockIdx.x], query, ds, k);
    atomicAdd(&dq[query * 32 + threadIdx.x], mine);
  }
}

// A block has a query, and all tiles of keys come by.
__global__ void owns(int n, const int* order, const float* ds, const float* k,
                     float* dq) {
  const int query = order[blockIdx.x];
  float sum = 0.0f;
  for (int tile = 0; tile < n / 32; ++tile) {
    sum += part(n, tile, query, ds, k);
  }
  dq[query * 32 + threadIdx.x] = sum;
}
