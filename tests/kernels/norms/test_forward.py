"""Every forward rung of layer_norm and rms_norm: torch's result for any shape, type, alignment and value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import flashpath as fp
from flashpath.errors import FlashpathError
from flashpath.kernels import ladder
from flashpath.kernels.common.norm import rows as shared
from flashpath.kernels.layer_norm import host as layer_norm
from flashpath.kernels.rms_norm import host as rms_norm
from tests.harness.norm_checks import (
    BRAIN,
    EPS,
    FORWARD,
    GPU_SHAPES,
    HALF,
    INF,
    LADDERS,
    NAN,
    SINGLE,
    WITH_RESIDUAL,
    sample,
    saved,
    several_rows_at_once,
    triton_reads_rows_again,
    vectors,
    verify,
)

HOSTS: dict[str, Any] = {"layer_norm": layer_norm, "rms_norm": rms_norm}

# (shape, offset): less than a pack, a few lanes, a warp, a block; whole packs or not; at a boundary or not.
SHAPES = [((1, 1), 0), ((5, 37), 1), ((3, 256), 0), ((2, 1021), 0), ((2, 2048), 0), ((2, 1030), 4)]
# Triton compiles anew for each block size and alignment.
TRITON_SHAPES = [((5, 37), 1), ((2, 256), 0)]


@pytest.mark.parametrize(("name", "rung"), FORWARD)
def test_forward(name: str, rung: str) -> None:
    for i, (shape, offset) in enumerate(TRITON_SHAPES if rung == "triton" else SHAPES):
        dtype = (SINGLE, BRAIN, HALF)[i % 3]
        verify(name, rung, sample(shape, dtype, offset), *vectors(name, shape[1], dtype), EPS[name])


@pytest.mark.parametrize(("name", "rung"), WITH_RESIDUAL)
def test_with_residual(name: str, rung: str) -> None:
    for i, (shape, offset) in enumerate(TRITON_SHAPES if rung == "triton" else SHAPES[1:4]):
        dtype = (SINGLE, BRAIN, HALF)[i % 3]
        residual = sample(shape, dtype, 0, seed=5)
        verify(name, rung, sample(shape, dtype, offset), *vectors(name, shape[1], dtype), EPS[name], residual)


@pytest.mark.parametrize(("name", "rung"), FORWARD)
def test_without_weight_and_bias_and_with_float32_ones(name: str, rung: str) -> None:
    x = sample((3, 264), BRAIN)
    verify(name, rung, x, *([None] * len(vectors(name, 1, BRAIN))), EPS[name])
    verify(name, rung, x, *vectors(name, 264, SINGLE), EPS[name])
    if name == "layer_norm":
        verify(name, rung, x, sample((264,), BRAIN), None, EPS[name])
        verify(name, rung, x, None, sample((264,), BRAIN), EPS[name])


def test_a_row_of_more_than_a_block_holds() -> None:
    n = 65_536 + 8
    verify("layer_norm", "vectorized", sample((1, n), BRAIN), *vectors("layer_norm", n, BRAIN), 1e-5)


# Whole: 512 threads with 4 packs each; more steps than one, and less.
TWICE = [
    ((3, 16_384), BRAIN),
    ((2, 16_384), HALF),
    ((2, 8192), SINGLE),
    ((1, 40_968), BRAIN),
    ((2, 9001), BRAIN),
]


def verify_read_twice(name: str, device: str) -> None:
    for shape, dtype in TWICE:
        x = sample(shape, dtype, device=device)
        verify(name, "read_twice", x, *vectors(name, shape[1], dtype, device), EPS[name])
    x = sample((5, 16_384), BRAIN, device=device)
    x[1] += 100
    x[2, 0] = 1e4
    x[3, -1] = NAN
    x[4] = 1e20 if name == "layer_norm" else 0  # whose square is infinite
    wanted = saved(name, x)
    statistics = [torch.empty(5, device=device) for _ in wanted]
    nothing = [None] * len(wanted)  # no weight, and no bias
    saves = dict(zip(("rstd", "mean"), reversed(statistics), strict=False))
    ladder(name).best(x, *nothing).rung(x, *nothing, EPS[name], **saves)
    for got, right in zip(statistics, wanted, strict=True):
        torch.testing.assert_close(got, right, rtol=1e-5, atol=1e-6, equal_nan=True)
    verify(name, "read_twice", x, *vectors(name, 16_384, SINGLE, device), EPS[name])
    verify(name, "read_twice", x, *nothing, EPS[name])
    verify(name, "read_twice", sample((2, 16_384), BRAIN, 1, device), *nothing, EPS[name])


@pytest.mark.parametrize("name", LADDERS)
def test_rows_of_any_length_are_read_twice(name: str) -> None:
    verify_read_twice(name, "cpu")


@pytest.mark.parametrize("name", LADDERS)
def test_read_twice_is_the_fastest_for_whole_rows_of_bfloat16(name: str) -> None:
    rows = (
        sample((1, 16_384), BRAIN),
        sample((1, 16_384), BRAIN, 1),
        sample((1, 16_384), HALF),
        sample((1, 4096), BRAIN),
        sample((1, 0), BRAIN),
    )
    assert [ladder(name).best(x).rung.name for x in rows] == ["read_twice", *["vectorized"] * 4]


@pytest.mark.parametrize("name", LADDERS)
def test_triton_reads_a_long_row_again(name: str) -> None:
    for n in (16_384, 8200):
        verify(name, "triton", sample((2, n), BRAIN), *vectors(name, n, BRAIN), EPS[name])


@pytest.mark.parametrize(("name", "rung"), [*FORWARD, *WITH_RESIDUAL])
def test_rows_that_no_block_holds_are_read_again(
    name: str, rung: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks of next to no registers: rows of a few packs are too long for them."""

    def nowhere(*_: Any) -> None:
        return None

    monkeypatch.setattr(shared, "share_row", nowhere)
    triton_reads_rows_again(monkeypatch)
    for dtype, n in ((BRAIN, 8208), (SINGLE, 331)) if rung != "triton" else ((BRAIN, 331), (HALF, 8201)):
        residual = [sample((2, n), dtype, seed=3)] if (name, rung) in WITH_RESIDUAL else []
        verify(name, rung, sample((2, n), dtype), *vectors(name, n, dtype), EPS[name], *residual)


@pytest.mark.parametrize("name", LADDERS)
@pytest.mark.parametrize("n", [4096, 6000])
def test_triton_reads_any_values_again(name: str, n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large mean; an outlier that is first or last; a part of the row that lies far from the rest."""
    triton_reads_rows_again(monkeypatch)
    x = sample((12, n), SINGLE) / 2
    x[1] += 1000
    x[2, 0] = 1e4
    x[3, -1] = -1e4
    x[4, :1024] += 100
    x[5] = 3
    x[6] = 1e20 if name == "layer_norm" else 0
    x[7, 0] = NAN
    x[8, n // 2] = INF
    x[9, :2] = torch.tensor([INF, -INF])
    x[10] *= 1e-20
    x[11] = torch.arange(n)
    result = verify(name, "triton", x, *([None] * len(vectors(name, 1, SINGLE))), EPS[name])
    assert result[[0, 1, 2, 3, 4, 5, 6, 10, 11]].isfinite().all()
    assert result[7].isnan().all()
    verify(name, "triton", (x[:4] / 100).to(BRAIN), *vectors(name, n, BRAIN), EPS[name])
    statistics = [torch.empty(2) for _ in saved(name, x)]
    places = dict(zip(("mean", "rstd")[-len(statistics) :], statistics, strict=True))
    LADDERS[name]["triton"](x[:2], *([None] * len(statistics)), EPS[name], **places)
    for got, right in zip(statistics, saved(name, x[:2]), strict=True):
        torch.testing.assert_close(got, right, rtol=1e-5, atol=1e-6)


# Rows whose lanes all have as many packs have instances of their own, unless a block lacks its last row.
WHOLE = [((16, 64), HALF), ((4, 256), HALF), ((2, 1024), BRAIN), ((3, 1024), BRAIN), ((2, 512), SINGLE)]
WHOLE_ON_A_GPU = [((4098, 1024), BRAIN), ((4099, 1024), HALF), ((512, 4096), BRAIN), ((40, 16_384), BRAIN)]


def verify_whole_rows(name: str, shape: tuple[int, int], dtype: Any, device: str) -> None:
    x, residual = (sample(shape, dtype, device=device, seed=seed) for seed in (1, 2))
    columns = vectors(name, shape[1], dtype, device)
    verify(name, "vectorized", x, *columns, EPS[name])
    verify(name, "fused_residual", x, *columns, EPS[name], residual)


@pytest.mark.parametrize(("shape", "dtype"), [*WHOLE, ((1, 4096), BRAIN), ((1, 16_384), BRAIN)])
@pytest.mark.parametrize("name", LADDERS)
def test_rows_that_fill_their_lanes(name: str, shape: tuple[int, int], dtype: Any) -> None:
    verify_whole_rows(name, shape, dtype, "cpu")


# Whole and guarded instances of rows for a few lanes, a warp or two, a block; with and without its last rows.
SEVERAL = [
    ((32, 64), HALF),
    ((7, 37), BRAIN),
    ((8, 1024), BRAIN),
    ((8, 1024), HALF),
    ((4, 512), SINGLE),
    ((5, 1024), BRAIN),
    ((3, 1000), HALF),
    ((3, 501), SINGLE),
    ((4, 4096), BRAIN),
    ((3, 4096), BRAIN),
]


@pytest.mark.parametrize("many", [2, 4])
def test_several_rows_at_once(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "layer_norm"
    several_rows_at_once(monkeypatch, many)
    for shape, dtype in SEVERAL:
        verify_whole_rows(name, shape, dtype, "cpu")
    verify(name, "vectorized", sample((5, 1024), BRAIN), *vectors(name, 1024, SINGLE), EPS[name])
    verify(name, "vectorized", sample((4, 1024), BRAIN), *([None] * len(vectors(name, 1, BRAIN))), EPS[name])
    verify(name, "vectorized", sample((2, 16_384), BRAIN), *vectors(name, 16_384, BRAIN), EPS[name])


def test_statistics_of_several_rows_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "layer_norm"
    several_rows_at_once(monkeypatch, 2)
    for many in (3, 4):
        x = sample((many, 1024), BRAIN)
        wanted = saved(name, x)
        places = [torch.empty(many + 1) for _ in wanted]
        mean, rstd = (each[:many] for each in places)
        layer_norm.vectorized(x, None, None, EPS[name], mean=mean, rstd=rstd)
        for got, right in zip(places, wanted, strict=True):
            torch.testing.assert_close(got[:many], right, rtol=1e-5, atol=1e-6)
            assert got[many].isnan(), "of a row that is not there"


def test_two_rows_at_once_are_taken_of_many_whole_ones_in_bfloat16(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    build = shared.cuda_kernel

    def noted(file: Path, name: str, x: Any) -> Any:
        asked.append(name)
        return build(file, name, x)

    monkeypatch.setattr(shared, "cuda_kernel", noted)
    many = 4 * 20 * 2  # four waves of blocks on the virtual GPU's one SM
    for shape, dtype in [((many, 1024), BRAIN), ((many, 1024), HALF), ((many + 1, 1024), BRAIN)]:
        verify("layer_norm", "vectorized", sample(shape, dtype), *vectors("layer_norm", 1024, dtype), 1e-5)
    verify("layer_norm", "vectorized", sample((2, 1024), BRAIN), *vectors("layer_norm", 1024, BRAIN), 1e-5)
    verify("layer_norm", "vectorized", sample((many, 1000), BRAIN), *vectors("layer_norm", 1000, BRAIN), 1e-5)
    assert [name.endswith("true, 2>") for name in asked] == [True, False, False, False, False]


@pytest.mark.parametrize(("name", "rung"), FORWARD)
def test_nothing_cancels_where_the_mean_dwarfs_the_deviation(name: str, rung: str) -> None:
    """Mean 1000, deviation 1, in float32: Σx² / n - mean² would have two digits left, and in sum no more."""
    x = sample((4, 1000), SINGLE) / 2 + 1000
    verify(name, rung, x, *([None] * len(vectors(name, 1, SINGLE))), EPS[name])


@pytest.mark.parametrize(("name", "rung"), FORWARD)
def test_nan_infinity_huge_and_constant_rows_are_torchs(name: str, rung: str) -> None:
    """A NaN spoils its row and no other. An infinity makes layer norm's row NaN; RMS norm divides by it, so
    that all others become 0. A constant row has no deviation: eps alone stands below the fraction."""
    rows = [
        [NAN] + [1.0] * 36,
        [1.0] * 30 + [INF] + [2.0] * 6,
        [-INF, INF] + [0.0] * 35,
        [1e15, -1e15] + [1e14] * 35,
        [3.0] * 37,
        [0.0] * 37,
        [1e-30] * 36 + [-1e-30],
        [float(i) for i in range(37)],
    ]
    x = torch.tensor(rows)
    result = verify(name, rung, x, *vectors(name, 37, SINGLE), EPS[name])
    assert result[0].isnan().all()
    assert result[3:].isfinite().all()
    if name == "layer_norm":
        assert result[1:3].isnan().all()
    else:
        assert (result[1][:30] == 0).all()
        assert result[1][30].isnan()


@pytest.mark.parametrize(("name", "rung"), FORWARD)
def test_empty(name: str, rung: str) -> None:
    for shape in ((0, 8), (4, 0), (0, 0)):
        assert LADDERS[name][rung](torch.zeros(shape), torch.ones(shape[1])).shape == shape


STATISTICS = [
    (name, rung) for name in LADDERS for rung in ("vectorized", "read_twice", "fused_residual", "triton")
]


@pytest.mark.parametrize(("name", "rung"), STATISTICS)
def test_statistics_are_saved_for_the_backward_pass(name: str, rung: str) -> None:
    for n in (40, 1000):
        x = sample((3, n), BRAIN)
        residual = torch.zeros_like(x)
        wanted = saved(name, x)
        places = {key: torch.empty(3) for key in (("mean", "rstd") if len(wanted) == 2 else ("rstd",))}
        more = () if rung != "fused_residual" else (residual,)
        LADDERS[name][rung](x, *([None] * len(wanted)), EPS[name], *more, **places)
        for got, right in zip(places.values(), wanted, strict=True):
            torch.testing.assert_close(got, right, rtol=1e-5, atol=1e-6)


# ---- What the headers say ------------------------------------------------------------------------------


def test_vectorized_reads_and_writes_each_row_once_in_packs() -> None:
    x = sample((2, 1024), BRAIN)
    weight, bias = vectors("layer_norm", 1024, BRAIN)
    kind = "__nv_bfloat16"
    share = shared.share_row(1024, 8, shared.SHARES["layer_norm"])
    assert share is not None
    shape = ", ".join(map(str, share[:-1]))
    vectorized = layer_norm.cuda_kernel(
        layer_norm.VECTORIZED, f"layer_norm<{kind}, {kind}, {shape}, true, true, true, {share.rows}>", x
    )
    args = (2, 1024, x, weight, bias, 1e-5, torch.empty_like(x), None, None)
    blocks = -(-2 // share.rows_of_block)
    counts = fp.profile(vectorized, blocks, share.threads, args).instructions_by_class
    packs = 2 * 1024 // 8
    assert counts["global load"] == packs + 2 * packs // share.rows  # x, weight and bias
    assert counts["global store"] == packs
    simple = layer_norm.cuda_kernel(layer_norm.TWO_PASS, f"layer_norm<{kind}, {kind}>", x)
    counts = fp.profile(simple, 2, 256, args[:7]).instructions_by_class
    assert counts["global load"] == 2 * 1024 * 5  # x three times


# ---- At the border -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "rung"), FORWARD)
def test_wrong_arguments_are_refused_before_anything_runs(name: str, rung: str) -> None:
    x, weight = torch.ones(4, 8), torch.ones(8)
    for args, options, says in [
        ((x[0], weight), {}, "2 dimensions"),
        ((x.double(), weight), {}, "float32"),
        ((x.t(), weight), {}, "contiguous"),
        ((x, torch.ones(7)), {}, "shape"),
        ((x, torch.ones(8, dtype=torch.float64)), {}, "float32"),
        ((x, torch.ones(16)[::2]), {}, "contiguous"),
        ((x, weight), {"eps": -1.0}, "0 or more"),
        ((x, weight), {"out": torch.empty(4, 7)}, "shape"),
        ((x, weight), {"out": x}, "overlaps"),
    ]:
        with pytest.raises(FlashpathError, match=says):
            LADDERS[name][rung](*args, **options)


@pytest.mark.parametrize("name", LADDERS)
def test_lanes_may_be_chosen_where_they_hold_the_row(name: str) -> None:
    x = sample((3, 512), BRAIN)
    columns = vectors(name, 512, BRAIN)
    right = LADDERS[name]["vectorized"](x, *columns)
    for lanes in (32, 64, 128, 256):
        near = LADDERS[name]["vectorized"](x, *columns, lanes=lanes)  # another order of the sums
        torch.testing.assert_close(near, right, rtol=2**-7, atol=2**-7)
    with pytest.raises(FlashpathError, match="no instance of 8 threads"):
        LADDERS[name]["vectorized"](sample((3, 1024), BRAIN), lanes=8)


def test_mean_and_rstd_are_asked_for_together() -> None:
    with pytest.raises(FlashpathError, match="no rstd="):
        layer_norm.vectorized(torch.ones(4, 8), mean=torch.empty(4))


# ---- On a GPU ------------------------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize(("name", "rung"), FORWARD)
def test_forward_on_a_gpu(name: str, rung: str) -> None:
    for i, (shape, offset) in enumerate(GPU_SHAPES):
        dtype = (SINGLE, BRAIN, HALF)[i % 3]
        x = sample(shape, dtype, offset, "cuda")
        verify(name, rung, x, *vectors(name, shape[1], dtype, "cuda"), EPS[name])


@pytest.mark.gpu
@pytest.mark.parametrize(("name", "rung"), WITH_RESIDUAL)
def test_with_residual_on_a_gpu(name: str, rung: str) -> None:
    for i, (shape, offset) in enumerate(GPU_SHAPES):
        dtype = (BRAIN, HALF, SINGLE)[i % 3]
        x, residual = sample(shape, dtype, offset, "cuda"), sample(shape, dtype, 0, "cuda", seed=3)
        verify(name, rung, x, *vectors(name, shape[1], dtype, "cuda"), EPS[name], residual)


@pytest.mark.gpu
@pytest.mark.parametrize("name", LADDERS)
def test_rows_that_fill_their_lanes_on_a_gpu(name: str) -> None:
    for shape, dtype in (*WHOLE, *WHOLE_ON_A_GPU):
        verify_whole_rows(name, shape, dtype, "cuda")


@pytest.mark.gpu
@pytest.mark.parametrize("name", LADDERS)
def test_rows_of_any_length_are_read_twice_on_a_gpu(name: str) -> None:
    verify_read_twice(name, "cuda")


@pytest.mark.gpu
def test_several_rows_at_once_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    several_rows_at_once(monkeypatch, 2)
    for shape, dtype in WHOLE_ON_A_GPU:
        verify_whole_rows("layer_norm", shape, dtype, "cuda")


@pytest.mark.gpu
@pytest.mark.parametrize("name", LADDERS)
def test_more_elements_than_32_bits_count(name: str) -> None:
    shape = (2**19 + 1, 4096)
    x = torch.ones(shape, device="cuda", dtype=BRAIN)
    x[-1, ::2] = -1
    expected = x[-1].clone()
    for rung in ("vectorized", "triton"):
        out = LADDERS[name][rung](x, out=torch.empty_like(x))
        torch.testing.assert_close(out[-1], expected, rtol=1e-2, atol=0)
        torch.testing.assert_close(out[0], torch.full_like(expected, 0 if name == "layer_norm" else 1))
        del out
