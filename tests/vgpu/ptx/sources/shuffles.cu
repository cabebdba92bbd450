extern "C" __global__ void reduce(const float* in, float* out, unsigned* masks) {
  float sum = in[threadIdx.x];
#pragma unroll
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xFFFFFFFFu, sum, step);
  if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = sum;
  masks[0] = __ballot_sync(0xFFFFFFFFu, sum > 1.0f);
  masks[1] = __activemask() + __popc(masks[3]) + __ffs(masks[4]) + __brev(masks[5]);
  masks[2] = __all_sync(0xFFFFFFFFu, sum > 2.0f) | __any_sync(0xFFu, sum > 3.0f);
  masks[6] = __match_any_sync(0xFFFFFFFFu, masks[7]);
}
