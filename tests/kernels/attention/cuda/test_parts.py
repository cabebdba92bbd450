"""The parts of FlashAttention 2 in CUDA C++, each by itself, in a small kernel on the virtual GPU."""

# pyright: basic

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

import flashpath as fp
from flashpath.kernels.attention import dropout
from flashpath.kernels.attention.decode.reference import rotated
from flashpath.kernels.attention.flash_v2.cuda import host, plans

NAN = float("nan")
# Where accumulators belong: mma tile n of a lane, element e, of a matrix with 16 rows.
AT = "const int lane = threadIdx.x % 32; auto row = [&](int e) { return lane / 4 + e / 2 * 8; };" + (
    "auto column = [&](int n, int e) { return n * 8 + lane % 4 * 2 + e % 2; };"
)


INCLUDES = [plans.FOLDER, plans.FOLDER.parents[1] / "device"]


def probe(code: str, name: str = "probe") -> Any:
    return fp.compile(code, arch="sm_80", includes=INCLUDES, name_expressions=[name])[name]


def shape(**numbers: Any) -> host.AttentionShape:
    filled = host.AttentionShape()
    for name, value in {"batch": 1, "heads": 1, "group": 1, "scale": 1.0, **numbers}.items():
        setattr(filled, name, value)
    return filled


# ---- block_info.cuh --------------------------------------------------------------------------------------


@pytest.mark.parametrize("together", [1, 2, 4, 6, 100])
def test_every_block_has_another_place(together: int) -> None:
    kernel = probe("""
#include "block_info.cuh"
__global__ void probe(int* out, int tiles, const __grid_constant__ AttentionShape shape) {
  const Place place(shape, tiles, shape.heads);
  out += blockIdx.x * 3;
  out[0] = place.tile, out[1] = place.head, out[2] = place.batch;
}""")
    out = torch.full((5 * 3 * 2, 3), -1, dtype=torch.int32)
    kernel[30, 1](out, 5, shape(batch=2, heads=3, together=together))
    places = [tuple(each) for each in out.tolist()]
    assert len(set(places)) == 30
    assert {tile for tile, _, _ in places} == set(range(5))
    first = places[: min(together, 6)]
    assert {tile for tile, _, _ in first} == {4}, "the longest work does not come first"
    assert len(set(first)) == min(together, 6)


# ---- mask.cuh and dropout.cuh ----------------------------------------------------------------------------


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize(("left", "right"), [(-1, -1), (-1, 0), (3, 2), (0, -1)])
def test_what_a_query_does_not_see_is_hidden(left: int, right: int, swapped: bool) -> None:
    kernel = probe(
        """
#include "mask.cuh"
template <bool kSwapped>
__global__ void probe(float* out, int query0, int key0, const __grid_constant__ AttentionShape shape) {"""
        + AT
        + """
  const Sequence sequence(shape, 0, nullptr, nullptr);
  const Scores<Features<false, false, false, false, false>> scores(shape, sequence, 0, 0, nullptr);
  float s[1][4][4] = {};
  scores.hide(s, Corner<kSwapped>(query0, key0));
  for (int n = 0; n < 4; ++n)
    for (int e = 0; e < 4; ++e) out[row(e) * 32 + column(n, e)] = s[0][n][e];
}""",
        f"probe<{str(swapped).lower()}>",
    )
    queries, keys, query0, key0 = 60, 41, 32, 16
    out = torch.full((16, 32), NAN)
    sides = [host.UNBOUNDED if side < 0 else side for side in (left, right)]
    kernel[1, 32](
        out, query0, key0, shape(queries=queries, keys=keys, left=sides[0], right=sides[1], padded_rows=128)
    )
    out = out.T if swapped else out
    query, key = query0 + torch.arange(out.shape[0])[:, None], key0 + torch.arange(out.shape[1])[None, :]
    place = query + keys - queries
    seen = (key < keys) & ((left < 0) | (key >= place - left)) & ((right < 0) | (key <= place + right))
    assert torch.equal(out == 0, seen)
    assert bool((out[~seen] == -torch.inf).all())


@pytest.mark.parametrize("swapped", [False, True])
def test_dropout_has_the_bits_of_the_reference(swapped: bool) -> None:
    kernel = probe(
        """
#include "dropout.cuh"
template <bool kSwapped>
__global__ void probe(float* out, int query0, int key0, const long long* seed,
                      const __grid_constant__ AttentionShape shape) {"""
        + AT
        + """
  for (int n = 0; n < 4; ++n) {
    float p[4] = {1, 1, 1, 1};
    Dropout(shape, 1, 2, seed).drop(p, Corner<kSwapped>(query0, key0), 0, n);
    for (int e = 0; e < 4; ++e) out[row(e) * 32 + column(n, e)] = p[e];
  }
}""",
        f"probe<{str(swapped).lower()}>",
    )
    seed = torch.tensor([0x1234_5678_9ABC])
    out = torch.full((16, 32), NAN)
    kernel[1, 32](out, 48, 24, seed, shape(heads=3, drop_below=dropout.threshold(0.25)))
    out = out.T if swapped else out
    query, key = 48 + torch.arange(out.shape[0])[:, None], 24 + torch.arange(out.shape[1])[None, :]
    assert torch.equal(out == 1, dropout.kept(seed, 0.25, torch.tensor(1 * 3 + 2), query, key))


# ---- softmax.cuh -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("sink", [-torch.inf, 0.5, 90.0])
def test_online_softmax(sink: float) -> None:
    """Four tiles of a row: maxima that grow a little and much, and rows that see nothing."""
    kernel = probe(
        """
#include "softmax.cuh"
__global__ void probe(const float* scores, float* out, float* lse, float sink) {"""
        + AT
        + """
  OnlineSoftmax<1> softmax(kLog2E);
  float o[1][2][4] = {};
  for (int tile = 0; tile < 4; ++tile) {
    float s[1][2][4];
    for (int n = 0; n < 2; ++n)
      for (int e = 0; e < 4; ++e) s[0][n][e] = scores[row(e) * 64 + tile * 16 + column(n, e)];
    softmax.meet(s, o);
    for (int n = 0; n < 2; ++n) {
      softmax.weigh(s[0][n], 0);
      for (int e = 0; e < 4; ++e) o[0][n][e] += s[0][n][e];
    }
  }
  for (int half = 0; half < 2; ++half) {
    const auto end = softmax.finish(0, half, sink * kLog2E);
    lse[row(2 * half)] = end.lse;
    for (int n = 0; n < 2; ++n)
      for (int e = 2 * half; e < 2 * half + 2; ++e) out[row(e) * 16 + column(n, e)] = o[0][n][e] * end.times;
  }
}"""
    )
    scores = torch.randn(16, 64, generator=torch.Generator().manual_seed(3))
    scores[0, 40] = 60.0
    scores[1] += torch.arange(64) * 0.2
    scores[2, :32] = -torch.inf
    scores[3] = -torch.inf
    out, lse = torch.full((16, 16), NAN), torch.full((16,), NAN)
    kernel[1, 32](scores, out, lse, sink)
    wide = torch.cat([scores.double(), torch.full((16, 1), sink, dtype=torch.float64)], 1)
    expected = torch.logsumexp(wide, 1)
    torch.testing.assert_close(lse.double(), expected, rtol=1e-5, atol=1e-5)
    weights = torch.exp(scores.double() - expected[:, None]).nan_to_num(0).reshape(16, 4, 16).sum(1)
    torch.testing.assert_close(out.double(), weights, rtol=1e-4, atol=1e-6)


# ---- traits.cuh and products.cuh -------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [32, 64, 128])
def test_products_along_and_down_a_tile(dim: int) -> None:
    """(q kᵀ) k of 16 queries and 32 keys: both ways of reading a tile, and accumulators as operands."""
    kernel = probe(
        """
#include "products.cuh"
template <int kDim>
__global__ void probe(const __half* q, const __half* k, __half* out, int keys) {
  using TileQ = Tile<16, kDim>;
  using TileK = Tile<32, kDim>;
  extern __shared__ __align__(128) char shared[];
  const int lane = threadIdx.x % 32;
  TileCopier<TileQ, __half, 128>(q, kDim, kDim, 0, 16).copy(shared);
  TileCopier<TileK, __half, 128>(k, kDim, kDim, 0, keys).copy(shared + TileQ::kBytes);
  commit_copies();
  wait_for_copies<0>();
  __syncthreads();
  const unsigned at_q = shared_address(shared) + offset_of_rows<TileQ>(lane);
  const unsigned at_k = shared_address(shared) + TileQ::kBytes;
  float s[1][4][4] = {}, o[1][kDim / 8][4] = {};
  multiply<__half, kDim / 16>(
      s, [&](unsigned(&a)[1][4], int step) { load_along<TileQ>(a[0], at_q, 0, step); },
      [&](unsigned(&b)[4], int pair, int step) {
        load_along<TileK>(b, at_k + offset_of_columns<TileK>(lane), pair, step);
      });
  multiply<__half, 2>(
      o, [&](unsigned(&a)[1][4], int step) { as_operand<__half>(a[0], s[0][2 * step], s[0][2 * step + 1]); },
      [&](unsigned(&b)[4], int pair, int step) {
        load_down<TileK>(b, at_k + offset_of_rows<TileK>(lane), pair, step);
      });
  if (threadIdx.x < 32) {
    for (int half = 0; half < 2; ++half) {
      store_row(out + (lane / 4 + half * 8) * kDim, kDim, o, 0, half, 0.5f);
    }
  }
}""",
        f"probe<{dim}>",
    )
    generator = torch.Generator().manual_seed(4)
    q, k = (torch.randint(-2, 3, (rows, dim), generator=generator).half() for rows in (16, 27))
    out = torch.full((16, dim), NAN, dtype=torch.float16)
    kernel[1, 128, (16 + 32) * 128 * -(-dim // 64)](q, k, out, 27)
    exact = (q.double() @ k.double().T) @ k.double() * 0.5  # small integers: products are exact
    assert torch.equal(out, exact.half())


# ---- rotary.cuh of decode --------------------------------------------------------------------------------


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("pairs", [4, 12])
def test_a_row_is_turned(pairs: int, interleaved: bool) -> None:
    kernel = probe(
        """
#include "../../decode/rotary.cuh"
template <bool kInterleaved>
__global__ void probe(const float* x, const float* cos, const float* sin, float* out, int dim, int pairs) {
  out[blockIdx.x * dim + threadIdx.x] =
      turned<kInterleaved>(x + blockIdx.x * dim, threadIdx.x, cos, sin, 3 + blockIdx.x, pairs);
}""",
        f"probe<{str(interleaved).lower()}>",
    )
    x, angles = torch.randn(5, 24), torch.randn(16, pairs)
    cos, sin, out = angles.cos(), angles.sin(), torch.full((5, 24), NAN)
    kernel[5, 24](x, cos, sin, out, 24, pairs)
    rotary: Any = SimpleNamespace(cos=cos.double(), sin=sin.double(), pairs=pairs, interleaved=interleaved)
    exact = rotated(x.double()[:, None], rotary, torch.arange(3, 8))[:, 0]
    torch.testing.assert_close(out.double(), exact, rtol=1e-6, atol=1e-6)
