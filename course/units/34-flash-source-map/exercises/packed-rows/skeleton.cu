// Packs the sequences of a batch one after the other, and writes where each begins.
// x: (batch, longest, d), of sequence b the first lengths[b] rows are real, the others padding.
// starts: (batch + 1), the row of `packed` at which each sequence begins, and the end of the last one.
// packed: (batch * longest, d); rows behind the last sequence stay as they are.
// Block (i, b) of 128 threads has rows 16 i to 16 i + 15 of sequence b, a warp at a time has one of them.

// One sequence: where its rows lie in both layouts, and how many there are.
struct Sequence {
  int start, length;

  __device__ Sequence(const int* lengths, int b) : start(0), length(lengths[b]) {
    // TODO: the rows of all sequences before this one
  }

  // The element at which the sequence begins: of rows side by side, and of batches of the same length.
  __device__ long long packed_offset(int row_stride) const { return 0; }                    // TODO
  __device__ long long padded_offset(int b, long long batch_stride) const { return 0; }     // TODO
};

__global__ void pack(int batch, int longest, int d, const int* lengths, const float* x, int* starts, float* packed) {
  const int b = blockIdx.y;
  const Sequence sequence(lengths, b);
  // TODO: starts, also of sequences without rows
  // TODO: nothing more to do where the block's rows lie behind the end of its sequence
  // TODO: copy the others
}
