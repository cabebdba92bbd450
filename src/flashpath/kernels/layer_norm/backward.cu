// Layer norm, rung 6: the gradients, formula by formula. rms_norm's are the same without the mean (kCentered false).
//
//   maths    x̂ = (x - mean) rstd, g = dy * weight; of each row
//            dx = rstd (g - Σ g / n - x̂ Σ (g x̂) / n); of each column dweight = Σ dy x̂, dbias = Σ dy
//   layout   dy, x, dx: (rows, n), contiguous; weight: (n), in x's type or float, or null; mean, rstd: (rows), as the
//            forward pass saved them; dweight, dbias: (n), in weight's type, or null where they are not wanted
//   cost     15 FLOPs an element; at least 3 rows n sizeof(T) bytes
//   improves the reference: two kernels in place of one for each operation of the formulas
//   idea     dx goes along rows and dweight along columns, so each is a kernel of its own. Along a row a block sums, as
//            two_pass does. Down the columns, neighbouring threads take neighbouring columns, so that reads coalesce,
//            and the warps of a block share out the rows: their sums meet in shared memory, always in the same order.
//            Products g are rounded by themselves in both walks: where they are all alike, their mean cancels them.
//   watch    dy and x are read three times: for the sums of a row, for dx, for the columns. And n columns are few
//            threads: 1024 columns keep 32 of an H200's 132 SMs busy.
#include "../common/row.cuh"

constexpr int kRowThreads = 256;

template <bool kCentered, class T, class W>
__global__ void input_gradient(long long rows, long long n, const T* dy, const T* x, const W* weight,
                               const Compute<T>* mean, const Compute<T>* rstd, T* dx) {
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
    dx[start + i] = narrow<T>((g - of_g - normal * of_g_normal) * scale);
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
