// Accesses whose address is no multiple of their width.

extern "C" __global__ void four_from_the_second(const float* x, float* y) {
  const float4 four = *reinterpret_cast<const float4*>(x + 1 + 4 * threadIdx.x);  // BUG: misaligned
  y[threadIdx.x] = four.x + four.y + four.z + four.w;
}

extern "C" __global__ void pair_at_any_index(float* x, const int* index) {
  *reinterpret_cast<float2*>(x + index[threadIdx.x]) = make_float2(1, 2);  // BUG: misaligned
}

// A header of one byte before words.
extern "C" __global__ void word_after_a_byte(const unsigned char* message, int* y) {
  const unsigned char* at = message + 1;
  y[threadIdx.x] = *reinterpret_cast<const int*>(at + 4 * threadIdx.x);  // BUG: misaligned
}

// Rows of 33 floats begin at multiples of 4 bytes, not of 16.
extern "C" __global__ void padded_rows(const float* x, float* y) {
  __shared__ __align__(16) float tile[4][33];
  for (int row = 0; row < 4; ++row) tile[row][threadIdx.x] = x[row * 32 + threadIdx.x];
  __syncthreads();
  if (threadIdx.x < 4) {
    const float4 four = *reinterpret_cast<const float4*>(&tile[threadIdx.x][0]);  // BUG: misaligned
    y[threadIdx.x] = four.x + four.y + four.z + four.w;
  }
}

extern "C" __global__ void long_counter(unsigned* words) {
  atomicAdd(reinterpret_cast<unsigned long long*>(words + 1), 1ull);  // BUG: misaligned
}

extern "C" __global__ void copy_of_sixteen(const float* x, float* y) {
  __shared__ __align__(16) float tile[36];
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&tile[4 * threadIdx.x]));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(x + 4 * threadIdx.x + 2));  // BUG: misaligned
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x];
}
