// Naive attention of one head in three kernels, without a mask. q, k, v, o: (n, d), s, p: (n, n), float32.
__global__ void scores(int n, int d, float scale, const float* q, const float* k, float* s) {
  const int i = blockIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= n) return;
  float sum = 0.0f;
  for (int c = 0; c < d; ++c) {
    sum += q[i * d + c] * k[j * d + c];
  }
  s[i * n + j] = scale * sum;
}

// A thread for each row.
__global__ void softmax(int n, const float* s, float* p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float largest = -INFINITY, total = 0.0f;
  for (int j = 0; j < n; ++j) {
    largest = fmaxf(largest, s[i * n + j]);
  }
  for (int j = 0; j < n; ++j) {
    total += expf(s[i * n + j] - largest);
  }
  for (int j = 0; j < n; ++j) {
    p[i * n + j] = expf(s[i * n + j] - largest) / total;
  }
}

__global__ void values(int n, int d, const float* p, const float* v, float* o) {
  const int i = blockIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= d) return;
  float sum = 0.0f;
  for (int j = 0; j < n; ++j) {
    sum += p[i * n + j] * v[j * d + c];
  }
  o[i * d + c] = sum;
}
