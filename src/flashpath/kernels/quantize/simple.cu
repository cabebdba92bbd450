// Quantisation, rung 1: a thread per byte, two passes per row.
//
//   maths    packbits: bit 7 - k (big order) or k (little) of out[i] = x[8 i + k] != 0; beyond the end 0
//            segment_packbits: the same in each segment x[begin[s]] … x[begin[s + 1] - 1], from a byte of its own on
//            quantize: scale[r] = max_c |x[r, c]| / largest, codes[r, c] = x[r, c] / scale[r]; dequantize: the product
//   layout   packbits: x (n) bytes, out (⌈n / 8⌉) bytes; begin, out_begin: (segments + 1)
//            rows: x (rows, n), codes (rows, n) of one byte, scale (rows) of float; all contiguous
//   cost     packbits: at least 9/8 n bytes. quantize, dequantize: 2 rows n FLOPs; at least
//            rows (n (sizeof(T) + 1) + 4) bytes
//   idea     what is said above, one output byte after the other. A row needs its largest element before its first
//            code, so it is read twice: 5 bytes an element for halves in place of 3.
#include "codes.cuh"
#include "segments.cuh"

constexpr int kThreads = 256;

template <bool kIsBig>
__device__ unsigned char pack_byte(const unsigned char* x, long long count) {
  unsigned bits = 0;
  for (int k = 0; k < 8 && k < count; ++k) {
    bits |= unsigned(x[k] != 0) << (kIsBig ? 7 - k : k);
  }
  return bits;
}

template <bool kIsBig>
__global__ void packbits(long long n, const unsigned char* x, unsigned char* out) {
  const long long i = blockIdx.x * (long long)kThreads + threadIdx.x;
  if (8 * i < n) {
    out[i] = pack_byte<kIsBig>(x + 8 * i, n - 8 * i);
  }
}

template <bool kIsBig, class Index>
__global__ void segment_packbits(long long segments, const unsigned char* x, const Index* begin,
                                 const Index* out_begin, unsigned char* out) {
  const long long i = blockIdx.x * (long long)kThreads + threadIdx.x;
  if (i < out_begin[segments]) {
    const long long s = segment_of(out_begin, 0, segments - 1, i);
    const long long first = begin[s] + 8 * (i - out_begin[s]);
    out[i] = pack_byte<kIsBig>(x + first, begin[s + 1] - first);
  }
}

template <class Code, class T>
__global__ void quantize(long long n, const T* x, unsigned char* codes, float* scales) {
  __shared__ unsigned largest;
  const T* row = x + blockIdx.x * n;
  if (threadIdx.x == 0) {
    largest = 0;
  }
  __syncthreads();
  unsigned own = 0;
  for (long long c = threadIdx.x; c < n; c += kThreads) {
    own = max(own, size_bits(widen(row[c])));
  }
  atomicMax(&largest, own);
  __syncthreads();

  const float scale = scale_of<Code>(largest);
  for (long long c = threadIdx.x; c < n; c += kThreads) {
    codes[blockIdx.x * n + c] = is_finite(scale) ? Code::encode(__fdiv_rn(widen(row[c]), scale)) : 0;
  }
  if (threadIdx.x == 0) {
    scales[blockIdx.x] = scale;
  }
}

template <class Code, class T>
__global__ void dequantize(long long n, const unsigned char* codes, const float* scales, T* out) {
  const float scale = scales[blockIdx.x];
  for (long long c = threadIdx.x; c < n; c += kThreads) {
    out[blockIdx.x * n + c] = narrow<T>(Code::decode(codes[blockIdx.x * n + c]) * scale);
  }
}
