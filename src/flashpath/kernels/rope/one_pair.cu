// Rotary position embedding, rung 1: one thread per pair, one launch per tensor.
//
//   maths    (a, b) → (a cos θ - b sin θ, b cos θ + a sin θ) of every pair of every head, θ of its position and pair
//   layout   x: (batch, sequence, heads, dim), strided; out: the same, contiguous; cos, sin: (rows, pairs), or a row
//            for each token
//   cost     6 FLOPs a pair; at least 2 sizeof(T) bytes an element, and cos and sin once
//   idea     a thread finds its token, head and pair by dividing its number, reads the angle and turns the pair. What
//            of a head does not turn is copied, one element a thread. Every head reads the angles of its token again.
#include "rope.cuh"

template <class T, class C, class Index, bool kInterleaved>
__global__ void rope_one_pair(long long n, int heads, const T* x, T* out, const C* cosines, const C* sines,
                              const Index* positions, RopeShape shape, bool is_k) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int slots = shape.dim - shape.pairs;  // of a head: pairs, then single elements
  const int slot = int(i % slots);
  const long long row = i / slots;  // of out, (batch sequence heads)
  const int head = int(row % heads);
  const int token = int(row / heads % shape.sequence), batch = int(row / heads / shape.sequence);
  const long long* strides = is_k ? shape.k : shape.q;
  const T* from = x + batch * strides[0] + token * strides[1] + head * strides[2];
  T* to = out + row * shape.dim;
  if (slot >= shape.pairs) {
    to[slot + shape.pairs] = from[slot + shape.pairs];
    return;
  }
  const long long angle = angle_row(shape, positions, batch, token);
  const bool turns = angle >= 0;
  const float c = turns ? float(cosines[batch * shape.cosine[0] + angle * shape.cosine[1] + slot]) : 1.0f;
  const float s = turns ? float(sines[batch * shape.sine[0] + angle * shape.sine[1] + slot]) : 0.0f;
  const int first = kInterleaved ? 2 * slot : slot, second = kInterleaved ? first + 1 : slot + shape.pairs;
  const Pair pair = turned({float(from[first]), float(from[second])}, c, shape.sign * s);
  to[first] = T(pair.first);
  to[second] = T(pair.second);
}
