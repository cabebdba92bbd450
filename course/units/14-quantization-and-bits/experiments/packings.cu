// Four ways to pack flags of one byte into bits, in big order. There are a multiple of 2,048 flags.

// A thread packs eight neighbouring flags, and loads them one by one.
__global__ void bytewise(const unsigned char* x, unsigned char* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned bits = 0;
  for (int k = 0; k < 8; ++k) {
    bits |= (x[8 * i + k] != 0) << (7 - k);
  }
  out[i] = bits;
}

// By way of shared memory: the block of 256 threads copies its flags word by word, then each thread takes its eight.
__global__ void staged(const unsigned* x, unsigned char* out) {
  __shared__ unsigned tile[512];
  const int t = threadIdx.x;
  for (int k = 0; k < 2; ++k) {
    tile[256 * k + t] = x[512 * blockIdx.x + 256 * k + t];
  }
  __syncthreads();
  const volatile unsigned char* flags = (unsigned char*)tile + 8 * t;  // volatile: eight loads of a byte each
  unsigned bits = 0;
  for (int k = 0; k < 8; ++k) {
    bits |= (flags[k] != 0) << (7 - k);
  }
  out[256 * blockIdx.x + t] = bits;
}

// By votes: a warp takes 1,024 flags in 32 ballots, lane k keeps the k-th word, and all words are stored together.
__global__ void voted(const unsigned char* x, unsigned* out) {
  const int lane = threadIdx.x % 32;
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  unsigned own = 0;
  for (int k = 0; k < 32; ++k) {
    const unsigned votes = __ballot_sync(0xffffffff, x[1024 * warp + 32 * k + lane] != 0);
    own = lane == k ? __byte_perm(__brev(votes), 0, 0x0123) : own;
  }
  out[32 * warp + lane] = own;
}

// With one load of eight bytes for each thread, taken apart in registers.
__global__ void wide(const unsigned long long* x, unsigned char* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned long long flags = x[i];
  unsigned bits = 0;
  for (int k = 0; k < 8; ++k) {
    bits |= ((flags >> (8 * k) & 0xff) != 0) << (7 - k);
  }
  out[i] = bits;
}
