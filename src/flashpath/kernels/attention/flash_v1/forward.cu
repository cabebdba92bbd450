// Attention: FlashAttention 1 in CUDA C++. Tiles of keys and values outside, tiles of queries inside.
//
//   maths    of a tile of keys and a query: m~ = max s, p~ = e^(s - m~), l~ = Σ p~. With what earlier tiles left:
//              m' = max(m, m~),  l' = l e^(m - m') + l~ e^(m~ - m'),
//              o' = (l e^(m - m') o + e^(m~ - m') p~ v) / l'; in the end out = o, lse = m + log l
//   layout   q, k, v, out: as in problem.py. o: (batch, heads, queries, v_dim), m and l: (batch, heads, queries), all
//            float, in global memory: they are what one step of the outer loop leaves for the next
//   cost     4 · dim FLOPs for each query and key, none of them on tensor cores. k and v are read once for each head;
//            q, o, m and l are read, and o, m and l written, for each tile of keys: 8 · v_dim + 16 bytes a query, where
//            FlashAttention 2 writes 2 · v_dim + 4 in all. Counted for 256 queries and keys with dim 64 (8 tiles):
//            642048 bytes stored, where tiles of queries that keep their o store 33792, a 19th
//            (tests/kernels/attention/test_first_rungs.py::test_what_version_1_moves)
//   improves online_softmax: a key and a value are loaded once for all queries, not once for each
//   idea     one block per head. It holds a tile of k and v in shared memory and lets all queries come by, one for each
//            warp at a time. A query has seen a part of the keys then, and waits for the next part in global memory, as
//            {m, l, o}. The other order keeps {m, l, o} on chip and lets keys come by: that is FlashAttention 2, where
//            tiles of queries are work for different blocks. Here only heads are: 8 of them keep 8 SMs of 132 busy.
//   watch    o is a quotient after every step, as in the paper, and is multiplied by l again in the next;
//            FlashAttention 2 divides once, at the end.
//            Barriers are for k and v alone: a warp has the same queries in every step, and nobody else touches them.
#include "../../common/maths.cuh"
#include "../../common/numbers.cuh"
#include "../device/rows.cuh"

constexpr int kTile = 32;    // keys: one for each lane
constexpr int kWarps = 8;    // and queries at a time
constexpr int kPadding = 2;  // elements: rows of a tile, an odd number of words long, begin at different banks

struct Plus {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Larger {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

// Of all lanes, in all lanes.
template <class Op>
__device__ float over_warp(float x, Op op) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    x = op(x, __shfl_xor_sync(0xffffffff, x, distance));
  }
  return x;
}

// Rows first … first + kTile - 1 to shared memory, (kTile, dim + kPadding), by all threads; 0 beyond the last one.
template <class T>
__device__ void copy_tile(T* tile, const T* rows, long long row_stride, int first, int count, int dim) {
  for (int r = threadIdx.x / 32; r < kTile; r += kWarps) {
    for (int c = threadIdx.x % 32; c < dim; c += 32) {
      tile[r * (dim + kPadding) + c] = first + r < count ? rows[(first + r) * row_stride + c] : narrow<T>(0.0f);
    }
  }
}

// Bytes of shared memory that a block is launched with: a row of q for each warp, and tiles of k and v.
inline __host__ __device__ int flash_v1_shared(int dim, int v_dim, int element_size) {
  return kWarps * dim * int(sizeof(float)) + kTile * (dim + kPadding + v_dim + kPadding) * element_size;
}

// `scale` has log2 e in it: weights are powers of 2, and m is a logarithm to base 2.
template <class T>
__global__ void __launch_bounds__(32 * kWarps)
    flash_v1(const T* q, const T* k, const T* v, T* out, float* lse, float* o, float* m, float* l, Strides q_strides,
             Strides k_strides, Strides v_strides, Strides out_strides, float scale, int heads, int group, int queries,
             int keys, int dim, int v_dim, bool is_causal) {
  extern __shared__ float memory[];
  __shared__ float p_of_warp[kWarps][kTile];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float* q_row = memory + warp * dim;                            // (dim), of this warp's query
  T* k_tile = reinterpret_cast<T*>(memory + kWarps * dim);       // (kTile, dim + kPadding)
  T* v_tile = k_tile + kTile * (dim + kPadding);                 // (kTile, v_dim + kPadding)
  float* p_row = p_of_warp[warp];                                // (kTile)

  const int batch = blockIdx.x / heads, head = blockIdx.x % heads;
  q = rows_of_head(q, q_strides, batch, head);
  k = rows_of_head(k, k_strides, batch, head / group);
  v = rows_of_head(v, v_strides, batch, head / group);
  out = rows_of_head(out, out_strides, batch, head);
  const long long first_of_head = blockIdx.x * (long long)queries;
  lse += first_of_head, m += first_of_head, l += first_of_head;
  o += first_of_head * v_dim;

  for (int i = warp; i < queries; i += kWarps) {
    for (int c = lane; c < v_dim; c += 32) o[i * (long long)v_dim + c] = 0;
    if (lane == 0) m[i] = never(), l[i] = 0;
  }

  for (int first_key = 0; first_key < keys; first_key += kTile) {
    __syncthreads();  // nobody reads the last tiles any more
    copy_tile(k_tile, k, k_strides.row, first_key, keys, dim);
    copy_tile(v_tile, v, v_strides.row, first_key, keys, v_dim);
    __syncthreads();

    // Queries before this one see no key of the tile.
    const int earliest = is_causal ? max(0, first_key - (keys - queries)) : 0;
    for (int i = earliest / kWarps * kWarps + warp; i < queries; i += kWarps) {
      if (i < earliest) continue;
      for (int c = lane; c < dim; c += 32) q_row[c] = widen(q[i * q_strides.row + c]) * scale;
      __syncwarp();  // q is there, and what lane 0 wrote of m and l

      float s = 0;  // of this lane's key
      for (int c = 0; c < dim; ++c) s += q_row[c] * widen(k_tile[lane * (dim + kPadding) + c]);
      if (first_key + lane >= keys_seen(i, queries, keys, is_causal)) s = never();

      const float m_tile = over_warp(s, Larger());
      const float p = exp2_approx(s - m_tile);
      const float l_tile = over_warp(p, Plus());
      const float m_before = m[i];
      const float m_new = fmaxf(m_before, m_tile);
      const float of_before = l[i] * exp2_approx(m_before - m_new);  // what earlier tiles have of the new sum
      const float of_tile = exp2_approx(m_tile - m_new);
      const float l_new = of_before + of_tile * l_tile;

      p_row[lane] = p;
      __syncwarp();  // p is there, and all lanes have read m and l
      for (int c = lane; c < v_dim; c += 32) {
        float pv = 0;
        for (int j = 0; j < kTile; ++j) pv += p_row[j] * widen(v_tile[j * (v_dim + kPadding) + c]);
        float& of_query = o[i * (long long)v_dim + c];
        of_query = (of_before * of_query + of_tile * pv) / l_new;
      }
      if (lane == 0) m[i] = m_new, l[i] = l_new;
    }
  }

  __syncwarp();
  constexpr float kLn2 = 0.693147181f;
  for (int i = warp; i < queries; i += kWarps) {
    for (int c = lane; c < v_dim; c += 32) out[i * out_strides.row + c] = narrow<T>(o[i * (long long)v_dim + c]);
    if (lane == 0) lse[i] = (m[i] + log2f(l[i])) * kLn2;
  }
}
