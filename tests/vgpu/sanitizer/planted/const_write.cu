// Writes to what may only be read.

__constant__ int kTable[32];

struct Settings {
  int values[32];
};

__device__ int* writable(const int* p) {
  int* q;
  asm("mov.u64 %0, %1;" : "=l"(q) : "l"(p));
  return q;
}

extern "C" __global__ void constant_memory(int* y) {
  writable(kTable)[threadIdx.x] = threadIdx.x;  // BUG: const-write
  y[threadIdx.x] = kTable[threadIdx.x];
}

extern "C" __global__ void kernel_parameter(const __grid_constant__ Settings settings, int* y) {
  writable(settings.values)[threadIdx.x] = 1;  // BUG: const-write
  y[threadIdx.x] = settings.values[threadIdx.x];
}

// The array was handed in as one that may only be read; a cast took the const away.
extern "C" __global__ void read_only_array(const int* x, int* y) {
  y[threadIdx.x] = x[threadIdx.x];
  const_cast<int*>(x)[threadIdx.x] = 0;  // BUG: const-write
}

extern "C" __global__ void read_only_counter(int* counter) {
  atomicAdd(counter, 1);  // BUG: const-write
}
