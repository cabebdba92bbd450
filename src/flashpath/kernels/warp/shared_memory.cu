// Warp primitives, rung 1: without them. Lanes tell each other things through shared memory.
//
//   maths    of each group of 32 elements: the first (broadcast), the sum, is any and are all of them > 0, which of
//            them are (ballot), and for each element which others have the same bits (match)
//   layout   in: (n), contiguous; a thread has an element, 32 threads a group; the last group may be shorter.
//            out: (n), or (⌈n / 32⌉) where a group has one result
//   cost     a sum n - n / 32 additions, votes and matches n and 32 n comparisons; at least n sizeof(T) bytes read, and
//            the output written
//   idea     each thread leaves its element in an array of the block, all wait for each other, and then everyone can
//            read everyone's. What a group has one result of, its first thread computes, while 31 wait.
constexpr int kThreads = 256;

// This thread's group in shared memory, and how many elements it has.
template <class T>
struct Group {
  const T* element;
  int size;
};

template <class T>
__device__ Group<T> share(long long n, long long i, const T* in) {
  __shared__ T elements[kThreads];
  if (i < n) {
    elements[threadIdx.x] = in[i];
  }
  __syncthreads();
  const long long left = n - i / 32 * 32;
  return {elements + threadIdx.x / 32 * 32, static_cast<int>(left < 32 ? left : 32)};
}

__device__ inline long long place() { return blockIdx.x * (long long)kThreads + threadIdx.x; }

template <class T>
__global__ void broadcast(long long n, const T* in, T* out) {
  const Group<T> group = share(n, place(), in);
  if (place() < n) {
    out[place()] = group.element[0];
  }
}

template <class T>
__global__ void sum(long long n, const T* in, T* out) {
  const Group<T> group = share(n, place(), in);
  if (place() < n && threadIdx.x % 32 == 0) {
    T sums[4]{};  // four, not one: roundings add up along a chain, and 32 elements make four short ones
    for (int l = 0; l < group.size; ++l) {
      sums[l % 4] += group.element[l];
    }
    out[place() / 32] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
}

// Bit l is set where element l is greater than 0.
template <class T>
__device__ unsigned votes_of(Group<T> group) {
  unsigned votes = 0;
  for (int l = 0; l < group.size; ++l) {
    votes |= static_cast<unsigned>(group.element[l] > T{}) << l;
  }
  return votes;
}

template <class T>
__global__ void ballot(long long n, const T* in, int* out) {
  const Group<T> group = share(n, place(), in);
  if (place() < n && threadIdx.x % 32 == 0) {
    out[place() / 32] = static_cast<int>(votes_of(group));
  }
}

template <class T>
__global__ void any(long long n, const T* in, bool* out) {
  const Group<T> group = share(n, place(), in);
  if (place() < n && threadIdx.x % 32 == 0) {
    out[place() / 32] = votes_of(group) != 0;
  }
}

template <class T>
__global__ void all(long long n, const T* in, bool* out) {
  const Group<T> group = share(n, place(), in);
  if (place() < n && threadIdx.x % 32 == 0) {
    out[place() / 32] = __popc(votes_of(group)) == group.size;
  }
}

template <class T>
__global__ void match(long long n, const T* in, int* out) {
  const Group<T> group = share(n, place(), in);
  if (place() < n) {
    unsigned same = 0;
    for (int l = 0; l < group.size; ++l) {
      unsigned mine, its;
      memcpy(&mine, &group.element[threadIdx.x % 32], sizeof(mine));
      memcpy(&its, &group.element[l], sizeof(its));
      same |= static_cast<unsigned>(mine == its) << l;
    }
    out[place()] = static_cast<int>(same);
  }
}
