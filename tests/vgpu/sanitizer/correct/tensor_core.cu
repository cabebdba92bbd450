// Correct: matrix products on tensor cores, from global memory to fragments by hand.
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

// One warp a tile of 16 × 16; fragments straight from global memory.
extern "C" __global__ void wmma_product(const __half* a, const __half* b, float* c, int n) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < n; k += 16) {
    wmma::load_matrix_sync(left, a + blockIdx.y * 16 * n + k, n);
    wmma::load_matrix_sync(right, b + k * n + blockIdx.x * 16, n);
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, sum, n, wmma::mem_row_major);
}

// Attention for one head of 16 queries a warp: scores and probabilities pass through shared memory between two
// products. n keys, 16 dimensions.
extern "C" __global__ void wmma_attention(const __half* q, const __half* k, const __half* v, float* o, int n, float scale) {
  __shared__ float scores[16][16];
  __shared__ __half weights[16][16];
  __shared__ float out[16][16];
  __shared__ float shrink[16];
  const int lane = threadIdx.x;
  q += blockIdx.x * 256;
  o += blockIdx.x * 256;
  for (int i = lane; i < 256; i += 32) out[i / 16][i % 16] = 0;
  float m = -3e38f, l = 0;  // of row `lane`
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> query, p;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> key;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> value;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> s, acc;
  wmma::load_matrix_sync(query, q, 16);
  for (int first = 0; first < n; first += 16) {
    wmma::fill_fragment(s, 0.0f);
    wmma::load_matrix_sync(key, k + first * 16, 16);
    wmma::mma_sync(s, query, key, s);
    wmma::store_matrix_sync(&scores[0][0], s, 16, wmma::mem_row_major);
    __syncwarp();
    if (lane < 16) {
      float larger = m;
      for (int j = 0; j < 16; ++j) larger = fmaxf(larger, scores[lane][j] * scale);
      shrink[lane] = __expf(m - larger);
      l *= shrink[lane];
      for (int j = 0; j < 16; ++j) {
        const float e = __expf(scores[lane][j] * scale - larger);
        l += e;
        weights[lane][j] = __float2half(e);
      }
      m = larger;
    }
    __syncwarp();
    for (int i = lane; i < 256; i += 32) out[i / 16][i % 16] *= shrink[i / 16];
    __syncwarp();
    wmma::load_matrix_sync(p, &weights[0][0], 16);
    wmma::load_matrix_sync(value, v + first * 16, 16);
    wmma::load_matrix_sync(acc, &out[0][0], 16, wmma::mem_row_major);
    wmma::mma_sync(acc, p, value, acc);
    __syncwarp();
    wmma::store_matrix_sync(&out[0][0], acc, 16, wmma::mem_row_major);
    __syncwarp();
  }
  if (lane < 16) {
    for (int d = 0; d < 16; ++d) o[lane * 16 + d] = out[lane][d] / l;
  }
}
