// A linear layer: c = x wᵀ, c[i, j] = Σ_p x[i, p] w[j, p]. x: (m, k), w: (n, k), c: (m, n), all row by row; k is a
// multiple of 4. Blocks of 128 threads; block (X, Y) computes the 64 × 64 elements of c at row 64 Y and column 64 X.
constexpr int kTile = 64;
constexpr int kStep = 8;        // two quads of a row
constexpr int kPitch = 64 + 4;  // of a turned tile's rows: four words more, so that stores of a warp meet 32 banks
constexpr int kThreadM = 8, kThreadN = 4;
constexpr int kThreadsN = kTile / kThreadN;

// Four neighbours of row `row`, from column p on; zeros outside of the matrix.
__device__ float4 load_quad(const float* matrix, int rows, int k, int row, int p) {
  return row < rows && p < k ? *reinterpret_cast<const float4*>(matrix + row * k + p) : float4{0, 0, 0, 0};
}

__global__ void linear(int m, int n, int k, const float* x, const float* w, float* c) {
  __shared__ __align__(16) float x_tile[2][kStep][kPitch];  // (copy, step of the sum, row of c): turned
  __shared__ __align__(16) float w_tile[2][kStep][kPitch];  // (copy, step of the sum, column of c): turned
  const int t = threadIdx.x;
  const int block_i = blockIdx.y * kTile, block_j = blockIdx.x * kTile;
  const int row = t / 2, quad = t % 2 * 4;  // what this thread copies of each tile
  const int thread_i = t / kThreadsN * kThreadM, thread_j = t % kThreadsN * kThreadN;  // and what it computes

  float4 of_x, of_w;
  const auto fetch = [&](int p) {
    of_x = load_quad(x, m, k, block_i + row, p + quad);
    of_w = load_quad(w, n, k, block_j + row, p + quad);
  };
  const auto keep = [&](int copy) {
    x_tile[copy][quad + 0][row] = of_x.x;
    x_tile[copy][quad + 1][row] = of_x.y;
    x_tile[copy][quad + 2][row] = of_x.z;
    x_tile[copy][quad + 3][row] = of_x.w;
    w_tile[copy][quad + 0][row] = of_w.x;
    w_tile[copy][quad + 1][row] = of_w.y;
    w_tile[copy][quad + 2][row] = of_w.z;
    w_tile[copy][quad + 3][row] = of_w.w;
  };

  fetch(0);
  keep(0);
  __syncthreads();
  float sum[kThreadM][kThreadN] = {};
  int copy = 0;
  for (int p = 0; p < k; p += kStep) {
    fetch(p + kStep);  // zeros after the last
#pragma unroll
    for (int q = 0; q < kStep; ++q) {
      float column[kThreadM], line[kThreadN];
      *reinterpret_cast<float4*>(&column[0]) = *reinterpret_cast<const float4*>(&x_tile[copy][q][thread_i]);
      *reinterpret_cast<float4*>(&column[4]) = *reinterpret_cast<const float4*>(&x_tile[copy][q][thread_i + 4]);
      *reinterpret_cast<float4*>(&line[0]) = *reinterpret_cast<const float4*>(&w_tile[copy][q][thread_j]);
#pragma unroll
      for (int r = 0; r < kThreadM; ++r) {
#pragma unroll
        for (int s = 0; s < kThreadN; ++s) {
          sum[r][s] += column[r] * line[s];
        }
      }
    }
    copy = 1 - copy;
    keep(copy);
    __syncthreads();
  }

#pragma unroll
  for (int r = 0; r < kThreadM; ++r) {
#pragma unroll
    for (int s = 0; s < kThreadN; ++s) {
      const int i = block_i + thread_i + r, j = block_j + thread_j + s;
      if (i < m && j < n) {
        c[i * n + j] = sum[r][s];
      }
    }
  }
}
