// Matrix multiplication, rung 1: one thread, one element of the result; neighbours in a column.
//
//   maths    out[i, j] = Σ_p a[i, p] b[p, j]
//   layout   a: (m, k), b: (k, n), out: (m, n), row-major
//   cost     2 m n k FLOPs; at least sizeof(T) (m k + k n + m n) bytes. Here every thread loads two numbers for two
//            FLOPs: 0.25 FLOP per byte asked of the L1 in float
//   idea     the definition, as it stands: a thread walks along a row of a and down a column of b. The mistake is on
//            purpose: threadIdx.x, in which neighbours differ, counts rows. The 32 lanes of a warp read 32 rows of a,
//            k elements apart: 32 sectors where 4 would do, and they write as scattered.

template <class T, int kTile = 32>  // a block computes kTile × kTile elements
__global__ void __launch_bounds__(kTile* kTile)
    matmul_naive(int m, int n, int k, const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ out) {
  const int tiles_n = (n + kTile - 1) / kTile;
  const int i = blockIdx.x / tiles_n * kTile + threadIdx.x;
  const int j = blockIdx.x % tiles_n * kTile + threadIdx.y;
  if (i >= m || j >= n) {
    return;
  }
  T sum = 0;
  for (int p = 0; p < k; ++p) {
    sum += a[i * (long long)k + p] * b[p * (long long)n + j];
  }
  out[i * (long long)n + j] = sum;
}
