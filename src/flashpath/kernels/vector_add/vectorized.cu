// Vector addition, rung 3: 16-byte accesses.
//
//   maths    c[i] = a[i] + b[i]
//   layout   a, b, c: (n), contiguous
//   cost     n FLOPs; at least 3 n sizeof(T) bytes
//   improves one_per_thread: a quarter of the memory instructions for float, an eighth for half
//   idea     a thread moves kWidth elements with one instruction, so fewer instructions keep the same number
//            of bytes in flight. kWidth * sizeof(T) is 16 where all three pointers are 16-byte aligned; the
//            host picks a narrower instance for a slice that starts in between.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T, int kWidth>
struct alignas(kWidth * sizeof(T)) Pack {
  T value[kWidth];
};

template <class T, int kWidth>
__global__ void vector_add(long long n, const T* a, const T* b, T* c) {
  static_assert(kWidth * sizeof(T) <= 16, "no memory instruction is wider than 16 bytes");
  using P = Pack<T, kWidth>;
  const long long packs = n / kWidth;
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;

  if (i < packs) {
    const P x = reinterpret_cast<const P*>(a)[i];  // (kWidth)
    const P y = reinterpret_cast<const P*>(b)[i];
    P z;
#pragma unroll
    for (int k = 0; k < kWidth; ++k) {
      z.value[k] = x.value[k] + y.value[k];
    }
    reinterpret_cast<P*>(c)[i] = z;
  }

  // What does not fill a pack: the first threads take one element each.
  const long long tail = packs * kWidth + i;
  if (tail < n) {
    c[tail] = a[tail] + b[tail];
  }
}
