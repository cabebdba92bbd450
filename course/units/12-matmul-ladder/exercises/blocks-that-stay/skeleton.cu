// c = a b, tall: a: (m, k) with many rows, b: (k, n) with k <= 64 and n <= 32, c: (m, n), all row by row.
// A few blocks of 32 × 8 threads; an item of work is 8 rows of c, and there are more items than blocks.
constexpr int kRows = 8;      // of an item
constexpr int kColumns = 32;  // n at most
constexpr int kDepth = 64;    // k at most
constexpr int kThreads = kRows * kColumns;

__global__ void tall(int m, int n, int k, const float* a, const float* b, float* c) {
  __shared__ float a_rows[kRows * kDepth];
  __shared__ float b_whole[kDepth][kColumns];
  const int x = threadIdx.x, y = threadIdx.y, t = y * kColumns + x;

  // TODO: this is right where there is a block for each item. Here there are fewer: let the blocks stay.
  const int item = blockIdx.x;
  for (int p = y; p < k; p += kRows) {
    b_whole[p][x] = x < n ? b[p * n + x] : 0.0f;
  }
  for (int place = t; place < kRows * k; place += kThreads) {  // 8 whole rows: neighbours in memory
    a_rows[place] = item * kRows * k + place < m * k ? a[item * kRows * k + place] : 0.0f;
  }
  __syncthreads();  // a_rows and b_whole are whole
  float sum = 0.0f;
  for (int p = 0; p < k; ++p) {
    sum += a_rows[y * k + p] * b_whole[p][x];
  }
  const int i = item * kRows + y;
  if (i < m && x < n) {
    c[i * n + x] = sum;
  }
}
