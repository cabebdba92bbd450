extern "C" __global__ void permute(const int* order, float* out, int n) {
  float kept[32];
  for (int i = 0; i < 32; ++i) kept[i] = out[i * n];
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += kept[order[i] & 31] * kept[(order[i] >> 5) & 31];
  out[threadIdx.x] = sum;
}
