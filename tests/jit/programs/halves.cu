__device__ int calls;

__device__ float half_of(float x) {
  atomicAdd(&calls, 1);
  return x / 2;
}

int calls_so_far() {
  int count = 0;
  cudaMemcpyFromSymbol(&count, calls, sizeof(count));
  return count;
}
