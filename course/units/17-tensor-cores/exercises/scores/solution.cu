// Scores of attention: s[i, j] = scale · Σ_p q[i, p] k[j, p]. q: (m, d), k: (n, d), s: (m, n), all row by row;
// m, n and d are multiples of 16. A block is one warp; block (X, Y) computes the 16 × 16 scores at (16 Y, 16 X).
#include <mma.h>

namespace wmma = nvcuda::wmma;

__global__ void scores(int m, int n, int d, float scale, const __half* q, const __half* k, float* s) {
  const int i = blockIdx.y * 16, j = blockIdx.x * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> of_q;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> of_k;  // a row of k is a column of its transpose
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int p = 0; p < d; p += 16) {
    wmma::load_matrix_sync(of_q, q + i * d + p, d);
    wmma::load_matrix_sync(of_k, k + j * d + p, d);
    wmma::mma_sync(sum, of_q, of_k, sum);
  }
  for (int e = 0; e < sum.num_elements; ++e) {
    sum.x[e] *= scale;  // whichever element it is
  }
  wmma::store_matrix_sync(s + i * n + j, sum, n, wmma::mem_row_major);
}
