// The same by votes: a warp takes 1,024 flags in 32 ballots, lane k keeps the k-th word, and all words are stored together.
__global__ void voted(const int* x, unsigned* out) {
  const int lane = threadIdx.x % 32;
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  unsigned own = 0;
  for (int k = 0; k < 32; ++k) {
    const unsigned votes = __ballot_sync(0xffffffff, x[1024 * warp + 32 * k + lane] != 0);
    own = lane == k ? __byte_perm(__brev(votes), 0, 0x0123) : own;
  }
  out[32 * warp + lane] = own;
}
