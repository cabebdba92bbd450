// Rotary position embedding, rung 2: one block per token, all heads of q and k in one launch.
//
//   maths    (a, b) → (a cos θ - b sin θ, b cos θ + a sin θ) of every pair of every head, θ of its position and pair
//   layout   q: (batch, sequence, heads, dim), k: (batch, sequence, kv_heads, dim), strided; outputs contiguous; cos, sin:
//            (rows, pairs), or a row for each token
//   cost     6 FLOPs a pair; at least 2 sizeof(T) bytes an element, and cos and sin once
//   improves one_pair: the position is looked up and the angles are read once for a token, not once for each of its
//            heads, and one launch in place of two
//   idea     heads of a token share their angles. A block puts them into shared memory, widened to float and with the
//            sign of the direction; then its threads walk over the heads of q and, without a gap, of k.
#include "rope.cuh"

template <class T, class C, class Index, bool kInterleaved>
__global__ void rope_by_token(const T* q, const T* k, T* q_out, T* k_out, const C* cosines, const C* sines,
                              const Index* positions, RopeShape shape) {
  extern __shared__ float angles[];  // (2, pairs): cosines, sines
  const long long at = blockIdx.x;
  const int batch = int(at / shape.sequence), token = int(at % shape.sequence);
  const long long row = angle_row(shape, positions, batch, token);
  for (int i = threadIdx.x; i < shape.pairs; i += blockDim.x) {
    const long long c = batch * shape.cosine[0] + row * shape.cosine[1] + i;
    const long long s = batch * shape.sine[0] + row * shape.sine[1] + i;
    angles[i] = row < 0 ? 1.0f : float(cosines[c]);
    angles[shape.pairs + i] = row < 0 ? 0.0f : shape.sign * float(sines[s]);
  }
  __syncthreads();

  const int slots = shape.dim - shape.pairs;  // of a head: pairs, then single elements
  const int work = (shape.heads + shape.kv_heads) * slots;
  for (int i = threadIdx.x; i < work; i += blockDim.x) {
    const int slot = i % slots;
    int head = i / slots;
    const bool is_k = head >= shape.heads;
    if (is_k) head -= shape.heads;
    const long long* strides = is_k ? shape.k : shape.q;
    const T* from = (is_k ? k : q) + batch * strides[0] + token * strides[1] + head * strides[2];
    T* to = (is_k ? k_out : q_out) + (at * (is_k ? shape.kv_heads : shape.heads) + head) * shape.dim;
    if (slot >= shape.pairs) {
      to[slot + shape.pairs] = from[slot + shape.pairs];
      continue;
    }
    const int first = kInterleaved ? 2 * slot : slot, second = kInterleaved ? first + 1 : slot + shape.pairs;
    const Pair pair =
        turned({float(from[first]), float(from[second])}, angles[slot], angles[shape.pairs + slot]);
    to[first] = T(pair.first);
    to[second] = T(pair.second);
  }
}
