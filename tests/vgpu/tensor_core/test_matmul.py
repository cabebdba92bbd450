"""A whole matrix product on tensor cores: shared memory, ldmatrix and mma together, against NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flashpath as fp

# C (M, N) = A (M, K) · B (K, N). A block computes 64×64 of C with four warps, 32×32 each; slices of 32 along
# K are kept in shared memory, their lines padded so that ldmatrix meets no bank twice.
SOURCE = """
typedef unsigned short element;  // 16 bits of either type
constexpr int kTile = 64, kSlice = 32, kPad = 8;

__device__ unsigned in_shared(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

extern "C" __global__ void __launch_bounds__(128)
matmul(const element* a, const element* b, float* c, int n, int k) {
  __shared__ __align__(16) element left[kTile][kSlice + kPad], right[kSlice][kTile + kPad];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int warp_row = warp / 2 * 32, warp_column = warp % 2 * 32;
  const int block_row = blockIdx.y * kTile, block_column = blockIdx.x * kTile;
  float sums[2][4][4] = {};
  for (int slice = 0; slice < k; slice += kSlice) {
    for (int i = threadIdx.x * 8; i < kTile * kSlice; i += 128 * 8) {
      const int left_row = i / kSlice, right_row = i / kTile;
      *reinterpret_cast<uint4*>(&left[left_row][i % kSlice]) =
          *reinterpret_cast<const uint4*>(a + (block_row + left_row) * k + slice + i % kSlice);
      *reinterpret_cast<uint4*>(&right[right_row][i % kTile]) =
          *reinterpret_cast<const uint4*>(b + (slice + right_row) * n + block_column + i % kTile);
    }
    __syncthreads();
    for (int step = 0; step < kSlice; step += 16) {
      unsigned fa[2][4], fb[4][2];
      for (int i = 0; i < 2; ++i) {
        const unsigned from = in_shared(&left[warp_row + 16 * i + lane % 16][step + lane / 16 * 8]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(fa[i][0]), "=r"(fa[i][1]), "=r"(fa[i][2]), "=r"(fa[i][3]) : "r"(from));
      }
      for (int j = 0; j < 4; ++j) {
        const unsigned from = in_shared(&right[step + lane % 16][warp_column + 8 * j]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                     : "=r"(fb[j][0]), "=r"(fb[j][1]) : "r"(from));
      }
      for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 4; ++j) {
          float* d = sums[i][j];
          asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.TYPE.TYPE.f32 "
                       "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                       : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                       : "r"(fa[i][0]), "r"(fa[i][1]), "r"(fa[i][2]), "r"(fa[i][3]),
                         "r"(fb[j][0]), "r"(fb[j][1]));
        }
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 4; ++j) {
      const int row = block_row + warp_row + 16 * i + lane / 4;
      float* to = c + row * n + block_column + warp_column + 8 * j + lane % 4 * 2;
      *reinterpret_cast<float2*>(to) = make_float2(sums[i][j][0], sums[i][j][1]);
      *reinterpret_cast<float2*>(to + 8 * n) = make_float2(sums[i][j][2], sums[i][j][3]);
    }
  }
}
"""


@pytest.mark.parametrize(("kind", "dtype"), [("f16", np.float16), ("bf16", ml_dtypes.bfloat16)])
def test_matmul(kind: str, dtype: Any) -> None:
    m, n, k = 128, 64, 96
    rng = np.random.default_rng(1)
    a = rng.standard_normal((m, k)).astype(dtype)
    b = (rng.standard_normal((k, n)) + 0.5).astype(dtype)
    c = np.full((m, n), np.nan, np.float32)
    kernel = fp.compile(SOURCE.replace("TYPE", kind), "sm_80")["matmul"]
    grid = (n // 64, m // 64)
    report = fp.profile(kernel, grid=grid, block=128, args=(a.view(np.uint16), b.view(np.uint16), c, n, k))
    exact = a.astype(float) @ b.astype(float)
    sizes = abs(a.astype(float)) @ abs(b.astype(float))
    assert np.all(abs(c - exact) <= k * 2.0**-24 * sizes)

    warp_steps = 4 * grid[0] * grid[1] * (k // 16)
    assert report.tensor_operations == {kind: 2 * m * n * k}
    # Two ldmatrix.x4 and four .x2 in each step of a warp; no two rows of a matrix meet in a bank.
    assert report.shared_load.requests == 6 * warp_steps
    assert report.shared_load.wavefronts == (2 * 4 + 4 * 2) * warp_steps
    assert report.shared_load.bank_conflicts == 0
