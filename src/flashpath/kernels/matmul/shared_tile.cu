// Matrix multiplication, rung 3: tiles in shared memory.
//
//   maths    out[i, j] = Σ_p a[i, p] b[p, j], the sum in steps of kTile
//   layout   a: (m, k), b: (k, n), out: (m, n), row-major
//   cost     2 m n k FLOPs; at least sizeof(T) (m k + k n + m n) bytes. From the L2 a block reads 2 kTile² elements for
//            2 kTile³ FLOPs: 8 FLOP per byte in float, whatever the L1 keeps. Of shared memory it still asks two
//            loads for two FLOPs
//   improves coalesced: what the L1 may keep or lose is kept for certain, and no load waits for the L2 but those of
//            the tiles
//   idea     a block that computes kTile × kTile elements needs kTile rows of a and kTile columns of b, each element
//            kTile times. It copies them to shared memory, kTile × kTile at a time, and adds up from there. What lies
//            outside the matrices is 0 there, so that the sum needs no bounds.

template <class T, int kTile = 32>
__global__ void __launch_bounds__(kTile* kTile, 2)
    matmul_shared_tile(int m, int n, int k, const T* __restrict__ a,
                       const T* __restrict__ b, T* __restrict__ out) {
  __shared__ T a_tile[kTile][kTile];
  __shared__ T b_tile[kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y;
  const int tiles_n = (n + kTile - 1) / kTile;
  const int i = blockIdx.x / tiles_n * kTile + y;
  const int j = blockIdx.x % tiles_n * kTile + x;

  T sum = 0;
  for (int p = 0; p < k; p += kTile) {
    a_tile[y][x] = i < m && x < k - p ? a[i * (long long)k + p + x] : T(0);
    b_tile[y][x] = y < k - p && j < n ? b[(p + y) * (long long)n + j] : T(0);
    __syncthreads();  // the tiles are there
    for (int q = 0; q < kTile; ++q) {
      sum += a_tile[y][q] * b_tile[q][x];  // a broadcast; 32 neighbours
    }
    __syncthreads();  // nobody reads them any more
  }
  if (i < m && j < n) {
    out[i * (long long)n + j] = sum;
  }
}
