// The scores of one token's query heads with all keys, a thread for each: a step of decoding.
// q: (heads, 32), k: (keys, kv_heads, 32), s: (heads, keys), float32. heads / kv_heads query heads share a key head.
__global__ void heads_of_a_token(int heads, int kv_heads, int keys, float scale, const float* q, const float* k,
                                 float* s) {
  const int head = blockIdx.y;
  const int key = blockIdx.x * blockDim.x + threadIdx.x;
  if (key >= keys) return;
  const float* k_row = k + (key * kv_heads + head * kv_heads / heads) * 32;
  float sum = 0.0f;
  for (int c = 0; c < 32; ++c) {
    sum += q[head * 32 + c] * k_row[c];
  }
  s[head * keys + key] = scale * sum;
}
