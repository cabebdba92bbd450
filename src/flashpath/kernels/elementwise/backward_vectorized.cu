// Elementwise operations, backward: gradients of two tensors at once, by 16-byte accesses.
//
//   maths    gated: dx[r, c] = dout[r, c] x[r, d + c] act'(x[r, c]), dx[r, d + c] = dout[r, c] act(x[r, c]);
//            gate of two tensors: the same of x[i] and y[i]; chain: dy[i] = dout[i] act'(factor x[i] + y[i]),
//            dx[i] = factor dy[i]
//   layout   gated: dout (rows, d), x, dx (rows, 2 d); two tensors: all (n); contiguous
//   cost     6 to about 30 FLOPs an element of dout; at least 5 n sizeof(T) bytes
//   improves backward: an eighth of the memory instructions for half types, a quarter for float, and no 64-bit
//            division
//   idea     the tiles of vectorized.cu, of three inputs and two outputs: a thread has all loads of its packs under
//            way before it computes, and finds the row of a gated pack as `gate` does.
#include "../common/pack.cuh"
#include "operations.cuh"
#include "packed_rows.cuh"

template <class T, int kWidth>
struct TwoPacks {
  Pack<T, kWidth> first, second;
  __device__ void set(int k, Two of) {
    first.value[k] = T(of.first);
    second.value[k] = T(of.second);
  }
};

// d is a multiple of kWidth: then no pack straddles two rows, and none is left over. row_step, column_step, reciprocal:
// as in vectorized.cu.
template <class T, int kWidth, int kPacks, class Activation>
__global__ void gate_backward(long long n, long long d, const T* dout, const T* x, T* dx, long long row_step,
                              long long column_step, unsigned long long reciprocal) {
  using P = Pack<T, kWidth>;
  const P* halves = reinterpret_cast<const P*>(x);  // (rows, 2, row_packs)
  const long long packs = n / kWidth;
  const long long row_packs = d / kWidth;
  const long long start = blockIdx.x * (long long)blockDim.x * kPacks + threadIdx.x;

  PackedRow place(start, row_packs, reciprocal);
  long long at[kPacks];
  P from[kPacks], gate[kPacks], up[kPacks];
#pragma unroll
  for (int p = 0; p < kPacks; ++p) {
    const long long i = start + p * blockDim.x;
    at[p] = i + place.row * row_packs;  // row * 2 row_packs + column
    if (i < packs) {
      from[p] = reinterpret_cast<const P*>(dout)[i];
      gate[p] = halves[at[p]];
      up[p] = halves[at[p] + row_packs];
    }
    place.advance(row_step, column_step);
  }
#pragma unroll
  for (int p = 0; p < kPacks; ++p) {
    if (start + p * blockDim.x < packs) {
      TwoPacks<T, kWidth> of;
#pragma unroll
      for (int k = 0; k < kWidth; ++k) {
        of.set(k, GateGradients<Activation>::apply(float(from[p].value[k]), float(gate[p].value[k]),
                                                   float(up[p].value[k])));
      }
      write_once(dx + at[p] * kWidth, of.first);
      write_once(dx + (at[p] + row_packs) * kWidth, of.second);
    }
  }
}

template <class T, int kWidth, int kPacks, class Gradients>
__global__ void pair_backward(long long n, float factor, const T* dout, const T* x, const T* y, T* dx, T* dy) {
  using P = Pack<T, kWidth>;
  const long long packs = n / kWidth;
  const long long start = blockIdx.x * (long long)blockDim.x * kPacks + threadIdx.x;

  P from[kPacks], a[kPacks], b[kPacks];
#pragma unroll
  for (int p = 0; p < kPacks; ++p) {
    const long long i = start + p * blockDim.x;
    if (i < packs) {
      from[p] = reinterpret_cast<const P*>(dout)[i];
      a[p] = reinterpret_cast<const P*>(x)[i];
      b[p] = reinterpret_cast<const P*>(y)[i];
    }
  }
#pragma unroll
  for (int p = 0; p < kPacks; ++p) {
    const long long i = start + p * blockDim.x;
    if (i < packs) {
      TwoPacks<T, kWidth> of;
#pragma unroll
      for (int k = 0; k < kWidth; ++k) {
        of.set(k, Gradients::apply(float(from[p].value[k]), float(a[p].value[k]), float(b[p].value[k]), factor));
      }
      write_once(dx + i * kWidth, of.first);
      write_once(dy + i * kWidth, of.second);
    }
  }

  // What does not fill a pack: the first threads of the grid take one element each.
  const long long tail = packs * kWidth + threadIdx.x;
  if (blockIdx.x == 0 && tail < n) {
    const Two of = Gradients::apply(float(dout[tail]), float(x[tail]), float(y[tail]), factor);
    dx[tail] = T(of.first);
    dy[tail] = T(of.second);
  }
}
