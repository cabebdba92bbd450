// Warp primitives, rung 5: votes.
//
//   maths    of the 32 elements of a group: any[g] = is one of them > 0, all[g] = are all > 0,
//            ballot[g] = a word whose bit l is set where x[32 g + l] > 0
//   layout   in: (n), contiguous; any, all: (⌈n / 32⌉) of bool, ballot: the same of int; lanes beyond the end say
//            neither
//   cost     n comparisons; at least n sizeof(T) bytes read and n / 32 words or bytes written
//   improves shared_memory: one instruction that each lane gives one bit to and all get the answer of
//   idea     a vote takes a predicate of each lane. `__ballot_sync` gives all 32 of them as one word, on which
//            bit operations then count (`__popc`), find the first (`__ffs`) or pick the lanes below: the compaction
//            rungs are made of it.
template <class T>
__global__ void any(long long n, const T* in, bool* out) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  const bool is_one = __any_sync(0xffffffff, i < n && in[i] > T{});
  if (i < n && threadIdx.x % 32 == 0) {
    out[i / 32] = is_one;
  }
}

template <class T>
__global__ void all(long long n, const T* in, bool* out) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  const bool are_all = __all_sync(0xffffffff, i >= n || in[i] > T{});  // who is not there does not object
  if (i < n && threadIdx.x % 32 == 0) {
    out[i / 32] = are_all;
  }
}

template <class T>
__global__ void ballot(long long n, const T* in, int* out) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  const unsigned votes = __ballot_sync(0xffffffff, i < n && in[i] > T{});
  if (i < n && threadIdx.x % 32 == 0) {
    out[i / 32] = static_cast<int>(votes);
  }
}
