// Everything is global, as in a script: arrays of the host, pointers of the device, __device__ counters, and an object
// whose constructor allocates before main begins and whose destructor frees after it has ended.
#include <cstdio>

const int N = 1024;
float h_in[N], h_out[N];
float *d_in, *d_out;
__device__ int touched = 0;
__constant__ float scale = 0.5f;

struct Scratch {
  int* flags = nullptr;
  Scratch() { cudaMalloc(&flags, N * sizeof(int)); }
  ~Scratch() { cudaFree(flags); }
} scratch;

__global__ void scale_all(const float* in, float* out, int* flags) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] * scale;
  flags[i] = 1;
  atomicAdd(&touched, 1);
}

__global__ void count_flags(const int* flags, int* total) { atomicAdd(total, flags[threadIdx.x]); }

void setup() {
  for (int i = 0; i < N; ++i) h_in[i] = static_cast<float>(i);
  cudaMalloc(&d_in, sizeof h_in);
  cudaMalloc(&d_out, sizeof h_out);
  cudaMemcpy(d_in, h_in, sizeof h_in, cudaMemcpyHostToDevice);
}

int main() {
  setup();
  scale_all<<<N / 128, 128>>>(d_in, d_out, scratch.flags);
  cudaMemcpy(h_out, d_out, sizeof h_out, cudaMemcpyDeviceToHost);
  int count = 0;
  cudaMemcpyFromSymbol(&count, touched, sizeof count);
  cudaMemset(d_out, 0, sizeof(int));
  count_flags<<<1, N>>>(scratch.flags, reinterpret_cast<int*>(d_out));
  int flags = 0;
  cudaMemcpy(&flags, d_out, sizeof flags, cudaMemcpyDeviceToHost);
  std::printf("%g %g %g, %d threads, %d flags\n", h_out[1], h_out[2], h_out[N - 1], count, flags);
  cudaFree(d_in);
  cudaFree(d_out);
}
