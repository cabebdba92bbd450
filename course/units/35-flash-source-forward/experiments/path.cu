// A tile of v, 64 keys of 64 halves, on its way to the fragments of P V: three ways for a block of four warps. Each
// warp has queries of its own and needs the whole tile. `out` gets a checksum, so that no load is left out.
#include <cuda_fp16.h>

constexpr int kKeys = 64, kDim = 64, kChunks = kDim / 8;  // a chunk: 16 bytes

// Straight from global memory: of 8 keys and 8 columns lane l has keys 2 (l % 4) and the next one, column l / 4.
__global__ void direct(const __half* v, unsigned* out) {
  const int lane = threadIdx.x % 32;
  unsigned sum = 0;
  for (int key = 0; key < kKeys; key += 8) {
    for (int column = 0; column < kDim; column += 8) {
      const __half* pair = v + (key + lane % 4 * 2) * kDim + column + lane / 4;
      sum ^= __half_as_ushort(pair[0]) | __half_as_ushort(pair[kDim]) << 16;
    }
  }
  out[threadIdx.x] = sum;
}

__device__ unsigned address_of(const void* shared) { return static_cast<unsigned>(__cvta_generic_to_shared(shared)); }

// Where chunk c of a key's row lies in shared memory.
template <bool kSwizzled>
__device__ int place(int key, int chunk) {
  return key * kDim + (kSwizzled ? chunk ^ key % 8 : chunk) * 8;
}

// Through shared memory: 16 bytes a thread along the rows, once for all warps; then four pieces of 8 × 8 at a time,
// transposed by ldmatrix.
template <bool kSwizzled>
__device__ void through_shared(const __half* v, unsigned* out) {
  __shared__ __align__(128) __half tile[kKeys * kDim];
  for (int i = threadIdx.x; i < kKeys * kChunks; i += blockDim.x) {
    const int key = i / kChunks, chunk = i % kChunks;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address_of(tile + place<kSwizzled>(key, chunk))),
                 "l"(v + key * kDim + chunk * 8));
  }
  asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  const int lane = threadIdx.x % 32;
  unsigned sum = 0;
  for (int key = 0; key < kKeys; key += 16) {
    for (int chunk = 0; chunk < kChunks; chunk += 2) {
      unsigned r[4];
      const unsigned at = address_of(tile + place<kSwizzled>(key + lane % 16, chunk + lane / 16));
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                   : "r"(at));
      sum ^= r[0] ^ r[1] ^ r[2] ^ r[3];
    }
  }
  out[threadIdx.x] = sum;
}

__global__ void rows_as_they_are(const __half* v, unsigned* out) { through_shared<false>(v, out); }
__global__ void swizzled(const __half* v, unsigned* out) { through_shared<true>(v, out); }
