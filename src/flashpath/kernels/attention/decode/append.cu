// A step's keys and values into the cache, its queries and keys rotated on the way.
//
//   maths    (x, y) → (x c - y s, x s + y c) for the pairs of a row's first 2 · pairs elements; cache.py has more
//   layout   q: (batch, queries, heads, dim); k, v: (batch, new, kv heads, dim); the cache dense or in pages
//   cost     3 FLOPs for each rotated element; every row is read once and written once
//   idea     one launch does all three: a warp has one row of q, of k or of v, which its number tells. What would be
//            three kernels and two copies of tensors is one pass over a few kilobytes, of which the launch is the
//            larger part.
#include "pages.cuh"
#include "rotary.cuh"

// All of a step that is a number, as the host packs it. Strides count elements: (batch or page, row, head).
struct Rows {
  long long q[3], turned[3], k[3], v[3], k_cache[3], v_cache[3];
  Pages pages;
  int queries, heads, kv_heads, dim, v_dim;
  int pairs;          // that turn; 0 without rotary embedding
  int queries_apart;  // positions from one query to the next: 1, or 0 where all stand at the first
};

template <class T, bool kInterleaved, bool kPaged>
__global__ void decode_append(const T* __restrict__ q, T* __restrict__ turned_q, const T* __restrict__ k,
                              const T* __restrict__ v, T* __restrict__ k_cache, T* __restrict__ v_cache,
                              const int* __restrict__ lengths, const int* __restrict__ page_table,
                              const int* __restrict__ batch_index, const T* __restrict__ cos,
                              const T* __restrict__ sin, const __grid_constant__ Rows rows) {
  const int lane = threadIdx.x, batch = blockIdx.y, length = lengths[batch];
  int number = blockIdx.x * blockDim.y + threadIdx.y;  // rows of q, if they turn, then of k, then of v
  const int of_q = rows.pairs ? rows.queries * rows.heads : 0, of_k = rows.pages.new_keys * rows.kv_heads;
  if (number < of_q) {
    const int row = number / rows.heads, head = number % rows.heads;
    const T* from = q + batch * rows.q[0] + row * rows.q[1] + head * rows.q[2];
    T* to = turned_q + batch * rows.turned[0] + row * rows.turned[1] + head * rows.turned[2];
    for (int e = lane; e < rows.dim; e += 32) {
      to[e] = turned<kInterleaved>(from, e, cos, sin, length + row * rows.queries_apart, rows.pairs);
    }
    return;
  }
  number -= of_q;
  const bool is_v = number >= of_k;
  number -= is_v ? of_k : 0;
  if (number >= of_k) {
    return;
  }
  const int row = number / rows.kv_heads, head = number % rows.kv_heads, position = length + row;
  const Spot spot = Keys<kPaged>(rows.pages, page_table, batch_index, batch).at(position);
  if (is_v) {
    const T* from = v + batch * rows.v[0] + row * rows.v[1] + head * rows.v[2];
    T* to = spot.in(v_cache + head * rows.v_cache[2], rows.v_cache);
    for (int e = lane; e < rows.v_dim; e += 32) {
      to[e] = from[e];
    }
  } else {
    const T* from = k + batch * rows.k[0] + row * rows.k[1] + head * rows.k[2];
    T* to = spot.in(k_cache + head * rows.k_cache[2], rows.k_cache);
    for (int e = lane; e < rows.dim; e += 32) {
      to[e] = turned<kInterleaved>(from, e, cos, sin, position, rows.pairs);
    }
  }
}
