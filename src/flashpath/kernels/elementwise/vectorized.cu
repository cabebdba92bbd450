// Elementwise operations, rung 3: 16-byte accesses, several in flight.
//
//   maths    out[i] = f(x[i]), or f(x[i], y[i]); gated: out[r, c] = act(x[r, c]) * x[r, d + c]
//   layout   x, y, out: (n), contiguous; gated: x (rows, 2 d), out (rows, d), contiguous
//   cost     1 to about 25 FLOPs an element; at least 2 n sizeof(T) bytes, 3 n with two inputs or halves
//   improves grid_stride: an eighth of the memory instructions for half types, a quarter for float, and no
//            load waits for the one before it.
//   idea     a thread moves packs of kWidth elements with one instruction. It loads kPacks of each input before
//            it uses the first: two of two inputs, one of one, since more of one were slower. A block
//            owns a tile of kPacks * blockDim.x packs, so that all its accesses stay close together; it stores
//            them as streams, which are not read again.
//            kWidth * sizeof(T) is 16 where all pointers are 16-byte aligned; the host picks a narrower
//            instance for a slice that starts in between, or for gated rows of odd length.
#include "../common/pack.cuh"
#include "operations.cuh"
#include "packed_rows.cuh"

template <class Operation, class T, int kWidth>
__device__ Pack<T, kWidth> apply_to_pack(Pack<T, kWidth> x, Pack<T, kWidth> y, Scalars<Compute<T>> scalars) {
  using C = Compute<T>;
  Pack<T, kWidth> out;
#pragma unroll
  for (int k = 0; k < kWidth; ++k) {
    out.value[k] = T(Operation::apply(C(x.value[k]), C(y.value[k]), scalars));
  }
  return out;
}

// No pointer is __restrict__, so that out may be x: every load below comes before the thread's first store.
template <class T, int kWidth, int kPacks, class Operation>
__global__ void map(long long n, const T* x, const T* y, T* out, Compute<T> first, Compute<T> second) {
  using C = Compute<T>;
  using P = Pack<T, kWidth>;
  const Scalars<C> scalars{first, second};
  const long long packs = n / kWidth;
  const long long start = blockIdx.x * (long long)blockDim.x * kPacks + threadIdx.x;

  P a[kPacks], b[kPacks];
#pragma unroll
  for (int p = 0; p < kPacks; ++p) {
    const long long i = start + p * blockDim.x;
    if (i < packs) {
      a[p] = reinterpret_cast<const P*>(x)[i];
      b[p] = Operation::kReadsY ? reinterpret_cast<const P*>(y)[i] : a[p];
    }
  }
#pragma unroll
  for (int p = 0; p < kPacks; ++p) {
    const long long i = start + p * blockDim.x;
    if (i < packs) {
      write_once(out + i * kWidth, apply_to_pack<Operation>(a[p], b[p], scalars));
    }
  }

  // What does not fill a pack: the first threads of the grid take one element each.
  const long long tail = packs * kWidth + threadIdx.x;
  if (blockIdx.x == 0 && tail < n) {
    const C last = Operation::kReadsY ? C(y[tail]) : C(0);
    out[tail] = T(Operation::apply(C(x[tail]), last, scalars));
  }
}

// d is a multiple of kWidth: then no pack straddles two rows, and none is left over. row_step, column_step:
// blockDim.x packs, divided by the packs of a row: quotient and remainder. reciprocal: 2^64 / packs of a row.
template <class T, int kWidth, int kPacks, class Operation>
__global__ void gate(long long n, long long d, const T* x, T* out, long long row_step, long long column_step,
                     unsigned long long reciprocal) {
  using P = Pack<T, kWidth>;
  const P* halves = reinterpret_cast<const P*>(x);  // (rows, 2, row_packs)
  const long long packs = n / kWidth;
  const long long row_packs = d / kWidth;
  const long long start = blockIdx.x * (long long)blockDim.x * kPacks + threadIdx.x;

  PackedRow place(start, row_packs, reciprocal);
  P a[kPacks], b[kPacks];
#pragma unroll
  for (int p = 0; p < kPacks; ++p) {
    const long long i = start + p * blockDim.x;
    if (i < packs) {
      const long long at = i + place.row * row_packs;  // row * 2 row_packs + column
      a[p] = halves[at];
      b[p] = halves[at + row_packs];
    }
    place.advance(row_step, column_step);
  }
#pragma unroll
  for (int p = 0; p < kPacks; ++p) {
    const long long i = start + p * blockDim.x;
    if (i < packs) {
      write_once(out + i * kWidth, apply_to_pack<Operation>(a[p], b[p], {}));
    }
  }
}
