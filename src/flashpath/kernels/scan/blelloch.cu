// Scan, rung 2: up a tree with the sums, down it with what stands before.
//
//   maths    inclusive out[i] = x[0] ⊕ … ⊕ x[i]; exclusive out[i] = x[0] ⊕ … ⊕ x[i - 1]; a head starts anew
//   layout   in, heads, out: (n), contiguous; carries, totals: one per block (tile.cuh)
//   cost     n - 1 operations ⊕; at least n (sizeof(T) + sizeof(Out)) bytes
//   improves hillis_steele: 2 n operations ⊕ instead of n log2(n), and two elements per thread
//   idea     on the way up, each node gets the sum of its two children: a reduction that keeps its tree. On the way
//            down, the root gets nothing, a left child what its parent got, and a right child that and its left
//            sibling's sum: every leaf ends with the sum of all leaves before it (Blelloch, 1990).
//   watch    few threads work near the root, with a barrier after each of 18 steps; and the nodes of a level are 2,
//            4, 8 … places apart, so that lanes meet in the same bank of shared memory: 525 extra passes for a block
//            of floats. Less work is not less time.
#include "tile.cuh"

constexpr int kThreads = 256;
constexpr int kElements = 2 * kThreads;

template <class Op, class In, class Out>
__global__ void scan(long long n, const In* in, const unsigned char* heads, bool is_exclusive,
                     const typename Op::State* carries, typename Op::State* totals, Out* out) {
  using State = typename Op::State;
  __shared__ State tree[kElements];
  const Tile<Op, In> tile{n, in, heads, carries};
  const int t = threadIdx.x;
  const long long i = blockIdx.x * (long long)kElements + t;
  const State mine[2] = {tile.load(i), tile.load(i + kThreads)};
  tree[t] = mine[0];
  tree[t + kThreads] = mine[1];
  __syncthreads();

  for (int stride = 1; stride < kElements; stride *= 2) {
    const int node = 2 * stride * (t + 1) - 1;
    if (node < kElements) {
      tree[node] = Op::append(tree[node - stride], tree[node]);
    }
    __syncthreads();
  }

  if (t == 0) {
    if (totals != nullptr) {
      totals[blockIdx.x] = tree[kElements - 1];
    }
    tree[kElements - 1] = Op::identity();
  }
  __syncthreads();

  for (int stride = kElements / 2; stride > 0; stride /= 2) {
    const int node = 2 * stride * (t + 1) - 1;
    if (node < kElements) {
      const State of_left = tree[node - stride];
      tree[node - stride] = tree[node];
      tree[node] = Op::append(tree[node], of_left);
    }
    __syncthreads();
  }

  if (out != nullptr && i < n) {
    tile.write(out + i, is_exclusive, tree[t], mine[0]);
  }
  if (out != nullptr && i + kThreads < n) {
    tile.write(out + i + kThreads, is_exclusive, tree[t + kThreads], mine[1]);
  }
}
