// Which part of the problem a block has: its sequence, its head, its rows, and the tiles of keys that these can see.
#pragma once

// All of a call that is a number, as the host packs it. Strides count elements.
struct AttentionShape {
  long long q[3], k[3], v[3], out[3];      // (batch, row, head)
  long long dout[3], dq[3], dk[3], dv[3];  // backward's
  long long lse[2], slopes[2];             // (batch, head)
  long long padded_rows;                   // of a head, of all sequences: as backward's scratch has them
  int batch, heads, group;             // group: heads of q for one of k and v
  int queries, keys;                   // of the longest sequence
  int dim, v_dim;
  int left, right;    // how many keys before and after its own a query sees; kUnbounded and more: all
  int together;       // heads, of all sequences, whose blocks run at the same time
  float scale;        // of products
  float softcap;
  unsigned drop_below;  // dropout: random words below it drop a weight
  float kept_factor;    // 1 / (1 - p)
};
constexpr int kUnbounded = 1 << 29;
constexpr int kPadding = 128;  // in backward's scratch the rows of every sequence begin at a multiple of it

// One sequence of the batch: where it is in the tensors, and how long.
struct Sequence {
  int queries, keys, shift;  // query i stands at key i + shift
  long long q_row, k_row;    // its first rows in the tensors, where these have all sequences one after the other
  long long padded_row;      // its first row in backward's scratch

  __device__ Sequence(const AttentionShape& shape, int batch, const int* cu_q, const int* cu_k) {
    if (cu_q) {
      q_row = cu_q[batch], k_row = cu_k[batch];
      queries = cu_q[batch + 1] - cu_q[batch], keys = cu_k[batch + 1] - cu_k[batch];
      padded_row = (q_row + batch * kPadding) / kPadding * kPadding;
    } else {
      q_row = k_row = 0;
      queries = shape.queries, keys = shape.keys;
      padded_row = batch * (shape.padded_rows / shape.batch);
    }
    shift = keys - queries;
  }

  // The first row of one head of this sequence, in a tensor with (batch, row, head) strides.
  template <class T>
  __device__ static T* head_of(T* x, const long long (&strides)[3], int batch, long long row, int head) {
    return x + batch * strides[0] + row * strides[1] + head * strides[2];
  }

  // Keys that queries [begin, end) can see, all together: [first, last).
  __device__ int first_key(const AttentionShape& shape, int begin) const { return max(0, begin + shift - shape.left); }
  __device__ int last_key(const AttentionShape& shape, int end) const { return min(keys, end + shift + shape.right); }
  // Queries that can see some of the keys [begin, end): the same from the other side.
  __device__ int first_query(const AttentionShape& shape, int begin) const { return max(0, begin - shift - shape.right); }
  __device__ int last_query(const AttentionShape& shape, int end) const { return min(queries, end - shift + shape.left); }
  // Whether all queries [begin, end) see all keys [first, last).
  __device__ bool all_visible(const AttentionShape& shape, int begin, int end, int first, int last) const {
    return last <= keys && first >= end - 1 + shift - shape.left && last - 1 <= begin + shift + shape.right;
  }
};

// Blocks in the order in which they start: `together` heads at a time, of these the last tile of each first. Under a
// causal mask later queries see more keys, and the longest work is to begin first; and keys and values of the heads
// at work should fit in the L2 cache.
struct Place {
  int tile, head, batch;

  __device__ Place(const AttentionShape& shape, int tiles, int heads) {
    const int all = heads * shape.batch;  // blocks and heads count in int: the host sees to it
    const int set = blockIdx.x / (shape.together * tiles), in_set = blockIdx.x % (shape.together * tiles);
    const int here = min(shape.together, all - set * shape.together);
    const int number = set * shape.together + in_set % here;
    tile = tiles - 1 - in_set / here;
    head = number % heads, batch = number / heads;
  }
};

// Tiles of kRows queries that see some of the keys [begin, end), head after head of those that share these.
template <int kRows>
struct QueryTiles {
  int first, last;  // of each head
  int tile, head;   // at which this is
  int heads_end;

  __device__ QueryTiles(const AttentionShape& shape, const Sequence& sequence, int kv_head, int begin, int end)
      : first(sequence.first_query(shape, begin) / kRows),
        last((sequence.last_query(shape, end) + kRows - 1) / kRows),
        tile(first),
        head(kv_head * shape.group),
        heads_end(first < last ? head + shape.group : 0) {}

  __device__ bool is_one() const { return head < heads_end; }
  __device__ void advance() {
    if (++tile == last) {
      tile = first, ++head;
    }
  }
  // Its first row in backward's scratch.
  __device__ long long padded_row(const AttentionShape& shape, const Sequence& sequence) const {
    return head * shape.padded_rows + sequence.padded_row + tile * kRows;
  }
};
