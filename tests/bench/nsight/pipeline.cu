// Four kernels, two streams, copies, a fill; reads how often each stage runs from standard input.
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace stages {

template <typename T>
__global__ void scale(int n, T factor, T* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor;
}

// Reads rows and writes columns.
__global__ void transpose(int side, const float* in, float* out) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  out[x * side + y] = in[y * side + x];
}

}  // namespace stages

// A column of shared memory: every lane in the same bank.
__global__ void __launch_bounds__(256) conflicts(float* out) {
  __shared__ float tile[8][32 * 32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float sum = 0;
  for (int round = 0; round < 64; ++round) {
    tile[warp][lane * 32 + round % 32] = sum + lane;
    __syncthreads();
    sum += tile[7 - warp][lane * 32 + (round + 1) % 32];
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void total(int n, const float* x, float* sum) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(sum, x[i]);
}

int main(int argc, char** argv) {
  const int side = argc > 1 ? std::atoi(argv[1]) : 128;
  int rounds = 0;
  if (std::scanf("%d", &rounds) != 1) {
    std::fprintf(stderr, "how many rounds?\n");
    return 2;
  }
  const int n = side * side;
  const std::size_t bytes = n * sizeof(float);
  std::vector<float> host(n, 1.0f);
  float *a, *b, *sum;
  cudaMalloc(&a, bytes);
  cudaMalloc(&b, bytes);
  cudaMalloc(&sum, sizeof(float));
  cudaStream_t streams[2];
  for (cudaStream_t& stream : streams) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaMemcpy(a, host.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(b, a, bytes, cudaMemcpyDeviceToDevice);
  cudaDeviceSynchronize();
  for (int round = 0; round < rounds; ++round) {
    stages::scale<float><<<(n + 255) / 256, 256, 0, streams[0]>>>(n, 2.0f, a);
    stages::scale<double><<<(n / 2 + 255) / 256, 256, 0, streams[1]>>>(n / 2, 1.0, reinterpret_cast<double*>(b));
  }
  cudaDeviceSynchronize();
  stages::transpose<<<dim3(side / 32, side / 8), dim3(32, 8)>>>(side, a, b);
  conflicts<<<n / 256, 256>>>(a);
  cudaMemset(sum, 0, sizeof(float));
  total<<<16, 256>>>(n, b, sum);
  float result = 0;
  cudaMemcpy(&result, sum, sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%d rounds: the sum is %.0f\n", rounds, result);
  return 3;
}
