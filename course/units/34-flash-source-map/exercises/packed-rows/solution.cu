// Packs the sequences of a batch one after the other, and writes where each begins.
// x: (batch, longest, d), of sequence b the first lengths[b] rows are real, the others padding.
// starts: (batch + 1), the row of `packed` at which each sequence begins, and the end of the last one.
// packed: (batch * longest, d); rows behind the last sequence stay as they are.
// Block (i, b) of 128 threads has rows 16 i to 16 i + 15 of sequence b, a warp at a time has one of them.

// One sequence: where its rows lie in both layouts, and how many there are.
struct Sequence {
  int start, length;

  __device__ Sequence(const int* lengths, int b) : start(0), length(lengths[b]) {
    for (int before = 0; before < b; ++before) {
      start += lengths[before];
    }
  }

  // The element at which the sequence begins: of rows side by side, and of batches of the same length.
  __device__ long long packed_offset(int row_stride) const { return (long long)start * row_stride; }
  __device__ long long padded_offset(int b, long long batch_stride) const { return b * batch_stride; }
};

__global__ void pack(int batch, int longest, int d, const int* lengths, const float* x, int* starts, float* packed) {
  const int b = blockIdx.y;
  const Sequence sequence(lengths, b);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    starts[b + 1] = sequence.start + sequence.length;
    if (b == 0) starts[0] = 0;
  }
  const int first = blockIdx.x * 16;
  if (first >= sequence.length) return;
  const float* from = x + sequence.padded_offset(b, (long long)longest * d);
  float* to = packed + sequence.packed_offset(d);
  for (int row = first + threadIdx.x / 32; row < min(first + 16, sequence.length); row += 4) {
    for (int column = threadIdx.x % 32; column < d; column += 32) {
      to[(long long)row * d + column] = from[(long long)row * d + column];
    }
  }
}
