// Scores of attention: s[i, j] = scale · Σ_p q[i, p] k[j, p]. q: (m, d), k: (n, d), s: (m, n), all row by row;
// m, n and d are multiples of 16. A block is one warp; block (X, Y) computes the 16 × 16 scores at (16 Y, 16 X).
#include <mma.h>

namespace wmma = nvcuda::wmma;

__global__ void scores(int m, int n, int d, float scale, const __half* q, const __half* k, float* s) {
  const int i = blockIdx.y * 16, j = blockIdx.x * 16;
  // TODO: three fragments: of q, of k, and the sums in float. Which of the two layouts turns a row of k into a column?
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  // TODO: for each 16 columns of q and k: load, load, multiply. Then scale the sums.
  wmma::store_matrix_sync(s + i * n + j, sum, n, wmma::mem_row_major);
}
