// The gradients of layer_norm and, without the mean (kCentered false), of rms_norm, formula by formula. `added`, where it
// is there, is added to dx: the gradient that x has from elsewhere, as the sum that a fused addition returns has.
#pragma once
#include "../row.cuh"

constexpr int kRowThreads = 256;

template <bool kCentered, class T, class W>
__global__ void input_gradient(long long rows, long long n, const T* dy, const T* x, const W* weight,
                               const Compute<T>* mean, const Compute<T>* rstd, const T* added, T* dx) {
  using C = Compute<T>;
  const long long start = blockIdx.x * n;
  const C center = kCentered ? mean[blockIdx.x] : C(0);
  const C scale = rstd[blockIdx.x];

  C sums[2] = {0, 0};  // of g and of g x̂
  for (long long i = threadIdx.x; i < n; i += kRowThreads) {
    const C g = weight != nullptr ? rounded_product(widen(dy[start + i]), widen(weight[i])) : widen(dy[start + i]);
    sums[0] += g;
    sums[1] += g * (widen(x[start + i]) - center) * scale;
  }
  sum_over_row<kRowThreads, kRowThreads>(sums, 0);
  const C of_g = kCentered ? sums[0] / C(n) : C(0);
  const C of_g_normal = sums[1] / C(n);

  for (long long i = threadIdx.x; i < n; i += kRowThreads) {
    const C g = weight != nullptr ? rounded_product(widen(dy[start + i]), widen(weight[i])) : widen(dy[start + i]);
    const C normal = (widen(x[start + i]) - center) * scale;
    const C own = (g - of_g - normal * of_g_normal) * scale;
    dx[start + i] = narrow<T>(added != nullptr ? own + widen(added[start + i]) : own);
  }
}

// A block takes 32 columns, its warp w the rows w, w + kColumnWarps …
constexpr int kColumnWarps = 16;

template <bool kCentered, class T, class W>
__global__ void weight_gradients(long long rows, long long n, const T* dy, const T* x, const Compute<T>* mean,
                                 const Compute<T>* rstd, W* dweight, W* dbias) {
  using C = Compute<T>;
  __shared__ C of_warp[2][kColumnWarps][32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const long long column = blockIdx.x * 32LL + lane;

  C of_weight = 0, of_bias = 0;
  if (column < n) {
    for (long long row = warp; row < rows; row += kColumnWarps) {
      const C center = kCentered ? mean[row] : C(0);
      const C dy_here = widen(dy[row * n + column]);
      of_weight += dy_here * (widen(x[row * n + column]) - center) * rstd[row];
      of_bias += dy_here;
    }
  }
  of_warp[0][warp][lane] = of_weight;
  of_warp[1][warp][lane] = of_bias;
  __syncthreads();

  // The first warp adds up dweight, the second dbias.
  W* to = warp == 0 ? dweight : warp == 1 ? dbias : nullptr;
  if (to != nullptr && column < n) {
    C total = 0;
    for (int w = 0; w < kColumnWarps; ++w) {
      total += of_warp[warp][w][lane];
    }
    to[column] = narrow<W>(total);
  }
}
