// The blocks of four launches. No attention is computed: a block that would have work stores a number,
// and in `causal` it loads one for each tile of keys that it would go through.

// Grid as of run_flash_fwd: tiles of 128 queries, sequences, heads.
__global__ void forward(int queries, int* out) {
  const int first = blockIdx.x * 128;
  if (first < queries && threadIdx.x == 0) out[0] = first;
}

// The same for sequences of these lengths, one after the other: the grid goes by the longest one.
__global__ void packed(int* out) {
  const int lengths[3] = {100, 300, 1000};
  const int first = blockIdx.x * 128;
  if (first >= lengths[blockIdx.y]) return;
  if (threadIdx.x == 0) out[0] = first;
}

// Causal, as many queries as keys: tiles of 128 queries and 64 keys.
__global__ void causal(int keys, const int* tiles, int* out) {
  const int last_query = blockIdx.x * 128 + 127;
  const int seen = min((last_query + 64) / 64, (keys + 63) / 64);
  int sum = 0;
  for (int tile = 0; tile < seen; ++tile) {
    if (threadIdx.x == 0) sum += tiles[tile];
  }
  if (threadIdx.x == 0) out[0] = sum;
}

// Keys in several parts: tiles of queries, parts, sequences times heads.
__global__ void split(int* out) {
  if (threadIdx.x == 0) out[0] = blockIdx.y;
}
