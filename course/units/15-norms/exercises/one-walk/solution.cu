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
  of.count += 1.0f;
  const float distance = x - of.mean;
  of.mean += distance / of.count;
  of.m2 += distance * (x - of.mean);
}

// Both parts together; either may be empty.
__device__ void merge(Moments& of, const Moments& other) {
  const float count = of.count + other.count;
  const float share = other.count / fmaxf(count, 1.0f);
  const float distance = other.mean - of.mean;
  of.mean += distance * share;
  of.m2 += other.m2 + distance * distance * of.count * share;
  of.count = count;
}

__global__ void layer_norm(int cols, const float* x, const float* weight, const float* bias, float eps, float* out) {
  __shared__ Moments of_warp[kWarps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const float* row = x + blockIdx.x * cols;

  Moments own;
  for (int c = threadIdx.x; c < cols; c += kThreads) {
    append(own, row[c]);
  }
  for (int distance = 16; distance > 0; distance /= 2) {
    Moments other;
    other.count = __shfl_down_sync(0xffffffff, own.count, distance);
    other.mean = __shfl_down_sync(0xffffffff, own.mean, distance);
    other.m2 = __shfl_down_sync(0xffffffff, own.m2, distance);
    merge(own, other);
  }
  if (lane == 0) {
    of_warp[warp] = own;
  }
  __syncthreads();
  Moments all;
  for (int w = 0; w < kWarps; ++w) {  // every thread for itself
    merge(all, of_warp[w]);
  }

  const float scale = rsqrtf(all.m2 / cols + eps);
  for (int c = threadIdx.x; c < cols; c += kThreads) {
    out[blockIdx.x * cols + c] = (row[c] - all.mean) * scale * weight[c] + bias[c];
  }
}
