// Matrix multiplication, rung 2: one thread, one element of the result; neighbours in a row.
//
//   maths    out[i, j] = Σ_p a[i, p] b[p, j]
//   layout   a: (m, k), b: (k, n), out: (m, n), row-major
//   cost     2 m n k FLOPs; at least sizeof(T) (m k + k n + m n) bytes. Still two loads for two FLOPs, 0.25 FLOP per
//            byte asked of the L1; from the L2 come a block's 32 rows and 32 columns, once each if the L1 keeps them:
//            8 FLOP per byte
//   improves naive: threadIdx.x and threadIdx.y have changed places, and nothing else
//   idea     neighbouring threads take neighbouring columns: a warp reads 32 neighbours of b, which are 4 whole
//            sectors, and one element of a, which goes to all lanes at once.

template <class T, int kTile = 32>  // a block computes kTile × kTile elements
__global__ void __launch_bounds__(kTile* kTile)
    matmul_coalesced(int m, int n, int k, const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ out) {
  const int tiles_n = (n + kTile - 1) / kTile;
  const int i = blockIdx.x / tiles_n * kTile + threadIdx.y;
  const int j = blockIdx.x % tiles_n * kTile + threadIdx.x;
  if (i >= m || j >= n) {
    return;
  }
  T sum = 0;
  for (int p = 0; p < k; ++p) {
    sum += a[i * (long long)k + p] * b[p * (long long)n + j];
  }
  out[i * (long long)n + j] = sum;
}
