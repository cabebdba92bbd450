// Scan, rung 3: the same tree, with a gap after every 32 nodes.
//
//   maths    inclusive out[i] = x[0] ⊕ … ⊕ x[i]; exclusive out[i] = x[0] ⊕ … ⊕ x[i - 1]; a head starts anew
//   layout   in, heads, out: (n), contiguous; carries, totals: one per block (tile.cuh)
//   cost     n - 1 operations ⊕; at least n (sizeof(T) + sizeof(Out)) bytes
//   improves blelloch: no extra pass through shared memory is left of 525 for a block of floats
//   idea     node i lives at i + i / 32: nodes that are a multiple of 32 places apart, and so in one bank, move to
//            neighbouring banks. It costs 16 words of shared memory and an addition per access.
#include "tile.cuh"

constexpr int kThreads = 256;
constexpr int kElements = 2 * kThreads;
constexpr int kBanks = 32;

__device__ int padded(int i) { return i + i / kBanks; }

template <class Op, class In, class Out>
__global__ void scan(long long n, const In* in, const unsigned char* heads, bool is_exclusive,
                     const typename Op::State* carries, typename Op::State* totals, Out* out) {
  using State = typename Op::State;
  __shared__ State tree[kElements + kElements / kBanks];
  const Tile<Op, In> tile{n, in, heads, carries};
  const int t = threadIdx.x;
  const long long i = blockIdx.x * (long long)kElements + t;
  const State mine[2] = {tile.load(i), tile.load(i + kThreads)};
  tree[padded(t)] = mine[0];
  tree[padded(t + kThreads)] = mine[1];
  __syncthreads();

  for (int stride = 1; stride < kElements; stride *= 2) {
    const int node = 2 * stride * (t + 1) - 1;
    if (node < kElements) {
      tree[padded(node)] = Op::append(tree[padded(node - stride)], tree[padded(node)]);
    }
    __syncthreads();
  }

  if (t == 0) {
    if (totals != nullptr) {
      totals[blockIdx.x] = tree[padded(kElements - 1)];
    }
    tree[padded(kElements - 1)] = Op::identity();
  }
  __syncthreads();

  for (int stride = kElements / 2; stride > 0; stride /= 2) {
    const int node = 2 * stride * (t + 1) - 1;
    if (node < kElements) {
      const State of_left = tree[padded(node - stride)];
      tree[padded(node - stride)] = tree[padded(node)];
      tree[padded(node)] = Op::append(tree[padded(node)], of_left);
    }
    __syncthreads();
  }

  if (out != nullptr && i < n) {
    tile.write(out + i, is_exclusive, tree[padded(t)], mine[0]);
  }
  if (out != nullptr && i + kThreads < n) {
    tile.write(out + i + kThreads, is_exclusive, tree[padded(t + kThreads)], mine[1]);
  }
}
