extern "C" __global__ void tally(int* counts, float* sum, unsigned long long* wide, double* big, const int* keys) {
  __shared__ int local[64];
  const int key = keys[threadIdx.x];
  atomicAdd(&local[key & 63], 1);
  atomicAdd(sum, 0.5f);
  atomicAdd(big, 0.25);
  atomicMax(counts + 1, key);
  atomicCAS(wide, 5ull, 6ull);
  counts[2] = atomicExch(counts + 3, key);
  atomicAnd(counts + 4, key);
  __threadfence();
  atomicInc(reinterpret_cast<unsigned*>(counts + 5), 7u);
}
