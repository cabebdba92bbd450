// A sum of four products; the factors lie in constant memory, which the host may change between launches.
__constant__ float factor[4] = {0.5f, 1.0f, 2.0f, 4.0f};

__global__ void constant_factors(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const float own = x[i];
    float sum = 0.0f;
#pragma unroll 1
    for (int k = 0; k < 4; ++k) sum += factor[k] * (own + k);
    y[i] = sum;
  }
}

// Each thread fills an array of its own, and takes the element that its data name.
__global__ void own_array(int n, const int* which, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float row[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) row[k] = 0.5f * (i + k);
    y[i] = row[which[i] & 3];
  }
}

// The same array, and the element that it takes is the last.
__global__ void last_of_array(int n, const int* which, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float row[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) row[k] = 0.5f * (i + k);
    y[i] = row[3] + which[i];
  }
}
