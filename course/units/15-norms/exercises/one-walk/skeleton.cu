// out = (x - mean) / sqrt(variance + eps) * weight + bias, of each row; variance: the mean of (x - mean)².
// x, out: (rows, cols), row by row; weight, bias: (cols). A block of 256 threads for each row.
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

struct Moments {
  float count = 0.0f;
  float mean = 0.0f;
  float m2 = 0.0f;  // the sum of (element - mean)²
};

// One element more.
__device__ void append(Moments& of, float x) {
  // TODO
}

// Both parts together; either may be empty.
__device__ void merge(Moments& of, const Moments& other) {
  // TODO
}

__global__ void layer_norm(int cols, const float* x, const float* weight, const float* bias, float eps, float* out) {
  const float* row = x + blockIdx.x * cols;

  Moments own;
  for (int c = threadIdx.x; c < cols; c += kThreads) {
    append(own, row[c]);
  }
  // TODO: merge those of the warp by shuffles, three for each step; then those of the warps, through shared memory.
  const Moments all = own;

  const float scale = rsqrtf(all.m2 / cols + eps);
  for (int c = threadIdx.x; c < cols; c += kThreads) {
    out[blockIdx.x * cols + c] = (row[c] - all.mean) * scale * weight[c] + bias[c];
  }
}
