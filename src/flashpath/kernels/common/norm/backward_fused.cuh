// All gradients of layer_norm and, without the mean (kCentered false), of rms_norm from one read. kAdds: `added` is a
// third matrix that is read, and added to dx: the gradient that x has from elsewhere.
#pragma once
#include "../async_copy.cuh"
#include "../row.cuh"

// A block takes kGroups rows at a time, kLanes threads each; the compiler leaves registers for kBlocks blocks per SM.
template <bool kCentered, bool kHasWeight, class T, class W, int kWidth, int kLanes, int kPacks, int kGroups,
          int kStages, int kBlocks, bool kAdds = false>
__global__ void __launch_bounds__(kLanes * kGroups, kBlocks)
    gradients(long long rows, long long n, const T* __restrict__ dy, const T* __restrict__ x,
              const W* __restrict__ weight, const Compute<T>* __restrict__ mean, const Compute<T>* __restrict__ rstd,
              const T* __restrict__ added, T* __restrict__ dx, Compute<T>* __restrict__ partials) {
  using C = Compute<T>;
  using P = Pack<T, kWidth>;
  constexpr int kThreads = kLanes * kGroups;
  constexpr int kSums = kCentered ? 2 : 1;
  constexpr int kMatrices = kAdds ? 3 : 2;
  extern __shared__ __align__(16) unsigned char shared[];
  P* queue = reinterpret_cast<P*>(shared);  // (kStages, kMatrices, kPacks, kThreads): of the rows to come
  const int lane = threadIdx.x % kLanes, group = threadIdx.x / kLanes;
  const int packs = int(n) / kWidth;
  const long long step = gridDim.x * (long long)kGroups;
  const long long first = blockIdx.x * (long long)kGroups + group;
  const C inverse_n = C(1) / C(n);

  const auto slot = [&](int stage, int which, int k) -> P& {
    return queue[((stage * kMatrices + which) * kPacks + k) * kThreads + threadIdx.x];
  };
  const auto fetch_row = [&](int stage, long long row) {
    if (row < rows) {
#pragma unroll
      for (int k = 0; k < kPacks; ++k) {
        const int p = lane + k * kLanes;
        if (p < packs) {
          copy_async(&slot(stage, 0, k), reinterpret_cast<const P*>(dy + row * n) + p);
          copy_async(&slot(stage, 1, k), reinterpret_cast<const P*>(x + row * n) + p);
          if constexpr (kAdds) {
            copy_async(&slot(stage, 2, k), reinterpret_cast<const P*>(added + row * n) + p);
          }
        }
      }
    }
    commit_copies();  // an empty group where there is no row: they are counted
  };

  ColumnPart<kHasWeight, kWithRow, W, kWidth, kLanes, kPacks> factor(weight, 1, lane, packs);
  factor.with_row();
  C of_weight[kPacks][kWidth], of_bias[kPacks][kWidth];
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      of_weight[k][i] = of_bias[k][i] = 0;
    }
  }

  for (int stage = 0; stage < kStages - 1; ++stage) {
    fetch_row(stage, first + stage * step);
  }
  C next_center = kCentered && first < rows ? mean[first] : C(0);
  C next_scale = first < rows ? rstd[first] : C(0);
  int stage = 0, buffer = 0;
  // All groups make as many rounds, so that all threads meet at the barrier of the sums.
  for (long long row = first; row - group < rows; row += step) {
    fetch_row(stage == 0 ? kStages - 1 : stage - 1, row + (kStages - 1) * step);
    const C center = next_center, scale = next_scale;
    if (row + step < rows) {
      next_center = kCentered ? mean[row + step] : C(0);
      next_scale = rstd[row + step];
    }
    wait_for_copies<kStages - 1>();
    const bool is_row = row < rows;

    C sums[kSums] = {};  // of g x̂, and of g
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
      if (is_row && lane + k * kLanes < packs) {
        const P dy_pack = slot(stage, 0, k), x_pack = slot(stage, 1, k);
        C of_pack[kSums] = {};
#pragma unroll
        for (int i = 0; i < kWidth; ++i) {
          const C dy_here = widen(dy_pack.value[i]);
          const C normal = (widen(x_pack.value[i]) - center) * scale;
          const C g = rounded_product(dy_here, factor(k, i));
          of_weight[k][i] += dy_here * normal;
          of_pack[0] += g * normal;
          if constexpr (kCentered) {
            of_bias[k][i] += dy_here;
            of_pack[1] += g;
          }
        }
#pragma unroll
        for (int v = 0; v < kSums; ++v) {
          sums[v] += of_pack[v];
        }
      }
    }
    sum_over_row<kThreads, kLanes>(sums, buffer);
    const C of_g_normal = sums[0] * inverse_n;
    const C of_g = kCentered ? sums[kSums - 1] * inverse_n : C(0);

#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
      if (is_row && lane + k * kLanes < packs) {
        const P dy_pack = slot(stage, 0, k), x_pack = slot(stage, 1, k);
        P out;
#pragma unroll
        for (int i = 0; i < kWidth; ++i) {
          const C dy_here = widen(dy_pack.value[i]);
          const C normal = (widen(x_pack.value[i]) - center) * scale;
          const C g = rounded_product(dy_here, factor(k, i));
          C own = (g - of_g - normal * of_g_normal) * scale;
          if constexpr (kAdds) {
            own += widen(slot(stage, 2, k).value[i]);
          }
          out.value[i] = narrow<T>(own);
        }
        reinterpret_cast<P*>(dx + row * n)[lane + k * kLanes] = out;
      }
    }
    stage = stage == kStages - 1 ? 0 : stage + 1;
    buffer ^= 1;
  }

  // The groups of a block have the same columns: their sums meet in shared memory, which no row needs any more.
  C* of_groups = reinterpret_cast<C*>(shared);  // (kGroups - 1, kWidth, kPacks, kLanes), first dweight, then dbias
#pragma unroll
  for (int which = 0; which < kSums; ++which) {
    C(&own)[kPacks][kWidth] = which == 0 ? of_weight : of_bias;
    if constexpr (kGroups > 1) {
      __syncthreads();
#pragma unroll
      for (int k = 0; k < kPacks; ++k) {
#pragma unroll
        for (int i = 0; i < kWidth; ++i) {
          if (group > 0) {
            of_groups[(((group - 1) * kWidth + i) * kPacks + k) * kLanes + lane] = own[k][i];
          }
        }
      }
      __syncthreads();
    }
    if (group == 0) {
      C* to = partials + (which * (long long)gridDim.x + blockIdx.x) * n;
#pragma unroll
      for (int k = 0; k < kPacks; ++k) {
        if (lane + k * kLanes < packs) {
#pragma unroll
          for (int i = 0; i < kWidth; ++i) {
            C total = own[k][i];
#pragma unroll
            for (int g = 0; g < kGroups - 1; ++g) {
              total += of_groups[((g * kWidth + i) * kPacks + k) * kLanes + lane];
            }
            to[(lane + k * kLanes) * kWidth + i] = total;
          }
        }
      }
    }
  }
}

// dweight and dbias from what `blocks` blocks have left; block (c, which) takes 32 columns of one of them.
constexpr int kColumnWarps = 32;

template <class C, class W>
__global__ void add_partials(long long blocks, long long n, const C* __restrict__ partials, W* dweight, W* dbias) {
  __shared__ C of_warp[kColumnWarps][32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const long long column = blockIdx.x * 32LL + lane;
  const C* from = partials + blockIdx.y * blocks * n;
  W* to = blockIdx.y == 0 ? dweight : dbias;

  C total = 0;
  if (column < n) {
    for (long long block = warp; block < blocks; block += kColumnWarps) {
      total += from[block * n + column];
    }
  }
  of_warp[warp][lane] = total;
  __syncthreads();
  if (warp == 0 && column < n && to != nullptr) {
    total = 0;
    for (int w = 0; w < kColumnWarps; ++w) {
      total += of_warp[w][lane];
    }
    to[column] = narrow<W>(total);
  }
}
