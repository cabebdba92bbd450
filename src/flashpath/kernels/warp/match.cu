// Warp primitives, rung 6: who has the same value?
//
//   maths    out[i] = a word whose bit l is set where element l of i's group of 32 has the same bits as x[i]
//   layout   in: (n), contiguous; out: (n) of int; a lane has an element, a warp a group; the last may be shorter
//   cost     at least n (sizeof(T) + 4) bytes; 496 comparisons of two lanes per group
//   improves shared_memory: one instruction for a loop over 32 elements
//   idea     `__match_any_sync` compares every lane's value with every other's. Lanes of one value can then appoint one
//            of them to act for all: one atomic for each value instead of one for each lane.
//            Bits are compared, so a NaN matches itself and -0 does not match +0. The mask leaves out lanes beyond the
//            end, which is why only those within may come to the match.
template <class T>
__global__ void match(long long n, const T* in, int* out) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  const unsigned present = __ballot_sync(0xffffffff, i < n);
  if (i < n) {
    unsigned bits;
    memcpy(&bits, &in[i], sizeof(bits));
    out[i] = static_cast<int>(__match_any_sync(present, bits));
  }
}
