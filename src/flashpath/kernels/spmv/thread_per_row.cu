// SpMV, rung 1: one thread, one row.
//
//   maths    y[r] = Σ val[j] x[col[j]] for row_ptr[r] <= j < row_ptr[r + 1]
//   layout   CSR: row_ptr (rows + 1), col and val (nnz), row by row; x (cols), y (rows)
//   cost     2 nnz FLOPs; at least nnz (4 + 4) + 4 (2 rows + cols) bytes for floats and 32-bit indices
//   idea     rows are independent, so each is a thread's own loop: the formula as it stands.
//   watch    neighbouring threads read entries that lie a row apart, so a warp's load touches up to 32 sectors of
//            32 bytes and uses 4 bytes of each at a time; only the L1 cache keeps the rest for the next steps. And a
//            warp takes as long as its longest row, the whole matrix as long as the longest of all.
#include "../common/numbers.cuh"

template <class T, class Index>
__global__ void spmv(long long rows, const Index* __restrict__ row_ptr, const Index* __restrict__ col,
                     const T* __restrict__ val, const T* __restrict__ x, T* y) {
  const long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (row < rows) {
    const Index end = row_ptr[row + 1];
    decltype(widen(*val)) sum = 0;
    for (Index j = row_ptr[row]; j < end; ++j) {
      sum += widen(val[j]) * widen(x[col[j]]);
    }
    y[row] = narrow<T>(sum);
  }
}
